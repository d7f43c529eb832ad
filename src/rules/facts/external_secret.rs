//! One ExternalSecret as one read gave it: what it is set to produce, and what its operator reports.
//!
//! The fields are those of the External Secrets Operator, as written; what they amount to is the rules' to say.

use serde_json::Value;

use crate::api::raw;

/// An ExternalSecret of the External Secrets Operator, of any version that this installation lists. A name or word that
/// is empty is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalSecretFacts {
    /// `metadata.uid`; absent where the source has none, as a file has not.
    pub uid: Option<String>,
    /// `metadata.generation`; likewise.
    pub generation: Option<i64>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// `spec.target.name`: the Secret to produce. The operator takes the ExternalSecret's own name where it is absent.
    pub target_name: Option<String>,
    /// `spec.target.creationPolicy`: `Owner`, `Orphan`, `Merge`, `None`. The operator takes `Owner` where it is absent.
    pub creation_policy: Option<String>,
    /// Whether `spec.target.manifest` is set: the target is an object of another kind.
    pub target_manifest: bool,
    /// `spec.refreshPolicy`: `Periodic`, `CreatedOnce`, `OnChange`. The operator takes `Periodic` where it is absent.
    pub refresh_policy: Option<String>,
    /// `spec.refreshInterval`, a Go duration. The operator takes `1h` where it is absent.
    pub refresh_interval: Option<String>,
    /// `status.binding.name`: the Secret that the operator says it has produced.
    pub bound_name: Option<String>,
    /// The entry of `status.conditions` with the type `Ready`.
    pub ready: Option<ReadyCondition>,
    /// `status.refreshTime`: when the last sync succeeded, in RFC 3339.
    pub refresh_time: Option<String>,
    /// `status.syncedResourceVersion`: the generation that was synced, a dash, and a hash. It has nothing to do with a
    /// resourceVersion.
    pub synced_resource_version: Option<String>,
}

/// What the operator says about readiness. Its message is free text and is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadyCondition {
    /// `True`, `False` or `Unknown`.
    pub status: Option<String>,
    /// Such as `SecretSynced`, `SecretDeleted`.
    pub reason: Option<String>,
}

impl ExternalSecretFacts {
    /// The facts in a raw object. What has the wrong type reads as absent.
    pub fn of_object(object: &Value) -> Self {
        let part = |name| raw::object(Some(object), name);
        let (metadata, spec, status) = (part("metadata"), part("spec"), part("status"));
        let target = raw::object(spec, "target");
        let ready = raw::items(status, "conditions")
            .find(|item| raw::text(Some(item.value), "type") == Some("Ready"));
        Self {
            uid: word(metadata, "uid"),
            generation: raw::integer(metadata, "generation"),
            terminating: raw::text(metadata, "deletionTimestamp").is_some(),
            target_name: word(target, "name"),
            creation_policy: word(target, "creationPolicy"),
            target_manifest: raw::object(target, "manifest").is_some(),
            refresh_policy: word(spec, "refreshPolicy"),
            // An empty text is no duration, and so not the same as none.
            refresh_interval: raw::text(spec, "refreshInterval").map(str::to_owned),
            bound_name: word(raw::object(status, "binding"), "name"),
            ready: ready.map(|condition| ReadyCondition {
                status: word(Some(condition.value), "status"),
                reason: word(Some(condition.value), "reason"),
            }),
            refresh_time: word(status, "refreshTime"),
            synced_resource_version: word(status, "syncedResourceVersion"),
        }
    }
}

fn word(parent: Option<&Value>, name: &str) -> Option<String> {
    raw::text(parent, name).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_read() {
        let object = json!({
            "metadata": {"uid": "u", "generation": 3, "deletionTimestamp": "2026-10-10T08:30:00Z"},
            "spec": {
                "refreshPolicy": "OnChange", "refreshInterval": "15m",
                "target": {"name": "t", "creationPolicy": "Merge", "manifest": {"kind": "ConfigMap"}},
            },
            "status": {
                "binding": {"name": "b"},
                "conditions": [
                    {"type": "Deleted", "status": "False"},
                    {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "free text"},
                ],
                "refreshTime": "2026-10-10T08:00:00Z",
                "syncedResourceVersion": "3-abc",
            },
        });
        let some = |text: &str| Some(text.to_owned());
        let expected = ExternalSecretFacts {
            uid: some("u"),
            generation: Some(3),
            terminating: true,
            target_name: some("t"),
            creation_policy: some("Merge"),
            target_manifest: true,
            refresh_policy: some("OnChange"),
            refresh_interval: some("15m"),
            bound_name: some("b"),
            ready: Some(ReadyCondition { status: some("True"), reason: some("SecretSynced") }),
            refresh_time: some("2026-10-10T08:00:00Z"),
            synced_resource_version: some("3-abc"),
        };
        assert_eq!(ExternalSecretFacts::of_object(&object), expected);
    }

    #[test]
    fn what_is_missing_empty_or_of_the_wrong_type_is_absent() {
        for object in [
            json!({}),
            json!([]),
            json!({"metadata": [], "spec": "x", "status": null}),
            json!({
                "metadata": {"uid": "", "generation": "1", "deletionTimestamp": null},
                "spec": {"refreshPolicy": 1, "refreshInterval": 60, "target": {"name": "", "creationPolicy": {}, "manifest": null}},
                "status": {"binding": {"name": ""}, "conditions": {"type": "Ready"}, "refreshTime": null, "syncedResourceVersion": 1},
            }),
        ] {
            assert_eq!(ExternalSecretFacts::of_object(&object), ExternalSecretFacts::default(), "{object}");
        }
        let empty =
            json!({"spec": {"refreshInterval": ""}, "status": {"conditions": [1, {"type": "Ready"}]}});
        let facts = ExternalSecretFacts::of_object(&empty);
        assert_eq!(
            facts.refresh_interval.as_deref(),
            Some(""),
            "the API server stores it, and it is no duration"
        );
        assert_eq!(facts.ready, Some(ReadyCondition::default()));
    }
}
