//! A Database with a `spec.tenantRef`, not being deleted: bound while its Tenant lives, released once it is gone.

use super::{Claimed, Party, Pass, UNKNOWN, on_record, record_release, release_of, releasing};
use crate::api::Kind;
use crate::api::conditions::DatabaseReason;
use crate::api::phases::DatabasePhase;
use crate::api::postgresql_database::effective::{ReclaimPolicy, Source};
use crate::api::postgresql_database::{PostgreSQLDatabaseStatus, Release};
use crate::api::refs::TenantRef;
use crate::binding::observed::{Listing, Observation, Tenant};
use crate::binding::report::Ready;
use crate::binding::step::{ObjectVersion, Operation, Step, StepName};
use crate::binding::tenant::others;
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>, tenant: &TenantRef) -> Result<Step, Step> {
    let party = pass.party(&tenant.uid)?;
    if let Some(message) = contested(pass, tenant, &party)? {
        let phase = pass.taken_phase(DatabasePhase::Bound);
        return Ok(pass.stay(phase, Ready::no(DatabaseReason::Conflict, message)));
    }
    pass.protected()?;
    match (party, release_of(pass.database, &tenant.uid)) {
        // A record of release that names a live Tenant is false, and is left out of what is written.
        (Party::Live(live), _) => bound(pass, tenant, live),
        (Party::Going(_), Some(_)) => {
            let (phase, ready) = releasing(tenant, pass.database);
            Ok(pass.stay(phase, ready))
        }
        // The Tenant's own pass records the release; if it cannot any more, this one does once the Tenant is gone.
        (Party::Going(_), None) => Ok(Step::Idle),
        (Party::Gone, None) => {
            // A restored Database claims what it stands for before anything else.
            let _ = pass.claimed()?;
            // Nobody can say any more whether the binding was complete: then it was.
            Ok(record_release(pass.database, tenant, pass.policy_of_release()?, true, pass.now))
        }
        (Party::Gone, Some(release)) => gone(pass, tenant, release),
    }
}

/// Why the binding cannot be believed, if so: other records say otherwise. A live Tenant whose own record names this
/// Database outweighs the Database's status, which is never proof; other Tenants that say they are bound only block.
fn contested(pass: &Pass<'_>, tenant: &TenantRef, party: &Party<'_>) -> Result<Option<String>, Step> {
    let name = &pass.database.metadata.name;
    let own = &pass.database.metadata.uid;
    if tenant.uid.is_empty() || tenant.name.is_empty() || tenant.namespace.is_empty() {
        return Ok(Some(texts::other_binding(name, tenant, "a part of it is missing")));
    }
    let agrees = match party {
        Party::Live(live) | Party::Going(live) => {
            live.status.database_ref.as_ref().is_some_and(|record| record.uid == *own)
        }
        Party::Gone => false,
    };
    if agrees {
        return Ok(None);
    }
    if let Some(record) = pass.record().filter(|record| record.uid != tenant.uid) {
        return Ok(Some(texts::other_binding(name, tenant, &texts::on_record(&record))));
    }
    let Some(others) = others(&pass.seen.referrers, &tenant.uid) else { return Err(UNKNOWN) };
    let claim = || texts::other_binding(name, tenant, &texts::claimed_by(&others));
    Ok((!others.is_empty()).then(claim))
}

/// W3, and everything that a bound Database shows.
fn bound(pass: &Pass<'_>, tenant: &TenantRef, live: &Tenant) -> Result<Step, Step> {
    let claimed = pass.claimed()?;
    let Listing::Complete(siblings) = &pass.world.siblings else { return Err(UNKNOWN) };
    let mut fields = PostgreSQLDatabaseStatus { release: None, ..on_record(pass.database, tenant) };
    let trusted = pass.instance()?.ok();
    if let Some(instance) = trusted {
        fields.instance_uid = Some(instance.metadata.uid.clone());
    }
    let ready = if let Some(fault) = &pass.database.fault {
        Ready::no(DatabaseReason::InvalidSpec, fault.clone())
    } else if let Some(message) = disagreement(pass, tenant, live, siblings) {
        Ready::no(DatabaseReason::Conflict, message)
    } else {
        match claimed {
            Claimed::Lost(kind) => pass.lost(kind),
            Claimed::NotNow(obstacle) => pass.obstacle(obstacle),
            Claimed::Both => match (&pass.world.observation, trusted) {
                (_, Some(instance)) if pass.is_verified(instance) => {
                    Ready::yes(DatabaseReason::Bound, texts::BOUND)
                }
                (Observation::NotYet, _) if is_current(pass) => return Ok(Step::Idle),
                (Observation::Failed { message }, _) => {
                    Ready::no(DatabaseReason::ServerNotObserved, texts::failed(message))
                }
                (Observation::NotObserved | Observation::NotYet | Observation::Verified { .. }, _) => {
                    Ready::no(DatabaseReason::ServerNotObserved, texts::BOUND_UNVERIFIED)
                }
            },
        }
    };
    Ok(pass.report(StepName::RecordBinding, DatabasePhase::Bound, fields, ready))
}

/// Several Databases for one Tenant.
fn disagreement(pass: &Pass<'_>, tenant: &TenantRef, live: &Tenant, siblings: &[String]) -> Option<String> {
    let name = &pass.database.metadata.name;
    if !siblings.is_empty() {
        return Some(texts::siblings(name, tenant, siblings));
    }
    let record = live.status.database_ref.as_ref().filter(|record| !record.uid.is_empty())?;
    let is_other = record.uid != pass.database.metadata.uid;
    is_other.then(|| texts::siblings(name, tenant, std::slice::from_ref(&record.name)))
}

/// Whether what is stored is about this generation and this binding, so that it can stand until something was observed.
fn is_current(pass: &Pass<'_>) -> bool {
    let (status, metadata) = (&pass.database.status, &pass.database.metadata);
    pass.database.phase() == Some(DatabasePhase::Bound)
        && status.observed_generation == Some(metadata.generation)
        && status.release.is_none()
        && pass.record().is_some_and(|record| Some(&record) == pass.database.tenant_ref.as_ref())
        && matches!(pass.database.reason(), Some(DatabaseReason::Bound | DatabaseReason::ServerNotObserved))
}

/// The Tenant is gone and the release recorded: X5, or Released. Only the policy that was captured counts; and a
/// half-made binding leaves nothing behind.
fn gone(pass: &Pass<'_>, tenant: &TenantRef, release: &Release) -> Result<Step, Step> {
    let database = pass.database;
    let is_half_made = release.completed == Some(false)
        && database.is_made_for(&tenant.uid)
        && database.source == Source::Provision.as_str()
        && database.status.attempt.is_none();
    if is_half_made || release.policy.as_deref() == Some(ReclaimPolicy::Delete.as_str()) {
        let object = ObjectVersion::of(Kind::PostgreSQLDatabase, &database.metadata);
        return Ok(Step::write(StepName::DeleteDatabase, Operation::DeleteDatabase { object }));
    }
    let ready = match pass.claimed()? {
        Claimed::Lost(kind) => pass.lost(kind),
        Claimed::Both | Claimed::NotNow(_) => {
            Ready::no(DatabaseReason::Released, texts::released(&database.metadata.name, tenant))
        }
    };
    let fields = PostgreSQLDatabaseStatus { release: Some(release.clone()), ..on_record(database, tenant) };
    Ok(pass.report(StepName::ReportStatus, DatabasePhase::Released, fields, ready))
}
