//! Names of environment variables that work everywhere. Kubernetes itself allows more (since 1.34 any printable ASCII
//! but `=`); what shells and languages can read back is this much.

use super::name::{MAX_NAME_BYTES, regex_message, too_long};

/// The grammar as a regular expression, for messages and schemas.
pub const GRAMMAR: &str = "[A-Za-z_][A-Za-z0-9_]*";

/// Whether `name` is a letter or `_`, followed by letters, digits and `_`, all ASCII. Says nothing about its length.
pub fn is_portable(name: &str) -> bool {
    !name.starts_with(|character: char| character.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What is wrong with `name` as a declared variable name, in the style of the API server's own messages; empty where
/// nothing is. At most 253 characters, the grammar of [`is_portable`].
pub fn messages(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > MAX_NAME_BYTES {
        messages.push(too_long(MAX_NAME_BYTES));
    }
    if !is_portable(name) {
        messages.push(regex_message(
            "a portable environment variable name must consist of letters, digits or '_', and must not start with a digit",
            GRAMMAR,
            &["MY_NAME", "_name"],
        ));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_portable_names_only() {
        for name in ["A", "_", "a1", "DATABASE_URL", "__x__", "mixedCase9"] {
            assert!(is_portable(name), "{name}");
        }
        for name in ["", "1A", "A-B", "a.b", "A B", "A=", "é", "A\n", "\u{661}", "$A"] {
            assert!(!is_portable(name), "{name:?}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(messages("DATABASE_URL"), Vec::<String>::new());
        assert_eq!(
            messages("9BAD"),
            [
                "a portable environment variable name must consist of letters, digits or '_', and must not start with a \
              digit (e.g. 'MY_NAME',  or '_name', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
            ]
        );
        assert_eq!(messages(&"A".repeat(253)).len(), 0);
        assert_eq!(messages(&"A".repeat(254)), ["must be no more than 253 characters"]);
        assert_eq!(messages(&"-".repeat(254)).len(), 2);
    }
}
