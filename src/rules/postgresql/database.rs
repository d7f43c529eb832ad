//! SHAPE of a kind.
use crate::rules::finding::Findings;
use serde_json::Value;
pub const ORDER: &[&str] = &[];
pub fn shape(_: &Value, _: &crate::rules::Installation) -> Findings {
    Findings::new()
}
