//! Texts of bounded length.

use std::fmt::Write as _;

/// What stands at the end of a text that was cut.
const ELLIPSIS: &str = "…";

/// `text`, cut to at most `limit` bytes at the end of a character; a cut text ends in `…`.
pub fn cut(mut text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.push_str(ELLIPSIS);
    text
}

/// `1 key`, `2 keys`: a count with its noun, whose plural has an `s`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Names in quotes, separated by commas; after `most` of them, how many more there are.
pub fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let total = names.len();
    let mut text = names.take(most).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if total > most {
        let _ = write!(text, " and {} more", total - most);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut("abc".into(), 3), "abc");
        assert_eq!(cut("abcdef".into(), 5), "ab…");
        assert_eq!(cut("äöü".into(), 5), "ä…");
        assert_eq!(cut("äöü€".into(), 6), "ä…");
        assert!(cut("€".repeat(1000), 1024).len() <= 1024);
    }

    #[test]
    fn counts_and_lists() {
        assert_eq!(counted(1, "key"), "1 key");
        assert_eq!(counted(0, "key"), "0 keys");
        let names = ["a", "b", "c"];
        assert_eq!(listed(names.into_iter(), 2), "\"a\", \"b\" and 1 more");
        assert_eq!(listed(names.into_iter(), 3), "\"a\", \"b\", \"c\"");
    }
}
