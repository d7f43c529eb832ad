//! Binds Tenants to Databases: reads a world, asks [`binding`](crate::binding) for the one step, does it, and comes back.
//! No rule lives here.
//!
//! `read` reads live, `execute` writes, `world` holds what a pass knows, `index` finds who refers to whom, `wake` tells who is
//! to be looked at, `observe` is the border to the data plane, `claims` follows the Leases.

mod claims;
mod execute;
mod index;
mod observe;
mod process;
mod read;
mod wake;
mod world;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::BoxStream;
use kube::api::DynamicObject;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Client, ResourceExt as _};
use serde_json::Value;

pub use observe::{Observe, Unobserved};
pub use process::Process;

use super::engine::{Next, Reconciler};
use super::metrics::Metrics;
use super::retry;
use crate::api::Kind;
use crate::binding::{Answer, Database, Instance, Outcome, Step, StepName, Tenant, Write};
use crate::cluster::error::{FailureClass, RequestError};
use crate::cluster::events::{Events, Importance};
use crate::cluster::objects::Refusal;
use crate::process::clock;
use crate::rules::Installation;
use index::{Index, Place};
use read::Reader;
use world::World;

/// The most writes of one pass: a binding takes seven, a release four. One that needs more goes round in circles.
const LONGEST_PASS: usize = 16;
/// How often in a row a pass may be overtaken before it rests.
const OVERTAKEN: u32 = 5;
/// The rest of a pass that was overtaken too often, or wrote too much.
const REST: Duration = Duration::from_millis(500);

/// What the passes over all three kinds share.
pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) installation: Arc<Installation>,
    pub(super) metrics: Metrics,
    pub(super) events: Events,
    /// The controller's own namespace, where the claims are.
    pub(super) namespace: String,
    pub(super) index: Index,
    pub(super) observer: Arc<dyn Observe>,
    /// Versions of Databases that Tenants' passes have made and the watch has not shown yet.
    pub(super) by_tenants: Mutex<HashSet<String>>,
}

/// The passes over one kind.
pub(super) struct Binding {
    kind: Kind,
    shared: Arc<Shared>,
    memory: Mutex<HashMap<Place, Memory>>,
}

/// What is remembered of an object between passes. Losing it costs time, never a wrong step.
#[derive(Debug, Default)]
struct Memory {
    /// Passes in a row that could not go on.
    waits: u32,
    /// How often in a row the webhook has said that it does not know the Tenant yet.
    not_seen: u32,
    /// Versions that our own passes made and the watch has not shown yet.
    own: HashSet<String>,
}

impl Binding {
    pub(super) fn new(kind: Kind, shared: Arc<Shared>) -> Self {
        Self { kind, shared, memory: Mutex::default() }
    }

