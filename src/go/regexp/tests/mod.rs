//! Tests of patterns as a whole: every construct where Go differs from other languages, the limits, and agreement with
//! two independent judges. The comparison with a real Go is in `tests/go_oracle.rs`.

mod agreement;
mod characters;
mod limits;
mod operators;

use super::{Budget, Program};

/// Whether `pattern` matches `value`; panics where it does not compile.
pub(super) fn matches(pattern: &str, value: &[u8]) -> bool {
    Program::compile(pattern)
        .unwrap_or_else(|error| panic!("{pattern}: {error}"))
        .is_match(value, &mut Budget::default())
        .unwrap()
}

/// What `Display` says of a pattern that does not compile.
pub(super) fn error(pattern: &str) -> String {
    Program::compile(pattern).expect_err(pattern).to_string()
}

/// Checks that `pattern` matches each of `yes` and none of `no`.
pub(super) fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    for value in yes {
        assert!(matches(pattern, value.as_bytes()), "{pattern} should match {value:?}");
    }
    for value in no {
        assert!(!matches(pattern, value.as_bytes()), "{pattern} should not match {value:?}");
    }
}

/// Checks the code and the cut-out expression of faulty patterns.
pub(super) fn refuse(code: &str, rows: &[(&str, &str)]) {
    for (pattern, expression) in rows {
        assert_eq!(error(pattern), format!("error parsing regexp: {code}: `{expression}`"), "{pattern}");
    }
}
