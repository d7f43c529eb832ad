//! The `covenant-controller` process: parses flags, calls the library, turns errors into an exit code.

use std::process::ExitCode;

use covenant::controller;
use covenant::process::{exit, flags};

fn main() -> ExitCode {
    exit::run("covenant-controller", async || {
        let flags = flags::parse(std::env::args_os())?;
        controller::run(flags).await
    })
}
