//! Go's `time.Duration` as text: [`parse`] is `time.ParseDuration`, `Display` is `Duration.String`. No clock, no
//! calendar: there is no unit longer than an hour, and what range a field allows is its rule's business.

use std::fmt;

use super::quote::QUOTED_CHARACTERS;

/// A span of time in whole nanoseconds, positive or negative, up to about 292 years: Go's `time.Duration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GoDuration {
    nanoseconds: i64,
}

impl GoDuration {
    /// No time at all.
    pub const ZERO: Self = Self { nanoseconds: 0 };

    /// The duration of so many nanoseconds.
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self { nanoseconds }
    }

    /// The duration of so many hours, held at the longest (about 2.56 million hours) where there are more.
    pub const fn from_hours(hours: i32) -> Self {
        Self { nanoseconds: (hours as i64).saturating_mul(HOUR.cast_signed()) }
    }

    /// The whole span in nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// The same span as the standard library's type; `None` for a negative one.
    pub fn to_std(self) -> Option<std::time::Duration> {
        u64::try_from(self.nanoseconds).ok().map(std::time::Duration::from_nanos)
    }
}

/// Why a text is no duration, in Go's own words. The text itself is part of them, cut after 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Neither digits nor a point where a number must stand, or a value out of range.
    #[error("time: invalid duration {}", quoted(.text))]
    Invalid {
        /// The whole text.
        text: String,
    },
    /// A number at the end, or before another number, without its unit.
    #[error("time: missing unit in duration {}", quoted(.text))]
    MissingUnit {
        /// The whole text.
        text: String,
    },
    /// A unit other than ns, us, µs, ms, s, m and h.
    #[error("time: unknown unit {} in duration {}", quoted(.unit), quoted(.text))]
    UnknownUnit {
        /// What stands in the unit's place.
        unit: String,
        /// The whole text.
        text: String,
    },
}

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;
const SECOND: u64 = 1_000 * MILLISECOND;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// The magnitude of the most negative duration, and the bound of every intermediate sum.
const LIMIT: u64 = 1 << 63;

/// Reads what Go's `time.ParseDuration` reads: an optional sign, then `0` or numbers with units such as `1h30m`,
/// `.5s` or `1.h`, adding up to less than 2^63 nanoseconds. What is finer than a nanosecond is cut off.
///
/// Go's own sum wraps around to zero where two terms of exactly 2^63 ns meet; here that is out of range like any
/// other excess.
pub fn parse(text: &str) -> Result<GoDuration, DurationError> {
    let invalid = || DurationError::Invalid { text: text.to_owned() };
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if unsigned == "0" {
        return Ok(GoDuration::ZERO);
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let (term, after) = parse_term(rest, text)?;
        total = total.checked_add(term).filter(|&sum| sum <= LIMIT).ok_or_else(invalid)?;
        rest = after;
    }
    let nanoseconds = if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
    nanoseconds.map(GoDuration::from_nanoseconds).ok_or_else(invalid)
}

/// One number with its unit from the start of `rest`, in nanoseconds, and what follows it.
fn parse_term<'a>(rest: &'a str, text: &str) -> Result<(u64, &'a str), DurationError> {
    let invalid = || DurationError::Invalid { text: text.to_owned() };
    let (whole_digits, after) = split_while(rest, |character| character.is_ascii_digit());
    let whole = parse_whole(whole_digits).ok_or_else(invalid)?;
    let (fraction_digits, after) = match after.strip_prefix('.') {
        Some(behind) => split_while(behind, |character| character.is_ascii_digit()),
        None => ("", after),
    };
    if whole_digits.is_empty() && fraction_digits.is_empty() {
        return Err(invalid());
    }
    let (unit, after) = split_while(after, |character| character != '.' && !character.is_ascii_digit());
    if unit.is_empty() {
        return Err(DurationError::MissingUnit { text: text.to_owned() });
    }
    let scale = unit_nanoseconds(unit)
        .ok_or_else(|| DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() })?;
    let nanoseconds = whole
        .checked_mul(scale)
        .and_then(|whole| whole.checked_add(fraction_nanoseconds(fraction_digits, scale)))
        .filter(|&term| term <= LIMIT)
        .ok_or_else(invalid)?;
    Ok((nanoseconds, after))
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|character| !belongs(character)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The value of a run of digits, none being zero; `None` above the limit.
fn parse_whole(digits: &str) -> Option<u64> {
    digits
        .bytes()
        .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .filter(|&value| value <= LIMIT)
}

/// `0.digits` of a unit in whole nanoseconds.
///
/// Go computes this in floating point, and its rounding is part of what a text means (`0.3333333333333333333h` is 20
/// minutes sharp), so the same operations stand here in the same order.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn fraction_nanoseconds(digits: &str, unit: u64) -> u64 {
    let mut fraction = 0_u64;
    let mut scale = 1_f64;
    for digit in digits.bytes() {
        // Digits beyond what fits are dropped; they are worth far less than a nanosecond.
        if fraction > (LIMIT - 1) / 10 {
            break;
        }
        let next = fraction * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        fraction = next;
        scale *= 10.0;
    }
    (fraction as f64 * (unit as f64 / scale)) as u64
}

fn unit_nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // With the micro sign U+00B5 or the Greek letter mu U+03BC.
        "us" | "\u{b5}s" | "\u{3bc}s" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    })
}

impl fmt::Display for GoDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad_integral(self.nanoseconds >= 0, "", &unsigned_text(self.nanoseconds.unsigned_abs()))
    }
}

fn unsigned_text(nanoseconds: u64) -> String {
    match nanoseconds {
        0 => "0s".to_owned(),
        1..MICROSECOND => format!("{nanoseconds}ns"),
        MICROSECOND..MILLISECOND => format!("{}µs", decimal(nanoseconds, MICROSECOND, 3)),
        MILLISECOND..SECOND => format!("{}ms", decimal(nanoseconds, MILLISECOND, 6)),
        _ => {
            let seconds = decimal(nanoseconds % MINUTE, SECOND, 9);
            let (hours, minutes) = (nanoseconds / HOUR, nanoseconds / MINUTE % 60);
            match (hours, minutes) {
                (0, 0) => format!("{seconds}s"),
                (0, _) => format!("{minutes}m{seconds}s"),
                _ => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// `value / unit` with the fraction's trailing zeros, or the whole of it, left off.
fn decimal(value: u64, unit: u64, digits: usize) -> String {
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The quoting that package `time` has of its own: every byte beyond ASCII as `\x..`, nothing named.
fn quoted(text: &str) -> String {
    use fmt::Write as _;
    let mut quoted = String::from('"');
    for (index, character) in text.chars().enumerate() {
        if index == QUOTED_CHARACTERS {
            quoted.push('…');
            break;
        }
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            ' '..='\u{7f}' => quoted.push(character),
            _ => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(quoted, "\\x{byte:02x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[path = "duration_tests.rs"]
mod tests;
