//! Points in time as RFC 3339 writes them, read strictly. What a time means for a contract, its age or a clock's skew,
//! is judged elsewhere.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

/// Reads `2026-01-31T23:59:59.5+01:00`: upper-case `T` and `Z`, two digits in every field (four in the year), any
/// number of digits behind a point, seconds up to 59, an offset up to 23:59; nothing around it.
///
/// Digits finer than a nanosecond are cut off. The last day of the year 9999 is beyond what [`Timestamp`] holds and
/// reads as its greatest value.
pub fn parse(text: &str) -> Option<Timestamp> {
    let mut fields = Fields { rest: text.as_bytes() };
    let year = fields.digits(4)?;
    fields.literal(b"-")?;
    let month = fields.two()?;
    fields.literal(b"-")?;
    let day = fields.two()?;
    fields.literal(b"T")?;
    let hour = fields.two()?;
    fields.literal(b":")?;
    let minute = fields.two()?;
    fields.literal(b":")?;
    let second = fields.two()?;
    let nanosecond = fields.fraction()?;
    let offset = fields.offset()?;
    if !fields.rest.is_empty() {
        return None;
    }
    let date = Date::new(year, month, day).ok()?;
    let time = Time::new(hour, minute, second, nanosecond).ok()?;
    Some(offset.to_timestamp(date.to_datetime(time)).unwrap_or(Timestamp::MAX))
}

/// What is left to read.
struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// A number of exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i16> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0_i16, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i16::from(digit - b'0'))
        })
    }

    /// A number of exactly two digits; every field's range is checked where it is used.
    fn two(&mut self) -> Option<i8> {
        self.digits(2).and_then(|value| i8::try_from(value).ok())
    }

    /// A point with at least one digit behind it, in nanoseconds; zero where there is no point.
    fn fraction(&mut self) -> Option<i32> {
        if self.literal(b".").is_none() {
            return Some(0);
        }
        let end = self.rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0'));
        let nanoseconds = padded.take(9).fold(0_i32, |value, digit| value * 10 + i32::from(digit - b'0'));
        (!digits.is_empty()).then_some(nanoseconds)
    }

    fn offset(&mut self) -> Option<Offset> {
        if self.literal(b"Z").is_some() {
            return Some(Offset::UTC);
        }
        let sign = if self.literal(b"+").is_some() {
            1
        } else {
            self.literal(b"-")?;
            -1
        };
        let hours = self.two().filter(|hours| *hours <= 23)?;
        self.literal(b":")?;
        let minutes = self.two().filter(|minutes| *minutes <= 59)?;
        let seconds = i32::from(hours) * 3_600 + i32::from(minutes) * 60;
        Offset::from_seconds(sign * seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VALID: &[(&str, &str)] = &[
        ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.52Z"),
        ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
        ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.87Z"),
        ("2024-02-29T00:00:00-00:00", "2024-02-29T00:00:00Z"),
        ("2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00Z"),
        ("2026-01-01T00:00:00.123456789999999999999999999999Z", "2026-01-01T00:00:00.123456789Z"),
        ("2026-01-01T00:00:00.000000000000Z", "2026-01-01T00:00:00Z"),
        ("9999-12-30T00:00:00Z", "9999-12-30T00:00:00Z"),
    ];

    const INVALID: &[&str] = &[
        "",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00Z",
        "2026-01-01t00:00:00Z",
        "2026-01-01T00:00:00z",
        "2026-01-01 00:00:00Z",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00Z\n",
        "2026-1-01T00:00:00Z",
        "2026-01-1T00:00:00Z",
        "26-01-01T00:00:00Z",
        "02026-01-01T00:00:00Z",
        "+2026-01-01T00:00:00Z",
        "2026-01-01T0:00:00Z",
        "2026-01-01T00:00:0Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-12-31T23:59:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00.5",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "2026-01-01T00:00:00+0000",
        "2026-01-01T00:00:00+00",
        "2026-01-01T00:00:00+0:00",
        "2026-01-01T00:00:00\u{2212}08:00",
        "2026-01-01T00:00:00Z[UTC]",
        "20260101T000000Z",
        "2026-W01-1T00:00:00Z",
        "\u{662}026-01-01T00:00:00Z",
        "2026-01-01T00:00:-1Z",
    ];

    #[test]
    fn reads_the_strict_grammar() {
        for (text, instant) in VALID {
            assert_eq!(parse(text), Some(instant.parse().unwrap()), "{text}");
        }
        for text in INVALID {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn reaches_both_ends_of_the_four_digit_years() {
        assert_eq!(parse("9999-12-31T23:59:59Z"), Some(Timestamp::MAX));
        assert_eq!(parse("9999-12-31T23:59:59.999999999-23:59"), Some(Timestamp::MAX));
        assert!(parse("0000-01-01T00:00:00+23:59").is_some_and(|instant| instant < Timestamp::UNIX_EPOCH));
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in "[-+:.TZ0-9]{0,30}|.{0,30}") {
            parse(&text);
        }

        #[test]
        fn what_a_library_writes_reads_back(second in -60_000_000_000_i64..250_000_000_000, nanosecond in 0..1_000_000_000_i32) {
            let instant = Timestamp::new(second, nanosecond).unwrap();
            prop_assert_eq!(parse(&instant.to_string()), Some(instant));
        }
    }
}
