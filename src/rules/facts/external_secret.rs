//! One ExternalSecret as one read gave it: what it is set to produce, and what its operator reports.

use serde_json::Value;

use crate::api::raw;

/// An ExternalSecret of the External Secrets Operator, of any version that this installation lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSecretFacts {
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
}

impl ExternalSecretFacts {
    /// The facts in a raw object. What has the wrong type reads as absent.
    pub fn of_object(object: &Value) -> Self {
        let metadata = raw::object(Some(object), "metadata");
        Self { terminating: raw::text(metadata, "deletionTimestamp").is_some() }
    }
}
