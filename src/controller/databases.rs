//! One pass over one PostgreSQLInstance, PostgreSQLDatabase or PostgreSQLTenant. This version registers them: it writes
//! their first status and keeps it true.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use kube::api::DynamicObject;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Client, ResourceExt as _};
use serde_json::Value;

use super::contracts::spec_alone;
use super::engine::{self, Next, Reconciler, panicked, reference};
use super::instances::{Change, Instances};
use super::metrics::Metrics;
use crate::api::Kind;
use crate::cluster::error::RequestError;
use crate::cluster::status as write;
use crate::process::clock;
use crate::rules::{Installation, shape};
use crate::status::database::{self, InstanceSeen};

/// When to look again while it is not known which Instances exist.
const UNKNOWN: Duration = Duration::from_secs(1);

/// One of the three kinds.
pub(super) struct Databases {
    pub(super) kind: Kind,
    pub(super) client: Client,
    pub(super) installation: Arc<Installation>,
    pub(super) metrics: Metrics,
    pub(super) instances: Arc<Instances>,
}

impl Databases {
    /// The status to write, if the stored one says something else.
    fn judge(
        kind: Kind,
        object: &DynamicObject,
        installation: &Installation,
        seen: InstanceSeen,
    ) -> Option<Value> {
        let mut whole = spec_alone(object);
        let findings = shape(kind, &whole, installation);
        if let (Value::Object(fields), Some(status)) = (&mut whole, object.data.get("status")) {
            fields.insert("status".to_owned(), status.clone());
        }
        let (generation, now) = (object.metadata.generation.unwrap_or_default(), clock::now());
        let status = match kind {
            Kind::PostgreSQLInstance => {
                database::instance(&whole, &findings, generation, now).map(serde_json::to_value)
            }
            Kind::PostgreSQLDatabase => {
                database::database(&whole, &findings, seen, generation, now).map(serde_json::to_value)
            }
            Kind::PostgreSQLTenant => {
                database::tenant(&whole, &findings, seen, generation, now).map(serde_json::to_value)
            }
            Kind::SecretContract => None,
        };
        status.and_then(Result::ok)
    }

    /// What is known of the Instance that the object names; `None` while that is not known.
    fn instance(&self, object: &DynamicObject) -> Option<InstanceSeen> {
        match database::instance_of(&object.data) {
            Some(name) if self.kind != Kind::PostgreSQLInstance => self.instances.seen(name),
            _ => Some(InstanceSeen::Present),
        }
    }
}

impl Reconciler for Databases {
    async fn reconcile(&self, object: Arc<DynamicObject>) -> Result<Next, RequestError> {
        let Some(seen) = self.instance(&object) else { return Ok(Next::After(UNKNOWN)) };
        let (kind, whole, installation) = (self.kind, object.clone(), self.installation.clone());
        let judged = tokio::task::spawn_blocking(move || Self::judge(kind, &whole, &installation, seen));
        if let Some(status) = judged.await.map_err(|_| panicked(&object))? {
            let api = engine::api(&self.client, self.kind, object.namespace().as_deref());
            write::replace(&api, &object, &status).await?;
            self.metrics.wrote(self.kind);
        }
        Ok(Next::Change)
    }

    fn seen(&self, object: &DynamicObject) {
        if self.kind == Kind::PostgreSQLInstance {
            self.instances.set(&object.name_any(), Some(object.metadata.deletion_timestamp.is_some()));
        }
    }

    fn gone(&self, _: Option<&str>, name: &str) {
        if self.kind == Kind::PostgreSQLInstance {
            self.instances.set(name, None);
        }
    }

    fn relisted(&self) {
        if self.kind == Kind::PostgreSQLInstance {
            self.instances.complete();
        }
    }
}

/// The Databases or Tenants that are due because the Instance they name has changed.
pub(super) fn by_instance(
    kind: Kind,
    instances: &Instances,
    store: Store<DynamicObject>,
) -> BoxStream<'static, ObjectRef<DynamicObject>> {
    let due = move |change: Change| {
        let named = store.state().into_iter().filter(move |object| {
            match (&change, database::instance_of(&object.data)) {
                (_, None) => false,
                (Change::Any, Some(_)) => true,
                (Change::Of(changed), Some(name)) => changed == name,
            }
        });
        stream::iter(
            named
                .map(|object| reference(kind, object.namespace().as_deref(), &object.name_any()))
                .collect::<Vec<_>>(),
        )
    };
    instances.changes().flat_map(due).boxed()
}
