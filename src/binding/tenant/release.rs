//! A Tenant that is being deleted: X2 delivery removed, X3 the release recorded on every Database that carries its UID,
//! X4 our finalizer off. It never waits for a server.
//!
//! What is released is found by the Databases' `spec.tenantRef`, never by the Tenant's own status.

use super::{Pass, UNKNOWN, is_contested};
use crate::api::conditions::TenantReason;
use crate::api::phases::TenantPhase;
use crate::api::postgresql_database::effective::ReclaimPolicy;
use crate::api::{Kind, names};
use crate::binding::database::record_release;
use crate::binding::observed::{Database, DeliveredObject, Listing, ObservedDatabase};
use crate::binding::step::{Operation, Step, StepName, remove_finalizer};
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>) -> Step {
    let metadata = &pass.tenant.metadata;
    if !metadata.has_finalizer(names::TENANT_FINALIZER) {
        return Step::Idle;
    }
    let Listing::Complete(delivered) = &pass.world.delivered else { return UNKNOWN };
    if let Some(object) = delivered.first() {
        return remove_delivery(pass, object);
    }
    let Some(mut carried) = pass.carried() else { return UNKNOWN };
    carried.sort_by(|left, right| left.database.metadata.name.cmp(&right.database.metadata.name));
    for seen in &carried {
        match is_contested(pass.tenant, seen) {
            None => return UNKNOWN,
            // Not this Tenant's to release: the Database shows a Conflict, and keeps what it has.
            Some(true) => continue,
            Some(false) => {}
        }
        if !is_recorded(pass, &seen.database) {
            return record(pass, seen, carried.len());
        }
    }
    remove_finalizer(
        StepName::RemoveTenantFinalizer,
        Kind::PostgreSQLTenant,
        metadata,
        names::TENANT_FINALIZER,
    )
}

fn remove_delivery(pass: &Pass<'_>, object: &DeliveredObject) -> Step {
    let step = pass.stay(TenantPhase::Releasing, TenantReason::Releasing, texts::RELEASING);
    if step != Step::Idle {
        return step;
    }
    let namespace = pass.tenant.metadata.namespace.clone().unwrap_or_default();
    Step::write(StepName::RemoveDelivery, Operation::DeleteDelivered { namespace, object: object.clone() })
}

fn is_recorded(pass: &Pass<'_>, database: &Database) -> bool {
    let released = database.status.release.as_ref().and_then(|release| release.tenant_ref.as_ref());
    released.is_some_and(|tenant| tenant.uid == pass.tenant.metadata.uid)
}

/// X3. The policy is captured here, under the Database's resourceVersion, so that there is exactly one answer. Where the
/// records do not say clearly what was this Tenant's, nothing is ever dropped: the policy is Retain and the binding counts
/// as complete.
fn record(pass: &Pass<'_>, seen: &ObservedDatabase, carried: usize) -> Step {
    let database = &seen.database;
    let on_record = pass.tenant.status.database_ref.as_ref().map(|record| record.uid.as_str());
    let on_record = on_record.filter(|uid| !uid.is_empty());
    let is_on_record = on_record == Some(database.metadata.uid.as_str());
    let is_clear = is_on_record || (on_record.is_none() && carried == 1);
    let policy = if is_clear { database.reclaim_policy.as_str() } else { ReclaimPolicy::Retain.as_str() };
    record_release(database, &pass.tenant.identity(), policy, is_on_record || !is_clear, pass.now)
}
