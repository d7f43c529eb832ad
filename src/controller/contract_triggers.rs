//! The contracts that are due because something that they refer to was made, changed or removed. Only metadata is watched,
//! and none of it is kept but the versions of workloads that contracts name.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind, PartialObjectMeta};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt as _};

use super::engine::reference;
use super::references::{EXTERNAL_SECRET, References, Referent, SECRET};
use crate::api::Kind;
use crate::cluster::optional_watch::{self, Sighting};
use crate::cluster::watch;
use crate::process::health::Check;

type Metadata = PartialObjectMeta<DynamicObject>;

/// A kind that contracts refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    group: &'static str,
    kind: &'static str,
    pub(super) plural: &'static str,
    /// Whether only another generation matters: the status of a workload changes with every pod.
    by_generation: bool,
}

impl Watched {
    /// The kinds that every API server serves.
    pub(super) const BUILT_IN: [Self; 4] = [
        Self { group: "", kind: SECRET, plural: "secrets", by_generation: false },
        Self { group: "apps", kind: "Deployment", plural: "deployments", by_generation: true },
        Self { group: "apps", kind: "StatefulSet", plural: "statefulsets", by_generation: true },
        Self { group: "apps", kind: "DaemonSet", plural: "daemonsets", by_generation: true },
    ];

    /// The kind that comes with the External Secrets Operator. Its status counts, and so does the time in it.
    const EXTERNAL_SECRET: Self = Self {
        group: "external-secrets.io",
        kind: EXTERNAL_SECRET,
        plural: "externalsecrets",
        by_generation: false,
    };

    /// The objects of the kind, in one namespace or everywhere.
    fn api(self, client: &Client, version: &str, namespace: Option<&str>) -> Api<Metadata> {
        let gvk = GroupVersionKind::gvk(self.group, version, self.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, self.plural);
        match namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        }
    }
}

/// The contracts that are due because of a change of a kind that every API server serves.
pub(super) fn built_in(
    watched: Watched,
    client: &Client,
    namespace: Option<&str>,
    check: Check,
    references: Arc<References>,
) -> BoxStream<'static, ObjectRef<DynamicObject>> {
    let api = watched.api(client, "v1", namespace);
    let events = watch::events(api, watcher::Config::default(), watched.plural, check);
    due(watched, events.map(Sighting::Event), references).boxed()
}

/// The contracts that are due because of a change of an ExternalSecret, or because the API server has begun or ceased to
/// serve that kind in one of `versions` (`external-secrets.io/v1`).
pub(super) fn external_secrets(
    versions: &[String],
    client: &Client,
    namespace: Option<&str>,
    check: Check,
    references: Arc<References>,
) -> BoxStream<'static, ObjectRef<DynamicObject>> {
    let watched = Watched::EXTERNAL_SECRET;
    let apis = versions.iter().filter_map(|version| {
        // The flag takes no other group.
        let (_, short) = version.split_once('/')?;
        Some((version.clone(), watched.api(client, short, namespace)))
    });
    let sightings =
        optional_watch::events(apis.collect(), watched.plural, namespace.map(str::to_owned), check);
    due(watched, sightings, references).boxed()
}

/// From what a watch tells of a kind to the contracts that are due.
fn due(
    watched: Watched,
    sightings: impl Stream<Item = Sighting<Metadata>> + Send,
    references: Arc<References>,
) -> impl Stream<Item = ObjectRef<DynamicObject>> + Send {
    let mut follower = Follower { watched, references, versions: HashMap::new() };
    sightings.flat_map(move |sighting| {
        stream::iter(match sighting {
            Sighting::Event(event) => follower.follow(&event),
            Sighting::Gone => follower.all(),
        })
    })
}

/// What makes a version of a workload worth a pass.
type Version = (Option<String>, Option<i64>, bool);

struct Follower {
    watched: Watched,
    references: Arc<References>,
    /// Of the workloads that contracts refer to, by namespace and name.
    versions: HashMap<(String, String), Version>,
}

