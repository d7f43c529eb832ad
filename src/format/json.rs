//! Is a value a JSON text (RFC 8259)? Syntax alone: no schema, no reading of what it says.

use serde::de::IgnoredAny;

/// Whether `value` is exactly one JSON value in UTF-8, with nothing but JSON's own white space around it.
///
/// Refused: a byte order mark, invalid UTF-8, comments, trailing commas, `NaN`. Accepted, as RFC 8259 does: any depth,
/// numbers of any size, duplicate names, lone surrogates written as escapes. Time and memory grow linearly.
pub fn is_valid(value: &[u8]) -> bool {
    // Bytes that pass for text first: the parser alone would let broken UTF-8 through inside an ignored string.
    std::str::from_utf8(value).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VALID: &[&[u8]] = &[
        b"null",
        b"true",
        b"0",
        b"-0",
        b"1e400",
        b"-1.5E+3",
        b"\"\"",
        b" \t\r\n{} \n",
        b"[]",
        b"[1,[2,{\"a\":[]}]]",
        b"{\"a\":1,\"a\":2}",
        b"\"\\ud800\"",
        b"\"\\u0000\\/\\b\"",
        b"\"\x7f\"",
        "\"é\u{2028}\u{feff}\"".as_bytes(),
        b"123456789012345678901234567890123456789012345678901234567890",
    ];

    const INVALID: &[&[u8]] = &[
        b"",
        b" ",
        b"nul",
        b"True",
        b"NaN",
        b"Infinity",
        b"01",
        b"+1",
        b"1.",
        b".5",
        b"1e",
        b"0x1",
        b"'a'",
        b"\"a",
        b"\"\\x41\"",
        b"\"\\u12g4\"",
        b"\"\t\"",
        b"\"\n\"",
        b"[1,]",
        b"[1 2]",
        b"[",
        b"{\"a\"}",
        b"{\"a\":1,}",
        b"{a:1}",
        b"{\"a\":1}}",
        b"1 2",
        b"// c\n1",
        b"1\x00",
        b"\x0b1",
        b"\xc2\xa01",
        b"\xef\xbb\xbf{}",
        b"\"\xff\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xe2\x82\"",
        b"\xff\xfe1\x00",
    ];

    #[test]
    fn follows_rfc_8259() {
        for value in VALID {
            assert!(is_valid(value), "{:?}", String::from_utf8_lossy(value));
        }
        for value in INVALID {
            assert!(!is_valid(value), "{:?}", String::from_utf8_lossy(value));
        }
    }

    #[test]
    fn depth_is_no_limit_and_no_danger() {
        let depth = 200_000;
        let deep = [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(is_valid(&deep));
        assert!(!is_valid(&b"[".repeat(depth)));
        assert!(!is_valid(&b"{\"a\":".repeat(depth)));
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(value in prop::collection::vec(any::<u8>(), 0..64)) {
            is_valid(&value);
        }

        #[test]
        fn every_text_of_a_serializer_is_valid(text in any::<String>(), number in any::<f64>()) {
            let value = serde_json::json!({ text.as_str(): [number, &text, null_or(&text)] });
            prop_assert!(is_valid(value.to_string().as_bytes()));
        }
    }

    fn null_or(text: &str) -> Option<bool> {
        (text.len() > 3).then_some(true)
    }
}
