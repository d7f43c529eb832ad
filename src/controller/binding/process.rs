//! The controllers of the three kinds together.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use kube::Client;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::index::Index;
use super::observe::Observe;
use super::{Binding, Shared, claims};
use crate::api::{Kind, names};
use crate::cluster::events::Events;
use crate::controller::engine::Engine;
use crate::controller::metrics::Metrics;
use crate::process::health::{Check, Readiness};
use crate::rules::Installation;

/// Everything that the controllers of Instance, Database and Tenant stand on.
pub struct Process {
    pub(in crate::controller) client: Client,
    pub(in crate::controller) installation: Arc<Installation>,
    /// The controller's own namespace.
    pub(in crate::controller) namespace: String,
    /// The namespaces whose Tenants are looked at; none in it for all of them.
    pub(in crate::controller) scopes: Vec<Option<String>>,
    pub(in crate::controller) readiness: Readiness,
    pub(in crate::controller) metrics: Metrics,
    pub(in crate::controller) events: Events,
    pub(in crate::controller) observer: Arc<dyn Observe>,
}

impl Process {
    /// Controllers for all namespaces, with figures that nobody reads. `identity` is the reporter of Events.
    pub fn new(client: Client, namespace: &str, identity: &str, observer: Arc<dyn Observe>) -> Self {
        Self {
            installation: Arc::default(),
            namespace: namespace.to_owned(),
            scopes: vec![None],
            readiness: Readiness::new(),
            metrics: Metrics::register(&mut Registry::default()),
            events: Events::new(client.clone(), names::CONTROLLER, identity),
            observer,
            client,
        }
    }

    /// What must be true before it has seen everything.
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Starts all of it; it works until `ending`.
    pub fn start(self, tasks: &TaskTracker, ending: &CancellationToken) {
        let shared = Arc::new(Shared {
            client: self.client.clone(),
            installation: self.installation.clone(),
            metrics: self.metrics.clone(),
            events: self.events.clone(),
            namespace: self.namespace.clone(),
            index: Index::new(self.scopes.len()),
            observer: self.observer.clone(),
            by_tenants: Mutex::default(),
        });
        let leases = self.check("leases", None);
        tasks.spawn(claims::follow(shared.clone(), leases, ending.clone()));
        for kind in [Kind::PostgreSQLInstance, Kind::PostgreSQLDatabase] {
            self.engine(kind, None, &shared, tasks, ending);
        }
        for scope in &self.scopes {
            self.engine(Kind::PostgreSQLTenant, scope.as_ref(), &shared, tasks, ending);
        }
    }

    fn engine(
        &self,
        kind: Kind,
        scope: Option<&String>,
        shared: &Arc<Shared>,
        tasks: &TaskTracker,
        ending: &CancellationToken,
    ) {
        let engine = Engine {
            client: self.client.clone(),
            kind,
            namespace: scope.cloned(),
            check: self.check(kind.plural(), scope),
            metrics: self.metrics.clone(),
            stop: ending.clone(),
        };
        let reconciler = Arc::new(Binding::new(kind, shared.clone()));
        let due = reconciler.clone();
        tasks.spawn(engine.run(reconciler, move |store| due.due(store).boxed()));
    }

    fn check(&self, what: &str, scope: Option<&String>) -> Check {
        let name = scope.map_or_else(|| what.to_owned(), |namespace| format!("{what}-{namespace}"));
        self.readiness.register(name, "not listed yet")
    }
}
