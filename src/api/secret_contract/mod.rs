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
    pub const VALUE_BYTES: usize = 1 << 20;
    /// Most entries in `spec.workloadRefs`.
    pub const WORKLOADS: usize = 16;
    /// Most entries in `spec.workloadRefs[].containers`.
    pub const CONTAINERS: usize = 32;
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
    status = "SecretContractStatus",
    doc = "A contract about one Secret of its namespace: which keys it must hold and what their values must look like, \
           which ExternalSecret produces it, which workloads must consume it, and how old it may be. Whether it is \
           kept stands in the condition Ready.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason"
    ),
    printcolumn(name = "Secret", type_ = "string", json_path = ".spec.secretRef.name"),
    printcolumn(name = "Missing", type_ = "integer", json_path = ".status.missingKeyCount"),
    printcolumn(name = "Violations", type_ = "integer", json_path = ".status.violationCount"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].message",
        priority = 1
    )
)]
pub struct SecretContractSpec {
    /// The Secret that the contract is about, in the contract's own namespace. Required. Counts in Ready through
    /// SecretExists. It may be changed later; many contracts may name one Secret, and each is judged alone.
    pub secret_ref: SecretRef,
    /// The rules of the Secret's keys, at most 256, each `name` once. Omitted or empty: the Secret only has to exist.
    /// Counts in Ready through KeysValid. Keys of the Secret that no rule names are not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = limits::KEYS),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub required_keys: Vec<RequiredKey>,
    /// The ExternalSecret that produces the Secret. Omitted: ExternalSecretReady is True with reason NotConfigured.
    /// Counts in Ready only with `policy.requireExternalSecretReady`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_secret_ref: Option<ExternalSecretRef>,
    /// The workloads that must consume the Secret, at most 16, each `apiVersion`, `kind` and `name` once. Omitted or
    /// empty: WorkloadsConfigured is True with reason NotConfigured. Counts in Ready only with
    /// `policy.requireWorkloadReference`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = limits::WORKLOADS),
        extend(
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-list-map-keys" = ["apiVersion", "kind", "name"]
        )
    )]
    pub workload_refs: Vec<WorkloadRef>,
    /// How workloads would be changed to consume the Secret. Omitted: not at all. No effect on Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injection>,
    /// How old the Secret's content may be. Omitted: RotationPolicySatisfied is True with reason NotConfigured. Counts
    /// in Ready only with `policy.requireRotationPolicy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Which of the optional checks count in Ready. Omitted: none of them does; their conditions are reported all the
    /// same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// The Secret that the contract is about.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// Name of the Secret. Required; a DNS subdomain of at most 253 characters. While there is no such Secret,
    /// SecretExists and Ready are False.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// The rules of one key of the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredKey {
    /// The key in the Secret's data. Required and unique in the list; letters, digits, `-`, `_` and `.`, at most 253
    /// characters, neither `.` nor beginning with `..`.
    #[schemars(length(min = 1, max = limits::KEY_NAME_BYTES))]
    pub name: String,
    /// Whether the key must be present. Omitted: true. An absent key then makes KeysValid False; with false an absent
    /// key is skipped, but a present one is still judged by all its rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Whether a present key must hold at least one byte. Omitted: true. Nothing is trimmed: a blank is a byte. May not
    /// be true together with `maxLength: 0`. An empty value makes KeysValid False and is not judged further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_empty: Option<bool>,
    /// Fewest bytes of the decoded value, 0 to 1048576 and no more than `maxLength`. Omitted: no lower bound. A shorter
    /// value makes KeysValid False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::VALUE_BYTES))]
    pub min_length: Option<i64>,
    /// Most bytes of the decoded value, 0 to 1048576 and no less than `minLength`; 0 needs `nonEmpty: false`. Omitted:
    /// no upper bound. A longer value makes KeysValid False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::VALUE_BYTES))]
    pub max_length: Option<i64>,
    /// Regular expression in Go syntax that must match somewhere in the decoded value; write `^` and `$` to match all
    /// of it. 1 to 1024 bytes. Omitted: no rule. A value that does not match makes KeysValid False; one larger than
    /// 1 MiB is not read and makes it Unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PATTERN_BYTES))]
    pub pattern: Option<String>,
    /// What the decoded value must be: None (anything), JSON (valid JSON, scalars included), URI (an absolute URI with
    /// a scheme; nothing is fetched), or PEM (one or more PEM blocks and nothing else). Omitted: None. A value that is
    /// not valid makes KeysValid False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Format::VALUES))]
    pub format: Option<String>,
    /// The environment variable in which workloads must receive the key. A letter or `_`, then letters, digits and `_`;
    /// at most 253 characters; unique in the list, also against keys whose own name is used as the variable. Omitted: any
    /// variable will do, through `envFrom` one with a portable name. Counts only in WorkloadsConfigured, and not where a
    /// mounted file will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::ENV_NAME_BYTES))]
    pub env_name: Option<String>,
}

