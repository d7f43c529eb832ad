//! A duration: what is read is written so that it reads back.
#![no_main]

use covenant::go::duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match duration::parse(text) {
        Ok(parsed) => assert_eq!(duration::parse(&parsed.to_string()), Ok(parsed)),
        Err(fault) => assert!(fault.to_string().starts_with("time: ")),
    }
});
