//! What our Go semantics say, compared with a real Go on generated input. Needs `go` on the PATH, 1.25 or later; where
//! there is none, each test says so and passes: the tables in `src/go` and `src/format` hold without it.
//!
//! Known differences between Go releases and the specified version (syntax of Go 1.27, Unicode 16) are kept out of the
//! generated input, each with its reason beside it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "go_oracle/generate.rs"]
mod generate;
#[path = "go_oracle/oracle.rs"]
mod oracle;

use covenant::format::{json, rfc3339};
use covenant::go::regexp::{Budget, PatternCode, Program};
use covenant::go::{duration, quote};
use oracle::{Oracle, Question};

#[test]
fn patterns() {
    let Some(oracle) = Oracle::find() else { return };
    let cases = generate::patterns(10_000, oracle.knows_long_script_names());
    let questions: Vec<Question> = cases
        .iter()
        .map(|(pattern, values)| Question::new("pattern", pattern.as_bytes()).with_values(values))
        .collect();
    let answers = oracle.ask(&questions);
    let (mut compared, mut refused) = (0, 0);
    for ((pattern, values), answer) in cases.iter().zip(answers) {
        match Program::compile(pattern) {
            // Limits that Go does not have.
            Err(fault) if matches!(fault.code(), PatternCode::TooLarge | PatternCode::TooLong) => {}
            Err(fault) => {
                assert_eq!(answer.error, fault.to_string(), "{pattern:?}");
                refused += 1;
            }
            Ok(program) => {
                assert_eq!(answer.error, "", "{pattern:?} is accepted here");
                for (value, expected) in values.iter().zip(&answer.matches) {
                    let matched = program.is_match(value, &mut Budget::default());
                    assert_eq!(matched, Ok(*expected), "{pattern:?} {:?}", String::from_utf8_lossy(value));
                    compared += 1;
                }
            }
        }
    }
    // Generated input that is nearly all refused, or nearly all fine, would show little.
    assert!(compared > 20_000 && refused > 1_500, "{compared} compared, {refused} refused");
}

#[test]
fn durations() {
    let Some(oracle) = Oracle::find() else { return };
    let texts = generate::durations(5_000);
    let questions: Vec<Question> =
        texts.iter().map(|text| Question::new("duration", text.as_bytes())).collect();
    let mut valid = 0;
    for (text, answer) in texts.iter().zip(oracle.ask(&questions)) {
        match duration::parse(text) {
            Ok(parsed) => {
                assert_eq!(answer.nanoseconds, parsed.nanoseconds().to_string(), "{text:?}");
                assert_eq!(answer.written, parsed.to_string(), "{text:?}");
                valid += 1;
            }
            Err(fault) => assert_eq!(answer.error, fault.to_string(), "{text:?}"),
        }
    }
    assert!(valid > 500 && valid < texts.len() - 500, "{valid} valid");
}

#[test]
fn quoting() {
    let Some(oracle) = Oracle::find() else { return };
    let texts = generate::texts(5_000);
    let questions: Vec<Question> = texts.iter().map(|text| Question::new("quote", text.as_bytes())).collect();
    for (text, answer) in texts.iter().zip(oracle.ask(&questions)) {
        assert_eq!(answer.written, quote::quote(text));
        assert_eq!(answer.json, quote::json_string(text));
    }
}

#[test]
fn json_syntax() {
    let Some(oracle) = Oracle::find() else { return };
    let texts = generate::json(5_000);
    let questions: Vec<Question> = texts.iter().map(|text| Question::new("json", text.as_bytes())).collect();
    let mut valid = 0;
    for (text, answer) in texts.iter().zip(oracle.ask(&questions)) {
        assert_eq!(answer.valid, json::is_valid(text.as_bytes()), "{text:?}");
        valid += usize::from(answer.valid);
    }
    assert!(valid > 1_000 && valid < texts.len() - 1_000, "{valid} valid");
}

#[test]
fn times() {
    let Some(oracle) = Oracle::find() else { return };
    // Go takes more than RFC 3339: an hour of one digit, a comma before the fraction.
    let grammar = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$";
    let grammar = regex::bytes::RegexBuilder::new(grammar).unicode(false).build().unwrap();
    let texts = generate::times(5_000);
    let questions: Vec<Question> = texts.iter().map(|text| Question::new("time", text.as_bytes())).collect();
    let mut valid = 0;
    for (text, answer) in texts.iter().zip(oracle.ask(&questions)) {
        let parsed = rfc3339::parse(text).map(|instant| {
            // Go counts nanoseconds forwards from the second, before 1970 too.
            let whole = instant.as_nanosecond();
            format!("{}.{:09}", whole.div_euclid(1_000_000_000), whole.rem_euclid(1_000_000_000))
        });
        let expected = if grammar.is_match(text.as_bytes()) { answer.nanoseconds } else { String::new() };
        assert_eq!(parsed.unwrap_or_default(), expected, "{text:?}");
        valid += usize::from(!expected.is_empty());
    }
    assert!(valid > 1_000 && valid < texts.len() - 1_000, "{valid} valid");
}
