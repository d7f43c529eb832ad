//! How a command ends: one line for a person, one code for a pipeline.

use std::fmt::Display;
use std::process::ExitCode;

/// The exit codes of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// 0: done, nothing to complain about.
    Good,
    /// 1: done, and something is wrong with what was looked at.
    Found,
    /// 2: a flag is wrong, or something that is needed cannot be read or had.
    Unusable,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Good => 0,
            Code::Found => 1,
            Code::Unusable => 2,
        })
    }
}

/// Why a command does not do, or not finish, its work. The text is one line that names what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    code: Code,
    text: String,
}

impl Failure {
    /// Nothing was done: `what` is wrong, `remedy` is what to do about it. Exit code 2.
    pub fn new(what: impl Display, remedy: impl Display) -> Self {
        Self { code: Code::Unusable, text: one_line(&format!("{what}; {remedy}")) }
    }

    /// Something went wrong on the way. Exit code 1.
    pub fn stopped(what: impl Display) -> Self {
        Self { code: Code::Found, text: one_line(&what.to_string()) }
    }

    /// The exit code.
    pub const fn code(&self) -> Code {
        self.code
    }
}

/// The text on one line: whatever breaks a line becomes a space.
pub fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
