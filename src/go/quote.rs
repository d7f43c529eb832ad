//! Text put between quotes as Go does it: `%q` for people, `encoding/json` for everything else. The API server
//! writes its refusals this way, so ours read alike. Rust's `{:?}` is a different language (`\u{7f}`, no `\a`).
//! Nothing here decides what may be shown: never hand it a Secret value.

use std::fmt::Write as _;
use std::sync::OnceLock;

use super::unicode::{self, Ranges};

/// The longest value, in characters, that [`quote_bounded`] shows in full.
pub const QUOTED_CHARACTERS: usize = 64;

/// `text` as Go's `strconv.Quote` (`%q`) writes it, quotes included.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    text.chars().for_each(|character| push_quoted(&mut quoted, character));
    quoted.push('"');
    quoted
}

/// As [`quote`], but of a text longer than [`QUOTED_CHARACTERS`] only that many characters (counted before any is
/// escaped), then `…` inside the closing quote.
pub fn quote_bounded(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARACTERS).and_then(|(end, _)| text.get(..end)) {
        None => quote(text),
        Some(shown) => {
            let mut quoted = quote(shown);
            quoted.pop();
            quoted.push_str("…\"");
            quoted
        }
    }
}

/// `text` as Go's `encoding/json` writes a string, quotes included: `<`, `>`, `&`, U+2028 and U+2029 are escaped,
/// other text beyond ASCII is not.
pub fn json_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0'..=' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if character != ' ' => {
                push_hexadecimal(&mut quoted, 'u', 4, character);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

fn push_quoted(quoted: &mut String, character: char) {
    match character {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        ' '..='~' => quoted.push(character),
        '\u{7}' => quoted.push_str("\\a"),
        '\u{8}' => quoted.push_str("\\b"),
        '\u{c}' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        '\u{b}' => quoted.push_str("\\v"),
        '\0'..='\u{7f}' => push_hexadecimal(quoted, 'x', 2, character),
        _ if is_print(character) => quoted.push(character),
        '\u{80}'..='\u{ffff}' => push_hexadecimal(quoted, 'u', 4, character),
        _ => push_hexadecimal(quoted, 'U', 8, character),
    }
}

fn push_hexadecimal(quoted: &mut String, kind: char, digits: usize, character: char) {
    // Writing to a String cannot fail.
    let _ = write!(quoted, "\\{kind}{:0digits$x}", u32::from(character));
}

/// Go's `strconv.IsPrint`: letters, marks, numbers, punctuation, symbols, and of the spaces only U+0020.
pub(super) fn is_print(character: char) -> bool {
    static PRINTABLE: OnceLock<Ranges> = OnceLock::new();
    character == ' '
        || unicode::contains(
            PRINTABLE.get_or_init(|| unicode::ranges_of(r"[\pL\pM\pN\pP\pS]")),
            u32::from(character),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Go 1.27: `strconv.Quote` and `json.Marshal`.
    const TABLE: &[(&str, &str, &str)] = &[
        ("", r#""""#, r#""""#),
        ("plain text", r#""plain text""#, r#""plain text""#),
        ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#, r#""\u0007\b\f\n\r\t\u000b""#),
        ("\0\u{1f}\u{7f}", r#""\x00\x1f\x7f""#, "\"\\u0000\\u001f\u{7f}\""),
        ("\"\\'`", r#""\"\\'`""#, r#""\"\\'`""#),
        ("<a&b>", r#""<a&b>""#, r#""\u003ca\u0026b\u003e""#),
        ("\u{2028}\u{2029}", r#""\u2028\u2029""#, r#""\u2028\u2029""#),
        ("\u{80}\u{9f}\u{a0}\u{ad}", r#""\u0080\u009f\u00a0\u00ad""#, "\"\u{80}\u{9f}\u{a0}\u{ad}\""),
        ("é日本🙂", "\"é日本🙂\"", "\"é日本🙂\""),
        ("e\u{301}", "\"e\u{301}\"", "\"e\u{301}\""),
        ("\u{feff}\u{200b}\u{3000}", r#""\ufeff\u200b\u3000""#, "\"\u{feff}\u{200b}\u{3000}\""),
        ("\u{e000}\u{fffd}\u{ffff}", "\"\\ue000\u{fffd}\\uffff\"", "\"\u{e000}\u{fffd}\u{ffff}\""),
        ("\u{e0001}\u{10ffff}", r#""\U000e0001\U0010ffff""#, "\"\u{e0001}\u{10ffff}\""),
    ];

    #[test]
    fn writes_what_go_writes() {
        for (text, quoted, json) in TABLE {
            assert_eq!(quote(text), *quoted);
            assert_eq!(json_string(text), *json);
        }
    }

    #[test]
    fn cuts_only_what_is_longer_than_the_bound() {
        let whole = "ü".repeat(QUOTED_CHARACTERS);
        assert_eq!(quote_bounded(&whole), format!("\"{whole}\""));
        assert_eq!(quote_bounded(&format!("{whole}x")), format!("\"{whole}…\""));
        // Escapes are not counted, and are never cut in two.
        let controls = "\u{7f}".repeat(QUOTED_CHARACTERS + 1);
        assert_eq!(quote_bounded(&controls), format!("\"{}…\"", r"\x7f".repeat(QUOTED_CHARACTERS)));
    }

    #[test]
    fn json_reads_back_what_was_written() {
        for (text, _, _) in TABLE {
            let back: String = serde_json::from_str(&json_string(text)).unwrap();
            assert_eq!(&back, text);
        }
    }
}
