//! A volume of a pod template: which keys of which Secret become which files.

use serde_json::Value;

use super::{objects, optional, text};
use crate::api::raw;

/// One entry of `volumes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// `name`; empty where it has none.
    pub name: String,
    /// What it holds.
    pub source: VolumeSource,
}

/// What a volume holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// `secret`.
    Secret(SecretSource),
    /// `projected`, with its sources in written order: of two files with one path the later stays.
    Projected(Vec<ProjectedSource>),
    /// Anything else.
    Other,
}

/// Keys of a Secret as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretSource {
    /// The Secret.
    pub name: String,
    /// `items`; empty = every key, as a file of its own name.
    pub items: Vec<KeyToPath>,
    /// Whether the Secret, and each of the listed keys, may be absent.
    pub optional: bool,
}

/// One entry of `items`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyToPath {
    /// The key.
    pub key: String,
    /// The path of its file in the volume.
    pub path: String,
}

/// One source of a projected volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectedSource {
    /// `secret`.
    Secret(SecretSource),
    /// Anything else.
    Other {
        /// The paths that it is told to write.
        paths: Vec<String>,
        /// Whether its files are named after keys of an object, so that only a look into it would tell them.
        open: bool,
    },
}

impl Volume {
    pub(super) fn of_item(item: &Value) -> Self {
        let item = Some(item);
        let (secret, projected) = (raw::object(item, "secret"), raw::object(item, "projected"));
        let source = if secret.is_some() {
            VolumeSource::Secret(SecretSource::of_object(secret, "secretName"))
        } else if projected.is_some() {
            VolumeSource::Projected(objects(projected, "sources").map(ProjectedSource::of_item).collect())
        } else {
            VolumeSource::Other
        };
        Self { name: text(item, "name"), source }
    }
}

impl SecretSource {
    /// A projected source calls the Secret's name otherwise than a volume does.
    fn of_object(object: Option<&Value>, name: &str) -> Self {
        let item = |item| KeyToPath { key: text(Some(item), "key"), path: text(Some(item), "path") };
        Self {
            name: text(object, name),
            items: objects(object, "items").map(item).collect(),
            optional: optional(object),
        }
    }
}

impl ProjectedSource {
    fn of_item(item: &Value) -> Self {
        let item = Some(item);
        let secret = raw::object(item, "secret");
        if secret.is_some() {
            return Self::Secret(SecretSource::of_object(secret, "name"));
        }
        let config_map = raw::object(item, "configMap");
        let listed = [config_map, raw::object(item, "downwardAPI")];
        let mut paths: Vec<String> = listed
            .into_iter()
            .flat_map(|source| objects(source, "items"))
            .map(|item| text(Some(item), "path"))
            .collect();
        let open = config_map.is_some() && paths.is_empty();
        let single = ["serviceAccountToken", "clusterTrustBundle"];
        paths.extend(
            single
                .iter()
                .filter_map(|source| raw::text(raw::object(item, source), "path").map(str::to_owned)),
        );
        Self::Other { paths, open }
    }
}
