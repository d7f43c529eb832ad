//! Tells a person on standard error what is being fetched or built, how far it is, and how long it has taken.
//!
//! It writes to the stream itself and not with print macros: the test runner captures those, and a person who runs the
//! tests for the first time must see why nothing else happens for minutes.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Time between two lines where the output is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Time between two rewrites of the line on a terminal.
const REWRITE_INTERVAL: Duration = Duration::from_millis(500);
/// What fits on one line of the usual terminal; a longer line would wrap and could not be rewritten.
const WIDTH: usize = 79;

/// How progress is shown on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// One line that is rewritten on a terminal, else a line every ten seconds.
    Standard,
    /// A line every ten seconds, also on a terminal: for work beside a person's own output.
    Lines,
    /// Nothing.
    Quiet,
}

/// One piece of work that takes a while.
pub(super) struct Progress {
    what: String,
    display: Display,
    rewrite: bool,
    started: Instant,
    shown: Instant,
    detail: String,
}

impl Progress {
    /// Begins, and says so at once: what it is, and how it is done.
    pub(super) fn start(display: Display, what: impl Into<String>, how: &str) -> Self {
        let rewrite = display == Display::Standard && io::stderr().is_terminal();
        let now = Instant::now();
        let progress =
            Self { what: what.into(), display, rewrite, started: now, shown: now, detail: String::new() };
        progress.write(how);
        progress
    }

    /// Shows how far it is, if it is time to show something again.
    pub(super) fn show(&mut self, detail: impl Into<String>) {
        self.detail = detail.into();
        self.tick();
    }

    /// Shows the same again with the time that has passed, if it is time to show something again.
    pub(super) fn tick(&mut self) {
        let interval = if self.rewrite { REWRITE_INTERVAL } else { LINE_INTERVAL };
        if self.shown.elapsed() >= interval {
            self.shown = Instant::now();
            self.write(&self.detail);
        }
    }

    /// Ends with a line that stays, however long it is.
    pub(super) fn end(self, outcome: &str) {
        if self.rewrite {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
        say(self.display, &line(&self.what, outcome, self.started.elapsed()));
    }

    fn write(&self, detail: &str) {
        if self.display == Display::Quiet {
            return;
        }
        let line = line(&self.what, detail, self.started.elapsed());
        let mut stderr = io::stderr().lock();
        let _ = if self.rewrite {
            let cut: String = line.chars().take(WIDTH).collect();
            write!(stderr, "\r\x1b[2K{cut}").and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{line}")
        };
    }
}

/// Says one line.
pub(super) fn say(display: Display, line: &str) {
    if display != Display::Quiet {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

fn line(what: &str, detail: &str, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let time = if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    };
    format!("{what}: {detail}, {time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_how_far_and_how_long() {
        assert_eq!(
            line("building etcd", "12 of 566 packages", Duration::from_millis(3900)),
            "building etcd: 12 of 566 packages, 3 s"
        );
        let longest = line(
            "building kube-controller-manager 1.37.2",
            "1204 of 1689 packages",
            Duration::from_secs(3599),
        );
        assert!(longest.len() <= WIDTH, "the time would be cut off: {longest}");
        assert_eq!(line("a", "b", Duration::from_secs(125)), "a: b, 2 min 5 s");
    }
}
