//! Code points out of raw bytes, as Go's `utf8.DecodeRune` finds them. Values are bytes and need not be text; decoding
//! in place keeps a Secret from being copied.

/// What stands for a byte that begins no valid sequence.
pub(super) const REPLACEMENT: u32 = 0xFFFD;

/// The first code point of `bytes` and the bytes behind it; `None` at the end.
///
/// A byte that does not begin a whole, shortest, valid UTF-8 sequence is one U+FFFD of width 1, so a broken sequence of
/// two bytes gives two of them. Surrogates never come out.
pub(super) fn next(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (&lead, rest) = bytes.split_first()?;
    if lead < 0x80 {
        return Some((u32::from(lead), rest));
    }
    Some(sequence(lead, rest).unwrap_or((REPLACEMENT, rest)))
}

/// The code point of a sequence that begins with a byte beyond ASCII, if it is valid.
fn sequence(lead: u8, rest: &[u8]) -> Option<(u32, &[u8])> {
    // The second byte's range keeps out overlong forms, surrogates and what lies beyond U+10FFFF.
    let (bits, following, second) = match lead {
        0xC2..=0xDF => (lead & 0x1F, 1, 0x80..=0xBF),
        0xE0 => (lead & 0x0F, 2, 0xA0..=0xBF),
        0xED => (lead & 0x0F, 2, 0x80..=0x9F),
        0xE1..=0xEF => (lead & 0x0F, 2, 0x80..=0xBF),
        0xF0 => (lead & 0x07, 3, 0x90..=0xBF),
        0xF4 => (lead & 0x07, 3, 0x80..=0x8F),
        0xF1..=0xF3 => (lead & 0x07, 3, 0x80..=0xBF),
        _ => return None,
    };
    let (tail, behind) = rest.split_at_checked(following)?;
    let valid =
        tail.first().is_some_and(|byte| second.contains(byte)) && tail.iter().all(|byte| byte & 0xC0 == 0x80);
    let code_point = tail.iter().fold(u32::from(bits), |point, byte| point << 6 | u32::from(byte & 0x3F));
    valid.then_some((code_point, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(mut bytes: &[u8]) -> Vec<u32> {
        let mut points = Vec::new();
        while let Some((point, rest)) = next(bytes) {
            points.push(point);
            bytes = rest;
        }
        points
    }

    #[test]
    fn every_scalar_value_comes_back() {
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(next(bytes), Some((u32::from(character), &[][..])));
        }
    }

    #[test]
    fn broken_sequences_count_byte_by_byte() {
        let broken: &[&[u8]] = &[
            b"\x80",
            b"\xFF",
            b"\xC0\xAF",
            b"\xC1\xBF",
            b"\xC2",
            b"\xE2\x82",
            b"\xE0\x9F\xBF",
            b"\xED\xA0\x80",
            b"\xED\xBF\xBF",
            b"\xF0\x8F\xBF\xBF",
            b"\xF4\x90\x80\x80",
            b"\xF5\x80\x80\x80",
            b"\xF0\x9F\x98",
        ];
        for bytes in broken {
            assert_eq!(all(bytes), vec![REPLACEMENT; bytes.len()], "{bytes:x?}");
        }
        assert_eq!(all(b"\xC2a"), [REPLACEMENT, 0x61]);
        assert_eq!(all(b"\xE2\x82\xC3\xA9"), [REPLACEMENT, REPLACEMENT, 0xE9]);
    }

    proptest! {
        #[test]
        fn valid_text_decodes_as_itself(text in any::<String>()) {
            prop_assert_eq!(all(text.as_bytes()), text.chars().map(u32::from).collect::<Vec<_>>());
        }

        #[test]
        fn every_byte_is_read_once(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut rest = bytes.as_slice();
            while let Some((point, behind)) = next(rest) {
                let width = rest.len() - behind.len();
                prop_assert!((1..=4).contains(&width));
                let valid = std::str::from_utf8(&rest[..width]).is_ok();
                prop_assert!(valid || (point == REPLACEMENT && width == 1));
                rest = behind;
            }
        }
    }
}