/// The ExternalSecret that produces the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSecretRef {
    /// Name of the ExternalSecret in the contract's namespace. Required; a DNS subdomain of at most 253 characters. It
    /// must produce the very Secret that `secretRef` names, or ExternalSecretReady is False.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Group and version of the ExternalSecret, for example `external-secrets.io/v1`. Required; one of the versions
    /// that the installation allows.
    #[schemars(length(min = 1, max = 317))]
    pub api_version: String,
}

/// A workload that must consume the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRef {
    /// Group and version of the workload. Required; `apps/v1`.
    #[schemars(extend("enum" = effective::WORKLOAD_API_VERSIONS))]
    pub api_version: String,
    /// Kind of the workload. Required; Deployment, StatefulSet or DaemonSet.
    #[schemars(extend("enum" = WorkloadKind::VALUES))]
    pub kind: String,
    /// Name of the workload in the contract's namespace. Required; a DNS subdomain of at most 253 characters. While it
    /// does not exist WorkloadsConfigured is False.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The containers that must receive every required key, 1 to 32 names, each once. Omitted: every regular container.
    /// A name that the pod template does not have makes WorkloadsConfigured False.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = limits::CONTAINERS),
        inner(length(min = 1, max = 63)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub containers: Vec<String>,
    /// Whether init containers, native sidecars among them, are judged too: all of them, or those that `containers`
    /// lists. Omitted: false; listing an init container then makes WorkloadsConfigured False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_init_containers: Option<bool>,
    /// How the containers must consume the Secret: EnvVars (environment variables), Volume (mounted files), or Any
    /// (either way, key by key). Omitted: Any. Decides WorkloadsConfigured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Consumption::VALUES))]
    pub consumption: Option<String>,
}

/// How workloads would be changed to consume the Secret.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Injection {
    /// Must be Disabled in this version, which never changes a workload. Omitted: Disabled. No effect on Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub mode: Option<String>,
}

/// How old the Secret's content may be.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    /// Must be false in this version, which never restarts a workload. Omitted: false. No effect on Ready, ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_on_change: Option<bool>,
    /// How long after its declared rotation time the content may be used: a Go duration such as `720h` or `24h30m`
    /// (days and weeks are not units of it), longer than zero and at most 87600h, ten years. Omitted: no limit. An older
    /// Secret makes RotationPolicySatisfied False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub max_age: Option<String>,
    /// The annotation on the Secret that declares when it was last rotated, as an RFC 3339 time. An annotation key with
    /// a prefix, outside kubernetes.io and k8s.io; only together with `maxAge`. Omitted:
    /// `secrets.codepop.tech/rotated-at`. A missing, malformed or future time makes RotationPolicySatisfied False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 317))]
    pub rotated_at_annotation: Option<String>,
}

/// Which of the optional checks count in Ready.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether ExternalSecretReady counts in Ready. Omitted: false. True needs `externalSecretRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_external_secret_ready: Option<bool>,
    /// Whether WorkloadsConfigured counts in Ready. Omitted: false. True needs at least one entry of `workloadRefs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_workload_reference: Option<bool>,
    /// Whether RotationPolicySatisfied counts in Ready. Omitted: false. True needs `rotation.maxAge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_rotation_policy: Option<bool>,
}
