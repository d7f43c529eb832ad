//! The wire format of admission: the only place that reads an `AdmissionReview` or builds an answer.
//!
//! Own small types instead of a client library's: an answer must carry the request's uid whatever else the request
//! holds, and everything that is not needed for a decision must not be able to fail it.

mod answer;
mod read;

pub use answer::{Answer, Subject};
pub use read::{Operation, Review, find_uid};
