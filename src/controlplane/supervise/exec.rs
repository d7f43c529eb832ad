//! Ties a process to the life of its parent: `covenant supervise --exec PID -- PROGRAM ARGUMENT…` asks the kernel to
//! kill this process when its parent dies, and then becomes the program. Other systems than Linux have no such
//! request; there the program starts as it is.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::SUBCOMMAND;

/// The argument that selects this mode.
pub(super) const FLAG: &str = "--exec";

/// The exit code of a program that could not be started, as shells use it.
const NOT_STARTED: u8 = 127;

/// A command for `program` that the kernel kills when this process dies.
///
/// `binary` is the `covenant` binary. The kernel watches the *thread* that spawns the command: spawn and wait on the
/// same thread, or spawn from one that lives as long as the process.
pub fn command(binary: &Path, program: impl AsRef<OsStr>) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new(binary);
    command.arg(SUBCOMMAND).arg(FLAG).arg(std::process::id().to_string()).arg("--").arg(program);
    command
}

/// Becomes the program; returns only when that fails.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let [parent, separator, program, rest @ ..] = arguments else {
        complain("--exec wants PID -- PROGRAM ARGUMENT…");
        return ExitCode::from(2);
    };
    let parent = parent.to_str().and_then(|text| text.parse::<i32>().ok());
    let (Some(parent), "--") = (parent, separator.to_str().unwrap_or_default()) else {
        complain("--exec wants PID -- PROGRAM ARGUMENT…");
        return ExitCode::from(2);
    };
    if let Err(error) = die_with_parent(parent) {
        complain(&error);
        return ExitCode::from(NOT_STARTED);
    }
    let error = Command::new(program).args(rest).exec();
    complain(&format!("cannot start {}: {error}", program.display()));
    ExitCode::from(NOT_STARTED)
}

#[cfg(target_os = "linux")]
fn die_with_parent(parent: i32) -> Result<(), String> {
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("cannot ask to be killed with process {parent}: {error}"))?;
    // The parent may have died before the request: then this process already has another parent.
    if getppid().map(Pid::as_raw_pid) == Some(parent) {
        Ok(())
    } else {
        Err(format!("process {parent} is not the parent of this one any more"))
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_parent: i32) -> Result<(), String> {
    Ok(())
}

/// Says on standard error what is wrong; a reader that is gone is no reason to fail.
pub(super) fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "covenant {SUBCOMMAND}: {message}");
}
