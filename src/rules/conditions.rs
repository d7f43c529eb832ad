//! Conditions as a map by type: merged, compared ignoring time. Whoever makes a status uses these.

use jiff::Timestamp;

use super::text;
use crate::api::conditions::{Condition, ConditionStatus, MAX_MESSAGE_BYTES};

/// A time as a status holds it: RFC 3339 in UTC, whole seconds.
pub fn time(now: Timestamp) -> String {
    // Every time of day has a whole second before it, so the fallback is never taken.
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// What a condition shall say.
pub struct Wanted<'a> {
    /// Its type.
    pub type_: &'a str,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word.
    pub reason: &'a str,
    /// What a person should know; cut to what a condition may hold.
    pub message: String,
}

/// The conditions of an object: those wanted, in their order, then those of `stored` that are not ours.
///
/// `lastTransitionTime` moves only when the status does.
pub fn merged<'a>(
    stored: &[Condition],
    wanted: impl IntoIterator<Item = Wanted<'a>>,
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = wanted
        .into_iter()
        .map(|wanted| {
            let before = stored.iter().find(|condition| condition.type_ == wanted.type_);
            let since = before
                .filter(|before| {
                    before.status == wanted.status && before.last_transition_time.parse::<Timestamp>().is_ok()
                })
                .map(|before| before.last_transition_time.clone());
            Condition {
                type_: wanted.type_.to_owned(),
                status: wanted.status,
                observed_generation: Some(generation),
                last_transition_time: since.unwrap_or_else(|| time(now)),
                reason: wanted.reason.to_owned(),
                message: text::cut(wanted.message, MAX_MESSAGE_BYTES),
            }
        })
        .collect();
    for condition in stored {
        if conditions.iter().all(|ours| ours.type_ != condition.type_) {
            conditions.push(condition.clone());
        }
    }
    conditions
}

/// Whether two sets of conditions say the same, whatever their order and times.
pub fn same_ignoring_time(left: &[Condition], right: &[Condition]) -> bool {
    let timeless = |conditions: &[Condition]| {
        let mut conditions: Vec<Condition> = conditions
            .iter()
            .map(|condition| Condition { last_transition_time: String::new(), ..condition.clone() })
            .collect();
        conditions.sort_by(|left, right| left.type_.cmp(&right.type_));
        conditions
    };
    timeless(left) == timeless(right)
}
