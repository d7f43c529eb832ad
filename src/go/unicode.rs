//! Sets of code points by Unicode property, read once from the tables of `regex-syntax`. What a set is used for
//! (printable characters, classes of a pattern) is the business of the modules that ask.

use regex_syntax::hir::{Class, HirKind};

/// A set of code points as sorted, disjoint, inclusive ranges.
pub(super) type Ranges = Vec<(u32, u32)>;

/// The code points that `class`, a character class in the syntax of `regex-syntax`, stands for.
///
/// Only called with classes written down in this crate; one that does not parse gives the empty set, which the
/// tests of every caller would show.
pub(super) fn ranges_of(class: &str) -> Ranges {
    let Ok(hir) = regex_syntax::parse(class) else {
        return Ranges::new();
    };
    match hir.kind() {
        HirKind::Class(Class::Unicode(set)) => {
            set.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
        // A class of one code point comes back as that literal.
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
            .unwrap_or_default()
            .chars()
            .map(|character| (u32::from(character), u32::from(character)))
            .collect(),
        _ => Ranges::new(),
    }
}

/// Whether the sorted, disjoint `ranges` hold `code_point`.
pub(super) fn contains(ranges: &[(u32, u32)], code_point: u32) -> bool {
    ranges
        .binary_search_by(|&(low, high)| {
            if high < code_point {
                std::cmp::Ordering::Less
            } else if low > code_point {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_classes_of_many_one_and_no_code_points() {
        assert_eq!(ranges_of("[0-9A]"), vec![(0x30, 0x39), (0x41, 0x41)]);
        assert_eq!(ranges_of(r"\p{Zl}"), vec![(0x2028, 0x2028)]);
        assert_eq!(ranges_of("[^\\x00-\\x{10FFFF}]"), vec![]);
        assert_eq!(ranges_of(r"\p{NoSuchProperty}"), vec![]);
    }

    #[test]
    fn finds_both_ends_of_a_range() {
        let ranges = [(5, 7), (9, 9)];
        let held: Vec<u32> = (0..12).filter(|&point| contains(&ranges, point)).collect();
        assert_eq!(held, [5, 6, 7, 9]);
    }
}
