//! The controllers: gather facts, decide by the rules, act, report. No rule lives here.
//!
//! [`run`] is the whole process. Each kind has a reconciler that does one pass over one object; [`engine`] watches the
//! kind, decides when a pass is due, and survives whatever a pass does.

mod contract_facts;
mod contract_triggers;
mod contracts;
mod databases;
mod echo;
mod engine;
mod flags;
mod instances;
mod metrics;
mod references;
mod retry;
mod run;

pub use flags::Flags;
pub use run::run;
