//! A pattern and a value, split at the first zero byte: nothing panics, sizes hold, and a bad byte is a U+FFFD.
#![no_main]

use covenant::go::regexp::{Budget, MAX_INSTRUCTIONS, Program};
use libfuzzer_sys::fuzz_target;

const STEPS: u64 = 200_000;

fuzz_target!(|input: &[u8]| {
    let (pattern, value) = match input.iter().position(|&byte| byte == 0) {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    match Program::compile(pattern) {
        Err(fault) => assert!(pattern.contains(fault.expression())),
        Ok(program) => {
            assert!(program.instructions() <= MAX_INSTRUCTIONS);
            let matched = program.is_match(value, &mut Budget::new(STEPS));
            let replaced = replace_bad_bytes(value);
            assert_eq!(program.is_match(replaced.as_bytes(), &mut Budget::new(STEPS)), matched);
        }
    }
});

/// The value with each byte that belongs to no valid sequence written as U+FFFD.
fn replace_bad_bytes(value: &[u8]) -> String {
    let mut replaced = String::new();
    for chunk in value.utf8_chunks() {
        replaced.push_str(chunk.valid());
        replaced.extend(chunk.invalid().iter().map(|_| '\u{FFFD}'));
    }
    replaced
}
