//! The log of a process, and what a panic may say.
//!
//! Only our own words are logged at the chosen level. Client libraries are kept quiet: their messages repeat what we
//! report ourselves, and some of them would print the bodies that they could not read.

use std::io::Write as _;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::log_format::Lines;

/// How much is logged: everything down to this level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum LogLevel {
    /// What went wrong and needs a person.
    Error,
    /// What went wrong and is tried again.
    Warn,
    /// What happened.
    Info,
    /// Why it happened.
    Debug,
    /// Every step.
    Trace,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// One line for a person.
    Text,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Starts the log on standard output. Only the first call of a process counts.
pub fn start(level: LogLevel, format: LogFormat) {
    let ours = LevelFilter::from(level);
    let filter = Targets::new()
        .with_default(ours.min(LevelFilter::WARN))
        .with_target("covenant", ours)
        .with_target("kube", LevelFilter::OFF);
    let layer =
        tracing_subscriber::fmt::layer().event_format(Lines::new(format)).with_writer(std::io::stdout);
    // A second subscriber (tests in one process) leaves the first in place.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
}

/// Makes a panic say where it happened and nothing else: its own text could hold what the code was working on.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |place| format!("{}:{}", place.file(), place.line()),
        );
        if tracing::dispatcher::has_been_set() {
            tracing::error!("panic at {place}; please report it");
        } else {
            let _ = writeln!(std::io::stderr(), "panic at {place}; please report it");
        }
    }));
}