impl Follower {
    fn follow(&mut self, event: &Event<Metadata>) -> Vec<ObjectRef<DynamicObject>> {
        match event {
            Event::Apply(object) | Event::Delete(object) => {
                self.changed(object, matches!(event, Event::Delete(_)))
            }
            // What happened before the list was made is not told one by one.
            Event::InitDone => {
                self.versions.clear();
                self.all()
            }
            Event::Init | Event::InitApply(_) => Vec::new(),
        }
    }

    /// Every contract that names an object of the kind.
    fn all(&self) -> Vec<ObjectRef<DynamicObject>> {
        let all = self.references.contracts_of_kind(self.watched.kind);
        all.iter().map(|(namespace, name)| contract(namespace, name)).collect()
    }

    fn changed(&mut self, object: &Metadata, gone: bool) -> Vec<ObjectRef<DynamicObject>> {
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        let contracts = self.references.contracts(&namespace, &Referent::new(self.watched.kind, &name));
        if self.watched.by_generation {
            let key = (namespace.clone(), name);
            if gone || contracts.is_empty() {
                self.versions.remove(&key);
            } else {
                let metadata = &object.metadata;
                let version =
                    (metadata.uid.clone(), metadata.generation, metadata.deletion_timestamp.is_some());
                if self.versions.insert(key, version.clone()).as_ref() == Some(&version) {
                    return Vec::new();
                }
            }
        }
        contracts.iter().map(|name| contract(&namespace, name)).collect()
    }
}

fn contract(namespace: &str, name: &str) -> ObjectRef<DynamicObject> {
    reference(Kind::SecretContract, Some(namespace), name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn object(namespace: &str, name: &str, generation: i64) -> Metadata {
        let metadata = json!({"namespace": namespace, "name": name, "uid": "u", "generation": generation});
        serde_json::from_value(
            json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}),
        )
        .unwrap()
    }

    fn follower(watched: Watched) -> Follower {
        let references = Arc::new(References::default());
        let both = BTreeSet::from([Referent::new(SECRET, "web"), Referent::new("Deployment", "web")]);
        references.set("n", "a", both);
        references.set("n", "b", BTreeSet::from([Referent::new(SECRET, "web")]));
        Follower { watched, references, versions: HashMap::new() }
    }

    fn names(due: &[ObjectRef<DynamicObject>]) -> Vec<&str> {
        due.iter().map(|due| due.name.as_str()).collect()
    }

    #[test]
    fn every_change_of_a_secret_counts_for_those_who_name_it() {
        let [secret, ..] = Watched::BUILT_IN;
        let mut follower = follower(secret);
        for _ in 0..2 {
            assert_eq!(names(&follower.follow(&Event::Apply(object("n", "web", 0)))), ["a", "b"]);
        }
        assert!(follower.follow(&Event::Apply(object("m", "web", 0))).is_empty());
        assert_eq!(names(&follower.follow(&Event::Delete(object("n", "web", 0)))), ["a", "b"]);
        assert!(follower.versions.is_empty());
        assert_eq!(follower.follow(&Event::InitDone).len(), 2);
    }

    #[test]
    fn of_a_workload_only_another_generation_counts() {
        let [_, deployment, ..] = Watched::BUILT_IN;
        let mut follower = follower(deployment);
        assert_eq!(names(&follower.follow(&Event::Apply(object("n", "web", 1)))), ["a"]);
        assert!(follower.follow(&Event::Apply(object("n", "web", 1))).is_empty());
        assert_eq!(names(&follower.follow(&Event::Apply(object("n", "web", 2)))), ["a"]);
        assert_eq!(names(&follower.follow(&Event::Delete(object("n", "web", 2)))), ["a"]);
        assert_eq!(names(&follower.follow(&Event::Apply(object("n", "web", 2)))), ["a"], "made anew");
        assert!(follower.follow(&Event::Apply(object("n", "other", 1))).is_empty());
        assert_eq!(follower.versions.len(), 1, "what nobody refers to is not kept");
    }
}
