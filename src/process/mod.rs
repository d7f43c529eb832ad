//! What every long-running process needs: flags, telemetry, the clock, health endpoints, signals.
//!
//! The start of a process, in this order: [`exit::run`] wraps `main`; it installs the panic hook and the one TLS
//! provider, reads the flags, starts the log, binds the metrics listener, and only then does the process begin its own
//! work. Whatever is wrong before that point is one line on standard error and exit code 2.
//!
//! No rule, and nothing of one kind, lives here.

pub mod clock;
pub mod exit;
pub mod flags;
pub mod health;
pub mod listener;
pub mod log_format;
pub mod metrics;
pub mod signals;
pub mod telemetry;
