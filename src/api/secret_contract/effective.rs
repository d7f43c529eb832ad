//! What a written `SecretContract` means: a borrowed view of the raw object with its defaults filled in.
//!
//! Webhook, controller and CLI read contracts through this view alone, so that an omitted field means the same
//! everywhere. What has the wrong type reads as absent; saying so is the work of the rules.

use serde_json::Value;

use crate::api::names::ROTATED_AT_ANNOTATION;
use crate::api::raw::{self, Indexed};
use crate::api::words::open_words;

/// The values that `spec.workloadRefs[].apiVersion` may have.
pub const WORKLOAD_API_VERSIONS: &[&str] = &["apps/v1"];

/// A contract's `spec` with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveContract<'a> {
    /// `secretRef.name`; absent only in an invalid contract.
    pub secret_name: Option<&'a str>,
    /// `requiredKeys` in written order.
    pub keys: Vec<EffectiveKey<'a>>,
    /// `externalSecretRef`, if declared.
    pub external_secret: Option<EffectiveExternalSecret<'a>>,
    /// `workloadRefs` in written order.
    pub workloads: Vec<EffectiveWorkload<'a>>,
    /// `injection.mode`, by default Disabled.
    pub injection_mode: InjectionMode<'a>,
    /// `rotation.restartOnChange`, by default false.
    pub restart_on_change: bool,
    /// `rotation.maxAge` as written; without it the contract has no rotation policy.
    pub max_age: Option<&'a str>,
    /// `rotation.rotatedAtAnnotation` as written; [`EffectiveContract::rotated_at`] fills in the default.
    pub rotated_at_annotation: Option<&'a str>,
    /// `policy`, each part by default false.
    pub policy: EffectivePolicy,
}

/// One entry of `requiredKeys`.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveKey<'a> {
    /// Place in the written list.
    pub index: usize,
    /// The Secret key; absent only in an invalid contract.
    pub name: Option<&'a str>,
    /// Whether the key must be present. By default true.
    pub required: bool,
    /// Whether a present key must have at least one byte. By default true.
    pub non_empty: bool,
    /// Fewest decoded bytes; none = no bound.
    pub min_length: Option<i64>,
    /// Most decoded bytes; none = no bound.
    pub max_length: Option<i64>,
    /// Go regular expression that must match somewhere in the value; none = no rule.
    pub pattern: Option<&'a str>,
    /// The value's format, by default None.
    pub format: Format<'a>,
    /// The environment variable the key must arrive in; none = no mapping.
    pub env_name: Option<&'a str>,
}

/// `externalSecretRef`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveExternalSecret<'a> {
    /// Name of the ExternalSecret; absent only in an invalid contract.
    pub name: Option<&'a str>,
    /// Group and version it is read through; absent only in an invalid contract.
    pub api_version: Option<&'a str>,
}

/// One entry of `workloadRefs`.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveWorkload<'a> {
    /// Place in the written list.
    pub index: usize,
    /// `apps/v1`; absent only in an invalid contract.
    pub api_version: Option<&'a str>,
    /// The workload's kind; absent only in an invalid contract.
    pub kind: Option<WorkloadKind<'a>>,
    /// The workload's name; absent only in an invalid contract.
    pub name: Option<&'a str>,
    /// The selected containers; empty = every regular container.
    pub containers: Vec<Indexed<&'a str>>,
    /// Whether init containers are selected too. By default false.
    pub include_init_containers: bool,
    /// How the Secret must be consumed, by default Any.
    pub consumption: Consumption<'a>,
}

/// Which optional checks count in Ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectivePolicy {
    /// ExternalSecretReady counts.
    pub require_external_secret_ready: bool,
    /// WorkloadsConfigured counts.
    pub require_workload_reference: bool,
    /// RotationPolicySatisfied counts.
    pub require_rotation_policy: bool,
}

open_words! {
    /// The format of a key's value.
    pub enum Format {
        /// Any bytes.
        None = "None",
        /// Syntactically valid JSON, scalars included.
        Json = "JSON",
        /// An absolute URI with a scheme.
        Uri = "URI",
        /// One or more PEM blocks and nothing else.
        Pem = "PEM",
    }
}

open_words! {
    /// How a container must consume the Secret.
    pub enum Consumption {
        /// As environment variables.
        EnvVars = "EnvVars",
        /// As files of a volume.
        Volume = "Volume",
        /// Either way, key by key.
        Any = "Any",
    }
}

open_words! {
    /// The kinds of workload that a contract may name.
    pub enum WorkloadKind {
        /// A Deployment.
        Deployment = "Deployment",
        /// A StatefulSet.
        StatefulSet = "StatefulSet",
        /// A DaemonSet.
        DaemonSet = "DaemonSet",
    }
}

open_words! {
    /// Whether workloads are changed to consume the Secret.
    pub enum InjectionMode {
        /// Nothing is changed.
        Disabled = "Disabled",
    }
}

impl<'a> EffectiveContract<'a> {
    /// Reads a whole object.
    pub fn of_object(object: &'a Value) -> Self {
        Self::of_spec(raw::field(Some(object), "spec"))
    }

