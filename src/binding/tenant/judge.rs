//! A Tenant that no Database carries: may it bind now, and if so, the steps up to W2.
//!
//! Judged first, written afterwards: W0 and W1 happen only in a pass that would try W2 now, so that a Tenant that waits
//! stays as free to be edited as it was. A binding that admission has refused before is tried as a dry run first.

use serde_json::json;

use super::{Pass, UNKNOWN};
use crate::api::conditions::TenantReason;
use crate::api::phases::{DatabasePhase, TenantPhase};
use crate::api::postgresql_database::effective::{ReclaimPolicy, Source};
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::{Kind, names};
use crate::binding::claims::ClaimKind;
use crate::binding::observed::{Database, Instance, Listing, Lookup, Observation, ObservedDatabase, Target};
use crate::binding::outcome::Outcome;
use crate::binding::report::Ready;
use crate::binding::step::{ObjectVersion, Operation, Step, StepName};
use crate::binding::texts;

/// A binding that may be tried now.
struct Bindable<'a> {
    /// W2 or W2'.
    write: Step,
    /// The Database's name.
    database: String,
    /// The name on the server.
    name: &'a str,
    /// The role's name on the server.
    login_role: &'a str,
}

pub(super) fn plan(pass: &Pass<'_>) -> Step {
    let judged = match &pass.tenant.target {
        Target::Provision { instance, database, login_role } => new(pass, instance, database, login_role),
        Target::Existing { name } => existing(pass, name),
        Target::Invalid => Err(pass.pending(TenantReason::InvalidSpec, "spec names no target")),
    };
    judged.and_then(|bindable| go_on(pass, bindable)).unwrap_or_else(|instead| instead)
}

/// May a Database be made?
fn new<'a>(
    pass: &Pass<'_>,
    instance_name: &str,
    name: &'a str,
    login_role: &'a str,
) -> Result<Bindable<'a>, Step> {
    let database = crate::binding::observed::tenant_database(&pass.tenant.metadata.uid);
    if let Lookup::Found(squatter) = &pass.world.named {
        let fields = super::differences(pass.tenant, &squatter.database);
        return Err(pass.conflict(texts::made_otherwise(&database, &fields)));
    }
    match &pass.world.instance {
        Lookup::Unknown => return Err(UNKNOWN),
        Lookup::Absent => {
            let message = texts::instance_not_found(instance_name);
            return Err(pass.pending(TenantReason::InstanceNotFound, message));
        }
        Lookup::Found(instance) if instance.metadata.is_deleting => {
            let message = texts::instance_deleting(instance_name);
            return Err(pass.pending(TenantReason::InstanceDeleting, message));
        }
        Lookup::Found(_) => {}
    }
    match pass.world.claims.taken(None) {
        Err(()) => return Err(UNKNOWN),
        Ok(Some(kind)) => return Err(pass.conflict(taken(kind, name, login_role, instance_name))),
        Ok(None) => {}
    }
    let body = json!({
        "apiVersion": Kind::PostgreSQLDatabase.api_version(),
        "kind": Kind::PostgreSQLDatabase.as_str(),
        "metadata": {
            "name": database,
            "labels": {
                names::MANAGED_BY_LABEL: names::MANAGED_BY,
                names::TENANT_UID_LABEL: pass.tenant.metadata.uid,
            },
            "finalizers": [names::DATABASE_FINALIZER],
        },
        "spec": {
            "instanceRef": {"name": instance_name},
            "database": name,
            "loginRole": login_role,
            "source": Source::Provision.as_str(),
            "reclaimPolicy": ReclaimPolicy::Retain.as_str(),
            "tenantRef": pass.tenant.identity(),
        },
    });
    let write = Step::write(StepName::CreateDatabase, Operation::CreateDatabase { body });
    Ok(Bindable { write, database, name, login_role })
}

/// The text about a name that somebody else has claimed.
pub(super) fn taken(kind: ClaimKind, name: &str, login_role: &str, instance: &str) -> String {
    let name = match kind {
        ClaimKind::Database => name,
        ClaimKind::Role => login_role,
    };
    texts::name_is_taken(kind, name, instance)
}