    /// The objects of this kind that are due because others have changed.
    pub(super) fn due(&self, store: Store<DynamicObject>) -> BoxStream<'static, ObjectRef<DynamicObject>> {
        self.shared.index.bus.due(self.kind, store)
    }

    fn remember<T>(&self, place: &Place, change: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        change(memory.entry(place.clone()).or_default())
    }

    /// Steps until there is nothing more to do, or nothing that can be done now.
    async fn pass(&self, place: &Place, uid: &str) -> Next {
        let mut reader = Reader::new(&self.shared);
        let mut world = World::read(self.kind, place, &mut reader).await;
        let mut refused: Option<StepName> = None;
        let mut overtaken = 0;
        for _ in 0..LONGEST_PASS {
            let write = match world.plan(clock::now()) {
                Step::Idle => {
                    self.remember(place, |memory| (memory.waits, memory.not_seen) = (0, 0));
                    return Next::Change;
                }
                Step::Wait => return self.wait(place, uid),
                Step::Write(write) if refused == Some(write.name) => return self.wait(place, uid),
                Step::Write(write) => write,
            };
            let written =
                execute::execute(&self.shared.client, &self.shared.namespace, &reader.raw, &write).await;
            match written {
                Ok(_) if write.is_dry_run => {
                    world.note(write.name, Outcome::Admitted);
                }
                Ok(stored) => {
                    self.done(place, &write, &stored);
                    refused = None;
                    if !world.absorb(&write, &stored, &mut reader).await {
                        reader = Reader::new(&self.shared);
                        world = World::read(self.kind, place, &mut reader).await;
                    }
                }
                Err(refusal) => {
                    let outcome = self.not_done(place, &write, &refusal);
                    reader = Reader::new(&self.shared);
                    world = World::read(self.kind, place, &mut reader).await;
                    if outcome == Outcome::Changed {
                        overtaken += 1;
                        if overtaken > OVERTAKEN {
                            return Next::After(retry::spread(REST, 1.0, uid));
                        }
                    } else {
                        refused = Some(write.name);
                        if !world.note(write.name, outcome) {
                            return self.wait(place, uid);
                        }
                    }
                }
            }
        }
        tracing::warn!(
            kind = self.kind.as_str(),
            namespace = place.0,
            name = place.1,
            "a pass does not come to an end"
        );
        Next::After(retry::spread(REST, 1.0, uid))
    }

    /// When to try again what cannot be done now: later each time.
    fn wait(&self, place: &Place, uid: &str) -> Next {
        let waits = self.remember(place, |memory| {
            memory.waits = memory.waits.saturating_add(1);
            memory.waits
        });
        Next::After(retry::pause(FailureClass::Server, waits, uid).unwrap_or(REST))
    }

    fn done(&self, place: &Place, write: &Write, stored: &Value) {
        let text = |pointer| stored.pointer(pointer).and_then(Value::as_str);
        if text("/kind") == Some(self.kind.as_str())
            && let Some(version) = text("/metadata/resourceVersion")
        {
            self.remember(place, |memory| note(&mut memory.own, version));
        }
        if self.kind == Kind::PostgreSQLTenant
            && text("/kind") == Some(Kind::PostgreSQLDatabase.as_str())
            && let Some(version) = text("/metadata/resourceVersion")
        {
            note(&mut self.shared.by_tenants.lock().unwrap_or_else(PoisonError::into_inner), version);
        }
        self.remember(place, |memory| (memory.waits, memory.not_seen) = (0, 0));
        self.shared.metrics.step(write.name, "done");
        tracing::info!(kind = self.kind.as_str(), namespace = place.0, name = place.1, "{} done", write.name);
        if let Some(event) = &write.event
            && let Ok(object) = serde_json::from_value::<DynamicObject>(stored.clone())
        {
            let importance = if event.is_warning { Importance::Warning } else { Importance::Normal };
            self.shared.events.record(&object, importance, event.reason.as_str(), &event.message);
        }
    }

    fn not_done(&self, place: &Place, write: &Write, refusal: &Refusal) -> Outcome {
        let causes: Vec<(&str, &str)> =
            refusal.causes.iter().map(|(reason, field)| (reason.as_str(), field.as_str())).collect();
        let answer = Answer { code: refusal.code, message: &refusal.message, causes: &causes };
        let outcome = self.remember(place, |memory| {
            let outcome = Outcome::of(&answer, memory.not_seen);
            memory.not_seen = if let Outcome::NotSeenYet { times } = outcome { times } else { 0 };
            outcome
        });
        let result = match outcome {
            Outcome::Admitted => "admitted",
            Outcome::Changed => "overtaken",
            Outcome::Refused { .. } => "refused",
            Outcome::NotSeenYet { .. } => "not-seen-yet",
            Outcome::Unavailable => "unavailable",
        };
        self.shared.metrics.step(write.name, result);
        tracing::debug!(
            kind = self.kind.as_str(),
            namespace = place.0,
            name = place.1,
            code = refusal.code,
            error = refusal.message,
            "{} not done",
            write.name
        );
        outcome
    }

    fn place(object: &DynamicObject) -> Place {
        (object.namespace().unwrap_or_default(), object.name_any())
    }

    /// Tells the index about a version of an object, or that it is gone.
    fn tell(&self, place: &Place, object: Option<&Value>) {
        let (index, installation) = (&self.shared.index, &self.shared.installation);
        match self.kind {
            Kind::PostgreSQLTenant => {
                let tenant = object.and_then(|object| read::parse::<Tenant>(object, installation));
                let phase = tenant.as_ref().and_then(|tenant| tenant.status.phase.clone());
                self.shared.metrics.phase(self.kind, place, object.map(|_| phase.unwrap_or_default()));
                index.tenant(place, tenant.as_ref());
            }
            Kind::PostgreSQLDatabase => {
                let database = object.and_then(|object| read::parse::<Database>(object, installation));
                let phase = database.as_ref().and_then(|database| database.status.phase.clone());
                self.shared.metrics.phase(self.kind, place, object.map(|_| phase.unwrap_or_default()));
                let by_tenant = database.as_ref().is_some_and(|database| {
                    let mut versions = self.shared.by_tenants.lock().unwrap_or_else(PoisonError::into_inner);
                    versions.remove(&database.metadata.resource_version)
                });
                index.database(&place.1, database.as_ref(), by_tenant);
            }
            Kind::PostgreSQLInstance => {
                let instance = object.and_then(|object| read::parse::<Instance>(object, installation));
                index.instance(&place.1, instance.as_ref());
            }
            Kind::SecretContract => {}
        }
    }
}

/// Notes a version that we have made. One whose event came before the answer is never taken out again, so all are forgotten
/// once there are many: that costs some passes that find nothing to do.
fn note(versions: &mut HashSet<String>, version: &str) {
    const MANY: usize = 1024;
    if versions.len() >= MANY {
        versions.clear();
    }
    versions.insert(version.to_owned());
}

impl Reconciler for Binding {
    async fn reconcile(&self, object: Arc<DynamicObject>) -> Result<Next, RequestError> {
        Ok(self.pass(&Self::place(&object), object.metadata.uid.as_deref().unwrap_or_default()).await)
    }

    fn seen(&self, object: &DynamicObject) {
        let value = serde_json::to_value(object).unwrap_or_default();
        self.tell(&Self::place(object), Some(&value));
    }

    fn is_due(&self, object: &DynamicObject, _: bool) -> bool {
        // Also a status or a finalizer that somebody else has changed is a reason; what we wrote ourselves is none.
        let version = object.resource_version().unwrap_or_default();
        !self.remember(&Self::place(object), |memory| memory.own.remove(&version))
    }

    fn gone(&self, namespace: Option<&str>, name: &str) {
        let place = (namespace.unwrap_or_default().to_owned(), name.to_owned());
        self.tell(&place, None);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).remove(&place);
    }

    fn relisted(&self) {
        // Versions may have been missed, so none is waited for.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.values_mut().for_each(|memory| memory.own.clear());
        drop(memory);
        if self.kind == Kind::PostgreSQLTenant {
            self.shared.index.tenants_listed();
        }
    }
}
