//! The limits of patterns, programs and matches, and what must hold for every input.

use super::super::{MAX_INSTRUCTIONS, MAX_PATTERN_BYTES, PatternCode, StepsExceeded, parse};
use super::{Budget, Program, error, matches};
use proptest::prelude::*;

fn code(pattern: &str) -> PatternCode {
    Program::compile(pattern).expect_err(pattern).code()
}

#[test]
fn a_pattern_may_be_1024_bytes_long() {
    let longest = "a".repeat(MAX_PATTERN_BYTES);
    assert!(Program::compile(&longest).is_ok());
    assert_eq!(error(&format!("{longest}a")), "expression too long: it may not be more than 1024 bytes");
    // Bytes, not characters.
    assert_eq!(code(&"é".repeat(MAX_PATTERN_BYTES / 2 + 1)), PatternCode::TooLong);
}

#[test]
fn a_program_may_have_10000_instructions() {
    let largest = format!("(?:{}){{999}}a{{9}}", "a".repeat(10));
    assert_eq!(Program::compile(&largest).unwrap().instructions(), MAX_INSTRUCTIONS);
    assert_eq!(
        error(&format!("{largest}a")),
        "expression too large: it expands to more than 10000 instructions; use smaller repeat counts"
    );
    assert_eq!(
        code(r"(?:\pL{1000}){0,1}\pN{1000}.{1000}a{1000}b{1000}c{1000}d{1000}e{1000}f{1000}g{1000}"),
        PatternCode::TooLarge
    );
    // A fault of syntax comes first.
    assert_eq!(code(&format!("{largest}a)")), PatternCode::UnexpectedParenthesis);
}

#[test]
fn size_is_small_where_classes_repeat() {
    let one = Program::compile(r"\pL").unwrap().size_bytes();
    let many = Program::compile(r"\pL{1000}").unwrap().size_bytes();
    assert!(one < 8 * 1024, "{one}");
    assert!(many < one + 16 * 1024, "{many}");
    // As many different large classes as fit.
    let others: Vec<String> = (0xA1..0xA1 + 102).filter_map(char::from_u32).map(String::from).collect();
    let worst = format!("[\\pN\\pP{}]", others.join("][\\pN\\pP"));
    assert!(worst.len() > 1_000);
    assert!(Program::compile(&worst).unwrap().size_bytes() < 1024 * 1024);
}

#[test]
fn nesting_is_bounded_and_costs_no_stack() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse::parse(&nested(999)).is_ok());
    let fault = parse::parse(&nested(1_000)).unwrap_err();
    assert_eq!(fault.code(), PatternCode::NestsTooDeeply);
    assert_eq!(fault.expression(), nested(1_000));
    assert_eq!(parse::parse(&"(".repeat(1_000_000)).unwrap_err().code(), PatternCode::MissingParenthesis);
    assert!(parse::parse(&"(?:|".repeat(100_000)).is_err());
    // What fits into a pattern cannot reach the bound.
    assert!(Program::compile(&nested(511)).is_ok());
    assert!(Program::compile(&format!("{}a{}", "(".repeat(341), ")*".repeat(341))).is_ok());
}

#[test]
fn steps_are_counted_per_value_and_in_all() {
    let program = Program::compile("^a*$").unwrap();
    let mut budget = Budget::new(100);
    // A star costs two steps at a position, the anchors one each.
    assert_eq!(program.is_match(b"aaaaaaaaa", &mut budget), Ok(true));
    let mut spent = 0;
    while program.is_match(b"aaaaaaaaa", &mut budget).is_ok() {
        spent += 1;
    }
    assert_eq!(spent, 2);
    assert_eq!(program.is_match(b"", &mut budget), Err(StepsExceeded));
}

