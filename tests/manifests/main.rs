//! What a cluster installs, read from the files alone, without a cluster: that the names are the fixed ones, that nothing
//! asks for more than it needs, that no file is forgotten. `tests/apiserver` applies the same files to a real API server.
//!
//! Each check is a function from documents to faults. The shipped files must have none, and copies made worse on purpose
//! must have one, so that a check that looks at nothing is found out.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod certificates;
mod image;
mod kustomize;
mod names;
mod pods;
mod policies;
mod rbac;
mod samples;
mod support;
mod webhook;
