//! Findings and plans become status. Pure: `now` and the generation are arguments.

pub mod message;
