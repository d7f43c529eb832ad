//! Runs one reconciler over all objects of its kind: watches them, decides when a pass is due, and survives whatever a
//! pass does.
//!
//! A pass is due when the generation of an object changes (not when only its status does), when something that the
//! object depends on changes, and when the last pass asked for it. One object has at most one pass at a time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _, stream};
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind, TypeMeta};
use kube::runtime::controller::{Action, Config, applier};
use kube::runtime::reflector::{ObjectRef, Store, store::Writer};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::metrics::Metrics;
use super::retry;
use crate::api::Kind;
use crate::cluster::error::{FailureClass, RequestError};
use crate::cluster::status::qualified;
use crate::cluster::watch;
use crate::process::health::Check;

/// How many objects of one kind are worked on at once.
const CONCURRENCY: u16 = 8;

/// When the next pass over an object is due if nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Never.
    Change,
    /// After this time.
    After(Duration),
}

/// One pass over one object of a kind.
pub(super) trait Reconciler: Send + Sync + 'static {
    /// Looks at the object and what it depends on, and brings its status up to date.
    fn reconcile(
        &self,
        object: Arc<DynamicObject>,
    ) -> impl Future<Output = Result<Next, RequestError>> + Send;

    /// A version of the object was seen. Called before any pass over it.
    fn seen(&self, object: &DynamicObject);

    /// Whether a version of the object that was just seen is a reason for a pass. `is_new`: it is another object of the
    /// same name, or another generation.
    fn is_due(&self, _object: &DynamicObject, is_new: bool) -> bool {
        is_new
    }

    /// The object is gone.
    fn gone(&self, namespace: Option<&str>, name: &str);

    /// Everything was listed afresh; versions may have been missed.
    fn relisted(&self) {}
}

/// What an engine works with.
pub(super) struct Engine {
    pub(super) client: Client,
    pub(super) kind: Kind,
    /// The one namespace to look at; all of them, or a kind without namespaces: none.
    pub(super) namespace: Option<String>,
    pub(super) check: Check,
    pub(super) metrics: Metrics,
    /// Ends the work: no new pass begins, and those under way are finished.
    pub(super) stop: CancellationToken,
}

impl Engine {
    /// Works until told to stop. `triggers` makes, from the objects that are known, a stream of those that are due for
    /// reasons of their own.
    pub(super) async fn run<R: Reconciler>(
        self,
        reconciler: Arc<R>,
        triggers: impl FnOnce(Store<DynamicObject>) -> BoxStream<'static, ObjectRef<DynamicObject>>,
    ) {
        let resource = resource(self.kind);
        let api = api(&self.client, self.kind, self.namespace.as_deref());
        let writer = Writer::new(resource.clone());
        let store = writer.as_reader();
        let failures = Failures::default();
        let mut changes = Changes {
            writer,
            types: TypeMeta { api_version: resource.api_version.clone(), kind: resource.kind.clone() },
            resource,
            known: HashMap::new(),
            listed: HashMap::new(),
            failures: failures.clone(),
            reconciler: reconciler.clone(),
        };
        let events = watch::events(api, watcher::Config::default(), self.kind.plural(), self.check);
        let own = events.flat_map(move |event| stream::iter(changes.follow(event)));
        let queue = stream::select(own, triggers(store.clone())).map(Ok::<_, Infallible>);
        let queue = Box::pin(queue.take_until(self.stop.clone().cancelled_owned()));
        let passes = Arc::new(Passes { kind: self.kind, metrics: self.metrics, failures, reconciler });
        let work = applier(
            |object, passes: Arc<Passes<R>>| {
                Box::pin(async move { Ok::<_, Infallible>(passes.pass(object).await) })
            },
            |_, never: &Infallible, _| match *never {},
            passes,
            store.clone(),
            queue,
            Config::default().concurrency(CONCURRENCY),
        );
        // The runtime's work does not notice the end before the first list is complete; it has nothing to finish then.
        let never_listed = async {
            self.stop.cancelled().await;
            if store.wait_until_ready().now_or_never().is_some() {
                std::future::pending::<()>().await;
            }
        };
        // What comes out is an object that was finished, or one that went away before its turn.
        tokio::select! {
            () = work.for_each(|_| std::future::ready(())) => {}
            () = never_listed => {}
        }
    }
}

/// How the API server calls the kind.
fn resource(kind: Kind) -> ApiResource {
    let gvk = GroupVersionKind::gvk(kind.group(), kind.version(), kind.as_str());
    ApiResource::from_gvk_with_plural(&gvk, kind.plural())
}

/// The objects of the kind, in one namespace or everywhere.
pub(super) fn api(client: &Client, kind: Kind, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource(kind)),
        None => Api::all_with(client.clone(), &resource(kind)),
    }
}

/// A reference to the object `namespace/name` of the kind.
pub(super) fn reference(kind: Kind, namespace: Option<&str>, name: &str) -> ObjectRef<DynamicObject> {
    let reference = ObjectRef::new_with(name, resource(kind));
    match namespace {
        Some(namespace) => reference.within(namespace),
        None => reference,
    }
}

/// What makes a version of an object worth a pass: another object of the same name, or another generation.
type Version = (Option<String>, Option<i64>);

/// Follows a watch: keeps the store, and tells which objects are due.
struct Changes<R> {
    writer: Writer<DynamicObject>,
    resource: ApiResource,
    types: TypeMeta,
    known: HashMap<ObjectRef<DynamicObject>, Version>,
    listed: HashMap<ObjectRef<DynamicObject>, Version>,
    failures: Failures,
    reconciler: Arc<R>,
}

