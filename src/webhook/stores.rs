//! The objects of the PostgreSQL kinds in memory, kept by watches. A review looks here and never asks the API server.

use std::sync::{Arc, PoisonError, RwLock};

use futures::StreamExt as _;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::watch::{Receiver, Sender};
use tokio::task::JoinSet;

use crate::api::Kind;
use crate::cluster::watch;
use crate::process::health::Readiness;
use crate::rules::world::{Objects, World};

/// The kinds that rules look at.
const KINDS: [Kind; 3] = [Kind::PostgreSQLInstance, Kind::PostgreSQLDatabase, Kind::PostgreSQLTenant];

/// What the watches have shown so far.
#[derive(Debug)]
pub struct Stores {
    objects: RwLock<Held>,
    changes: Sender<()>,
}

#[derive(Debug, Default)]
struct Held {
    objects: Objects,
    listed: Vec<Kind>,
}

impl Default for Stores {
    fn default() -> Self {
        Self { objects: RwLock::default(), changes: Sender::new(()) }
    }
}

impl Stores {
    /// Stores that hold `objects` and are kept by nobody.
    pub fn holding(objects: Objects) -> Arc<Self> {
        let held = Held { objects, listed: KINDS.to_vec() };
        Arc::new(Self { objects: RwLock::new(held), ..Self::default() })
    }

    /// Watches every kind until the second value is dropped, with a readiness check for each.
    pub fn start(client: &Client, readiness: &Readiness) -> (Arc<Self>, JoinSet<()>) {
        let (stores, mut watches) = (Arc::new(Self::default()), JoinSet::new());
        for kind in KINDS {
            let resource = ApiResource::from_gvk_with_plural(
                &GroupVersionKind::gvk(kind.group(), crate::api::names::VERSION, kind.as_str()),
                kind.plural(),
            );
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            let check = readiness.register(kind.plural(), "not listed yet");
            let events = watch::events(api, watcher::Config::default(), kind.plural(), check);
            watches.spawn(stores.clone().keep(kind, events));
        }
        (stores, watches)
    }

    async fn keep(self: Arc<Self>, kind: Kind, events: impl futures::Stream<Item = Event<DynamicObject>>) {
        let mut events = std::pin::pin!(events);
        let mut listing = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                Event::Init => listing.clear(),
                Event::InitApply(object) => listing.push(slim(kind, &object)),
                Event::InitDone => {
                    let listed = std::mem::take(&mut listing);
                    self.change(|held| held.list(kind, listed));
                }
                Event::Apply(object) => self.change(|held| held.objects.insert(kind, slim(kind, &object))),
                Event::Delete(object) => self.change(|held| held.objects.remove(kind, &slim(kind, &object))),
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut Held)) {
        change(&mut self.objects.write().unwrap_or_else(PoisonError::into_inner));
        self.changes.send_replace(());
    }

    /// Looks at the objects. Nothing changes meanwhile.
    pub fn look<T>(&self, look: impl FnOnce(&dyn World) -> T) -> T {
        look(&self.objects.read().unwrap_or_else(PoisonError::into_inner).objects)
    }

    /// Tells of every change after this call.
    pub fn changes(&self) -> Receiver<()> {
        self.changes.subscribe()
    }
}

impl Held {
    fn list(&mut self, kind: Kind, objects: Vec<Value>) {
        self.objects.replace(kind, objects);
        if !self.listed.contains(&kind) {
            self.listed.push(kind);
        }
        self.objects.set_complete(KINDS.iter().all(|kind| self.listed.contains(kind)));
    }
}

/// Only what rules read is held in memory.
fn slim(kind: Kind, object: &DynamicObject) -> Value {
    let status = object.data.get("status");
    let mut kept = serde_json::Map::new();
    for field in ["phase", "instanceUID", "tenantRef", "databaseRef", "release", "installedExtensions"] {
        if let Some(value) = status.and_then(|status| status.get(field)) {
            kept.insert(field.to_owned(), value.clone());
        }
    }
    let metadata = &object.metadata;
    json!({
        "kind": kind.as_str(),
        "metadata": {
            "name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid,
            "deletionTimestamp": metadata.deletion_timestamp.as_ref().map(|_| "set"),
        },
        "spec": object.data.get("spec"),
        "status": kept,
    })
}
