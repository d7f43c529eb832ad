//! A Database without a `spec.tenantRef`, not being deleted: never bound, re-opened, or tampered with.
//!
//! Free is only what was verified by this process, has no record of a binding, and is named by no Tenant.

use super::{Claimed, Party, Pass, full};
use crate::api::conditions::DatabaseReason;
use crate::api::phases::DatabasePhase;
use crate::api::postgresql_database::{PostgreSQLDatabaseStatus, Release};
use crate::api::refs::TenantIdentity;
use crate::binding::observed::{Instance, Observation};
use crate::binding::report::Ready;
use crate::binding::step::{EventReason, Step, StepName};
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>) -> Result<Step, Step> {
    let name = &pass.database.metadata.name;
    if let Some(release) = &pass.database.status.release {
        return reopened(pass, release);
    }
    let was_bound = matches!(
        pass.database.phase(),
        Some(DatabasePhase::Bound | DatabasePhase::Releasing | DatabasePhase::Released)
    );
    let record = pass.record();
    if was_bound || record.is_some() {
        let message = texts::removed_binding(name, record.as_ref());
        let phase = pass.taken_phase(DatabasePhase::Bound);
        return Ok(pass.stay(phase, Ready::no(DatabaseReason::Conflict, message)));
    }
    let referrers = pass.referrers()?;
    if !referrers.is_empty() {
        let message = texts::unbound_but_claimed(name, &texts::claimed_by(&referrers));
        return Ok(pass.stay(DatabasePhase::Pending, Ready::no(DatabaseReason::Conflict, message)));
    }
    if let Some(fault) = &pass.database.fault {
        return Ok(pass.stay(DatabasePhase::Pending, Ready::no(DatabaseReason::InvalidSpec, fault.clone())));
    }
    match pass.instance()? {
        Err(obstacle) => Ok(pass.stay(DatabasePhase::Pending, pass.obstacle(obstacle))),
        Ok(instance) => free(pass, instance),
    }
}

fn free(pass: &Pass<'_>, instance: &Instance) -> Result<Step, Step> {
    let pending = |message: String| {
        pass.stay(DatabasePhase::Pending, Ready::no(DatabaseReason::ServerNotObserved, message))
    };
    match &pass.world.observation {
        Observation::Verified { .. } if pass.is_verified(instance) => available(pass, instance),
        // After a restart: what is stored stands for the eye; to bind, it is not enough.
        Observation::NotYet | Observation::Verified { .. } if is_current(pass, instance) => Ok(Step::Idle),
        Observation::Failed { message } => Ok(pending(texts::failed(message))),
        Observation::NotObserved | Observation::NotYet | Observation::Verified { .. } => {
            Ok(pending(texts::UNVERIFIED.to_owned()))
        }
    }
}

fn is_current(pass: &Pass<'_>, instance: &Instance) -> bool {
    let (status, metadata) = (&pass.database.status, &pass.database.metadata);
    pass.database.phase() == Some(DatabasePhase::Available)
        && pass.database.reason() == Some(DatabaseReason::Available)
        && status.observed_generation == Some(metadata.generation)
        && status.instance_uid.as_deref() == Some(instance.metadata.uid.as_str())
}

/// Verified: protected, claimed, and then free to be bound.
fn available(pass: &Pass<'_>, instance: &Instance) -> Result<Step, Step> {
    pass.protected()?;
    match pass.claimed()? {
        Claimed::Lost(kind) => Ok(pass.stay(DatabasePhase::Pending, pass.lost(kind))),
        Claimed::NotNow(obstacle) => Ok(pass.stay(DatabasePhase::Pending, pass.obstacle(obstacle))),
        Claimed::Both => {
            let fields = PostgreSQLDatabaseStatus {
                instance_uid: Some(instance.metadata.uid.clone()),
                ..pass.database.status.clone()
            };
            let ready = Ready::yes(DatabaseReason::Available, texts::AVAILABLE);
            Ok(pass.report(StepName::ReportStatus, DatabasePhase::Available, fields, ready))
        }
    }
}

/// A record of release and no `spec.tenantRef`: an administrator has re-opened the Database. What admission has asked is
/// asked again, for its answer may have been old.
fn reopened(pass: &Pass<'_>, release: &Release) -> Result<Step, Step> {
    let name = &pass.database.metadata.name;
    let too_early = |why: &str| {
        let phase = pass.taken_phase(DatabasePhase::Released);
        let ready = Ready::no(DatabaseReason::Conflict, texts::reopened_too_early(name, why));
        Ok(pass.stay(phase, ready))
    };
    let is_full = |tenant: &&TenantIdentity| {
        ![&tenant.uid, &tenant.namespace, &tenant.name].into_iter().any(String::is_empty)
    };
    let Some(released) = release.tenant_ref.as_ref().filter(is_full) else {
        return too_early("status.release does not say which tenant was released");
    };
    if pass.record().is_some_and(|record| record != full(released)) {
        return too_early("status.tenantRef has another tenant on record than the released one");
    }
    match pass.party(&released.uid)? {
        Party::Live(_) => return too_early("the tenant of that UID is alive"),
        Party::Going(_) => return too_early("the tenant of that UID is still being deleted"),
        Party::Gone => {}
    }
    let referrers = pass.referrers()?;
    if !referrers.is_empty() {
        return too_early(&texts::claimed_by(&referrers));
    }
    let fields = PostgreSQLDatabaseStatus {
        release: None,
        last_release: Some(release.clone()),
        tenant_ref: None,
        tenant: None,
        ..pass.database.status.clone()
    };
    let ready = Ready::no(DatabaseReason::ServerNotObserved, texts::UNVERIFIED);
    let step = pass.report(StepName::ArchiveRelease, DatabasePhase::Pending, fields, ready);
    let message = "The database was re-opened: spec.tenantRef was removed. It is verified again before it can be bound.";
    Ok(step.with_event(EventReason::Reopened, false, message.to_owned()))
}
