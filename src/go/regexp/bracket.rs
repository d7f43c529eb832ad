//! Character classes in brackets, `[…]`.

use super::class;
use super::cursor::Cursor;
use super::error::{PatternCode, PatternError};
use super::escape;
use crate::go::unicode::Ranges;

/// Reads a class; its `[` lies ahead. Each item is folded by itself, and the whole negated at last.
pub(super) fn class(cursor: &mut Cursor<'_>, fold: bool) -> Result<Ranges, PatternError> {
    let start = cursor.position();
    cursor.take("[");
    let negate = cursor.take("^");
    let mut ranges = Ranges::new();
    // Folding a union is the union of the folded, so what needs it is collected and folded once.
    let mut to_fold = Ranges::new();
    let mut first = true;
    while first || !cursor.take("]") {
        first = false;
        if let Some(named) = named_class(cursor, fold)? {
            class::unite(&mut ranges, &named);
        } else if let Some(property) = escape::property_class(cursor, fold)? {
            class::unite(&mut ranges, &property);
        } else if let Some(perl) = escape::perl_class(cursor, fold) {
            class::unite(&mut ranges, &perl);
        } else {
            let plain = range(cursor, start)?;
            class::insert(if fold { &mut to_fold } else { &mut ranges }, plain);
        }
    }
    if fold {
        class::unite(&mut ranges, &class::folded(&to_fold));
    }
    Ok(if negate { class::negated(&ranges) } else { ranges })
}

/// Reads `[:name:]` or `[:^name:]`; `None`, with nothing read, where no `:]` follows anywhere in the pattern.
fn named_class(cursor: &mut Cursor<'_>, fold: bool) -> Result<Option<Ranges>, PatternError> {
    let start = cursor.position();
    let mut ahead = *cursor;
    if !ahead.take("[:") {
        return Ok(None);
    }
    let Some(name) = ahead.take_until(":]") else {
        return Ok(None);
    };
    let (negate, name) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let ranges = class::posix(name)
        .ok_or_else(|| PatternError::new(PatternCode::InvalidClassRange, ahead.since(start)))?;
    *cursor = ahead;
    Ok(Some(escape::group(ranges, negate, fold)))
}

/// Reads one character or a range of two. A `-` with `]` behind it is a character of its own.
fn range(cursor: &mut Cursor<'_>, class_start: usize) -> Result<(u32, u32), PatternError> {
    let start = cursor.position();
    let low = character(cursor, class_start)?;
    let behind = cursor.rest().strip_prefix('-');
    if behind.is_none_or(|rest| rest.is_empty() || rest.starts_with(']')) {
        return Ok((low, low));
    }
    cursor.take("-");
    let high = character(cursor, class_start)?;
    if high < low {
        return Err(PatternError::new(PatternCode::InvalidClassRange, cursor.since(start)));
    }
    Ok((low, high))
}

fn character(cursor: &mut Cursor<'_>, class_start: usize) -> Result<u32, PatternError> {
    match cursor.peek() {
        None => Err(PatternError::new(PatternCode::MissingBracket, cursor.from(class_start))),
        Some('\\') => escape::code_point(cursor),
        Some(character) => {
            cursor.next();
            Ok(u32::from(character))
        }
    }
}
