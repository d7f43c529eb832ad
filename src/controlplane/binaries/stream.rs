//! Runs a child to its end and hands over what it writes to standard error line by line, with ticks in between.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(250);
/// How many of the last lines are kept to explain a failure.
const KEPT: usize = 5;

/// What is left of a finished child.
pub(super) struct Streamed {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    /// The last lines of standard error.
    pub(super) last_lines: Vec<String>,
}

/// Runs `command`; `observe` gets each line of standard error, and none every quarter of a second without one.
pub(super) fn stream(
    mut command: Command,
    mut observe: impl FnMut(Option<&str>),
) -> std::io::Result<Streamed> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let output = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stdout) = stdout {
            let _ = stdout.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let (sender, receiver) = channel();
    if let Some(stderr) = stderr {
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    let mut last_lines = Vec::new();
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(line) => {
                observe(Some(&line));
                if last_lines.len() == KEPT {
                    last_lines.remove(0);
                }
                last_lines.push(line);
            }
            Err(RecvTimeoutError::Timeout) => observe(None),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait()?;
    Ok(Streamed { status, stdout: output.join().unwrap_or_default(), last_lines })
}
