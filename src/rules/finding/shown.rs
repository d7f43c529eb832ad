//! How a message shows a value.

use serde_json::Value;

use crate::go::quote;

/// A value as a message shows it: strings in Go's `%q`, numbers and booleans plain, everything else as Go's JSON; at
/// most 64 characters of it. Built only from what users write in our own kinds, never from a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// No value at all (`field.OmitValueType`).
    Omitted,
    /// A string, quoted when shown.
    Text(String),
    /// A number, a boolean or JSON, without quotes.
    Plain(String),
}

impl Shown {
    /// No value at all.
    pub const fn omitted() -> Self {
        Self::Omitted
    }

    /// A string.
    pub fn text(value: &str) -> Self {
        Self::Text(value.to_owned())
    }

    /// A number or another word that stands without quotes.
    pub fn plain(value: impl ToString) -> Self {
        Self::Plain(value.to_string())
    }

    /// Any JSON value.
    pub fn json(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(text),
            other => Self::Plain(go_json(other)),
        }
    }

    /// What the message holds, cut.
    pub(super) fn render(&self) -> Option<String> {
        match self {
            Self::Omitted => None,
            Self::Text(text) => Some(quote::quote_bounded(text)),
            Self::Plain(text) => Some(match text.char_indices().nth(quote::QUOTED_CHARACTERS) {
                Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                None => text.clone(),
            }),
        }
    }
}

/// JSON as Go writes it: the characters that could end a script in a web page are escaped.
fn go_json(value: &Value) -> String {
    let mut text = value.to_string();
    // They stand only inside strings, so the text stays the same JSON.
    for (character, escaped) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ] {
        if text.contains(character) {
            text = text.replace(character, escaped);
        }
    }
    text
}
