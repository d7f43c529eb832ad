//! The `covenant` process: hands its arguments to the library and ends with the exit code that comes back.

use std::process::ExitCode;

fn main() -> ExitCode {
    covenant::cli::main(std::env::args_os())
}
