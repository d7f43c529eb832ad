//! The `covenant-controller` process: parses flags, calls the library, turns errors into an exit code.

fn main() {}
