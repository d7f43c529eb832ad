//! Where a parser stands in a pattern. Knows text and positions, nothing of syntax.

/// A place in a pattern, always between two characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'p> {
    pattern: &'p str,
    at: usize,
}

impl<'p> Cursor<'p> {
    /// The start of `pattern`.
    pub(super) fn new(pattern: &'p str) -> Self {
        Self { pattern, at: 0 }
    }

    /// The whole pattern.
    pub(super) fn pattern(&self) -> &'p str {
        self.pattern
    }

    /// The byte position.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What lies ahead.
    pub(super) fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    /// What has been read since the byte position `start`.
    pub(super) fn since(&self, start: usize) -> &'p str {
        self.pattern.get(start..self.at).unwrap_or_default()
    }

    /// Everything from the byte position `start` to the end of the pattern.
    pub(super) fn from(&self, start: usize) -> &'p str {
        self.pattern.get(start..).unwrap_or_default()
    }

    /// The next character, left where it is.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character, read.
    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Reads `text` if it lies right ahead.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let ahead = self.rest().starts_with(text);
        if ahead {
            self.at += text.len();
        }
        ahead
    }

    /// Reads up to `end` and past it; gives what stood before it. Reads nothing where `end` does not follow.
    pub(super) fn take_until(&mut self, end: &str) -> Option<&'p str> {
        let (before, _) = self.rest().split_once(end)?;
        self.at += before.len() + end.len();
        Some(before)
    }

    /// Reads all that is left.
    pub(super) fn take_rest(&mut self) -> &'p str {
        let rest = self.rest();
        self.at = self.pattern.len();
        rest
    }

    /// Reads the next character if it is an ASCII character that `accepts`.
    pub(super) fn take_if(&mut self, accepts: impl Fn(u8) -> bool) -> Option<u8> {
        let byte = self.rest().bytes().next().filter(u8::is_ascii).filter(|&byte| accepts(byte))?;
        self.at += 1;
        Some(byte)
    }
}
