//! The simulation of a program on a value: all threads at once, position by position, so that time is bounded by
//! instructions × code points and no pattern can make it worse. Answers yes or no and nothing else.

use super::budget::{Meter, StepsExceeded};
use super::class::Class;
use super::compile::{Address, Instruction};
use super::decode;
use super::syntax::Look;

/// A program as the simulation sees it.
#[derive(Clone, Copy)]
pub(super) struct Code<'p> {
    pub(super) instructions: &'p [Instruction],
    pub(super) classes: &'p [Class],
    pub(super) start: Address,
    /// Whether a match can only begin at the start of the value.
    pub(super) anchored: bool,
}

/// Whether the program matches anywhere in `value`.
pub(super) fn is_match(code: Code<'_>, value: &[u8], meter: &mut Meter<'_>) -> Result<bool, StepsExceeded> {
    let mut threads = Threads::new(code.instructions.len());
    let mut previous = None;
    let mut rest = value;
    let mut position = 0_u64;
    loop {
        let ahead = decode::next(rest);
        let current = ahead.map(|(code_point, _)| code_point);
        if position == 0 || !code.anchored {
            threads.waiting.push(code.start);
        } else if threads.waiting.is_empty() {
            return Ok(false);
        }
        // Position 0 has the mark 1: no instruction has been entered before it.
        position += 1;
        if threads.advance(code, position, Surroundings { previous, current }, meter)? {
            return Ok(true);
        }
        let Some((code_point, behind)) = ahead else {
            return Ok(false);
        };
        previous = Some(code_point);
        rest = behind;
    }
}

/// Whether every way into the program passes the start of the value.
pub(super) fn is_anchored(instructions: &[Instruction], start: Address) -> bool {
    let mut seen = vec![false; instructions.len()];
    let mut waiting = vec![start];
    while let Some(address) = waiting.pop() {
        let index = address as usize;
        let (Some(seen), Some(instruction)) = (seen.get_mut(index), instructions.get(index)) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        match *instruction {
            Instruction::Look { look: Look::TextStart, .. } => {}
            Instruction::Look { next, .. } => waiting.push(next),
            Instruction::Split { first, second } => waiting.extend([first, second]),
            Instruction::Match | Instruction::CodePoint { .. } | Instruction::Class { .. } => return false,
        }
    }
    true
}

/// The code points on both sides of a position.
#[derive(Clone, Copy)]
struct Surroundings {
    previous: Option<u32>,
    current: Option<u32>,
}

impl Surroundings {
    fn satisfies(self, look: Look) -> bool {
        const NEWLINE: u32 = 0x0A;
        match look {
            Look::TextStart => self.previous.is_none(),
            Look::TextEnd => self.current.is_none(),
            Look::LineStart => self.previous.is_none_or(|point| point == NEWLINE),
            Look::LineEnd => self.current.is_none_or(|point| point == NEWLINE),
            Look::WordBoundary => is_word(self.previous) != is_word(self.current),
            Look::NotWordBoundary => is_word(self.previous) == is_word(self.current),
        }
    }
}

/// Go's words are ASCII, even where case does not matter.
fn is_word(code_point: Option<u32>) -> bool {
    code_point
        .and_then(|point| u8::try_from(point).ok())
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The threads of a simulation.
struct Threads {
    /// For each instruction the mark of the last position where it was entered.
    entered: Vec<u64>,
    /// Instructions to enter at this position.
    waiting: Vec<Address>,
    /// Instructions to enter at the next position.
    following: Vec<Address>,
}

impl Threads {
    fn new(instructions: usize) -> Self {
        Self { entered: vec![0; instructions], waiting: Vec::new(), following: Vec::new() }
    }

    /// Runs every waiting thread over the current code point; true if one of them has matched.
    fn advance(
        &mut self,
        code: Code<'_>,
        mark: u64,
        around: Surroundings,
        meter: &mut Meter<'_>,
    ) -> Result<bool, StepsExceeded> {
        while let Some(address) = self.waiting.pop() {
            let index = address as usize;
            let (Some(entered), Some(instruction)) =
                (self.entered.get_mut(index), code.instructions.get(index))
            else {
                continue;
            };
            if *entered == mark {
                continue;
            }
            *entered = mark;
            meter.step()?;
            match *instruction {
                Instruction::Match => return Ok(true),
                Instruction::CodePoint { code_point, next } => {
                    if around.current == Some(code_point) {
                        self.following.push(next);
                    }
                }
                Instruction::Class { class, next } => {
                    let class = code.classes.get(class as usize);
                    if around.current.zip(class).is_some_and(|(point, class)| class.contains(point)) {
                        self.following.push(next);
                    }
                }
                Instruction::Look { look, next } => {
                    if around.satisfies(look) {
                        self.waiting.push(next);
                    }
                }
                Instruction::Split { first, second } => self.waiting.extend([second, first]),
            }
        }
        std::mem::swap(&mut self.waiting, &mut self.following);
        Ok(false)
    }
}
