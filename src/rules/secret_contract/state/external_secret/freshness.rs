//! Whether the report of an ExternalSecret is about what it is now, and young enough. Nothing else is judged here.

use jiff::{SignedDuration, Timestamp};

use crate::format::rfc3339;
use crate::go::duration;
use crate::rules::facts::ExternalSecretFacts;

/// The operator's own interval where none is written.
const DEFAULT_INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// How late a refresh may be at least; a tenth of the interval where that is more.
const LEAST_GRACE: SignedDuration = SignedDuration::from_mins(5);

/// Why a report says nothing about now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stale {
    /// It is about another generation.
    Generation,
    /// It does not say which generation it is about.
    NoGeneration,
    /// The last refresh is too long ago.
    Overdue,
    /// It does not say when the last refresh was.
    NoRefreshTime,
    /// When the next refresh is due is not said in a form that can be read.
    NoInterval,
}

impl Stale {
    /// For a person, about the ExternalSecret `name`.
    pub(super) fn message(self, name: &str) -> String {
        match self {
            Self::Generation => format!(
                "The report of ExternalSecret \"{name}\" is about an earlier version of it. Wait for the next sync, or \
                 check that the External Secrets Operator is running."
            ),
            Self::NoGeneration => format!(
                "The report of ExternalSecret \"{name}\" does not say which version of it was synced: metadata.generation \
                 or status.syncedResourceVersion is missing or malformed. Check that the External Secrets Operator is \
                 running and supported."
            ),
            Self::Overdue => format!(
                "The last refresh of ExternalSecret \"{name}\" is longer ago than its refreshInterval allows. Check that \
                 the External Secrets Operator is running."
            ),
            Self::NoRefreshTime => format!(
                "The report of ExternalSecret \"{name}\" does not say when it was refreshed: status.refreshTime is \
                 missing or malformed. Check that the External Secrets Operator is running and supported."
            ),
            Self::NoInterval => format!(
                "When the next refresh of ExternalSecret \"{name}\" is due is not known: its spec.refreshInterval is no \
                 Go duration such as 1h. Correct it."
            ),
        }
    }
}

/// Why the report is stale; or the first instant at which it will be, if it comes to that by itself.
pub(super) fn judge(facts: &ExternalSecretFacts, now: Timestamp) -> Result<Option<Timestamp>, Stale> {
    let policy = facts.refresh_policy.as_deref();
    // Made once and never again: later versions of it are not synced at all.
    if policy == Some("CreatedOnce") {
        return Ok(None);
    }
    match (facts.generation, facts.synced_resource_version.as_deref().and_then(synced_generation)) {
        (Some(is), Some(synced)) if is == synced => {}
        (Some(_), Some(_)) => return Err(Stale::Generation),
        _ => return Err(Stale::NoGeneration),
    }
    if policy == Some("OnChange") {
        return Ok(None);
    }
    // A policy that is not known is held to the strictest that is.
    let interval = match &facts.refresh_interval {
        None => DEFAULT_INTERVAL,
        Some(text) => {
            let interval = duration::parse(text).map_err(|_| Stale::NoInterval)?;
            SignedDuration::from_nanos(interval.nanoseconds())
        }
    };
    // The operator does not refresh by time then.
    if interval <= SignedDuration::ZERO {
        return Ok(None);
    }
    let refreshed = facts.refresh_time.as_deref().and_then(rfc3339::parse).ok_or(Stale::NoRefreshTime)?;
    let grace = LEAST_GRACE.max(interval / 10);
    match refreshed.checked_add(interval.saturating_add(grace)) {
        Ok(latest) if now > latest => Err(Stale::Overdue),
        // At that very instant it is still in time.
        Ok(latest) => Ok(latest.checked_add(SignedDuration::from_nanos(1)).ok()),
        // Beyond the end of time.
        Err(_) => Ok(None),
    }
}

/// The number before the first dash.
fn synced_generation(text: &str) -> Option<i64> {
    let (number, _) = text.split_once('-')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}
