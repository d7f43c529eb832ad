//! Sets of code points as a pattern builds them: ranges joined, folded and negated in Go's order. Surrogates can occur
//! in a set, because Go's syntax can name them; no value ever decodes to one, so they match nothing.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::go::unicode::{self, Ranges};

/// Sorted, joined ranges, either of a constant table or of one's own.
pub(super) type SharedRanges = Cow<'static, [(u32, u32)]>;

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
    // Mostly a few sorted runs behind one another, which the stable sort joins in linear time.
    #[allow(clippy::stable_sort_primitive)]
    ranges.sort();
    let mut joined = Ranges::with_capacity(ranges.len());
    for (low, high) in ranges {
        match joined.last_mut() {
            Some((_, last)) if low <= last.saturating_add(1) => *last = high.max(*last),
            _ => joined.push((low, high)),
        }
    }
    joined
}

/// Adds one range to sorted, joined ranges, which stay so.
pub(super) fn insert(ranges: &mut Ranges, (low, high): (u32, u32)) {
    let start = ranges.partition_point(|&(_, last)| last.saturating_add(1) < low);
    let end = ranges.partition_point(|&(first, _)| first <= high.saturating_add(1));
    let touched = ranges.get(start..end).unwrap_or_default();
    let low = touched.first().map_or(low, |&(first, _)| first.min(low));
    let high = touched.last().map_or(high, |&(_, last)| last.max(high));
    ranges.splice(start..end.max(start), [(low, high)]);
}

/// Adds sorted, joined ranges to others, which stay so.
pub(super) fn unite(ranges: &mut Ranges, others: &[(u32, u32)]) {
    /// Up to so many it is faster to find the place of each.
    const FEW: usize = 8;
    if ranges.is_empty() {
        ranges.extend_from_slice(others);
    } else if others.len() <= FEW {
        for &range in others {
            insert(ranges, range);
        }
    } else {
        ranges.extend_from_slice(others);
        *ranges = normalized(std::mem::take(ranges));
    }
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

/// `ranges`, sorted and joined, with every code point that differs from one of theirs only in case (simple folding).
pub(super) fn folded(ranges: &[(u32, u32)]) -> Ranges {
    let pairs = case_pairs();
    let mut added = Ranges::new();
    for &(low, high) in ranges {
        let start = pairs.partition_point(|&(point, _)| point < low);
        let inside = pairs.iter().skip(start).take_while(|&&(point, _)| point <= high);
        let outside = inside.filter(|(_, other)| !(low..=high).contains(other));
        added.extend(outside.map(|&(_, other)| (other, other)));
    }
    if added.is_empty() {
        return ranges.to_vec();
    }
    added.extend_from_slice(ranges);
    normalized(added)
}

/// Every code point with another that differs from it only in case; one with several others stands several times.
/// Sorted, some 3,000 pairs.
fn case_pairs() -> &'static [(u32, u32)] {
    static PAIRS: OnceLock<Ranges> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let mut pairs = Ranges::new();
        let cased = unicode::ranges_of(CASED);
        for point in cased.into_iter().flat_map(|(low, high)| low..=high) {
            let Some(character) = char::from_u32(point) else {
                continue;
            };
            let mut orbit = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
            // Fails only where the tables were left out of the build; the tests of folding would show it.
            let _ = orbit.try_case_fold_simple();
            let members = orbit.iter().flat_map(|range| u32::from(range.start())..=u32::from(range.end()));
            pairs.extend(members.filter(|&member| member != point).map(|member| (point, member)));
        }
        pairs
    })
}

/// A class that holds every code point which folds with another, and few others.
const CASED: &str = r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]";

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
    use proptest::prelude::*;

    #[test]
    fn joins_overlapping_and_touching_ranges() {
        assert_eq!(normalized(vec![(9, 9), (1, 3), (4, 5), (2, 2), (7, 7)]), [(1, 5), (7, 7), (9, 9)]);
        assert_eq!(normalized(vec![(0, MAX_CODE_POINT), (5, 6)]), ANY);
        assert_eq!(normalized(vec![]), []);
    }

    proptest! {
        #[test]
        fn inserting_and_uniting_keep_the_ranges_in_order(
            ranges in prop::collection::vec((0_u32..60, 0_u32..9), 0..24),
            others in prop::collection::vec((0_u32..60, 0_u32..9), 0..24),
        ) {
            let ends = |ranges: Vec<(u32, u32)>| ranges.into_iter().map(|(low, width)| (low, low + width));
            let all = |first: &Ranges, second: &Ranges| normalized([first.as_slice(), second].concat());
            let others: Ranges = normalized(ends(others).collect());
            let mut held = Ranges::new();
            for range in ends(ranges) {
                let expected = all(&held, &vec![range]);
                insert(&mut held, range);
                prop_assert_eq!(&held, &expected);
            }
            let expected = all(&held, &others);
            unite(&mut held, &others);
            prop_assert_eq!(held, expected);
        }
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
    fn nothing_folds_that_is_not_among_the_cased() {
        let mut others = regex_syntax::parse(CASED).map(|hir| match hir.into_kind() {
            regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) => set,
            _ => ClassUnicode::empty(),
        });
        let others = others.as_mut().unwrap();
        others.negate();
        let before = others.clone();
        others.case_fold_simple();
        assert_eq!(*others, before);
        assert!((2_800..3_200).contains(&case_pairs().len()), "{}", case_pairs().len());
    }

    #[test]
    fn folds_like_the_tables_whatever_the_set() {
        for ranges in [
            &[(0x41, 0x5A)][..],
            &[(0, 0xFFFF)],
            &[(0x61, 0x1E900)],
            &[(0x370, 0x3FF), (0x1F00, 0x1FFF)],
            &[(0x100, 0x100), (0x103, 0x17E), (0x13A0, 0x13A3), (0x10400, 0x10410)],
        ] {
            let scalar = |point| char::from_u32(point).unwrap();
            let mut set = ClassUnicode::new(
                ranges.iter().map(|&(low, high)| ClassUnicodeRange::new(scalar(low), scalar(high))),
            );
            set.case_fold_simple();
            let expected: Ranges =
                set.iter().map(|range| (range.start().into(), range.end().into())).collect();
            // That set steps over the surrogates, and so its ranges end before them.
            assert_eq!(
                folded(ranges),
                normalized(expected.into_iter().chain(surrogates_of(ranges)).collect())
            );
        }
    }

    fn surrogates_of(ranges: &[(u32, u32)]) -> Ranges {
        let inside = |&(low, high): &(u32, u32)| low < 0xD800 && high > 0xDFFF;
        ranges.iter().filter(|range| inside(range)).map(|_| (0xD800, 0xDFFF)).collect()
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
