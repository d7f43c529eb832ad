//! Quoted text is printable, and as JSON it reads back.
#![no_main]

use covenant::go::quote;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let quoted = quote::quote(text);
    assert!(quoted.starts_with('"') && quoted.ends_with('"') && quoted.len() >= 2);
    assert!(!quoted.chars().any(char::is_control));
    assert!(quote::quote_bounded(text).chars().count() <= quoted.chars().count());
    assert_eq!(serde_json::from_str::<String>(&quote::json_string(text)).unwrap(), text);
});
