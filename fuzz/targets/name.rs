//! Names: the grammars hold one another.
#![no_main]

use covenant::format::{dns_label, dns_subdomain, env_name, qualified_name, secret_key};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if dns_label(text).is_empty() {
        assert!(dns_subdomain(text).is_empty() && qualified_name(text).is_empty());
    }
    if dns_subdomain(text).is_empty() {
        assert!(secret_key(text).is_empty());
    }
    if env_name::messages(text).is_empty() {
        assert!(env_name::is_portable(text) && secret_key(text).is_empty());
    }
});
