//! The lines between the parent and the supervisor: one JSON object a line, commands one way, events the other.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A process for the supervisor to start and hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRequest {
    /// What the process is called in later commands; free again once it has exited.
    pub name: String,
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, on top of `PATH`, `HOME`, `TMPDIR` and `LANG`; nothing else is inherited.
    pub env: BTreeMap<String, String>,
    /// The file that gets its standard output and error, appended; made with mode 600.
    pub log: PathBuf,
    /// How it is ended when the supervisor ends.
    pub stop: StopMode,
}

/// How a process is ended when the supervisor itself ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopMode {
    /// SIGTERM, then SIGKILL after a few seconds.
    Graceful,
    /// SIGKILL at once: right where nothing that the process would still write is kept.
    Immediate,
}

/// A signal that may be sent to a held process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGTERM: end in order.
    Terminate,
    /// SIGKILL: end at once.
    Kill,
    /// SIGSTOP: freeze.
    Stop,
    /// SIGCONT: go on.
    Continue,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitStatus {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl From<std::process::ExitStatus> for ExitStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(formatter, "exit code {code}"),
            (None, Some(signal)) => write!(formatter, "signal {signal}"),
            (None, None) => formatter.write_str("an unknown exit status"),
        }
    }
}

/// What the parent asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Command {
    /// Start a process.
    Start(ProcessRequest),
    /// SIGTERM, then SIGKILL after so many milliseconds.
    Stop { name: String, grace_milliseconds: u64 },
    /// Send one signal.
    Signal { name: String, signal: Signal },
}

/// What the supervisor tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Event {
    /// The data folder is there; commands are served from now on.
    Ready { folder: PathBuf },
    /// No data folder could be made; the supervisor exits.
    Unusable { message: String },
    /// A process runs.
    Started { name: String, pid: u32 },
    /// A process could not be started.
    Failed { name: String, message: String },
    /// A process ended, for whatever reason.
    Exited { name: String, status: ExitStatus },
}
