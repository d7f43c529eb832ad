//! The person's tool. Prints; the only place that may.
//!
//! `args` is the command tree, `exit` how a command ends; each command has a module of its own.

pub mod args;
pub mod check;
pub mod crds;
#[cfg(feature = "demo")]
pub mod demo;
pub mod exit;
pub mod input;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use args::{Command, CrdsFlags, Read};
use exit::{Code, Failure};

/// Runs the command that `arguments` (the program's name first) ask for.
#[expect(clippy::print_stderr, reason = "the one line that says why nothing was done")]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    #[cfg(feature = "demo")]
    let arguments = {
        use crate::controlplane::supervise;
        let arguments: Vec<_> = arguments.into_iter().collect();
        // Not a command for people: the demo and the tests start it, and it must come before everything else.
        match arguments.split_at_checked(2) {
            Some(([_, command], rest)) if command == supervise::SUBCOMMAND => {
                return supervise::main(rest.iter().cloned());
            }
            _ => arguments,
        }
    };
    let done = args::read(arguments).and_then(|read| match read {
        Read::Text(text) => print(&text),
        Read::Command(command) => run(command),
    });
    match done {
        Ok(code) => code.into(),
        Err(failure) => {
            eprintln!("covenant: {failure}");
            failure.code().into()
        }
    }
}

fn run(command: Command) -> Result<Code, Failure> {
    match command {
        Command::Check(flags) => check::run(flags),
        Command::Crds(flags) => print_crds(flags),
        #[cfg(feature = "demo")]
        Command::Demo(flags) => demo::run(&flags),
    }
}

fn print_crds(flags: CrdsFlags) -> Result<Code, Failure> {
    let text = crds::render(&flags.kinds(), flags.format())
        .map_err(|error| Failure::new(error, "this is a fault of the program; please report it"))?;
    print(&text)
}

fn print(text: &str) -> Result<Code, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write: {error}"), "check standard output"))
        }
        _ => Ok(Code::Good),
    }
}

/// Whether colour is welcome on a terminal: `NO_COLOR` is not set, and the terminal is not a dumb one.
fn colour_is_welcome() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
