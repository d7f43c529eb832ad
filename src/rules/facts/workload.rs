//! One workload as one read gave it: what its pod template asks the kubelet for.

use serde_json::Value;

use crate::api::raw;

/// A Deployment, StatefulSet or DaemonSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadFacts {
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
}

impl WorkloadFacts {
    /// The facts in a raw object. What has the wrong type reads as absent.
    pub fn of_object(object: &Value) -> Self {
        let metadata = raw::object(Some(object), "metadata");
        Self { terminating: raw::text(metadata, "deletionTimestamp").is_some() }
    }
}
