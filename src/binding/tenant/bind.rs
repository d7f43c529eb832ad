//! A Tenant whose identity one Database carries, and that has not recorded the Database yet: everything from W2 to W4.
//!
//! Whoever finds his own UID on the Database does not ask whether it is Available: it is his.

use super::judge::{begin, has_fixed, or_wait, taken};
use super::{Pass, UNKNOWN, differences, is_contested};
use crate::api::conditions::{DatabaseReason, TenantReason};
use crate::api::phases::TenantPhase;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::refs::DatabaseIdentity;
use crate::api::{Kind, names};
use crate::binding::claims::{ClaimKind, Hold};
use crate::binding::observed::{Database, Instance, Lookup, ObservedDatabase};
use crate::binding::outcome::Outcome;
use crate::binding::report::Ready;
use crate::binding::step::{EventReason, ObjectVersion, Operation, Step, StepName, add_finalizer};
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>, seen: &ObservedDatabase) -> Step {
    go_on(pass, seen).unwrap_or_else(|instead| instead)
}

/// `Err` holds what to do instead of going on; the end is W4.
fn go_on(pass: &Pass<'_>, seen: &ObservedDatabase) -> Result<Step, Step> {
    let (tenant, database) = (pass.tenant, &seen.database);
    let metadata = &database.metadata;
    let fields = differences(tenant, database);
    if metadata.is_deleting {
        return Err(deleting(pass, database, fields.is_empty()));
    }
    if !fields.is_empty() {
        return Err(pass.conflict(texts::asks_otherwise(&metadata.name, &fields)));
    }
    match is_contested(tenant, seen) {
        None => return Err(UNKNOWN),
        Some(true) => return Err(pass.conflict(texts::contested(&metadata.name))),
        Some(false) => {}
    }
    if database.status.release.is_some() {
        // A record of release that names a live Tenant is false. The Database's own pass puts it right.
        return Err(Step::Idle);
    }
    refusals(pass)?;
    pass.protected()?;
    let (name, login_role) = (database.database.as_str(), database.login_role.as_str());
    if !has_fixed(pass, name, login_role) {
        return Err(begin(pass, &metadata.name, name, login_role));
    }
    if !metadata.has_finalizer(names::DATABASE_FINALIZER) {
        let (step, kind) = (StepName::AddDatabaseFinalizer, Kind::PostgreSQLDatabase);
        return Err(add_finalizer(step, kind, metadata, names::DATABASE_FINALIZER));
    }
    let instance = trusted_instance(pass, database, TenantPhase::Binding)?;
    claims(pass, database, instance)?;
    Ok(complete(pass, database))
}

/// A write of this pass that was refused: the binding stays where it is.
fn refusals(pass: &Pass<'_>) -> Result<(), Step> {
    match pass.outcome() {
        Some(Outcome::Refused { message }) => {
            let phase = pass.tenant.phase().unwrap_or(TenantPhase::Pending);
            let text = texts::refused_when_bound(message);
            Err(or_wait(pass.stay(phase, TenantReason::AdmissionDenied, text)))
        }
        Some(Outcome::Unavailable | Outcome::NotSeenYet { .. }) => Err(UNKNOWN),
        Some(Outcome::Admitted | Outcome::Changed) | None => Ok(()),
    }
}

/// The Instance of a Database, if it is the one that was bound on.
pub(super) fn trusted_instance<'a>(
    pass: &Pass<'a>,
    database: &Database,
    phase: TenantPhase,
) -> Result<&'a Instance, Step> {
    match &pass.world.instance {
        Lookup::Unknown => Err(UNKNOWN),
        Lookup::Absent => {
            let message = texts::instance_gone(&database.instance);
            Err(pass.stay(phase, TenantReason::InstanceNotFound, message))
        }
        Lookup::Found(instance) => {
            let observed = database.status.instance_uid.as_deref();
            // The Database's pass also sees claims on another Instance; what it says can only hold things up here.
            let is_doubted = database.reason() == Some(DatabaseReason::InstanceIdentityChanged);
            if !is_doubted && observed.is_none_or(|uid| uid.is_empty() || uid == instance.metadata.uid) {
                return Ok(instance);
            }
            let message = texts::identity_changed(&database.instance);
            Err(pass.stay(phase, TenantReason::InstanceIdentityChanged, message))
        }
    }
}

/// Both claims, before W4. Who loses one goes back, with a Database that nothing was ever made for.
fn claims(pass: &Pass<'_>, database: &Database, instance: &Instance) -> Result<(), Step> {
    let Some(names) = pass.world.claim_names() else { return Err(UNKNOWN) };
    match pass.world.claims.hold(&names, database) {
        Hold::Both => Ok(()),
        Hold::Do(step) => Err(step),
        Hold::Unknown => Err(UNKNOWN),
        Hold::Lost(kind) => {
            let is_ours = database.is_made_for(&pass.tenant.metadata.uid);
            if is_ours && database.status.attempt.is_none() {
                let object = ObjectVersion::of(Kind::PostgreSQLDatabase, &database.metadata);
                return Err(Step::write(StepName::DeleteDatabase, Operation::DeleteDatabase { object }));
            }
            Err(pass.conflict(text_of_loss(kind, database, &instance.metadata.name)))
        }
    }
}

fn text_of_loss(kind: ClaimKind, database: &Database, instance: &str) -> String {
    taken(kind, &database.database, &database.login_role, instance)
}

/// The Database is going before the binding was complete. That the Tenant has seen this is what the Database's own pass
/// waits for: from then on no completion of the binding can be under way.
fn deleting(pass: &Pass<'_>, database: &Database, asks_for_it: bool) -> Step {
    if asks_for_it
        && let Some(instance) = pass.world.instance.found()
        && let Ok(Some(kind)) = pass.world.claims.taken(Some(&database.metadata.uid))
    {
        return pass.conflict(text_of_loss(kind, database, &instance.metadata.name));
    }
    let message = texts::database_deleting(&database.metadata.name);
    pass.stay(TenantPhase::Binding, TenantReason::DatabaseDeleting, message)
}

/// W4.
fn complete(pass: &Pass<'_>, database: &Database) -> Step {
    let ready = Ready::no(TenantReason::BindingComplete, texts::binding_complete(&database.metadata.name));
    let message = ready.message.clone();
    let step =
        pass.report(StepName::CompleteBinding, TenantPhase::Bound, bound_fields(pass, database), ready);
    step.with_event(EventReason::Bound, false, message)
}

/// The fields of a Tenant that is bound.
pub(super) fn bound_fields(pass: &Pass<'_>, database: &Database) -> PostgreSQLTenantStatus {
    let record =
        DatabaseIdentity { name: database.metadata.name.clone(), uid: database.metadata.uid.clone() };
    PostgreSQLTenantStatus {
        database: Some(database.database.clone()),
        login_role: Some(database.login_role.clone()),
        database_ref: Some(record),
        ..pass.tenant.status.clone()
    }
}
