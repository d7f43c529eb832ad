//! JSON: whatever another reader of the same library builds a value from is valid here.
#![no_main]

use covenant::format::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    let built = serde_json::from_slice::<serde_json::Value>(value).is_ok();
    assert!(json::is_valid(value) || !built);
});
