//! The parser of Go's syntax, from a pattern to its [`Tree`]. It keeps its own stack of open groups, so no pattern can
//! exhaust the thread's, and finds the same first fault as Go does, with the same part of the pattern cut out.

use super::MAX_NESTING;
use super::class;
use super::cursor::Cursor;
use super::error::{PatternCode, PatternError};
use super::syntax::{Kind, Look, NodeId, Tree};
use super::{bracket, escape};

/// The greatest repeat count, alone or as a product of nested ones.
const MAX_REPEAT: u32 = 1_000;

/// Reads `pattern` into a tree and its root.
pub(super) fn parse(pattern: &str) -> Result<(Tree, NodeId), PatternError> {
    let mut parser = Parser {
        cursor: Cursor::new(pattern),
        tree: Tree::default(),
        flags: Flags::default(),
        last_repeat: None,
        outer: Vec::new(),
        group: Group::default(),
    };
    while let Some(character) = parser.cursor.peek() {
        let repeat = parser.read(character)?;
        parser.last_repeat = repeat;
    }
    parser.finish()
}

/// The flags in force, as `(?ims)` sets them. `U` (ungreedy) is accepted and has no effect on a yes or no.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
}

/// What has been read of one group; the whole pattern is the outermost one.
#[derive(Debug, Default)]
struct Group {
    /// The flags to restore behind its closing parenthesis.
    flags_outside: Flags,
    capture: bool,
    alternatives: Vec<NodeId>,
    sequence: Vec<NodeId>,
}

struct Parser<'p> {
    cursor: Cursor<'p>,
    tree: Tree,
    flags: Flags,
    /// Where the repetition starts that was read last, if nothing else has been read since.
    last_repeat: Option<usize>,
    /// The groups around the current one.
    outer: Vec<Group>,
    group: Group,
}