    /// Reads a `spec`; an absent one reads as empty.
    pub fn of_spec(spec: Option<&'a Value>) -> Self {
        let rotation = raw::object(spec, "rotation");
        let policy = raw::object(spec, "policy");
        Self {
            secret_name: raw::text(raw::object(spec, "secretRef"), "name"),
            keys: raw::items(spec, "requiredKeys").filter_map(EffectiveKey::of_item).collect(),
            external_secret: raw::object(spec, "externalSecretRef").map(|reference| {
                EffectiveExternalSecret {
                    name: raw::text(Some(reference), "name"),
                    api_version: raw::text(Some(reference), "apiVersion"),
                }
            }),
            workloads: raw::items(spec, "workloadRefs").filter_map(EffectiveWorkload::of_item).collect(),
            injection_mode: raw::text(raw::object(spec, "injection"), "mode")
                .map_or(InjectionMode::Disabled, InjectionMode::from_word),
            restart_on_change: raw::flag(rotation, "restartOnChange").unwrap_or(false),
            max_age: raw::text(rotation, "maxAge"),
            rotated_at_annotation: raw::text(rotation, "rotatedAtAnnotation"),
            policy: EffectivePolicy {
                require_external_secret_ready: raw::flag(policy, "requireExternalSecretReady")
                    .unwrap_or(false),
                require_workload_reference: raw::flag(policy, "requireWorkloadReference").unwrap_or(false),
                require_rotation_policy: raw::flag(policy, "requireRotationPolicy").unwrap_or(false),
            },
        }
    }

    /// The annotation on the Secret that declares its rotation time.
    pub fn rotated_at(&self) -> &'a str {
        self.rotated_at_annotation.unwrap_or(ROTATED_AT_ANNOTATION)
    }
}

impl<'a> EffectiveKey<'a> {
    fn of_item(item: Indexed<&'a Value>) -> Option<Self> {
        let key = Some(item.value).filter(|value| value.is_object());
        key?;
        Some(Self {
            index: item.index,
            name: raw::text(key, "name"),
            required: raw::flag(key, "required").unwrap_or(true),
            non_empty: raw::flag(key, "nonEmpty").unwrap_or(true),
            min_length: raw::integer(key, "minLength"),
            max_length: raw::integer(key, "maxLength"),
            pattern: raw::text(key, "pattern"),
            format: raw::text(key, "format").map_or(Format::None, Format::from_word),
            env_name: raw::text(key, "envName"),
        })
    }
}

impl<'a> EffectiveWorkload<'a> {
    fn of_item(item: Indexed<&'a Value>) -> Option<Self> {
        let workload = Some(item.value).filter(|value| value.is_object());
        workload?;
        Some(Self {
            index: item.index,
            api_version: raw::text(workload, "apiVersion"),
            kind: raw::text(workload, "kind").map(WorkloadKind::from_word),
            name: raw::text(workload, "name"),
            containers: raw::texts(workload, "containers"),
            include_init_containers: raw::flag(workload, "includeInitContainers").unwrap_or(false),
            consumption: raw::text(workload, "consumption").map_or(Consumption::Any, Consumption::from_word),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn omitted_fields_mean_what_the_documentation_says() {
        let object = json!({"spec": {
            "secretRef": {"name": "web"},
            "requiredKeys": [{"name": "token"}],
            "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        }});
        let contract = EffectiveContract::of_object(&object);
        assert_eq!(contract.secret_name, Some("web"));
        let key = &contract.keys[0];
        assert!(key.required && key.non_empty);
        assert_eq!((key.min_length, key.max_length, key.pattern, key.env_name), (None, None, None, None));
        assert_eq!(key.format, Format::None);
        let workload = &contract.workloads[0];
        assert_eq!(workload.consumption, Consumption::Any);
        assert!(!workload.include_init_containers && workload.containers.is_empty());
        assert_eq!(contract.injection_mode, InjectionMode::Disabled);
        assert_eq!(contract.rotated_at(), "secrets.codepop.tech/rotated-at");
        assert_eq!(contract.policy, EffectivePolicy::default());
        assert_eq!((contract.external_secret, contract.max_age), (None, None));
    }

    #[test]
    fn nonsense_reads_as_absent_and_places_are_kept() {
        for spec in
            [json!(null), json!("hello"), json!([]), json!({"requiredKeys": {"a": 1}, "secretRef": "web"})]
        {
            let contract = EffectiveContract::of_spec(Some(&spec));
            assert_eq!((contract.secret_name, contract.keys.len()), (None, 0));
        }
        let spec = json!({"requiredKeys": ["x", {"name": 1, "required": "no", "minLength": "3"}, {"format": "XML"}]});
        let contract = EffectiveContract::of_spec(Some(&spec));
        assert_eq!(contract.keys.len(), 2);
        assert_eq!((contract.keys[0].index, contract.keys[0].name), (1, None));
        assert!(contract.keys[0].required);
        assert_eq!(contract.keys[0].min_length, None);
        assert_eq!(contract.keys[1].format, Format::Unknown("XML"));
        assert_eq!(contract.keys[1].format.as_str(), "XML");
    }
}
