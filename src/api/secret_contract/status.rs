//! What the controller writes into `status` of a `SecretContract`. Everything in it may be missing when it is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits;
use crate::api::conditions::Condition;

/// The last evaluation of the contract, written by Covenant alone.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretContractStatus {
    /// The generation of the contract that was evaluated. When it is older than the contract's own, the rest of the
    /// status is about an earlier spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// The Secret exactly as it was read for this evaluation. Absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_secret: Option<ObservedSecret>,
    /// When something new was last evaluated, or a scheduled check was last made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_checked_time: Option<String>,
    /// The required keys that the Secret does not have, sorted; at most 64 of them.
    #[schemars(length(max = limits::STATUS_FINDINGS), inner(length(max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub missing_keys: Vec<String>,
    /// How many required keys are missing, also beyond those listed.
    #[schemars(range(min = 0))]
    pub missing_key_count: i64,
    /// The present keys that break a rule, one entry for each key and rule, sorted; at most 64 of them.
    #[schemars(length(max = limits::STATUS_FINDINGS), extend("x-kubernetes-list-type" = "atomic"))]
    pub violations: Vec<Violation>,
    /// How many violations there are, also beyond those listed.
    #[schemars(range(min = 0))]
    pub violation_count: i64,
    /// The containers that do not consume the Secret as the contract asks, sorted; at most 64 entries.
    #[schemars(length(max = limits::STATUS_FINDINGS), extend("x-kubernetes-list-type" = "atomic"))]
    pub workload_findings: Vec<WorkloadFinding>,
    /// How many workload findings there are, also beyond those listed.
    #[schemars(range(min = 0))]
    pub workload_finding_count: i64,
    /// Whether one of the lists above was cut at 64 entries.
    pub truncated: bool,
    /// SecretExists, KeysValid, ExternalSecretReady, WorkloadsConfigured, RotationPolicySatisfied, and Ready, which sums
    /// them up. Each holds for the generation in its observedGeneration only.
    #[schemars(
        length(max = 16),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<Condition>,
}

/// The Secret as it was read for the evaluation.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedSecret {
    /// Name of the Secret.
    #[schemars(length(max = 253))]
    pub name: String,
    /// UID of the Secret; it changes when the Secret is replaced.
    #[schemars(length(max = 128))]
    pub uid: String,
    /// The resource version whose content was judged.
    #[schemars(length(max = 128))]
    pub resource_version: String,
}

/// A present key that breaks one rule.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Violation {
    /// The key in the Secret's data.
    #[schemars(length(max = 253))]
    pub key: String,
    /// The rule that is broken: nonEmpty, minLength, maxLength, pattern or format, or representation for a value that
    /// cannot be an environment variable.
    #[schemars(length(max = 63))]
    pub rule: String,
    /// One word from a closed list that says why, for tools.
    #[schemars(length(max = 64))]
    pub reason: String,
    /// What a person should know. It never holds any part of the value.
    #[schemars(length(max = 1024))]
    pub message: String,
}

/// A container that does not consume the Secret as the contract asks.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadFinding {
    /// Kind of the workload.
    #[schemars(length(max = 63))]
    pub kind: String,
    /// Name of the workload.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Name of the container; empty where the pod template has none at all.
    #[schemars(length(max = 63))]
    pub container: String,
    /// The key that the finding is about; absent when it is about the container itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub key: Option<String>,
    /// One word from a closed list that says why, for tools.
    #[schemars(length(max = 64))]
    pub reason: String,
    /// What a person should know, with the next step where there is one.
    #[schemars(length(max = 1024))]
    pub message: String,
}
