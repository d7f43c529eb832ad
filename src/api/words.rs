//! How the sets of words of the API are written down: closed ones for what we write, open ones for what we read.

/// Makes a closed list of words: an enum whose variants are the words, with their descriptions at run time.
macro_rules! closed_words {
    ($(#[$attribute:meta])* $vis:vis enum $name:ident {
        $($(#[doc = $doc:literal])+ $variant:ident $(= $word:literal)?,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        $vis enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// Every word of the list, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it stands in the object.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $crate::api::words::spelling!($variant $(, $word)?),)+
                }
            }

            /// What the word means, as a person reads it; lines are broken as in the source.
            pub const fn explain(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc, "\n"),+),)+
                }
            }

            /// The word with this spelling, if the list has it.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

/// The spelling of a word: its own if it has one, else the variant's name.
macro_rules! spelling {
    ($variant:ident) => {
        stringify!($variant)
    };
    ($variant:ident, $word:literal) => {
        $word
    };
}

/// Makes a set of words that stays open for those of later versions: a word that is not known is kept, not refused.
macro_rules! open_words {
    ($(#[$attribute:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])+ $variant:ident = $word:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name<'a> {
            $($(#[$doc])+ $variant,)+
            /// A word that this version does not know.
            Unknown(&'a str),
        }

        impl<'a> $name<'a> {
            /// The words that this version knows, in the order that messages list them in.
            pub const VALUES: &'static [&'static str] = &[$($word),+];

            /// Reads a word; one that is not known is kept.
            pub fn from_word(word: &'a str) -> Self {
                match word {
                    $($word => Self::$variant,)+
                    other => Self::Unknown(other),
                }
            }

            /// The word as it is written.
            pub const fn as_str(self) -> &'a str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Unknown(word) => word,
                }
            }

            /// Whether this version knows the word.
            pub const fn is_known(self) -> bool {
                !matches!(self, Self::Unknown(_))
            }
        }
    };
}

pub(crate) use {closed_words, open_words, spelling};
