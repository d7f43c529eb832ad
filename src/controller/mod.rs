//! The controllers: gather facts, decide by the rules, act, report. No rule lives here.
//!
//! [`run`] is the whole process. Each kind has a reconciler that does one pass over one object; [`engine`] watches the
//! kind, decides when a pass is due, and survives whatever a pass does.

mod binding;
mod contract_facts;
mod contract_triggers;
mod contracts;
mod echo;
mod engine;
mod flags;
mod metrics;
mod references;
mod retry;
mod run;

pub use binding::{Observe, Process as BindingProcess, Unobserved};
pub use flags::Flags;
pub use run::run;
