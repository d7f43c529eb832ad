//! Why a document cannot be read. The texts are ours: a parser's own words may quote what stands in the document, and
//! that may be a secret.

use std::fmt;

use granit_parser::{ErrorKind, ScanError};

use super::compose::line_of;

/// A document that cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line in the file, from 1.
    pub line: u32,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Not YAML, for a reason that has no name of its own here.
    Syntax,
    /// A tab where only spaces may indent.
    Tab,
    /// A line that is indented to no level of the lines above.
    Indentation,
    /// A quoted text without its end, or with a wrong escape.
    Quotes,
    /// A bracket or brace without its partner, or a missing comma.
    Brackets,
    /// A `:` where none may stand, or none where one must.
    Colon,
    /// A character that must be quoted, or that text may not hold.
    Character,
    /// A tag on a value that it does not fit, or one that is not declared.
    Tag,
    /// `.nan` or `.inf`.
    NotFinite,
    /// A map key that is no text, number or boolean.
    Key,
    /// A key that the map has already.
    DuplicateKey {
        /// Line of the first one.
        first: u32,
    },
    /// `<<` with something that is no map.
    Merge,
    /// An alias without an anchor before it.
    Alias,
    /// Aliases that unfold to too much.
    Aliases,
    /// Deeper than this many levels.
    Depth(usize),
    /// The document is a single text or number.
    NotAnObject,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Syntax => "is not valid YAML or JSON here",
            Self::Tab => "a tab stands where YAML wants spaces; indent with spaces",
            Self::Indentation => "the indentation fits no level of the lines above",
            Self::Quotes => "a quoted text does not end, or holds an escape that does not exist",
            Self::Brackets => "a bracket, brace or comma is missing or misplaced",
            Self::Colon => "a colon is missing or misplaced; quote a text that holds one",
            Self::Character => "a character stands here that text may not hold, or that must be quoted",
            Self::Tag => "a tag (!…) is not declared or does not fit its value",
            Self::NotFinite => "a number must be finite",
            Self::Key => "a key must be a text, a number or a boolean",
            Self::DuplicateKey { first } => {
                return write!(
                    formatter,
                    "a key stands twice in one map, first on line {first}; keep one of them"
                );
            }
            Self::Merge => "the merge key << needs a map",
            Self::Alias => "an alias (*…) has no anchor before it",
            Self::Aliases => "aliases unfold to more than 16 MiB; write the parts out",
            Self::Depth(limit) => return write!(formatter, "nests deeper than {limit} levels"),
            Self::NotAnObject => "holds a single value where an object is expected",
        };
        formatter.write_str(words)
    }
}

impl Unreadable {
    /// From the parser's error.
    pub(super) fn scan(error: &ScanError, first_line: u32) -> Self {
        Self { line: line_of(error.marker().line(), first_line), problem: Problem::of(error.kind()) }
    }
}

impl Problem {
    fn of(kind: &ErrorKind) -> Self {
        use ErrorKind as K;
        match kind {
            K::TabNotAllowed
            | K::TabInBlockIndentation
            | K::TabAtBlockScalarStart
            | K::TabInIndentation
            | K::TabInPlainScalar => Self::Tab,
            K::InvalidIndentation
            | K::ExpectedBlockMappingKey
            | K::ExpectedBlockSequenceEntry
            | K::InvalidBlockScalarIndent
            | K::InvalidQuotedScalarIndent
            | K::InvalidFlowScalarIndent
            | K::BlockSequenceEntryNotAllowed => Self::Indentation,
            K::UnclosedQuotedScalar
            | K::DocumentIndicatorInQuotedScalar
            | K::InvalidTrailingSingleQuotedScalar
            | K::InvalidTrailingDoubleQuotedScalar
            | K::UnknownQuotedScalarEscape
            | K::InvalidQuotedScalarHexEscape
            | K::InvalidLowSurrogateHexEscape
            | K::InvalidLowSurrogate
            | K::MissingLowSurrogate
            | K::UnpairedLowSurrogate
            | K::InvalidUnicodeEscape => Self::Quotes,
            K::UnexpectedEofFlowSequence
            | K::UnexpectedEofFlowMapping
            | K::UnexpectedEofImplicitFlowMapping
            | K::ExpectedFlowMappingSeparator
            | K::ExpectedFlowSequenceSeparator
            | K::MisplacedFlowCollectionEnd
            | K::MismatchedFlowCollectionEnd { .. }
            | K::UnclosedFlowCollection { .. }
            | K::BlockEntryInFlowCollection => Self::Brackets,
            K::SimpleKeyExpected
            | K::InvalidSimpleKey
            | K::MappingKeyNotAllowed
            | K::FlowMappingValueAdjacentCollection
            | K::InvalidMappingValueWhitespace
            | K::InvalidColonPlacement
            | K::MappingValueNotAllowed => Self::Colon,
            K::UnexpectedCharacter { .. } | K::BomInsideDocument => Self::Character,
            K::UndeclaredTagHandle
            | K::ExpectedTagBang
            | K::InvalidTagTerminator
            | K::MissingTagUri
            | K::UnclosedVerbatimTag => Self::Tag,
            K::UnknownAnchor => Self::Alias,
            K::RecursionLimitExceeded => Self::Depth(255),
            _ => Self::Syntax,
        }
    }
}