impl<R: Reconciler> Changes<R> {
    /// Takes in one event. Objects of a list are due only when the list is complete, because only then the store has
    /// them.
    fn follow(&mut self, mut event: Event<DynamicObject>) -> Vec<ObjectRef<DynamicObject>> {
        if let Event::Apply(object) | Event::InitApply(object) | Event::Delete(object) = &mut event {
            // Who wrote which field is of no use here, and often larger than the object.
            object.metadata.managed_fields = None;
            object.types.get_or_insert_with(|| self.types.clone());
        }
        self.writer.apply_watcher_event(&event);
        match event {
            Event::Init => {
                self.listed.clear();
                Vec::new()
            }
            Event::InitApply(object) => {
                self.reconciler.seen(&object);
                self.listed.insert(self.reference(&object), version(&object));
                Vec::new()
            }
            Event::InitDone => self.complete(),
            Event::Apply(object) => {
                self.reconciler.seen(&object);
                let (reference, version) = (self.reference(&object), version(&object));
                let before = self.known.insert(reference.clone(), version.clone());
                let is_new = before.as_ref() != Some(&version);
                if self.reconciler.is_due(&object, is_new) { vec![reference] } else { Vec::new() }
            }
            Event::Delete(object) => {
                let reference = self.reference(&object);
                self.known.remove(&reference);
                self.forget(&reference);
                Vec::new()
            }
        }
    }

    /// The list is complete: what is not in it is gone, what is new or has another version is due.
    fn complete(&mut self) -> Vec<ObjectRef<DynamicObject>> {
        let listed = std::mem::take(&mut self.listed);
        for gone in self.known.keys().filter(|known| !listed.contains_key(known)) {
            self.forget(gone);
        }
        self.reconciler.relisted();
        let due = listed.iter().filter(|(reference, version)| self.known.get(reference) != Some(version));
        let due = due.map(|(reference, _)| reference.clone()).collect();
        self.known = listed;
        due
    }

    fn forget(&self, gone: &ObjectRef<DynamicObject>) {
        self.failures.clear(&key(gone.namespace.as_deref(), &gone.name));
        self.reconciler.gone(gone.namespace.as_deref(), &gone.name);
    }

    fn reference(&self, object: &DynamicObject) -> ObjectRef<DynamicObject> {
        ObjectRef::from_obj_with(object, self.resource.clone())
    }
}

fn version(object: &DynamicObject) -> Version {
    (object.uid(), object.metadata.generation)
}

/// The object as its author wrote it, with its name: what SHAPE judges. A status is never a fault of the spec.
pub(super) fn spec_of(object: &Value) -> Value {
    let mut value = object.clone();
    if let Value::Object(fields) = &mut value {
        fields.remove("status");
        let metadata = object.get("metadata");
        let of = |name: &str| metadata.and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
        fields.insert("metadata".to_owned(), json!({"name": of("name"), "namespace": of("namespace")}));
    }
    value
}

/// A namespace, empty for an object without one, with a name in it.
pub(super) type Key = (String, String);

/// The key of the object `namespace/name`.
pub(super) fn key(namespace: Option<&str>, name: &str) -> Key {
    (namespace.unwrap_or_default().to_owned(), name.to_owned())
}

/// How often the passes over each object failed in a row.
#[derive(Clone, Default)]
struct Failures(Arc<Mutex<HashMap<Key, u32>>>);

impl Failures {
    fn add(&self, key: Key) -> u32 {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(key).or_default();
        *count = count.saturating_add(1);
        *count
    }

    fn clear(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Does the passes.
struct Passes<R> {
    kind: Kind,
    metrics: Metrics,
    failures: Failures,
    reconciler: Arc<R>,
}

impl<R: Reconciler> Passes<R> {
    async fn pass(&self, object: Arc<DynamicObject>) -> Action {
        let begun = Instant::now();
        let pass = AssertUnwindSafe(self.reconciler.reconcile(object.clone())).catch_unwind();
        // A defect that one object brings to light costs that object its pass and nobody else anything.
        let outcome = pass.await.unwrap_or_else(|_| Err(panicked(&object)));
        self.metrics.pass(self.kind, begun.elapsed());
        match outcome {
            Ok(next) => {
                self.failures.clear(&key(object.namespace().as_deref(), &object.name_any()));
                match next {
                    Next::Change => Action::await_change(),
                    Next::After(time) => Action::requeue(time),
                }
            }
            Err(error) => self.failed(&object, &error),
        }
    }

    fn failed(&self, object: &DynamicObject, error: &RequestError) -> Action {
        let key = key(object.namespace().as_deref(), &object.name_any());
        let failures = self.failures.add(key.clone());
        if error.class == FailureClass::NotFound {
            // It is gone; so is its count.
            self.failures.clear(&key);
        }
        self.metrics.failed(self.kind, error.class);
        let (kind, namespace, name) = (self.kind.as_str(), object.namespace(), object.name_any());
        // A conflict is the normal way to learn that somebody else was faster.
        if error.class == FailureClass::Conflict && failures < 5 {
            tracing::debug!(kind, namespace, name, error = %error, "changed in between, looking again");
        } else {
            tracing::warn!(kind, namespace, name, error = %error, "pass failed, trying again");
        }
        match retry::pause(error.class, failures, object.metadata.uid.as_deref().unwrap_or_default()) {
            Some(pause) => Action::requeue(pause),
            None => Action::await_change(),
        }
    }
}

/// The error of a pass that panicked. What the panic said stays unsaid.
pub(super) fn panicked(object: &DynamicObject) -> RequestError {
    RequestError {
        action: format!("evaluate {:?}", qualified(object)),
        class: FailureClass::Internal,
        reason: "an internal error; the log line before this one has its place in the code".to_owned(),
    }
}

#[cfg(test)]
mod tests;
