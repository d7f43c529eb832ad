//! The supervisor: a process of our own that holds the control plane's parts, so that they end when the process that
//! asked for them ends, however it ends.
//!
//! The asking process (the parent) starts `covenant supervise` with a pipe on its standard input and sends commands as
//! JSON lines; events come back on its standard output. When the pipe ends, the supervisor stops every part in reverse
//! order, removes the data folder and exits. It is in a process group of its own, so Ctrl-C at a terminal reaches the
//! parent alone, which then stops the parts in order.
//!
//! | killed with SIGKILL | what happens |
//! |---|---|
//! | the parent | end of file: the supervisor stops the parts and removes the folder |
//! | the supervisor | Linux: the kernel kills each part (parent-death signal); the folder is swept at the next start |
//! | both at once | the same as the supervisor alone |

mod exec;
mod folder;
mod handle;
mod protocol;
mod server;

use std::ffi::OsString;
use std::process::ExitCode;

pub use exec::command as tied_command;
pub use handle::{Supervisor, SupervisorError};
pub use protocol::{ExitStatus, ProcessRequest, Signal, StopMode};

/// The subcommand of the `covenant` binary that leads to [`main`].
pub const SUBCOMMAND: &str = "supervise";

/// Runs the supervisor in this process; `arguments` are those after the subcommand.
///
/// Without arguments it serves commands from standard input. With `--exec PID -- PROGRAM ARGUMENT…` it becomes that
/// program, set to die with its parent PID. Must be called on the process's main thread: a part's life is tied to the
/// thread that started it.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match arguments.split_first() {
        None => server::run(),
        Some((first, rest)) if first == exec::FLAG => exec::run(rest),
        Some((first, _)) => {
            let first = first.display();
            exec::complain(&format!("unknown argument {first}; this subcommand is for Covenant's own use"));
            ExitCode::from(2)
        }
    }
}
