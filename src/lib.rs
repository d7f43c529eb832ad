//! Covenant keeps the contracts between application teams and their Kubernetes platform.
//!
//! The map, with who may use whom (arrows never point left; `tests/layering.rs` holds it):
//!
//! ```text
//! bin → {webhook, controller, cli} → {cluster, process, pki, controlplane} → {status, binding} → rules → api → {format, go}
//! ```
//!
//! `webhook`, `controller` and `cli` never import one another, nor do `status` and `binding`. Everything
//! from these two rightward compiles with no feature at all: it has no async runtime, no HTTP, no clock, no file, no
//! log. Facts go in, findings come out.

pub mod api;
pub mod binding;
pub mod format;
pub mod go;
pub mod rules;
pub mod status;

#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "demo")]
pub mod controlplane;
#[cfg(feature = "demo")]
pub mod pki;
#[cfg(feature = "cluster")]
pub mod process;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "controller")]
pub mod controller;
#[cfg(feature = "webhook")]
pub mod webhook;
