//! The `covenant` process: parses flags, calls the library, turns errors into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "demo")]
    {
        use covenant::controlplane::supervise;

        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|first| first == supervise::SUBCOMMAND) {
            return supervise::main(arguments);
        }
    }
    ExitCode::SUCCESS
}
