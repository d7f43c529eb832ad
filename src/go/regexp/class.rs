//! Sets of code points as a pattern builds them: ranges joined, folded and negated in Go's order. Surrogates can occur
//! in a set, because Go's syntax can name them; no value ever decodes to one, so they match nothing.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::go::unicode::{self, Ranges};

/// The greatest code point.
pub(super) const MAX_CODE_POINT: u32 = 0x0010_FFFF;

/// Every code point.
pub(super) const ANY: &[(u32, u32)] = &[(0, MAX_CODE_POINT)];

/// Every code point but the line feed.
pub(super) const ANY_BUT_NEWLINE: &[(u32, u32)] = &[(0, 0x09), (0x0B, MAX_CODE_POINT)];

/// The class that `\d`, `\s` or `\w` stands for: ASCII alone, and no vertical tab in `\s`.
pub(super) fn perl(letter: char) -> Option<&'static [(u32, u32)]> {
    match letter {
        'd' => posix("digit"),
        's' => Some(&[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)]),
        'w' => posix("word"),
        _ => None,
    }
}

/// The class that `[:name:]` stands for.
pub(super) fn posix(name: &str) -> Option<&'static [(u32, u32)]> {
    Some(match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        "alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        "ascii" => &[(0x00, 0x7F)],
        "blank" => &[(0x09, 0x09), (0x20, 0x20)],
        "cntrl" => &[(0x00, 0x1F), (0x7F, 0x7F)],
        "digit" => &[(0x30, 0x39)],
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[(0x61, 0x7A)],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(0x09, 0x0D), (0x20, 0x20)],
        "upper" => &[(0x41, 0x5A)],
        "word" => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

/// `ranges` sorted and joined.
pub(super) fn normalized(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut joined = Ranges::with_capacity(ranges.len());
    for (low, high) in ranges {
        match joined.last_mut() {
            Some((_, last)) if low <= last.saturating_add(1) => *last = high.max(*last),
            _ => joined.push((low, high)),
        }
    }
    joined
}

/// Every code point that is not in `ranges`, which are sorted and joined.
pub(super) fn negated(ranges: &[(u32, u32)]) -> Ranges {
    let mut gaps = Ranges::with_capacity(ranges.len() + 1);
    let mut next = 0;
    for &(low, high) in ranges {
        if let Some(before) = low.checked_sub(1).filter(|&before| next <= before) {
            gaps.push((next, before));
        }
        next = high + 1;
    }
    if next <= MAX_CODE_POINT {
        gaps.push((next, MAX_CODE_POINT));
    }
    gaps
}

/// `ranges` with every code point that differs from one of them only in case (simple folding), sorted and joined.
pub(super) fn folded(ranges: &[(u32, u32)]) -> Ranges {
    let mut set = ClassUnicode::new(ranges.iter().flat_map(|&range| scalar_ranges(range)));
    // Fails only where the tables were left out of the build; the tests of folding would show it.
    let _ = set.try_case_fold_simple();
    let added = set.iter().map(|range| (u32::from(range.start()), u32::from(range.end())));
    normalized(ranges.iter().copied().chain(added).collect())
}

/// A range without its surrogates, which fold with nothing: up to two ranges of Unicode scalar values.
fn scalar_ranges((low, high): (u32, u32)) -> impl Iterator<Item = ClassUnicodeRange> {
    let below = (low, high.min(0xD7FF));
    let above = (low.max(0xE000), high);
    [below, above]
        .into_iter()
        .filter(|(low, high)| low <= high)
        .filter_map(|(low, high)| Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?)))
}

/// A finished character class, ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    /// One bit for each ASCII code point, since most values are ASCII.
    ascii: u128,
    ranges: Box<[(u32, u32)]>,
}

impl Class {
    /// The class of `ranges`, which are sorted and joined.
    pub(super) fn new(ranges: &[(u32, u32)]) -> Self {
        let ascii = (0..128)
            .filter(|&point| unicode::contains(ranges, point))
            .fold(0, |bits, point| bits | 1 << point);
        Self { ascii, ranges: ranges.into() }
    }

    /// Whether the class holds `code_point`.
    pub(super) fn contains(&self, code_point: u32) -> bool {
        if code_point < 128 {
            self.ascii >> code_point & 1 == 1
        } else {
            unicode::contains(&self.ranges, code_point)
        }
    }

    /// Whether the class is just these ranges.
    pub(super) fn is(&self, ranges: &[(u32, u32)]) -> bool {
        *self.ranges == *ranges
    }

    /// The memory behind the class, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_overlapping_and_touching_ranges() {
        assert_eq!(normalized(vec![(9, 9), (1, 3), (4, 5), (2, 2), (7, 7)]), [(1, 5), (7, 7), (9, 9)]);
        assert_eq!(normalized(vec![(0, MAX_CODE_POINT), (5, 6)]), ANY);
        assert_eq!(normalized(vec![]), []);
    }

    #[test]
    fn negates_to_the_very_ends() {
        assert_eq!(negated(&[]), ANY);
        assert_eq!(negated(ANY), []);
        assert_eq!(negated(&[(0x0A, 0x0A)]), ANY_BUT_NEWLINE);
        assert_eq!(negated(&[(0, 4), (8, MAX_CODE_POINT)]), [(5, 7)]);
    }

    #[test]
    fn folds_whole_orbits_and_leaves_surrogates_alone() {
        assert_eq!(folded(&[(0x6B, 0x6B)]), [(0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A)]);
        assert_eq!(folded(&[(0x3C2, 0x3C2)]), [(0x3A3, 0x3A3), (0x3C2, 0x3C3)]);
        assert_eq!(folded(&[(0x130, 0x131)]), [(0x130, 0x131)]);
        assert_eq!(folded(&[(0xD800, 0xDFFF)]), [(0xD800, 0xDFFF)]);
        assert_eq!(folded(&[(0xD7FF, 0xE000)]), [(0xD7FF, 0xE000)]);
    }

    #[test]
    fn asks_below_and_beyond_ascii_alike() {
        let class = Class::new(&[(0x30, 0x39), (0x7F, 0x80), (0x100, MAX_CODE_POINT)]);
        for point in [0x30, 0x39, 0x7F, 0x80, 0x100, MAX_CODE_POINT] {
            assert!(class.contains(point), "{point:x}");
        }
        for point in [0, 0x2F, 0x3A, 0x7E, 0x81, 0xFF] {
            assert!(!class.contains(point), "{point:x}");
        }
    }
}
