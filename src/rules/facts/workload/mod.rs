//! One workload as one read gave it: what its pod template asks the kubelet for.
//!
//! Only what can bring a Secret into a container is kept, and no literal value of a variable: people write secrets there
//! too. Everything is read leniently: what has the wrong type reads as absent.

mod container;
mod volume;

use serde_json::Value;

pub use container::{Container, EnvFrom, EnvFromSource, EnvSource, EnvVar, VolumeMount};
pub use volume::{KeyToPath, ProjectedSource, SecretSource, Volume, VolumeSource};

use crate::api::raw;

/// A Deployment, StatefulSet or DaemonSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadFacts {
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// `spec.template.spec`.
    pub pod: PodTemplate,
}

/// The part of a pod template that can bring a Secret into a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodTemplate {
    /// `containers`, in written order.
    pub containers: Vec<Container>,
    /// `initContainers`, native sidecars (`restartPolicy: Always`) among them, in written order.
    pub init_containers: Vec<Container>,
    /// `volumes`, in written order.
    pub volumes: Vec<Volume>,
}

impl WorkloadFacts {
    /// The facts in a raw object. What has the wrong type reads as absent.
    pub fn of_object(object: &Value) -> Self {
        let metadata = raw::object(Some(object), "metadata");
        let spec = raw::object(Some(object), "spec");
        let pod = raw::object(raw::object(spec, "template"), "spec");
        Self {
            terminating: raw::text(metadata, "deletionTimestamp").is_some(),
            pod: PodTemplate {
                containers: objects(pod, "containers").map(Container::of_item).collect(),
                init_containers: objects(pod, "initContainers").map(Container::of_item).collect(),
                volumes: objects(pod, "volumes").map(Volume::of_item).collect(),
            },
        }
    }
}

impl PodTemplate {
    /// The volume of this name.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }
}

/// The items of a list that are objects.
fn objects<'a>(parent: Option<&'a Value>, name: &str) -> impl Iterator<Item = &'a Value> {
    raw::items(parent, name).map(|item| item.value).filter(|item| item.is_object())
}

/// A text field; an absent one is empty, as the API server stores it.
fn text(parent: Option<&Value>, name: &str) -> String {
    raw::text(parent, name).unwrap_or_default().to_owned()
}

/// `optional`, by default false.
fn optional(parent: Option<&Value>) -> bool {
    raw::flag(parent, "optional").unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_can_bring_a_secret_is_read() {
        let template = json!({
            "initContainers": [{"name": "proxy", "restartPolicy": "Always"}],
            "containers": [{
                "name": "app",
                "envFrom": [
                    {"secretRef": {"name": "s", "optional": true}, "prefix": "P_"},
                    {"configMapRef": {"name": "c"}},
                    {"prefix": "NOTHING_"},
                ],
                "env": [
                    {"name": "A", "value": "canary"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}},
                    {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": true}}},
                    {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "E", "value": "wins", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                    {"name": "F", "value": "", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                ],
                "volumeMounts": [{"name": "v", "mountPath": "/m", "subPath": "a", "subPathExpr": ""}],
            }],
            "volumes": [
                {"name": "v", "secret": {"secretName": "s", "optional": true, "items": [{"key": "k", "path": "a"}]}},
                {"name": "p", "projected": {"sources": [
                    {"secret": {"name": "s"}},
                    {"configMap": {"name": "c", "items": [{"key": "x", "path": "y"}]}},
                    {"serviceAccountToken": {"path": "token"}},
                    {"secret": {"name": "t", "items": [{"key": "x", "path": "z"}], "optional": true}},
                ]}},
                {"name": "e", "emptyDir": {}},
            ],
        });
        let object = json!({"metadata": {"deletionTimestamp": "2026-10-10T08:30:00Z"}, "spec": {"template": {"spec": template}}});
        let facts = WorkloadFacts::of_object(&object);
        assert!(facts.terminating && !format!("{facts:?}").contains("canary"));
        assert_eq!(facts.pod.init_containers[0].name, "proxy");
        let app = &facts.pod.containers[0];
        let secret = EnvFromSource::Secret("s".into());
        assert_eq!(app.env_from[0], EnvFrom { source: secret, prefix: "P_".into(), optional: true });
        assert_eq!(app.env_from.len(), 2, "a source of nothing is none");
        let key = |optional| EnvSource::SecretKey { name: "s".into(), key: "k".into(), optional };
        let other = |optional| EnvSource::Other { optional };
        let sources: Vec<_> = app.env.iter().map(|variable| variable.source.clone()).collect();
        assert_eq!(sources, [other(false), key(true), other(true), other(false), other(false), key(false)]);
        let mount = &app.volume_mounts[0];
        assert_eq!((mount.sub_path.as_deref(), mount.sub_path_expr.as_deref()), (Some("a"), None));
        let item = |key: &str, path: &str| KeyToPath { key: key.into(), path: path.into() };
        let source = |name: &str, items, optional| SecretSource { name: name.into(), items, optional };
        let volume = |name: &str| facts.pod.volume(name).map(|volume| volume.source.clone());
        assert_eq!(volume("v"), Some(VolumeSource::Secret(source("s", vec![item("k", "a")], true))));
        let sources = vec![
            ProjectedSource::Secret(source("s", vec![], false)),
            ProjectedSource::Other { paths: vec!["y".into()], open: false },
            ProjectedSource::Other { paths: vec!["token".into()], open: false },
            ProjectedSource::Secret(source("t", vec![item("x", "z")], true)),
        ];
        assert_eq!(volume("p"), Some(VolumeSource::Projected(sources)));
        assert_eq!(volume("e"), Some(VolumeSource::Other));
        assert_eq!(volume("none"), None);
    }

    #[test]
    fn nonsense_reads_as_absent() {
        for pod in [json!(1), json!({"containers": {}}), json!({"containers": ["x", null, 5]})] {
            let object = json!({"metadata": {"deletionTimestamp": 5}, "spec": {"template": {"spec": pod}}});
            assert_eq!(WorkloadFacts::of_object(&object), WorkloadFacts::default());
        }
        let odd = json!({"name": 5, "env": [{"value": "x"}, {"name": "A", "valueFrom": []}], "volumeMounts": [{}],
            "envFrom": [{"secretRef": "s"}, {"secretRef": {"name": 5, "optional": "yes"}}]});
        let object = json!({"spec": {"template": {"spec": {"containers": [odd]}}}});
        let facts = WorkloadFacts::of_object(&object);
        let container = &facts.pod.containers[0];
        assert_eq!((container.name.as_str(), container.env.len()), ("", 1), "a nameless variable is none");
        assert_eq!(container.env[0].source, EnvSource::Other { optional: false });
        let nameless = EnvFromSource::Secret(String::new());
        assert_eq!(
            container.env_from,
            [EnvFrom { source: nameless, prefix: String::new(), optional: false }]
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let words = proptest::sample::select(vec![
            "spec",
            "template",
            "metadata",
            "containers",
            "initContainers",
            "env",
            "envFrom",
            "name",
            "valueFrom",
            "secretKeyRef",
            "secretRef",
            "optional",
            "volumes",
            "secret",
            "projected",
            "sources",
            "items",
            "path",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(8, 64, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((words.clone(), inner), 0..4).prop_map(|entries| {
                    Value::Object(entries.into_iter().map(|(word, value)| (word.to_owned(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_json_has_facts(object in any_json()) {
            let pod = json!({"spec": {"template": {"spec": object}}});
            prop_assert_eq!(WorkloadFacts::of_object(&pod), WorkloadFacts::of_object(&pod));
            WorkloadFacts::of_object(&object);
        }
    }
}
