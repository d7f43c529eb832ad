//! Runs a child process to its end within a time limit, and keeps what it wrote.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a finished process left.
pub(super) struct Finished {
    /// How it ended.
    pub(super) status: ExitStatus,
    /// Its standard output, read leniently as UTF-8.
    pub(super) stdout: String,
    /// Its standard error, read leniently as UTF-8.
    pub(super) stderr: String,
}

/// Runs `command` with `input` on its standard input and waits at most `limit`, then kills it.
pub(super) fn finish(mut command: Command, input: Option<&[u8]>, limit: Duration) -> io::Result<Finished> {
    let end = Instant::now() + limit;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            // A process that does not read all of its input is free to do so.
            scope.spawn(move || pipe.write_all(input).ok());
        }
        let output = (child.stdout.take(), child.stderr.take());
        let done = sender.clone();
        let stdout = scope.spawn(move || read_all(output.0, || drop(done)));
        let stderr = scope.spawn(move || read_all(output.1, || drop(sender)));
        // Both senders are gone once both pipes have ended.
        let in_time = receiver.recv_timeout(end.saturating_duration_since(Instant::now()));
        if in_time == Err::<(), _>(RecvTimeoutError::Timeout) {
            let _ = child.kill();
        }
        let status = wait_until(&mut child, end);
        let stdout = stdout.join().unwrap_or_default();
        let stderr = stderr.join().unwrap_or_default();
        let status = status?.ok_or_else(|| {
            io::Error::new(io::ErrorKind::TimedOut, format!("did not end within {} s", limit.as_secs()))
        })?;
        Ok(Finished { status, stdout, stderr })
    })
}

/// Waits for a process that has closed its output, or was killed; none when the time was up before it ended.
fn wait_until(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if Instant::now() < end { Some(status) } else { None });
        }
        if Instant::now() >= end {
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn read_all(pipe: Option<impl Read>, done: impl FnOnce()) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    done();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_status_come_back() {
        let script = "cat; echo problem >&2; exit 3";
        let finished = finish(shell(script), Some(b"text"), Duration::from_mins(1)).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("text", "problem\n"));
    }

    #[test]
    fn more_output_than_a_pipe_holds_does_not_block() {
        let script = "head -c 300000 /dev/zero | tr '\\0' a; head -c 300000 /dev/zero | tr '\\0' b >&2";
        let finished = finish(shell(script), None, Duration::from_mins(1)).unwrap();
        assert_eq!((finished.stdout.len(), finished.stderr.len()), (300_000, 300_000));
    }

    #[test]
    fn what_hangs_is_killed() {
        let Err(error) = finish(shell("exec sleep 600"), None, Duration::from_millis(200)) else {
            panic!("a process that hangs was waited for")
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
