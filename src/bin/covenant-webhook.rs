//! The `covenant-webhook` process: parses flags, calls the library, turns errors into an exit code.

use std::process::ExitCode;

use covenant::process::{exit, flags};
use covenant::webhook::{Arguments, run};

fn main() -> ExitCode {
    exit::run("covenant-webhook", || async { run(flags::parse::<Arguments>(std::env::args_os())?).await })
}
