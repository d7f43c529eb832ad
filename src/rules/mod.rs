//! Pure rules: facts in, findings out. No clock, no I/O, no log.

pub mod facts;
