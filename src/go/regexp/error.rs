//! What can be wrong with a pattern, in the words of Go's `regexp/syntax`.

use std::fmt;

use super::{MAX_INSTRUCTIONS, MAX_PATTERN_BYTES};

/// Why a pattern does not compile.
///
/// `Display` gives what Go prints: ``error parsing regexp: CODE: `EXPRESSION` ``, on one line only if the expression is.
/// The two limits that Go does not have speak in words of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    code: PatternCode,
    expression: String,
}

/// The kinds of fault in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatternCode {
    /// An escape that Go does not know, such as `\h` or `\1`.
    InvalidEscape,
    /// A range whose end lies before its start, or a class or property name that Go does not know.
    InvalidClassRange,
    /// A character class that is not closed.
    MissingBracket,
    /// A group that is not closed.
    MissingParenthesis,
    /// A `)` without its group.
    UnexpectedParenthesis,
    /// A repetition with nothing before it.
    MissingRepeatArgument,
    /// A repetition directly behind a repetition.
    NestedRepeat,
    /// A repetition of more than 1,000, alone or multiplied, or with its bounds in the wrong order.
    InvalidRepeatCount,
    /// A capture name that is empty, not closed, or not of letters, digits and `_`.
    InvalidNamedCapture,
    /// A `(?…` construct that Go does not have, such as look-around.
    UnsupportedPerlSyntax,
    /// A lone backslash at the end.
    TrailingBackslash,
    /// Expressions nested deeper than [`MAX_NESTING`](super::MAX_NESTING).
    NestsTooDeeply,
    /// A program of more than [`MAX_INSTRUCTIONS`] instructions; not a limit of Go.
    TooLarge,
    /// A pattern of more than [`MAX_PATTERN_BYTES`] bytes; not a limit of Go.
    TooLong,
}

impl PatternCode {
    /// The code in Go's words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidEscape => "invalid escape sequence",
            Self::InvalidClassRange => "invalid character class range",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParenthesis => "missing closing )",
            Self::UnexpectedParenthesis => "unexpected )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::NestedRepeat => "invalid nested repetition operator",
            Self::InvalidRepeatCount => "invalid repeat count",
            Self::InvalidNamedCapture => "invalid named capture",
            Self::UnsupportedPerlSyntax => "invalid or unsupported Perl syntax",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::NestsTooDeeply => "expression nests too deeply",
            Self::TooLarge => "expression too large",
            Self::TooLong => "expression too long",
        }
    }
}

impl PatternError {
    pub(super) fn new(code: PatternCode, expression: &str) -> Self {
        Self { code, expression: expression.to_owned() }
    }

    /// Which kind of fault it is.
    pub fn code(&self) -> PatternCode {
        self.code
    }

    /// The part of the pattern that is at fault, as Go cuts it out. Empty for a trailing backslash.
    pub fn expression(&self) -> &str {
        &self.expression
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.as_str();
        match self.code {
            PatternCode::TooLarge => write!(
                formatter,
                "{code}: it expands to more than {MAX_INSTRUCTIONS} instructions; use smaller repeat counts"
            ),
            PatternCode::TooLong => {
                write!(formatter, "{code}: it may not be more than {MAX_PATTERN_BYTES} bytes")
            }
            _ => write!(formatter, "error parsing regexp: {code}: `{}`", self.expression),
        }
    }
}

impl std::error::Error for PatternError {}
