//! Every version of every Tenant and Database that was ever stored, and what must be true of all of them together.
//!
//! N1: a Database's tenantRef changes only between nothing and a whole one. N2: no Database is on record at two Tenants that
//! exist. N3: a Tenant's databaseRef never changes once it is set. What a test itself forges is told to `pardon` first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher::{self, Event};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::lab::{DATABASE, GROUP, TENANT};

#[derive(Default)]
struct Seen {
    /// Whether the test itself has broken something.
    is_pardoned: bool,
    /// The last version of each object by UID.
    last: HashMap<String, Value>,
    /// What was found wrong.
    broken: Vec<String>,
}

impl Seen {
    fn database(&mut self, uid: &str, object: Value) {
        let after = &object["spec"]["tenantRef"];
        if let Some(before) = self.last.get(uid).map(|before| &before["spec"]["tenantRef"])
            && !before.is_null()
            && !after.is_null()
            && before != after
        {
            self.broken.push(format!("N1: tenantRef went from {before} to {after}"));
        }
        let whole = ["namespace", "name", "uid"].iter().all(|part| after[*part].is_string());
        if !after.is_null() && !whole {
            self.broken.push(format!("N1: tenantRef is {after}"));
        }
        self.last.insert(uid.to_owned(), object);
    }

    fn tenant(&mut self, uid: &str, object: Value) {
        let after = object["status"]["databaseRef"].clone();
        if let Some(before) = self.last.get(uid).map(|before| &before["status"]["databaseRef"])
            && !before.is_null()
            && *before != after
        {
            self.broken.push(format!("N3: databaseRef went from {before} to {after}"));
        }
        if !after.is_null() {
            let others = self.last.iter().filter(|(other, object)| {
                *other != uid
                    && object["kind"] == TENANT
                    && object["status"]["databaseRef"]["uid"] == after["uid"]
            });
            for (other, _) in others.collect::<Vec<_>>() {
                self.broken.push(format!("N2: {uid} and {other} both have {after}"));
            }
        }
        self.last.insert(uid.to_owned(), object);
    }
}

/// A record that grows until it is stopped.
pub struct History {
    seen: Arc<Mutex<Seen>>,
    tasks: Vec<JoinHandle<()>>,
}

impl History {
    pub fn follow(runtime: &Runtime, client: Client) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let follow = |kind: &'static str| {
            let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
            let resource =
                ApiResource { plural: format!("{}s", kind.to_lowercase()), ..ApiResource::from_gvk(&gvk) };
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            let seen = seen.clone();
            runtime.spawn(async move {
                let mut events = Box::pin(watcher::watcher(api, watcher::Config::default()));
                while let Some(event) = events.next().await {
                    let mut seen = seen.lock().unwrap();
                    match event {
                        Ok(Event::Apply(object) | Event::InitApply(object)) => {
                            let uid = object.metadata.uid.clone().unwrap_or_default();
                            let mut object = serde_json::to_value(object).unwrap();
                            object["kind"] = kind.into();
                            if kind == DATABASE {
                                seen.database(&uid, object);
                            } else {
                                seen.tenant(&uid, object);
                            }
                        }
                        Ok(Event::Delete(object)) => {
                            seen.last.remove(&object.metadata.uid.unwrap_or_default());
                        }
                        Ok(Event::Init | Event::InitDone) | Err(_) => {}
                    }
                }
            })
        };
        let tasks = vec![follow(DATABASE), follow(TENANT)];
        Self { seen, tasks }
    }

    pub fn stop(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }

    /// From now on the test breaks the invariants itself.
    pub fn pardon(&self) {
        self.check();
        self.seen.lock().unwrap().is_pardoned = true;
    }

    #[track_caller]
    pub fn check(&self) {
        let seen = self.seen.lock().unwrap();
        if seen.is_pardoned {
            return;
        }
        assert!(seen.broken.is_empty(), "{:#?}", seen.broken);
    }
}
