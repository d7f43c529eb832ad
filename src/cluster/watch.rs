//! Watches that go on whatever happens, and say in readiness and log what holds them up.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt as _};
use kube::runtime::utils::{Backoff, StreamBackoff};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::error::{describe, status_code};
use crate::process::health::Check;

/// The pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause: a kind that is installed later is found within it.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The events of every object behind `api`, for ever. `what` names them in log and readiness (`secretcontracts`).
///
/// `check` fails, with the reason, until the first complete list and again whenever a list fails. A broken watch
/// is resumed where it broke and does not touch the check. A failure is logged when its text is new.
pub fn events<K>(
    api: Api<K>,
    config: watcher::Config,
    what: &'static str,
    check: Check,
) -> impl Stream<Item = Event<K>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut reporter = Reporter { what, check, last: None };
    StreamBackoff::new(watcher::watcher(api, config), Doubling::default()).filter_map(move |step| {
        reporter.see(step.as_ref());
        std::future::ready(step.ok())
    })
}

struct Reporter {
    what: &'static str,
    check: Check,
    last: Option<String>,
}

impl Reporter {
    fn see<K>(&mut self, step: Result<&Event<K>, &watcher::Error>) {
        match step {
            Ok(event) => {
                // Init only says that a list is about to be tried.
                if !matches!(event, Event::Init) && self.last.take().is_some() {
                    tracing::info!("watching {} again", self.what);
                }
                if matches!(event, Event::InitDone) {
                    self.check.pass();
                }
            }
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: &watcher::Error) {
        let Failure { code, reason, listing, .. } = Failure::of(error);
        let reason = if listing && code == Some(404) {
            format!(
                "the API server does not serve {} (404); are the CustomResourceDefinitions installed?",
                self.what
            )
        } else {
            reason
        };
        if listing {
            self.check.fail(format!("cannot list {}: {reason}", self.what));
        }
        if self.last.as_ref() == Some(&reason) {
            tracing::debug!(error = reason, "still cannot watch {}", self.what);
        } else {
            tracing::warn!(error = reason, "cannot watch {}, trying again", self.what);
            self.last = Some(reason);
        }
    }
}

/// What held a watch up.
pub(super) struct Failure {
    /// The HTTP status, if the API server answered.
    pub(super) code: Option<u16>,
    /// What it or the connection said.
    pub(super) reason: String,
    /// Whether it was the list that failed.
    pub(super) listing: bool,
    /// Whether it was the list or the first answer to the watch, not a watch under way.
    pub(super) starting: bool,
}

impl Failure {
    pub(super) fn of(error: &watcher::Error) -> Self {
        let (code, reason) = match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => (status_code(error), describe(error)),
            watcher::Error::WatchError(status) => (Some(status.code), status.message.clone()),
            watcher::Error::NoResourceVersion => (None, error.to_string()),
        };
        let listing = matches!(error, watcher::Error::InitialListFailed(_));
        let starting = listing || matches!(error, watcher::Error::WatchStartFailed(_));
        Self { code, reason, listing, starting }
    }
}

/// Pauses that double from [`FIRST_PAUSE`] to [`LONGEST_PAUSE`]. A watch that begins to list counts as a success to the
/// stream, so only a time without any failure starts over.
#[derive(Default)]
pub(super) struct Doubling {
    failures: u32,
    last: Option<Instant>,
}

impl Iterator for Doubling {
    type Item = Duration;
    fn next(&mut self) -> Option<Duration> {
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.last = Some(Instant::now());
        Some(pause)
    }
}

impl Backoff for Doubling {
    fn reset(&mut self) {
        if self.last.is_some_and(|last| last.elapsed() > 2 * LONGEST_PAUSE) {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_bounded() {
        let mut pauses = Doubling::default();
        let seen: Vec<_> = pauses.by_ref().take(7).map(|pause| pause.as_millis()).collect();
        assert_eq!(seen, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
        pauses.reset();
        assert_eq!(pauses.next(), Some(LONGEST_PAUSE), "a list that begins is no success yet");
        pauses.last = Instant::now().checked_sub(3 * LONGEST_PAUSE);
        pauses.reset();
        assert_eq!(pauses.next(), Some(FIRST_PAUSE));
    }
}