#[test]
fn the_worst_patterns_end_by_budget() {
    let value = vec![b'a'; 1 << 20];
    for pattern in ["(?:a?){500}a{500}$", "(?:(?:a|a)*|(?:a|a)*){30}b", "(?:.*a){20}b|(x+x+)+y"] {
        let program = Program::compile(pattern).unwrap();
        assert_eq!(program.is_match(&value, &mut Budget::new(500_000)), Err(StepsExceeded), "{pattern}");
    }
    // Linear, and so within the budget of a value of the greatest length.
    let program = Program::compile("^(a*)*b").unwrap();
    assert_eq!(program.is_match(&value, &mut Budget::default()), Ok(false));
}

#[test]
fn an_exponential_pattern_is_harmless() {
    let pattern = format!("^{}{}$", "a?".repeat(60), "a".repeat(60));
    assert!(matches(&pattern, "a".repeat(60).as_bytes()));
    assert!(!matches("^(a+)+$", format!("{}b", "a".repeat(10_000)).as_bytes()));
}

#[test]
fn nothing_of_a_value_shows() {
    assert_eq!(StepsExceeded.to_string(), "the evaluation limit was exceeded");
    assert_eq!(format!("{StepsExceeded:?}"), "StepsExceeded");
    assert_eq!(format!("{:?}", Program::compile("abc").unwrap()), "Program { instructions: 4, .. }");
}

/// Text that is mostly made of what means something in a pattern.
fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        6 => prop::sample::select(vec![
            "(", ")", "(?:", "(?i)", "(?", "(?P<n>", "(?<", "|", "*", "+", "?", "{", "}", "{2}", "{1,3}", "{0,}", "{1001}",
            "[", "]", "[^", "[:alpha:]", "[:^digit:]", "-", "^", "$", ".", "\\", "\\d", "\\W", "\\pL", "\\p{Greek}", "\\P{^Lu}",
            "\\Q", "\\E", "\\x", "\\x{", "\\x{41}", "\\101", "\\1", "\\b", "\\z", "&&", ",", ":", "0", "1", "a", "k", "é", "<", ">",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(token, 0..16).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_parser_has_an_answer_for_everything(pattern in soup()) {
        match Program::compile(&pattern) {
            Ok(program) => prop_assert!(program.instructions() <= MAX_INSTRUCTIONS),
            Err(fault) => {
                prop_assert!(pattern.contains(fault.expression()));
                prop_assert!(!fault.to_string().is_empty());
            }
        }
    }

    #[test]
    fn a_program_is_a_function_of_its_pattern(pattern in soup(), value in prop::collection::vec(any::<u8>(), 0..20)) {
        if let Ok(program) = Program::compile(&pattern) {
            let size = program.size_bytes();
            let (tree, root) = parse::parse(&pattern).unwrap();
            prop_assert_eq!(program.instructions() as u64, tree.instructions(root) + 1);
            let _ = program.is_match(&value, &mut Budget::default());
            prop_assert_eq!(program.size_bytes(), size);
            prop_assert_eq!(Program::compile(&pattern), Ok(program));
        }
    }

    #[test]
    fn a_bad_byte_is_a_replacement_character(
        pattern in soup(),
        parts in prop::collection::vec(prop_oneof![Just(None), any::<char>().prop_map(Some), "[akK\u{e9}\n]".prop_map(|text| text.chars().next())], 0..8),
        bad in prop_oneof![Just(0x80_u8), Just(0xBF), Just(0xC0), Just(0xFE), Just(0xFF)],
    ) {
        if let Ok(program) = Program::compile(&pattern) {
            let bytes = |replace: &[u8]| -> Vec<u8> {
                parts.iter().flat_map(|part| part.map_or(replace.to_vec(), |character| character.to_string().into_bytes())).collect()
            };
            let with_bad = program.is_match(&bytes(&[bad]), &mut Budget::default());
            let replaced = program.is_match(&bytes("\u{FFFD}".as_bytes()), &mut Budget::default());
            prop_assert_eq!(with_bad, replaced);
        }
    }
}
