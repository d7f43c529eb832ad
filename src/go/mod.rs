//! Go semantics in Rust, pure: regular expressions, durations, quoting. Nothing of Kubernetes lives here.
//!
//! Kubernetes is written in Go, so its users know these languages from there: a pattern, a duration and a quoted
//! value mean here exactly what they mean in Go, down to the words of an error. The specified version is the
//! syntax of Go 1.27 with the Unicode tables of `regex-syntax` (Unicode 16).

pub mod duration;
pub mod quote;
pub mod regexp;
mod unicode;
