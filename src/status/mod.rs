//! Findings and plans become status. Pure: `now` and the generation are arguments.
//!
//! A status is compared with the stored one ignoring time, and written only when it differs or a scheduled check is due.

mod conditions;
pub mod contract;
pub mod database;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A time as a status holds it: RFC 3339 in UTC, whole seconds.
pub fn time(now: Timestamp) -> String {
    // Every time of day has a whole second before it, so the fallback is never taken.
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// The stored status of an object. One that is absent or cannot be understood reads as empty, and is then written anew.
pub fn stored<S: DeserializeOwned + Default>(object: &Value) -> S {
    object.get("status").and_then(|status| S::deserialize(status).ok()).unwrap_or_default()
}
