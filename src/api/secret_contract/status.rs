//! What the controller writes into `status` of a `SecretContract`. Everything in it may be missing when it is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::conditions::Condition;

/// The last evaluation of the contract.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretContractStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_secret: Option<ObservedSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_checked_time: Option<String>,
    pub missing_keys: Vec<String>,
    pub missing_key_count: i64,
    pub violations: Vec<Violation>,
    pub violation_count: i64,
    pub workload_findings: Vec<WorkloadFinding>,
    pub workload_finding_count: i64,
    pub truncated: bool,
    pub conditions: Vec<Condition>,
}

/// The Secret as it was read for the evaluation.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedSecret {
    pub name: String,
    pub uid: String,
    pub resource_version: String,
}

/// A present key that breaks one rule.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Violation {
    pub key: String,
    pub rule: String,
    pub reason: String,
    pub message: String,
}

/// A container that does not consume the Secret as the contract asks.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadFinding {
    pub kind: String,
    pub name: String,
    pub container: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub reason: String,
    pub message: String,
}
