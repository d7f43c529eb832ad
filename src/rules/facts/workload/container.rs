//! A container of a pod template: its environment and its mounts.

use serde_json::Value;

use super::{objects, optional, text};
use crate::api::raw;

/// A regular or an init container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Container {
    /// `name`; empty where it has none.
    pub name: String,
    /// `env`, in written order.
    pub env: Vec<EnvVar>,
    /// `envFrom`, in written order, without entries that name no source.
    pub env_from: Vec<EnvFrom>,
    /// `volumeMounts`, in written order.
    pub volume_mounts: Vec<VolumeMount>,
}

/// One entry of `env`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// The variable.
    pub name: String,
    /// What it is set from.
    pub source: EnvSource,
}

/// What a variable is set from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvSource {
    /// `valueFrom.secretKeyRef`.
    SecretKey {
        /// The Secret.
        name: String,
        /// The key in it.
        key: String,
        /// Whether the variable is left alone when Secret or key are absent.
        optional: bool,
    },
    /// Anything else: a literal, a field, a key of a ConfigMap.
    Other {
        /// Whether the variable is left alone when what it is set from is absent.
        optional: bool,
    },
}

/// One entry of `envFrom`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnvFrom {
    /// The object whose keys become variables.
    pub source: EnvFromSource,
    /// What stands before each key in its variable; may be empty.
    pub prefix: String,
    /// Whether the object may be absent.
    pub optional: bool,
}

/// The object of an `envFrom`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EnvFromSource {
    /// `secretRef`, with the Secret's name.
    Secret(String),
    /// `configMapRef`, with the ConfigMap's name.
    ConfigMap(String),
}

/// One entry of `volumeMounts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeMount {
    /// The volume.
    pub name: String,
    /// Where it is mounted.
    pub mount_path: String,
    /// `subPath`, unless it is empty: the part of the volume that is mounted.
    pub sub_path: Option<String>,
    /// `subPathExpr`, unless it is empty: as `subPath`, with variables. It wins where both are set.
    pub sub_path_expr: Option<String>,
}

impl Container {
    pub(super) fn of_item(item: &Value) -> Self {
        let item = Some(item);
        Self {
            name: text(item, "name"),
            env: objects(item, "env").filter_map(EnvVar::of_item).collect(),
            env_from: objects(item, "envFrom").filter_map(EnvFrom::of_item).collect(),
            volume_mounts: objects(item, "volumeMounts").map(VolumeMount::of_item).collect(),
        }
    }
}

impl EnvVar {
    fn of_item(item: &Value) -> Option<Self> {
        let name = raw::text(Some(item), "name")?.to_owned();
        Some(Self { name, source: EnvSource::of_item(item) })
    }
}

impl EnvSource {
    fn of_item(item: &Value) -> Self {
        // A literal wins over a source, unless it is empty.
        if raw::text(Some(item), "value").is_some_and(|value| !value.is_empty()) {
            return Self::Other { optional: false };
        }
        let from = raw::object(Some(item), "valueFrom");
        let secret = raw::object(from, "secretKeyRef");
        if secret.is_some() {
            let (name, key) = (text(secret, "name"), text(secret, "key"));
            return Self::SecretKey { name, key, optional: optional(secret) };
        }
        let is_optional = |source| optional(raw::object(from, source));
        Self::Other { optional: is_optional("configMapKeyRef") || is_optional("fileKeyRef") }
    }
}

impl EnvFrom {
    fn of_item(item: &Value) -> Option<Self> {
        let config_map = raw::object(Some(item), "configMapRef");
        let source = config_map.or_else(|| raw::object(Some(item), "secretRef"));
        source?;
        let name = text(source, "name");
        Some(Self {
            source: if config_map.is_some() {
                EnvFromSource::ConfigMap(name)
            } else {
                EnvFromSource::Secret(name)
            },
            prefix: text(Some(item), "prefix"),
            optional: optional(source),
        })
    }
}

impl VolumeMount {
    fn of_item(item: &Value) -> Self {
        let item = Some(item);
        let filled = |name| raw::text(item, name).filter(|path| !path.is_empty()).map(str::to_owned);
        Self {
            name: text(item, "name"),
            mount_path: text(item, "mountPath"),
            sub_path: filled("subPath"),
            sub_path_expr: filled("subPathExpr"),
        }
    }
}