impl Parser<'_> {
    /// Reads the construct that begins with `character`; tells where it starts if it is a repetition.
    fn read(&mut self, character: char) -> Result<Option<usize>, PatternError> {
        let start = self.cursor.position();
        match character {
            '*' | '+' | '?' => {
                self.cursor.next();
                self.repeat(start, |of| match character {
                    '*' => Kind::Star(of),
                    '+' => Kind::Plus(of),
                    _ => Kind::Optional(of),
                })?;
                return Ok(Some(start));
            }
            '{' => {
                if self.counted_repeat(start)? {
                    return Ok(Some(start));
                }
                self.cursor.next();
                self.literal(u32::from('{'));
            }
            '(' if self.cursor.rest().starts_with("(?") => self.special_group(start)?,
            '(' => {
                self.cursor.next();
                self.open(true);
            }
            ')' => self.close()?,
            '|' => {
                self.cursor.next();
                self.end_alternative()?;
            }
            '[' => {
                let ranges = bracket::class(&mut self.cursor, self.flags.fold)?;
                self.push_class(&ranges);
            }
            '\\' => self.backslash(start)?,
            '.' => {
                self.cursor.next();
                self.push_class(if self.flags.dot_newline { class::ANY } else { class::ANY_BUT_NEWLINE });
            }
            '^' => {
                self.cursor.next();
                self.look(if self.flags.multi_line { Look::LineStart } else { Look::TextStart })?;
            }
            '$' => {
                self.cursor.next();
                self.look(if self.flags.multi_line { Look::LineEnd } else { Look::TextEnd })?;
            }
            _ => {
                self.cursor.next();
                self.literal(u32::from(character));
            }
        }
        Ok(None)
    }

    /// Closes what the end of the pattern closes.
    fn finish(mut self) -> Result<(Tree, NodeId), PatternError> {
        let root = self.end_group()?;
        if self.outer.is_empty() {
            Ok((self.tree, root))
        } else {
            Err(self.fault_of_all(PatternCode::MissingParenthesis))
        }
    }

    fn fault(&self, code: PatternCode, start: usize) -> PatternError {
        PatternError::new(code, self.cursor.since(start))
    }

    fn fault_of_all(&self, code: PatternCode) -> PatternError {
        PatternError::new(code, self.cursor.pattern())
    }

    fn add(&mut self, kind: Kind) -> Result<NodeId, PatternError> {
        let id = self.tree.add(kind);
        if self.tree.height(id) > MAX_NESTING {
            return Err(self.fault_of_all(PatternCode::NestsTooDeeply));
        }
        Ok(id)
    }

    fn push_class(&mut self, ranges: &[(u32, u32)]) {
        let id = self.tree.add_class(ranges);
        self.group.sequence.push(id);
    }

    fn literal(&mut self, code_point: u32) {
        let alone = [(code_point, code_point)];
        if self.flags.fold {
            self.push_class(&class::folded(&alone));
        } else {
            self.push_class(&alone);
        }
    }

    fn look(&mut self, look: Look) -> Result<(), PatternError> {
        let id = self.add(Kind::Look(look))?;
        self.group.sequence.push(id);
        Ok(())
    }

    /// Reads what begins with a backslash outside of brackets.
    fn backslash(&mut self, start: usize) -> Result<(), PatternError> {
        let looks = [
            ("\\A", Look::TextStart),
            ("\\z", Look::TextEnd),
            ("\\b", Look::WordBoundary),
            ("\\B", Look::NotWordBoundary),
        ];
        for (text, look) in looks {
            if self.cursor.take(text) {
                return self.look(look);
            }
        }
        if self.cursor.take("\\C") {
            return Err(self.fault(PatternCode::InvalidEscape, start));
        }
        if self.cursor.take("\\Q") {
            let quoted = match self.cursor.take_until("\\E") {
                Some(quoted) => quoted,
                None => self.cursor.take_rest(),
            };
            quoted.chars().for_each(|character| self.literal(u32::from(character)));
            return Ok(());
        }
        let fold = self.flags.fold;
        if let Some(ranges) = escape::property_class(&mut self.cursor, fold)? {
            self.push_class(&ranges);
        } else if let Some(ranges) = escape::perl_class(&mut self.cursor, fold) {
            self.push_class(&ranges);
        } else {
            let code_point = escape::code_point(&mut self.cursor)?;
            self.literal(code_point);
        }
        Ok(())
    }

    /// Repeats what was read last. The operator has been read; a `?` behind it (lazy) is read here and has no effect.
    fn repeat(&mut self, start: usize, build: impl Fn(NodeId) -> Kind) -> Result<(), PatternError> {
        self.cursor.take("?");
        if let Some(first) = self.last_repeat {
            return Err(self.fault(PatternCode::NestedRepeat, first));
        }
        let Some(of) = self.group.sequence.pop() else {
            return Err(self.fault(PatternCode::MissingRepeatArgument, start));
        };
        let id = self.add(build(of))?;
        if self.tree.copies(id) > u64::from(MAX_REPEAT) {
            return Err(self.fault(PatternCode::InvalidRepeatCount, start));
        }
        self.group.sequence.push(id);
        Ok(())
    }

    /// Reads `{min}`, `{min,}` or `{min,max}`; false, with nothing read, where the brace is plain text.
    fn counted_repeat(&mut self, start: usize) -> Result<bool, PatternError> {
        let mut ahead = self.cursor;
        ahead.take("{");
        let Some(min) = integer(&mut ahead) else {
            return Ok(false);
        };
        let max = if !ahead.take(",") {
            Some(min)
        } else if ahead.rest().starts_with('}') {
            None
        } else {
            match integer(&mut ahead) {
                Some(max) => Some(max),
                None => return Ok(false),
            }
        };
        if !ahead.take("}") {
            return Ok(false);
        }
        self.cursor = ahead;
        if min.max(max.unwrap_or(0)) > MAX_REPEAT || max.is_some_and(|max| min > max) {
            return Err(self.fault(PatternCode::InvalidRepeatCount, start));
        }
        self.repeat(start, |of| Kind::Repeat { of, min, max })?;
        Ok(true)
    }

    fn open(&mut self, capture: bool) {
        let inner = Group { flags_outside: self.flags, capture, ..Group::default() };
        self.outer.push(std::mem::replace(&mut self.group, inner));
    }

    /// Reads a closing parenthesis.
    fn close(&mut self) -> Result<(), PatternError> {
        let Some(outside) = self.outer.pop() else {
            return Err(self.fault_of_all(PatternCode::UnexpectedParenthesis));
        };
        self.cursor.next();
        let mut id = self.end_group()?;
        if self.group.capture {
            id = self.add(Kind::Group(id))?;
        }
        self.flags = self.group.flags_outside;
        self.group = outside;
        self.group.sequence.push(id);
        Ok(())
    }

    /// What has been read of the current alternative becomes one node.
    fn end_alternative(&mut self) -> Result<(), PatternError> {
        let sequence = std::mem::take(&mut self.group.sequence);
        let id = match sequence.as_slice() {
            [] => self.add(Kind::Empty)?,
            [only] => *only,
            _ => self.add(Kind::Concat(sequence.into()))?,
        };
        self.group.alternatives.push(id);
        Ok(())
    }

    /// What has been read of the current group becomes one node.
    fn end_group(&mut self) -> Result<NodeId, PatternError> {
        self.end_alternative()?;
        let alternatives = std::mem::take(&mut self.group.alternatives);
        match alternatives.as_slice() {
            [only] => Ok(*only),
            _ => self.add(Kind::Alternate(alternatives.into())),
        }
    }

    /// Reads what begins with `(?`: a named group, flags, or a group with flags.
    fn special_group(&mut self, start: usize) -> Result<(), PatternError> {
        for opening in ["(?P<", "(?<"] {
            // With nothing behind it, Go takes the opening for a wrong flag.
            if self.cursor.rest().len() > opening.len() && self.cursor.take(opening) {
                return self.named_group(start);
            }
        }
        self.cursor.take("(?");
        let mut flags = self.flags;
        let mut value = true;
        let mut seen = true;
        while let Some(character) = self.cursor.next() {
            match character {
                'i' => flags.fold = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_newline = value,
                'U' => {}
                '-' if value => {
                    value = false;
                    seen = false;
                    continue;
                }
                ':' | ')' if seen => {
                    if character == ':' {
                        self.open(false);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            seen = true;
        }
        Err(self.fault(PatternCode::UnsupportedPerlSyntax, start))
    }

    /// Reads the name of a group and its `>`. Names may repeat; nothing is captured.
    fn named_group(&mut self, start: usize) -> Result<(), PatternError> {
        let Some(name) = self.cursor.take_until(">") else {
            return Err(PatternError::new(PatternCode::InvalidNamedCapture, self.cursor.from(start)));
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(self.fault(PatternCode::InvalidNamedCapture, start));
        }
        self.open(true);
        Ok(())
    }
}

/// Reads a decimal number without leading zeros. One too large to be a repeat count reads as some such number.
fn integer(cursor: &mut Cursor<'_>) -> Option<u32> {
    let digit = |cursor: &mut Cursor<'_>| cursor.take_if(|byte| byte.is_ascii_digit());
    let first = digit(cursor)?;
    let mut value = u32::from(first - b'0');
    while let Some(next) = digit(cursor) {
        if first == b'0' {
            return None;
        }
        value = value.saturating_mul(10).saturating_add(u32::from(next - b'0'));
    }
    Some(value)
}
