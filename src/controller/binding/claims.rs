//! Follows the claims: the Leases in the controller's namespace that give a physical database or role to one Database.

use std::collections::HashSet;
use std::sync::Arc;

use futures::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use kube::runtime::watcher::{self, Event};
use kube::{Api, ResourceExt as _};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::api::names;
use crate::cluster::watch;
use crate::process::health::Check;

/// Keeps the index true until told to stop.
pub(in crate::controller) async fn follow(shared: Arc<Shared>, check: Check, stop: CancellationToken) {
    let leases: Api<Lease> = Api::namespaced(shared.client.clone(), &shared.namespace);
    let config = watcher::Config::default().labels(names::CLAIM_LABEL);
    let events = watch::events(leases, config, "leases", check);
    let mut events = Box::pin(events.take_until(stop.cancelled_owned()));
    let (mut known, mut listed) = (HashSet::new(), HashSet::new());
    while let Some(event) = events.next().await {
        match event {
            Event::Init => listed.clear(),
            Event::InitApply(lease) => {
                shared.index.claim(&lease.name_any(), Some(holder(&lease)));
                listed.insert(lease.name_any());
            }
            Event::InitDone => {
                for gone in known.difference(&listed) {
                    shared.index.claim(gone, None);
                }
                known = std::mem::take(&mut listed);
                shared.index.claims_listed();
            }
            Event::Apply(lease) => {
                shared.index.claim(&lease.name_any(), Some(holder(&lease)));
                known.insert(lease.name_any());
            }
            Event::Delete(lease) => {
                shared.index.claim(&lease.name_any(), None);
                known.remove(&lease.name_any());
            }
        }
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}
