//! A Database that is being deleted: it stays while a Tenant uses it, and what was made for it is dropped only with
//! evidence. Where nothing outside Kubernetes was begun, our finalizer simply comes off.

use super::{Party, Pass, record_release, release_of, releasing};
use crate::api::conditions::{DatabaseReason, TenantReason};
use crate::api::phases::{DatabasePhase, TenantPhase};
use crate::api::postgresql_database::effective::{ReclaimPolicy, Source};
use crate::api::refs::TenantRef;
use crate::api::{Kind, names};
use crate::binding::observed::Tenant;
use crate::binding::report::Ready;
use crate::binding::step::{EventReason, Step, StepName, remove_finalizer};
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>) -> Result<Step, Step> {
    let database = pass.database;
    if !database.metadata.has_finalizer(names::DATABASE_FINALIZER) {
        return Ok(Step::Idle);
    }
    let tenant = database.tenant_ref.as_ref();
    if let Some(tenant) = tenant
        && release_of(database, &tenant.uid).is_some()
        && !matches!(pass.party(&tenant.uid)?, Party::Gone | Party::Live(_))
    {
        let (phase, ready) = releasing(tenant, database);
        return Ok(pass.stay(phase, ready));
    }
    let referrers = pass.referrers()?;
    if !referrers.is_empty() {
        return Ok(blocked(pass, texts::in_use(&texts::claimed_by(&referrers))));
    }
    match tenant {
        Some(tenant) => carried(pass, tenant),
        None => Ok(let_go(pass, None)),
    }
}

fn blocked(pass: &Pass<'_>, message: String) -> Step {
    pass.stay(DatabasePhase::Deleting, Ready::no(DatabaseReason::DeletionBlocked, message))
}

/// It has a `spec.tenantRef`, but no Tenant has it on record.
fn carried(pass: &Pass<'_>, tenant: &TenantRef) -> Result<Step, Step> {
    let was_begun = pass.database.status.attempt.is_some();
    match (pass.party(&tenant.uid)?, release_of(pass.database, &tenant.uid)) {
        (Party::Live(_) | Party::Going(_), _) if was_begun => {
            Ok(blocked(pass, texts::waits_for_tenant(tenant)))
        }
        (Party::Live(live), _) if !has_noticed(live) => Ok(Step::Idle),
        (Party::Gone, None) if was_begun => {
            Ok(record_release(pass.database, tenant, pass.policy_of_release()?, true, pass.now))
        }
        (Party::Gone, Some(release)) => Ok(let_go(pass, release.policy.as_deref())),
        (Party::Live(_) | Party::Going(_) | Party::Gone, _) => Ok(let_go(pass, None)),
    }
}

/// Whether the Tenant has written down that the Database is going, or is not binding at all. A completion of the binding
/// that is under way is guarded by the Tenant's resourceVersion and fails from then on: so a Tenant never completes a
/// binding to a Database that was let go of.
fn has_noticed(tenant: &Tenant) -> bool {
    tenant.phase() != Some(TenantPhase::Binding) || tenant.reason() == Some(TenantReason::DatabaseDeleting)
}

/// `captured` is the policy of the record of release; without one the spec's counts, which is frozen by the deletion.
fn let_go(pass: &Pass<'_>, captured: Option<&str>) -> Step {
    let database = pass.database;
    let was_begun = database.status.attempt.is_some();
    let policy = captured.unwrap_or(&database.reclaim_policy);
    if was_begun && policy == ReclaimPolicy::Delete.as_str() {
        let ready = Ready::no(DatabaseReason::ConflictOnDelete, texts::cannot_drop(&database.metadata.name));
        return pass.stay(DatabasePhase::Deleting, ready);
    }
    let step = remove_finalizer(
        StepName::RemoveDatabaseFinalizer,
        Kind::PostgreSQLDatabase,
        &database.metadata,
        names::DATABASE_FINALIZER,
    );
    if was_begun || database.source == Source::Import.as_str() {
        let message = texts::retained(&database.database, &database.login_role, &database.instance);
        return step.with_event(EventReason::DatabaseRetained, false, message);
    }
    step
}
