//! Findings and plans become status. Pure: `now` and the generation are arguments.
//!
//! A status is compared with the stored one ignoring time, and written only when it differs or a scheduled check is due.

pub mod contract;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::rules::conditions::time;

/// The stored status of an object. One that is absent or cannot be understood reads as empty, and is then written anew.
pub fn stored<S: DeserializeOwned + Default>(object: &Value) -> S {
    object.get("status").and_then(|status| S::deserialize(status).ok()).unwrap_or_default()
}
