//! PEM: what is valid stays so with white space around it, and twice over.
#![no_main]

use covenant::format::pem;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    if pem::is_valid(value) {
        assert!(pem::is_valid(&[b"\n", value, b"\n \t\r\n"].concat()));
        assert!(pem::is_valid(&[value, b"\n", value].concat()));
        assert!(!pem::is_valid(&[value, b"\nx"].concat()));
    }
});
