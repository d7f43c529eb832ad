//! How much work a match may cost. One step is one instruction that a thread enters at one position of the value; every
//! instruction is entered at most once at a position, so a value costs at most instructions × (code points + 1) steps.
//! Steps are counted, never time: the same pattern and value end the same way on every machine.

/// The steps that one value may cost.
pub const STEPS_PER_VALUE: u64 = 20_000_000;
/// The steps that all values of one Secret may cost together.
pub const STEPS_PER_SECRET: u64 = 100_000_000;

/// The steps that are left for the values of one Secret.
#[derive(Debug, Clone)]
pub struct Budget {
    per_value: u64,
    total: u64,
}

impl Budget {
    /// A budget of `total` steps of which one value may take [`STEPS_PER_VALUE`]. Only the total may differ between
    /// installations; the other limit is part of the API version.
    pub fn new(total: u64) -> Self {
        Self { per_value: STEPS_PER_VALUE, total }
    }

    /// Begins to count for one more value.
    pub(super) fn start_value(&mut self) -> Meter<'_> {
        Meter { left: self.per_value.min(self.total), total: &mut self.total }
    }
}

impl Default for Budget {
    /// [`STEPS_PER_SECRET`] steps in all.
    fn default() -> Self {
        Self::new(STEPS_PER_SECRET)
    }
}

/// Counts the steps of one value.
pub(super) struct Meter<'a> {
    left: u64,
    total: &'a mut u64,
}

impl Meter<'_> {
    /// Takes one step off what is left.
    pub(super) fn step(&mut self) -> Result<(), StepsExceeded> {
        self.left = self.left.checked_sub(1).ok_or(StepsExceeded)?;
        *self.total = self.total.saturating_sub(1);
        Ok(())
    }
}

/// The match was given up because its steps were used up: neither "matches" nor "does not match".
///
/// Says nothing about the value, the pattern or how far the match had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the evaluation limit was exceeded")]
pub struct StepsExceeded;
