//! Everything that is tested against a real API server. It is one crate so that one control plane serves all of it.
#![cfg(all(feature = "webhook", feature = "controller", feature = "demo"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[allow(dead_code, unused_imports, reason = "other places use the rest of it")]
#[path = "../corpus/case/mod.rs"]
mod corpus;
#[path = "../support/mod.rs"]
mod support;

mod admission_facts;
mod beside;
mod binaries;
mod binding;
mod controller;
mod controlplane;
mod crds;
mod fault;
mod installation;
mod policies;
mod probe;
mod shipped;
mod supervisor;
mod webhook;
