//! Records Events: what happened to an object, for `kubectl describe`. An Event that cannot be written is no failure of
//! what it tells about.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::DynamicObject;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, ResourceExt as _};

use super::error::{bounded, describe};

/// Longest note of an Event, in bytes: the API server refuses more.
const NOTE_BYTES: usize = 1024;
/// How long recording one Event may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a person should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// It went as it should.
    Normal,
    /// A person should look.
    Warning,
}

/// Writes Events in the name of one process. The same Event again within six minutes only raises its count.
#[derive(Clone)]
pub struct Events(Arc<Recorder>);

impl Events {
    /// A recorder for the process `controller`, whose replica is `instance`.
    pub fn new(client: Client, controller: &str, instance: &str) -> Self {
        let reporter = Reporter { controller: controller.to_owned(), instance: Some(instance.to_owned()) };
        Self(Arc::new(Recorder::new(client, reporter)))
    }

    /// Records that `reason` happened to `object`, without waiting for it. `note` is for a person and is cut to 1 KiB.
    pub fn record(&self, object: &DynamicObject, importance: Importance, reason: &str, note: &str) {
        let types = object.types.as_ref();
        let reference = ObjectReference {
            api_version: types.map(|types| types.api_version.clone()),
            kind: types.map(|types| types.kind.clone()),
            name: Some(object.name_any()),
            namespace: object.namespace(),
            uid: object.uid(),
            resource_version: object.resource_version(),
            ..ObjectReference::default()
        };
        let event = Event {
            type_: match importance {
                Importance::Normal => EventType::Normal,
                Importance::Warning => EventType::Warning,
            },
            reason: reason.to_owned(),
            note: Some(bounded(note, NOTE_BYTES)),
            action: "Evaluate".to_owned(),
            secondary: None,
        };
        let recorder = Arc::clone(&self.0);
        tokio::spawn(async move {
            let failure = match tokio::time::timeout(PATIENCE, recorder.publish(&event, &reference)).await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => describe(&error),
                Err(_) => "no answer in time".to_owned(),
            };
            // Expected in a namespace that is going away: nothing can be created there any more.
            tracing::debug!(
                kind = reference.kind,
                namespace = reference.namespace,
                name = reference.name,
                error = failure,
                "event {} not recorded",
                event.reason
            );
        });
    }
}
