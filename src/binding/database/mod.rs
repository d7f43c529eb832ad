//! The plan of one pass over a Database.
//!
//! Who decides what: `deleting` a Database that is being deleted; `bound` one with a `spec.tenantRef`; `unbound` one
//! without.

mod bound;
mod deleting;
mod unbound;

use jiff::Timestamp;

use super::claims::{ClaimKind, Hold};
use super::observed::{
    Database, DatabaseWorld, Instance, Listing, Lookup, Observation, ObservedDatabase, Referrer, Tenant,
};
use super::report::Ready;
use super::step::{EventReason, Step, StepName, add_finalizer};
use super::texts;
use crate::api::conditions::DatabaseReason;
use crate::api::phases::DatabasePhase;
use crate::api::postgresql_database::effective::ReclaimPolicy;
use crate::api::postgresql_database::{PostgreSQLDatabaseStatus, Release};
use crate::api::refs::{TenantIdentity, TenantRef};
use crate::api::{Kind, names};
use crate::rules::conditions::time;

/// The one step of this pass over a Database.
pub fn plan(world: &DatabaseWorld, now: Timestamp) -> Step {
    let seen = match &world.database {
        Lookup::Found(seen) => seen,
        Lookup::Absent => return Step::Idle,
        Lookup::Unknown => return Step::Wait,
    };
    let pass = Pass { world, seen, database: &seen.database, now };
    let step = match (&seen.database.tenant_ref, seen.database.metadata.is_deleting) {
        (_, true) => deleting::plan(&pass),
        (Some(tenant), false) => bound::plan(&pass, tenant),
        (None, false) => unbound::plan(&pass),
    };
    step.unwrap_or_else(|instead| instead)
}

/// What has to be done with a fact that may be unknown: wait.
const UNKNOWN: Step = Step::Wait;

/// The Tenant of a UID.
enum Party<'a> {
    /// It exists and is not being deleted.
    Live(&'a Tenant),
    /// It is being deleted.
    Going(&'a Tenant),
    /// A live read found nothing, or another UID.
    Gone,
}

/// Whether the Database has its claims, as far as that can be said.
enum Claimed {
    Both,
    /// Somebody else has one.
    Lost(ClaimKind),
    /// There is no Instance that could be trusted to claim on.
    NotNow(Obstacle),
}

/// What is wrong with the Instance.
#[derive(Clone, Copy)]
enum Obstacle {
    Absent,
    IdentityChanged,
}

/// What the parts share.
struct Pass<'a> {
    world: &'a DatabaseWorld,
    seen: &'a ObservedDatabase,
    database: &'a Database,
    now: Timestamp,
}

