//! The nearest known word to a mistyped one.

/// How far a word may be from a known one to be taken for a typing error of it.
const FARTHEST: usize = 2;

/// Longer words are not compared: a field's name is never that long, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The known word nearest to `word`, if one is at most two edits away (letter case counts as no edit).
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    known
        .map(|candidate| (distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= FARTHEST && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps of neighbours from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, letter) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, column) + usize::from(letter != *other))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = column > 0 && right.get(column - 1) == Some(&letter) && previous == Some(*other);
            if swapped {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
        }
        previous = Some(letter);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["minLength", "maxLength", "name"];
        assert_eq!(nearest("minLenght", known.into_iter()), Some("minLength"));
        assert_eq!(nearest("MaxLength", known.into_iter()), Some("maxLength"));
        assert_eq!(nearest("nmae", known.into_iter()), Some("name"));
        assert_eq!(nearest("pattern", known.into_iter()), None);
        assert_eq!(nearest(&"n".repeat(10_000), known.into_iter()), None);
    }
}
