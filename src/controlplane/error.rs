//! Everything that can keep a local control plane from running, each with what is wrong and what to do.

use std::path::PathBuf;

use super::supervise::SupervisorError;
use super::version::{UnsupportedVersion, Version};

/// Why a control plane, or one of its services, is not there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A version was asked for that is not supported.
    #[error(transparent)]
    Version(#[from] UnsupportedVersion),
    /// A part was not found and could not be obtained from anywhere.
    #[error(
        "no {binary} for Kubernetes {version} ({}); set KUBEBUILDER_ASSETS to a folder that holds it, or run \
         `setup-envtest use {}.{}`, or install Go so that it can be built",
        reasons.join("; "), version.major, version.minor
    )]
    NoBinary {
        /// The part.
        binary: &'static str,
        /// The version asked for.
        version: Version,
        /// Why each place did not have it.
        reasons: Vec<String>,
    },
    /// There is no folder to keep binaries in.
    #[error("no folder to cache Kubernetes binaries in: set XDG_CACHE_HOME or HOME")]
    NoCache,
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A path cannot be written into a configuration file.
    #[error("{} is not UTF-8; set TMPDIR to a folder whose path is", path.display())]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// The supervisor, or a process in it, could not be started or is gone.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// A certificate could not be made.
    #[error(transparent)]
    Certificate(#[from] crate::pki::Error),
    /// No free port could be had on the loopback interface.
    #[error("no free port on 127.0.0.1: {0}")]
    Port(std::io::Error),
    /// A process shall be started again that was never started.
    #[error("{0} was never started")]
    NeverStarted(String),
    /// A part ended although it should run.
    #[error("{part} ended with {status}; the last lines of its log:\n{log}")]
    Ended {
        /// The part.
        part: String,
        /// How it ended.
        status: super::ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// A part was started and did not become ready.
    #[error("{part} was not ready after {seconds} s ({last}); the last lines of its log:\n{log}")]
    NotReady {
        /// The part.
        part: String,
        /// How long was waited.
        seconds: u64,
        /// What the last try to reach it gave.
        last: String,
        /// The last lines of its log.
        log: String,
    },
    /// The API server refused or did not answer a request.
    #[error("{what}: {source}")]
    Request {
        /// What was asked of it.
        what: String,
        /// The client's error.
        source: Box<kube::Error>,
    },
    /// The API server answered a token request without a token.
    #[error("{0}: the answer holds no token")]
    NoToken(String),
    /// A kubeconfig of our own making was not accepted by the client.
    #[error("{}: {message}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What the client says.
        message: String,
    },
    /// `kubectl` is needed and not there.
    #[error("no kubectl: put one on the PATH, or let the provider obtain it")]
    NoKubectl,
    /// A line of the audit log is no event.
    #[error("{}: line {line} is no audit event: {source}", path.display())]
    Audit {
        /// The audit log.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The thread or runtime for a request could not be made.
    #[error("cannot make a runtime for a request: {0}")]
    Runtime(std::io::Error),
}

impl Error {
    /// A file error with its path, for `map_err`.
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