/// May the Database that is named be bound? Every no reads the same.
fn existing<'a>(pass: &Pass<'a>, name: &str) -> Result<Bindable<'a>, Step> {
    let no = |reason| Err(pass.pending(reason, texts::not_bindable(name)));
    let seen = match &pass.world.named {
        Lookup::Unknown => return Err(UNKNOWN),
        Lookup::Absent => return no(TenantReason::NotAvailable),
        Lookup::Found(seen) => seen,
    };
    let database = &seen.database;
    if database.tenant_ref.is_some() {
        let is_held = matches!(database.phase(), Some(DatabasePhase::Releasing | DatabasePhase::Released));
        return no(if is_held { TenantReason::NotAvailable } else { TenantReason::Conflict });
    }
    let instance = match &pass.world.instance {
        Lookup::Unknown => return Err(UNKNOWN),
        Lookup::Absent => return no(TenantReason::NotAvailable),
        Lookup::Found(instance) => instance,
    };
    match is_available(pass, seen, instance) {
        None => return Err(UNKNOWN),
        Some(false) => return no(TenantReason::NotAvailable),
        Some(true) => {}
    }
    let mut finalizers = database.metadata.finalizers.clone();
    if !database.metadata.has_finalizer(names::DATABASE_FINALIZER) {
        finalizers.push(names::DATABASE_FINALIZER.to_owned());
    }
    let object = ObjectVersion::of(Kind::PostgreSQLDatabase, &database.metadata);
    let operation = Operation::Bind { object, tenant_ref: pass.tenant.identity(), finalizers };
    let write = Step::write(StepName::BindDatabase, operation);
    let (name, login_role) = (database.database.as_str(), database.login_role.as_str());
    Ok(Bindable { write, database: database.metadata.name.clone(), name, login_role })
}

/// Whether an unbound Database is free and was verified by this process, in its present generation and on this Instance;
/// none where that is not known. The status alone proves nothing, but must agree.
fn is_available(pass: &Pass<'_>, seen: &ObservedDatabase, instance: &Instance) -> Option<bool> {
    let Listing::Complete(referrers) = &seen.referrers else { return None };
    let database: &Database = &seen.database;
    let (metadata, status) = (&database.metadata, &database.status);
    let is_free = referrers.is_empty()
        && !metadata.is_deleting
        && database.fault.is_none()
        && status.release.is_none()
        && status.tenant_ref.as_ref().is_none_or(|record| record.uid.is_empty());
    let says_so = database.phase() == Some(DatabasePhase::Available)
        && status.observed_generation == Some(metadata.generation)
        && status.instance_uid.as_deref() == Some(instance.metadata.uid.as_str())
        && !instance.metadata.is_deleting;
    let was_seen = matches!(&pass.world.observation, Observation::Verified { generation, instance_uid }
        if *generation == metadata.generation && *instance_uid == instance.metadata.uid);
    if !(is_free && says_so && was_seen) {
        return Some(false);
    }
    pass.world.claims.are_held_by(&metadata.uid).ok()
}

/// W0, W1 and W2, and what becomes of refusals.
fn go_on(pass: &Pass<'_>, bindable: Bindable<'_>) -> Result<Step, Step> {
    let tenant = pass.tenant;
    let has_begun = tenant.phase() == Some(TenantPhase::Binding);
    match pass.outcome() {
        Some(Outcome::Refused { message }) => {
            let step = pass.pending(TenantReason::AdmissionDenied, texts::refused(message));
            return Err(or_wait(step));
        }
        Some(Outcome::NotSeenYet { times }) if *times < 3 => return Err(UNKNOWN),
        Some(Outcome::Unavailable | Outcome::NotSeenYet { .. }) if has_begun => {
            let step =
                pass.stay(TenantPhase::Binding, TenantReason::AdmissionUnavailable, texts::UNAVAILABLE);
            return Err(or_wait(step));
        }
        Some(Outcome::Unavailable | Outcome::NotSeenYet { .. }) => return Err(UNKNOWN),
        Some(Outcome::Admitted | Outcome::Changed) | None => {}
    }
    pass.open_namespace()?;
    let was_refused =
        matches!(tenant.reason(), Some(TenantReason::AdmissionDenied | TenantReason::AdmissionUnavailable));
    if was_refused && !has_begun && pass.outcome() != Some(&Outcome::Admitted) {
        return Ok(bindable.write.into_dry_run());
    }
    pass.protected()?;
    if !has_fixed(pass, bindable.name, bindable.login_role) {
        return Ok(begin(pass, &bindable.database, bindable.name, bindable.login_role));
    }
    Ok(bindable.write)
}

/// Whether W1 is done for these names. One that has noticed that a Database is going is not: only so can the Database's
/// pass take the notice for a promise that no W4 follows, neither to this Database nor to one that is made after it.
pub(super) fn has_fixed(pass: &Pass<'_>, name: &str, login_role: &str) -> bool {
    let (tenant, status) = (pass.tenant, &pass.tenant.status);
    tenant.phase() == Some(TenantPhase::Binding)
        && tenant.reason() != Some(TenantReason::DatabaseDeleting)
        && status.database.as_deref() == Some(name)
        && status.login_role.as_deref() == Some(login_role)
}

/// W1.
pub(super) fn begin(pass: &Pass<'_>, database: &str, name: &str, login_role: &str) -> Step {
    let fields = PostgreSQLTenantStatus {
        database: Some(name.to_owned()),
        login_role: Some(login_role.to_owned()),
        ..pass.tenant.status.clone()
    };
    let ready = Ready::no(TenantReason::Binding, texts::binding(database));
    pass.report(StepName::BeginBinding, TenantPhase::Binding, fields, ready)
}

/// What was said already is not written again; but nothing that would wake the pass is going to change.
pub(super) fn or_wait(step: Step) -> Step {
    if step == Step::Idle { Step::Wait } else { step }
}
