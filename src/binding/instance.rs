//! The plan of one pass over an Instance: protected while something refers to it, and shown as it was observed.

use jiff::Timestamp;

use super::observed::{Instance, InstanceObservation, InstanceWorld, Listing, Lookup};
use super::report::Ready;
use super::step::{EventReason, Step, StepName, add_finalizer, remove_finalizer};
use super::texts;
use crate::api::conditions::InstanceReason;
use crate::api::phases::InstancePhase;
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::{Kind, names};

/// The one step of this pass over an Instance.
pub fn plan(world: &InstanceWorld, now: Timestamp) -> Step {
    let instance = match &world.instance {
        Lookup::Found(instance) => instance,
        Lookup::Absent => return Step::Idle,
        Lookup::Unknown => return Step::Wait,
    };
    let is_protected = instance.metadata.has_finalizer(names::INSTANCE_FINALIZER);
    match (instance.metadata.is_deleting, is_protected) {
        (true, true) => deleting(world, instance, now),
        (true, false) => Step::Idle,
        (false, false) => add_finalizer(
            StepName::AddInstanceFinalizer,
            Kind::PostgreSQLInstance,
            &instance.metadata,
            names::INSTANCE_FINALIZER,
        ),
        (false, true) => observed(world, instance, now),
    }
}

/// It goes only when both lists were read and hold nothing. A Tenant that is being deleted, or that has a Database on
/// record (which then counts itself, if it still exists), does not hold it.
fn deleting(world: &InstanceWorld, instance: &Instance, now: Timestamp) -> Step {
    let (Listing::Complete(databases), Listing::Complete(tenants)) = (&world.databases, &world.tenants)
    else {
        return Step::Wait;
    };
    let mut databases = databases.clone();
    let mut waiting: Vec<String> = tenants
        .iter()
        .filter(|tenant| !tenant.is_bound && !tenant.is_deleting)
        .map(|tenant| format!("{}/{}", tenant.namespace, tenant.name))
        .collect();
    if databases.is_empty() && waiting.is_empty() {
        return remove_finalizer(
            StepName::RemoveInstanceFinalizer,
            Kind::PostgreSQLInstance,
            &instance.metadata,
            names::INSTANCE_FINALIZER,
        );
    }
    databases.sort_unstable();
    waiting.sort_unstable();
    let message = texts::instance_in_use(&databases, &waiting);
    let is_new = instance.reason() != Some(InstanceReason::DeletionBlocked);
    let ready = Ready::no(InstanceReason::DeletionBlocked, message.clone());
    match instance.report(InstancePhase::Deleting, instance.status.clone(), ready, now) {
        None => Step::Idle,
        Some(step) if is_new => step.with_event(EventReason::DeletionBlocked, true, message),
        Some(step) => step,
    }
}

fn observed(world: &InstanceWorld, instance: &Instance, now: Timestamp) -> Step {
    let note = instance.note.as_deref();
    let stored = instance.status.clone();
    let unobserved = |message: &str| {
        (
            InstancePhase::Pending,
            Ready::no(InstanceReason::ServerNotObserved, texts::with_note(message, note)),
        )
    };
    let mut fields = stored;
    let (phase, ready) = match (&instance.fault, &world.observation) {
        (Some(fault), _) => (InstancePhase::Pending, Ready::no(InstanceReason::InvalidSpec, fault.clone())),
        (None, InstanceObservation::Ready { generation, version, system_identifier })
            if *generation == instance.metadata.generation =>
        {
            fields = PostgreSQLInstanceStatus {
                postgresql_version: Some(texts::foreign(version)),
                system_identifier: Some(system_identifier.clone()),
                ..fields
            };
            (InstancePhase::Ready, Ready::yes(InstanceReason::Ready, texts::server_ready(note)))
        }
        (None, InstanceObservation::NotYet | InstanceObservation::Ready { .. }) if is_current(instance) => {
            return Step::Idle;
        }
        (None, InstanceObservation::Failed { message }) => {
            unobserved(&format!("The server cannot be used: {}", texts::foreign(message)))
        }
        (
            None,
            InstanceObservation::NotObserved
            | InstanceObservation::NotYet
            | InstanceObservation::Ready { .. },
        ) => unobserved(texts::SERVER_UNOBSERVED),
    };
    instance.report(phase, fields, ready, now).unwrap_or(Step::Idle)
}

fn is_current(instance: &Instance) -> bool {
    instance.status.observed_generation == Some(instance.metadata.generation)
        && instance.status.phase.as_deref() == Some(InstancePhase::Ready.as_str())
        && instance.reason() == Some(InstanceReason::Ready)
}
