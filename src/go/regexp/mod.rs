//! Go's regular expressions: [`Program::compile`] reads a pattern as Go 1.27 does and refuses it in Go's own words,
//! [`Program::is_match`] answers whether a value matches within a [`Budget`] of steps. Captures, replacing and
//! searching for positions do not live here: a contract only asks yes or no.
//!
//! Patterns never go to the `regex` crate. Its language is another one: `\d`, `\s`, `\<`, `[a&&b]`, `\b{start}` and
//! bytes that are not UTF-8 silently mean something else there, and its programs are neither small nor bounded in time.
//! It serves as an oracle in tests, where the two languages agree.

mod bracket;
mod budget;
mod cache;
mod class;
mod compile;
mod cursor;
mod decode;
mod error;
mod escape;
mod parse;
mod property;
mod simulate;
mod syntax;

use std::fmt;

pub use budget::{Budget, STEPS_PER_SECRET, STEPS_PER_VALUE, StepsExceeded};
pub use cache::{CACHE_BYTES, Cache};
pub use error::{PatternCode, PatternError};

use class::Class;
use compile::{Address, Instruction};

/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// The largest program, in instructions, after counted repetitions have been written out.
pub const MAX_INSTRUCTIONS: usize = 10_000;
/// The deepest nesting of a pattern's expressions.
pub const MAX_NESTING: u32 = 1_000;

/// A compiled pattern. Its size is a function of the pattern alone; it holds no value and can be shared.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    instructions: Box<[Instruction]>,
    classes: Box<[Class]>,
    start: Address,
    anchored: bool,
}

impl Program {
    /// Compiles `pattern`, or says in Go's words what is wrong with it.
    ///
    /// The limits are [`MAX_PATTERN_BYTES`], [`MAX_INSTRUCTIONS`] and [`MAX_NESTING`]. Of several faults the first in
    /// the pattern is reported, and a pattern that is too large only where nothing else is wrong with it.
    pub fn compile(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::new(PatternCode::TooLong, pattern));
        }
        let (tree, root) = parse::parse(pattern)?;
        // One more is the instruction that ends every program.
        if tree.instructions(root) >= MAX_INSTRUCTIONS as u64 {
            return Err(PatternError::new(PatternCode::TooLarge, pattern));
        }
        let (instructions, start) = compile::compile(&tree, root);
        let anchored = simulate::is_anchored(&instructions, start);
        Ok(Self { instructions: instructions.into(), classes: tree.into_classes().into(), start, anchored })
    }

    /// Whether the pattern matches anywhere in `value`, judged on code points: each byte that belongs to no valid UTF-8
    /// sequence counts as one U+FFFD.
    ///
    /// Takes its steps from `budget`; when they run out the answer is neither yes nor no.
    pub fn is_match(&self, value: &[u8], budget: &mut Budget) -> Result<bool, StepsExceeded> {
        let code = simulate::Code {
            instructions: &self.instructions,
            classes: &self.classes,
            start: self.start,
            anchored: self.anchored,
        };
        simulate::is_match(code, value, &mut budget.start_value())
    }

    /// The instructions of the program.
    pub fn instructions(&self) -> usize {
        self.instructions.len()
    }

    /// The memory that the program holds, in bytes.
    pub fn size_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.instructions)
            + self.classes.iter().map(Class::size_bytes).sum::<usize>()
    }
}

impl fmt::Debug for Program {
    /// The size alone; the instructions of a program are nothing that anyone reads.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Program").field("instructions", &self.instructions()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
