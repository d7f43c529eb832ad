//! `SecretContract`: what a Secret must hold, who must consume it, and how old it may be.
//!
//! The types here are what the schema is made of and what `status` is written with. Fields with a closed set of words
//! are plain strings, so that an object of a later version still parses. The schema holds types, required fields,
//! words, bounds and list keys; it has no CEL, no patterns and no defaults, so that everything else comes from the
//! webhook in one answer. What an omitted field means is said by [`effective`].

pub mod effective;
mod status;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveContract;
pub use status::{ObservedSecret, SecretContractStatus, Violation, WorkloadFinding};

use self::effective::{Consumption, Format, WorkloadKind};

/// Limits that decide a verdict. They are constants of the API version, the same in webhook, controller and CLI.
pub mod limits {
    /// Most rules in `spec.requiredKeys`.
    pub const KEYS: usize = 256;
    /// Longest name of a Secret key, in bytes.
    pub const KEY_NAME_BYTES: usize = 253;
    /// Longest `envName`, in bytes.
    pub const ENV_NAME_BYTES: usize = 253;
    /// Longest `pattern`, in bytes.
    pub const PATTERN_BYTES: usize = 1024;
    /// Largest value that a pattern or a format reads, and the highest bound a length rule may set, in bytes.
    pub const VALUE_BYTES: i64 = 1_048_576;
    /// Most entries in `spec.workloadRefs`.
    pub const WORKLOADS: usize = 16;
    /// Most entries in `spec.workloadRefs[].containers`.
    pub const CONTAINERS: usize = 32;
    /// Longest `rotation.maxAge`: ten years, in hours.
    pub const MAX_AGE_HOURS: i64 = 87_600;
    /// Most entries of each list of findings in `status`; the counts beside them are not cut.
    pub const STATUS_FINDINGS: usize = 64;
}

/// The rules that a Secret must satisfy, and what else must be true of it.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "secrets.codepop.tech",
    version = "v1alpha1",
    kind = "SecretContract",
    plural = "secretcontracts",
    singular = "secretcontract",
    shortname = "sctr",
    category = "secrets-contracts",
    namespaced,
    status = "SecretContractStatus"
)]
pub struct SecretContractSpec {
    pub secret_ref: SecretRef,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_keys: Vec<RequiredKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_secret_ref: Option<ExternalSecretRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload_refs: Vec<WorkloadRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// The Secret that the contract is about.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    pub name: String,
}

/// The rules of one key of the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredKey {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_empty: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Format::VALUES))]
    pub format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_name: Option<String>,
}

/// The ExternalSecret that produces the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSecretRef {
    pub name: String,
    pub api_version: String,
}

/// A workload that must consume the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRef {
    #[schemars(extend("enum" = effective::WORKLOAD_API_VERSIONS))]
    pub api_version: String,
    #[schemars(extend("enum" = WorkloadKind::VALUES))]
    pub kind: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_init_containers: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Consumption::VALUES))]
    pub consumption: Option<String>,
}

/// How workloads would be changed to consume the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Injection {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// How old the Secret's content may be.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_on_change: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotated_at_annotation: Option<String>,
}

/// Which optional checks count in Ready.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_external_secret_ready: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_workload_reference: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_rotation_policy: Option<bool>,
}
