//! Agreement with two independent judges on generated patterns: a naive matcher on the expressions themselves, and the
//! `regex` crate where a construct can be written in both languages.

use super::matches;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// An expression that both languages can say.
#[derive(Debug, Clone)]
enum Expression {
    Empty,
    Literal(char),
    Any,
    Set(&'static Set),
    Look(&'static Position),
    Concat(Vec<Expression>),
    Alternate(Vec<Expression>),
    Repeat(Box<Expression>, usize, Option<usize>),
}

/// A class in both languages and by itself.
#[derive(Debug)]
struct Set {
    go: &'static str,
    rust: &'static str,
    holds: fn(char) -> bool,
}

/// An assertion in both languages and by itself: of the characters before and behind.
#[derive(Debug)]
struct Position {
    go: &'static str,
    rust: &'static str,
    holds: fn(Option<char>, Option<char>) -> bool,
}

fn is_word(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
}

static SETS: &[Set] = &[
    Set { go: r"\d", rust: "[0-9]", holds: |c| c.is_ascii_digit() },
    Set { go: r"\W", rust: "[^0-9A-Za-z_]", holds: |c| !is_word(Some(c)) },
    Set { go: r"\s", rust: r"[\t\n\x0C\r ]", holds: |c| matches!(c, '\t' | '\n' | '\x0C' | '\r' | ' ') },
    Set { go: "[^a-c]", rust: "[^a-c]", holds: |c| !matches!(c, 'a'..='c') },
    Set { go: "[a&&b]", rust: "[a&b]", holds: |c| matches!(c, 'a' | '&' | 'b') },
    Set { go: "[[:^alpha:]b]", rust: "[[:^alpha:]b]", holds: |c| !c.is_ascii_alphabetic() || c == 'b' },
    Set { go: r"\p{Greek}", rust: r"\p{Greek}", holds: |c| c == 'σ' || c == 'Σ' },
    Set { go: r"\PL", rust: r"\PL", holds: |c| !c.is_alphabetic() },
    Set { go: "(?i:k)", rust: "(?i:k)", holds: |c| matches!(c, 'k' | 'K' | '\u{212A}') },
    Set { go: "(?i:[^s])", rust: "(?i:[^s])", holds: |c| !matches!(c, 's' | 'S' | 'ſ') },
    Set { go: "(?s:.)", rust: "(?s:.)", holds: |_| true },
    Set { go: r"[^\x00-\x{10FFFF}]", rust: r"[^\x00-\x{10FFFF}]", holds: |_| false },
];

static POSITIONS: &[Position] = &[
    Position { go: "^", rust: "^", holds: |before, _| before.is_none() },
    Position { go: "$", rust: "$", holds: |_, behind| behind.is_none() },
    Position { go: "(?m:^)", rust: "(?m:^)", holds: |before, _| before.is_none_or(|c| c == '\n') },
    Position { go: "(?m:$)", rust: "(?m:$)", holds: |_, behind| behind.is_none_or(|c| c == '\n') },
    Position { go: r"\b", rust: r"(?-u:\b)", holds: |before, behind| is_word(before) != is_word(behind) },
    Position { go: r"\B", rust: r"(?-u:\B)", holds: |before, behind| is_word(before) == is_word(behind) },
];

const ALPHABET: &[char] =
    &['a', 'b', 'c', 'k', 'K', '\u{212A}', 's', 'ſ', 'σ', 'Σ', '\n', ' ', '5', '_', '&', 'é', '\u{FFFD}'];

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        1 => Just(Expression::Empty),
        6 => prop::sample::select(ALPHABET).prop_map(Expression::Literal),
        1 => Just(Expression::Any),
        3 => (0..SETS.len()).prop_map(|index| Expression::Set(&SETS[index])),
        2 => (0..POSITIONS.len()).prop_map(|index| Expression::Look(&POSITIONS[index])),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..5).prop_map(Expression::Concat),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Expression::Alternate),
            2 => (inner, 0_usize..3, prop::option::of(0_usize..3)).prop_map(|(of, min, more)| {
                Expression::Repeat(Box::new(of), min, more.map(|more| min + more))
            }),
        ]
    })
}

fn value() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(ALPHABET), 0..8).prop_map(String::from_iter)
}

/// The expression in one of the languages.
fn write(expression: &Expression, go: bool) -> String {
    match expression {
        Expression::Empty => "(?:)".to_owned(),
        Expression::Literal('\n') => r"\n".to_owned(),
        Expression::Literal(character) => character.to_string(),
        Expression::Any => ".".to_owned(),
        Expression::Set(set) => if go { set.go } else { set.rust }.to_owned(),
        Expression::Look(look) => if go { look.go } else { look.rust }.to_owned(),
        Expression::Concat(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| write(part, go)).collect();
            format!("(?:{})", parts.join(")(?:"))
        }
        Expression::Alternate(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| write(part, go)).collect();
            format!("({})", parts.join("|"))
        }
        Expression::Repeat(of, min, max) => {
            let of = write(of, go);
            match (min, max) {
                (0, None) => format!("(?:{of})*"),
                (1, None) => format!("(?:{of})+"),
                (0, Some(1)) => format!("(?:{of})?"),
                (min, None) => format!("(?:{of}){{{min},}}"),
                (min, Some(max)) => format!("(?:{of}){{{min},{max}}}"),
            }
        }
    }
}

/// Every position where the expression can end that begins at one of `starts`.
fn ends(expression: &Expression, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    let step = |holds: &dyn Fn(char) -> bool| {
        starts.iter().filter(|&&at| text.get(at).is_some_and(|&c| holds(c))).map(|at| at + 1).collect()
    };
    match expression {
        Expression::Empty => starts.clone(),
        Expression::Literal(literal) => step(&|c| c == *literal),
        Expression::Any => step(&|c| c != '\n'),
        Expression::Set(set) => step(&set.holds),
        Expression::Look(look) => {
            let around =
                |at: usize| (at.checked_sub(1).and_then(|at| text.get(at)).copied(), text.get(at).copied());
            starts.iter().copied().filter(|&at| (look.holds)(around(at).0, around(at).1)).collect()
        }
        Expression::Concat(parts) => {
            parts.iter().fold(starts.clone(), |starts, part| ends(part, text, &starts))
        }
        Expression::Alternate(parts) => parts.iter().flat_map(|part| ends(part, text, starts)).collect(),
        Expression::Repeat(of, min, max) => {
            let mut reached = starts.clone();
            for _ in 0..*min {
                reached = ends(of, text, &reached);
            }
            let mut all = reached.clone();
            // More rounds than positions reach nothing new.
            for _ in 0..max.map_or(text.len() + 1, |max| max - min) {
                reached = ends(of, text, &reached);
                all.extend(&reached);
            }
            all
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_simulation_agrees_with_both(expression in expression(), values in prop::collection::vec(value(), 4)) {
        let pattern = write(&expression, true);
        prop_assume!(pattern.len() <= 1_024);
        let other = regex::bytes::Regex::new(&write(&expression, false)).unwrap();
        for value in values {
            let text: Vec<char> = value.chars().collect();
            let starts: BTreeSet<usize> = (0..=text.len()).collect();
            let naive = !ends(&expression, &text, &starts).is_empty();
            prop_assert_eq!(matches(&pattern, value.as_bytes()), naive, "{} {:?}", pattern, value);
            // Its `\B` also holds inside a character, which Go has no positions for.
            if !pattern.contains(r"\B") {
                prop_assert_eq!(other.is_match(value.as_bytes()), naive, "regex: {} {:?}", pattern, value);
            }
        }
    }
}
