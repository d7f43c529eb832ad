//! Waiting for the echo of our own write.
//!
//! A pass compares what it found with the status in our copy of the object, which the watch brings. Between a write and
//! its echo that copy is too old: a pass would compare with the wrong status, and could leave the wrong one standing.

use std::time::{Duration, Instant};

/// The shortest time between two writes of one status, however often the Secret changes.
const BETWEEN_WRITES: Duration = Duration::from_secs(1);
/// How long to wait for the echo. Should it never come, a write from an old copy meets a conflict.
const PATIENCE: Duration = Duration::from_secs(5);
/// How soon to look for the echo again.
const PAUSE: Duration = Duration::from_millis(100);

/// The last write of one status, and whether the watch has shown it.
#[derive(Debug, Default)]
pub(super) struct Echo {
    /// When the last write was done.
    written: Option<Instant>,
    /// The version it made, until it is seen.
    expected: Option<String>,
    /// Versions seen while a write is under way: the watch may be faster than the answer to the write.
    meanwhile: Option<Vec<String>>,
}

impl Echo {
    /// How long a pass at `now` has to wait; `None`: it need not.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let age = now.saturating_duration_since(self.written?);
        let rest = BETWEEN_WRITES.checked_sub(age).filter(|rest| !rest.is_zero());
        if self.expected.is_some() && age < PATIENCE {
            return Some(rest.unwrap_or(PAUSE));
        }
        rest
    }

    /// A write begins.
    pub(super) fn begin(&mut self) {
        self.meanwhile = Some(Vec::new());
    }

    /// The write is done and has made `version`; `None`: it failed.
    pub(super) fn end(&mut self, version: Option<String>, now: Instant) {
        let meanwhile = self.meanwhile.take().unwrap_or_default();
        if let Some(version) = version {
            self.written = Some(now);
            self.expected = Some(version).filter(|version| !meanwhile.contains(version));
        }
    }

    /// The watch has shown this version.
    pub(super) fn seen(&mut self, version: String) {
        if self.expected.as_ref() == Some(&version) {
            self.expected = None;
        }
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile.push(version);
        }
    }

    /// Versions may have been missed, so none is waited for.
    pub(super) fn forget(&mut self) {
        self.expected = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn writes_are_a_second_apart_and_wait_for_their_echo() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut echo = Echo::default();
        assert_eq!(echo.wait(start), None);
        echo.begin();
        echo.end(Some(version("5")), start);
        assert_eq!(echo.wait(at(300)), Some(Duration::from_millis(700)));
        assert_eq!(echo.wait(at(1500)), Some(PAUSE), "not seen yet");
        echo.seen(version("4"));
        assert_eq!(echo.wait(at(1500)), Some(PAUSE));
        echo.seen(version("5"));
        assert_eq!(echo.wait(at(300)), Some(Duration::from_millis(700)));
        assert_eq!(echo.wait(at(1500)), None);
    }

    #[test]
    fn an_echo_may_come_before_the_answer_or_never() {
        let start = Instant::now();
        let later = start + Duration::from_secs(2);
        let mut echo = Echo::default();
        echo.begin();
        echo.seen(version("5"));
        echo.seen(version("6"));
        echo.end(Some(version("5")), start);
        assert_eq!(echo.wait(later), None, "it was seen meanwhile");
        echo.begin();
        echo.end(Some(version("7")), start);
        assert_eq!(echo.wait(start + PATIENCE), None, "no echo is waited for too long");
        echo.forget();
        assert_eq!(echo.wait(later), None);
        echo.begin();
        echo.end(None, later);
        assert_eq!(echo.wait(later), None, "a failed write has no echo");
    }
}
