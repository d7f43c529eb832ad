//! How a process starts and ends: one line for a person, one code for a supervisor.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

use super::telemetry;

/// Exit code of a process that was started wrongly: a flag, a file, a port. Nothing was done.
pub const CONFIGURATION: u8 = 2;
/// Exit code of a process that ran and had to stop by itself, for example because it lost its leadership.
pub const STOPPED: u8 = 1;

/// Why a process does not start, or does not go on. The text is one line that names what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A flag, file, port or kubeconfig that has to be mended first: exit code 2, and nothing was begun.
    #[error("{0}")]
    Configuration(String),
    /// The process ran and stopped by itself: exit code 1, so that its supervisor starts it again.
    #[error("{0}")]
    Stopped(String),
    /// What was asked for has been printed, such as `--help`: exit code 0.
    #[error("{0}")]
    Printed(String),
}

impl StartError {
    /// A configuration error: `what` is wrong, `remedy` is what to do about it.
    pub fn configuration(what: impl Display, remedy: impl Display) -> Self {
        Self::Configuration(one_line(&format!("{what}; {remedy}")))
    }

    /// The process's exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Configuration(_) => CONFIGURATION,
            Self::Stopped(_) => STOPPED,
            Self::Printed(_) => 0,
        }
    }
}

/// Runs a process called `name`: installs the panic hook and the TLS provider, then runs `body` on an async runtime,
/// and turns its error into one line on standard error and an exit code.
pub fn run<Body>(name: &str, body: impl FnOnce() -> Body) -> ExitCode
where
    Body: Future<Output = Result<(), StartError>>,
{
    telemetry::install_panic_hook();
    // Exactly one provider, before anything makes a TLS configuration; a second call finds the first one in place.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(name, &StartError::Stopped(format!("no threads to run on: {error}"))),
    };
    let result = runtime.block_on(body());
    // A blocking judgement that is still under way must not hold the exit.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(name, &error),
    }
}

fn report(name: &str, error: &StartError) -> ExitCode {
    let _ = match error {
        StartError::Printed(text) => writeln!(std::io::stdout(), "{}", text.trim_end()),
        _ => writeln!(std::io::stderr(), "{name}: {error}"),
    };
    ExitCode::from(error.code())
}

/// The text on one line: whatever breaks a line becomes a space.
pub fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line() {
        let error =
            StartError::configuration("cannot read \"a\":\n  no such file", "give --kubeconfig a file");
        assert_eq!(error.to_string(), "cannot read \"a\": no such file; give --kubeconfig a file");
        assert_eq!(error.code(), 2);
    }
}
