//! Times: what is read has the grammar.
#![no_main]

use covenant::format::rfc3339;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static GRAMMAR: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-5][0-9])$",
    )
    .unwrap()
});

fuzz_target!(|text: &str| {
    assert!(rfc3339::parse(text).is_none() || GRAMMAR.is_match(text));
});
