//! When to try again: by the class of the failure, later each time, and not at the same moment for every object.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use crate::cluster::error::FailureClass;

/// The pause after the `failures`-th failure in a row (counted from 1) of the object whose identity is `seed`; `None`
/// when only a change of the object can help.
pub(super) fn pause(class: FailureClass, failures: u32, seed: &str) -> Option<Duration> {
    let (first, longest) = match class {
        // Our own copy is older than what is stored; the watch brings the newer one at any moment.
        FailureClass::Conflict => (Duration::from_millis(200), Duration::from_secs(10)),
        // It is gone, and the watch will say so.
        FailureClass::NotFound => return None,
        FailureClass::Server | FailureClass::Transport => (Duration::from_secs(1), Duration::from_mins(1)),
        // A person has to do something.
        FailureClass::AccessDenied => (Duration::from_mins(1), Duration::from_mins(10)),
        FailureClass::Refused | FailureClass::Internal => (Duration::from_mins(1), Duration::from_mins(30)),
    };
    let doubled = first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(longest);
    Some(spread(doubled, 0.2, &format!("{seed}/{failures}")))
}

/// `duration`, lengthened by up to `share` of it; how much depends on `seed` alone.
pub(super) fn spread(duration: Duration, share: f64, seed: &str) -> Duration {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    let part = u32::try_from(hasher.finish() % 1000).unwrap_or_default();
    duration.mul_f64(1.0 + share * f64::from(part) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_by_class_and_are_bounded() {
        let within = |class, failures, low: u64, high: u64| {
            let pause = pause(class, failures, "uid").unwrap().as_millis();
            assert!(
                (u128::from(low)..=u128::from(high)).contains(&pause),
                "{class:?} {failures}: {pause} ms"
            );
        };
        within(FailureClass::Conflict, 1, 200, 240);
        within(FailureClass::Transport, 1, 1_000, 1_200);
        within(FailureClass::Transport, 3, 4_000, 4_800);
        within(FailureClass::Server, 1_000, 60_000, 72_000);
        within(FailureClass::AccessDenied, 1, 60_000, 72_000);
        within(FailureClass::AccessDenied, 99, 600_000, 720_000);
        assert_eq!(pause(FailureClass::NotFound, 1, "uid"), None);
        let differ = pause(FailureClass::Server, 1, "a") != pause(FailureClass::Server, 1, "b");
        assert!(differ, "objects do not all come back at once");
    }
}
