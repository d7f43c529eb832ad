//! Go semantics in Rust, pure: regular expressions, durations, quoting. Nothing of Kubernetes lives here.
