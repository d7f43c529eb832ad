//! URIs: what is valid is ASCII without spaces and begins with a scheme.
#![no_main]

use covenant::format::uri;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    if uri::is_valid(value) {
        assert!(value.is_ascii() && !value.contains(&b' '));
        assert!(value[0].is_ascii_alphabetic() && value.contains(&b':'));
    }
});