impl<'a> Pass<'a> {
    /// The Tenant with this UID at the place where it was looked for.
    fn party(&self, uid: &str) -> Result<Party<'a>, Step> {
        match &self.world.tenant {
            Lookup::Unknown => Err(UNKNOWN),
            Lookup::Absent => Ok(Party::Gone),
            Lookup::Found(tenant) if tenant.metadata.uid != uid => Ok(Party::Gone),
            Lookup::Found(tenant) if tenant.metadata.is_deleting => Ok(Party::Going(tenant)),
            Lookup::Found(tenant) => Ok(Party::Live(tenant)),
        }
    }

    /// The Tenants that say they are bound to this Database.
    fn referrers(&self) -> Result<Vec<&'a Referrer>, Step> {
        match &self.seen.referrers {
            Listing::Complete(referrers) => Ok(referrers.iter().collect()),
            Listing::Unknown => Err(UNKNOWN),
        }
    }

    /// The policy that the release captures once the Tenant is gone. Where another Database names the same Tenant, nobody can
    /// say which of them was its own: then nothing is ever dropped.
    fn policy_of_release(&self) -> Result<&'a str, Step> {
        match &self.world.siblings {
            Listing::Unknown => Err(UNKNOWN),
            Listing::Complete(siblings) if siblings.is_empty() => Ok(&self.database.reclaim_policy),
            Listing::Complete(_) => Ok(ReclaimPolicy::Retain.as_str()),
        }
    }

    /// The identity on the Database's own record.
    fn record(&self) -> Option<TenantRef> {
        self.database.status.tenant_ref.as_ref().filter(|record| !record.uid.is_empty()).map(full)
    }

    /// Our finalizer, which comes with the first management.
    fn protected(&self) -> Result<(), Step> {
        if self.database.metadata.has_finalizer(names::DATABASE_FINALIZER) {
            return Ok(());
        }
        let (step, kind) = (StepName::AddDatabaseFinalizer, Kind::PostgreSQLDatabase);
        Err(add_finalizer(step, kind, &self.database.metadata, names::DATABASE_FINALIZER))
    }

    /// The Instance, if it is the one that this Database has been on: by its record, and where that was lost by the
    /// claims that it holds, whose names are made of the Instance's UID.
    fn instance(&self) -> Result<Result<&'a Instance, Obstacle>, Step> {
        let instance = match &self.world.instance {
            Lookup::Unknown => return Err(UNKNOWN),
            Lookup::Absent => return Ok(Err(Obstacle::Absent)),
            Lookup::Found(instance) => instance,
        };
        let observed = self.database.status.instance_uid.as_deref().unwrap_or_default();
        if !observed.is_empty() {
            let same = observed == instance.metadata.uid;
            return Ok(if same { Ok(instance) } else { Err(Obstacle::IdentityChanged) });
        }
        let Listing::Complete(owned) = &self.world.owned_claims else { return Err(UNKNOWN) };
        let Some(names) = self.world.claim_names() else { return Err(UNKNOWN) };
        let same = owned.iter().all(|name| *name == names.database || *name == names.role);
        Ok(if same { Ok(instance) } else { Err(Obstacle::IdentityChanged) })
    }

    /// Takes the claims one by one.
    fn claimed(&self) -> Result<Claimed, Step> {
        if let Err(obstacle) = self.instance()? {
            return Ok(Claimed::NotNow(obstacle));
        }
        let Some(names) = self.world.claim_names() else { return Err(UNKNOWN) };
        match self.world.claims.hold(&names, self.database) {
            Hold::Both => Ok(Claimed::Both),
            Hold::Lost(kind) => Ok(Claimed::Lost(kind)),
            Hold::Do(step) => Err(step),
            Hold::Unknown => Err(UNKNOWN),
        }
    }

    fn lost(&self, kind: ClaimKind) -> Ready<DatabaseReason> {
        let name = match kind {
            ClaimKind::Database => &self.database.database,
            ClaimKind::Role => &self.database.login_role,
        };
        Ready::no(DatabaseReason::Conflict, texts::claim_lost(kind, name, &self.database.instance))
    }

    fn obstacle(&self, obstacle: Obstacle) -> Ready<DatabaseReason> {
        let instance = &self.database.instance;
        match obstacle {
            Obstacle::Absent => {
                Ready::no(DatabaseReason::InstanceNotFound, texts::instance_missing(instance))
            }
            Obstacle::IdentityChanged => {
                Ready::no(DatabaseReason::InstanceIdentityChanged, texts::identity_changed(instance))
            }
        }
    }

    /// Whether the database was verified in this generation on this Instance.
    fn is_verified(&self, instance: &Instance) -> bool {
        matches!(&self.world.observation, Observation::Verified { generation, instance_uid }
            if *generation == self.database.metadata.generation && *instance_uid == instance.metadata.uid)
    }

    /// Writes the status if it differs; else there is nothing to do.
    fn report(
        &self,
        step: StepName,
        phase: DatabasePhase,
        fields: PostgreSQLDatabaseStatus,
        ready: Ready<DatabaseReason>,
    ) -> Step {
        let event = match ready.reason {
            DatabaseReason::Conflict | DatabaseReason::ConflictOnDelete => {
                Some((EventReason::Conflict, true))
            }
            DatabaseReason::DeletionBlocked => Some((EventReason::DeletionBlocked, true)),
            DatabaseReason::Released => Some((EventReason::Released, false)),
            _ => None,
        };
        let event = event.filter(|_| self.database.reason() != Some(ready.reason));
        let message = ready.message.clone();
        match (self.database.report(step, phase, fields, ready, self.now), event) {
            (None, _) => Step::Idle,
            (Some(step), None) => step,
            (Some(step), Some((reason, is_warning))) => step.with_event(reason, is_warning, message),
        }
    }

    /// Says why nothing goes on, with the rest of the status as it is.
    fn stay(&self, phase: DatabasePhase, ready: Ready<DatabaseReason>) -> Step {
        self.report(StepName::ReportStatus, phase, self.database.status.clone(), ready)
    }

    /// The phase on record where it says that the Database is taken, else this one: a phase that somebody wrote must not
    /// show a Database as free.
    fn taken_phase(&self, otherwise: DatabasePhase) -> DatabasePhase {
        match self.database.phase() {
            Some(phase @ (DatabasePhase::Bound | DatabasePhase::Releasing | DatabasePhase::Released)) => {
                phase
            }
            _ => otherwise,
        }
    }
}

fn full(record: &TenantIdentity) -> TenantRef {
    TenantRef { namespace: record.namespace.clone(), name: record.name.clone(), uid: record.uid.clone() }
}

/// The record of a release of this Tenant, if there is one; a record of another Tenant's is none.
fn release_of<'a>(database: &'a Database, uid: &str) -> Option<&'a Release> {
    let release = database.status.release.as_ref()?;
    release.tenant_ref.as_ref().filter(|tenant| tenant.uid == uid).map(|_| release)
}

/// X3: the release is recorded, with the phase and the condition that the Database's own pass would give it, so that
/// nobody writes them twice.
pub(super) fn record_release(
    database: &Database,
    tenant: &TenantRef,
    policy: &str,
    completed: bool,
    now: Timestamp,
) -> Step {
    let release = Release {
        policy: Some(policy.to_owned()),
        tenant_ref: Some(TenantIdentity::from(tenant)),
        released_at: Some(time(now)),
        completed: Some(completed),
    };
    let fields = PostgreSQLDatabaseStatus { release: Some(release), ..on_record(database, tenant) };
    let (phase, ready) = releasing(tenant, database);
    database.report(StepName::RecordRelease, phase, fields, ready, now).unwrap_or(Step::Idle)
}

/// What a Database shows while its Tenant is going and the release is recorded.
fn releasing(tenant: &TenantRef, database: &Database) -> (DatabasePhase, Ready<DatabaseReason>) {
    let phase =
        if database.metadata.is_deleting { DatabasePhase::Deleting } else { DatabasePhase::Releasing };
    (phase, Ready::no(DatabaseReason::Releasing, texts::releasing(tenant)))
}

/// The status with this Tenant on record.
fn on_record(database: &Database, tenant: &TenantRef) -> PostgreSQLDatabaseStatus {
    PostgreSQLDatabaseStatus {
        tenant_ref: Some(TenantIdentity::from(tenant)),
        tenant: Some(format!("{}/{}", tenant.namespace, tenant.name)),
        ..database.status.clone()
    }
}
