//! The person's tool. Prints; the only place that may.

pub mod input;
