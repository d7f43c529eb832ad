//! What begins with a backslash and stands for one code point or for a class, inside and outside of brackets.

use super::class::{self, SharedRanges};
use super::cursor::Cursor;
use super::error::{PatternCode, PatternError};
use super::property;
use crate::go::unicode::Ranges;

/// Reads `\d`, `\s`, `\w` or a negation of them; `None`, with nothing read, where none lies ahead.
pub(super) fn perl_class(cursor: &mut Cursor<'_>, fold: bool) -> Option<Ranges> {
    let mut ahead = *cursor;
    if !ahead.take("\\") {
        return None;
    }
    let letter = ahead.next()?;
    let ranges = class::perl(letter.to_ascii_lowercase())?;
    *cursor = ahead;
    Some(group(ranges, letter.is_ascii_uppercase(), fold))
}

/// The code points of a named ASCII class. Folding comes first and negation second, so `(?i)\W` lacks the Kelvin sign.
pub(super) fn group(ranges: &[(u32, u32)], negate: bool, fold: bool) -> Ranges {
    let ranges = if fold { class::folded(ranges) } else { ranges.to_vec() };
    if negate { class::negated(&ranges) } else { ranges }
}

/// Reads `\pN`, `\p{Name}`, `\p{^Name}` or the same with `\P`; `None`, with nothing read, where none lies ahead.
pub(super) fn property_class(
    cursor: &mut Cursor<'_>,
    fold: bool,
) -> Result<Option<SharedRanges>, PatternError> {
    let start = cursor.position();
    let mut negate = cursor.take("\\P");
    if !negate && !cursor.take("\\p") {
        return Ok(None);
    }
    let braced = cursor.take("{");
    let name = if braced {
        let unclosed = PatternError::new(PatternCode::InvalidClassRange, cursor.from(start));
        cursor.take_until("}").ok_or(unclosed)?
    } else {
        let name_start = cursor.position();
        cursor.next();
        cursor.since(name_start)
    };
    let name = match name.strip_prefix('^') {
        Some(rest) => {
            negate = !negate;
            rest
        }
        None => name,
    };
    let ranges = property::find(name, fold)
        .ok_or_else(|| PatternError::new(PatternCode::InvalidClassRange, cursor.since(start)))?;
    Ok(Some(if negate { class::negated(ranges).into() } else { ranges.into() }))
}

/// Reads an escape that stands for one code point; the backslash lies ahead.
pub(super) fn code_point(cursor: &mut Cursor<'_>) -> Result<u32, PatternError> {
    let start = cursor.position();
    cursor.take("\\");
    let Some(letter) = cursor.next() else {
        return Err(PatternError::new(PatternCode::TrailingBackslash, ""));
    };
    let value = match letter {
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some(0x0A),
        'r' => Some(0x0D),
        't' => Some(0x09),
        'v' => Some(0x0B),
        'x' => hexadecimal(cursor),
        '0'..='7' => octal(cursor, letter),
        _ => Some(u32::from(letter)).filter(|_| letter.is_ascii() && !letter.is_ascii_alphanumeric()),
    };
    value.ok_or_else(|| PatternError::new(PatternCode::InvalidEscape, cursor.since(start)))
}

/// The rest of `\0`, `\12` or `\123`. A single digit other than zero would be a back-reference, which there is none of.
fn octal(cursor: &mut Cursor<'_>, first: char) -> Option<u32> {
    let mut value = first.to_digit(8)?;
    let mut digits = 1;
    while digits < 3
        && let Some(digit) = cursor.take_if(|byte| matches!(byte, b'0'..=b'7'))
    {
        value = value * 8 + u32::from(digit - b'0');
        digits += 1;
    }
    (digits > 1 || value == 0).then_some(value)
}

/// The rest of `\x4F` or `\x{…}`. What follows is read even where it is no digit: Go shows it in the error.
fn hexadecimal(cursor: &mut Cursor<'_>) -> Option<u32> {
    let first = cursor.next()?;
    if first != '{' {
        let second = cursor.next();
        return Some(first.to_digit(16)? * 16 + second?.to_digit(16)?);
    }
    let mut value = None;
    loop {
        match cursor.next()? {
            '}' => return value,
            character => {
                let digit = character.to_digit(16)?;
                let next = value.unwrap_or(0) * 16 + digit;
                value = Some(next).filter(|&next| next <= class::MAX_CODE_POINT);
                value?;
            }
        }
    }
}
