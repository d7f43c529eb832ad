//! One Secret as one read gave it.

use std::collections::BTreeMap;
use std::fmt;

use super::SecretBytes;

/// A Secret: identity and content from one and the same read.
pub struct SecretFacts {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`; empty where the source has none, as a file has not.
    pub uid: String,
    /// `metadata.resourceVersion` of this read; empty where the source has none.
    pub resource_version: String,
    /// `type`; `Opaque` when omitted, as the API server fills it in.
    pub type_: String,
    /// `metadata.annotations` without the copy of the whole object that `kubectl apply` keeps. Values can hold secrets
    /// too, so they are guarded like the data.
    pub annotations: BTreeMap<String, SecretBytes>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// `immutable: true`.
    pub immutable: bool,
    /// `metadata.ownerReferences`.
    pub owner_references: Vec<OwnerReference>,
    /// `data`, decoded.
    pub data: BTreeMap<String, SecretBytes>,
}

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerReference {
    /// `apiVersion` of the owner.
    pub api_version: String,
    /// `kind` of the owner.
    pub kind: String,
    /// `name` of the owner.
    pub name: String,
    /// `uid` of the owner.
    pub uid: String,
    /// `controller: true`.
    pub controller: bool,
}

impl SecretFacts {
    /// The annotation that `kubectl apply` writes: a copy of the applied object, values and all. No source of facts
    /// keeps it.
    pub const LAST_APPLIED_ANNOTATION: &'static str = "kubectl.kubernetes.io/last-applied-configuration";

    /// The type of a Secret that names none.
    pub const DEFAULT_TYPE: &'static str = "Opaque";

    /// The value of a key, if the Secret has the key.
    pub fn value(&self, key: &str) -> Option<&[u8]> {
        self.data.get(key).map(SecretBytes::expose)
    }
}

/// Shows what identifies the Secret, and nothing of its content; not even the names of its keys.
impl fmt::Debug for SecretFacts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SecretFacts")
            .field("name", &self.name)
            .field("uid", &self.uid)
            .field("resource_version", &self.resource_version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_identity_alone() {
        let secret = SecretFacts {
            name: "s".into(),
            uid: "u".into(),
            resource_version: "7".into(),
            type_: "Opaque".into(),
            annotations: BTreeMap::from([("a".into(), SecretBytes::new(b"canary".to_vec()))]),
            terminating: false,
            immutable: false,
            owner_references: Vec::new(),
            data: BTreeMap::from([("canary".into(), SecretBytes::new(b"canary".to_vec()))]),
        };
        assert_eq!(
            format!("{secret:?}"),
            "SecretFacts { name: \"s\", uid: \"u\", resource_version: \"7\", .. }"
        );
        assert_eq!(secret.value("canary"), Some(&b"canary"[..]));
        assert_eq!(secret.value("other"), None);
    }
}
