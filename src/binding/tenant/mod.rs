//! The plan of one pass over a Tenant.
//!
//! Who decides what: `release` a Tenant that is being deleted; `bound` one whose status names a Database; `bind` one whose
//! identity a Database carries; `judge` one that nothing carries.

mod bind;
mod bound;
mod judge;
mod release;

use jiff::Timestamp;

use super::observed::{
    Database, Listing, Lookup, Namespace, ObservedDatabase, Referrer, Target, Tenant, TenantWorld,
};
use super::outcome::{Outcome, Tried};
use super::report::Ready;
use super::step::{EventReason, Step, StepName, add_finalizer};
use super::texts;
use crate::api::conditions::TenantReason;
use crate::api::phases::TenantPhase;
use crate::api::postgresql_database::effective::Source;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::{Kind, names};

/// The one step of this pass over a Tenant. What this very pass has tried in vain is not asked for again.
pub fn plan(world: &TenantWorld, now: Timestamp) -> Step {
    let step = decide(world, now);
    let in_vain = |tried: &Tried| {
        let is_same = step.as_write().is_some_and(|write| write.name == tried.step);
        is_same && !matches!(tried.outcome, Outcome::Admitted | Outcome::Changed)
    };
    if world.tried.as_ref().is_some_and(in_vain) { Step::Wait } else { step }
}

fn decide(world: &TenantWorld, now: Timestamp) -> Step {
    let tenant = match &world.tenant {
        Lookup::Found(tenant) => tenant,
        // What it left on a Database is released by the Database's own pass.
        Lookup::Absent => return Step::Idle,
        Lookup::Unknown => return Step::Wait,
    };
    let pass = Pass { world, tenant, now };
    if tenant.metadata.is_deleting {
        return release::plan(&pass);
    }
    let Some(carried) = pass.carried() else { return Step::Wait };
    if let Some(fault) = &tenant.fault {
        return pass.invalid(fault);
    }
    match (tenant.recorded_database(), carried.as_slice()) {
        (Some(recorded), carried) => bound::plan(&pass, recorded, carried),
        (None, []) => judge::plan(&pass),
        (None, [one]) => bind::plan(&pass, one),
        (None, several) => pass.conflict(texts::several_databases(names_of(several))),
    }
}

/// What the parts share.
struct Pass<'a> {
    world: &'a TenantWorld,
    tenant: &'a Tenant,
    now: Timestamp,
}

/// What has to be done with a fact that may be unknown: wait.
const UNKNOWN: Step = Step::Wait;

impl<'a> Pass<'a> {
    /// The Databases that carry the Tenant's UID, by the newest read of each; none where that is not known.
    fn carried(&self) -> Option<Vec<&'a ObservedDatabase>> {
        let Listing::Complete(list) = &self.world.carrying else { return None };
        let uid = self.tenant.metadata.uid.as_str();
        let named = self.tenant.named_database();
        let recorded = self.tenant.recorded_database();
        let mut by_name: Vec<(&str, &'a Lookup<ObservedDatabase>)> = Vec::new();
        if let Some(name) = &named {
            by_name.push((name, &self.world.named));
        }
        if let Some(name) = recorded
            && named.as_deref() != Some(name)
        {
            by_name.push((name, &self.world.recorded));
        }
        let mut carried = Vec::new();
        for (_, lookup) in &by_name {
            match lookup {
                Lookup::Found(database) => carried.push(database),
                Lookup::Absent => {}
                Lookup::Unknown => return None,
            }
        }
        let is_read_by_name = |name: &str| by_name.iter().any(|(read, _)| *read == name);
        carried.extend(list.iter().filter(|listed| !is_read_by_name(&listed.database.metadata.name)));
        carried.retain(|seen| seen.database.tenant_ref.as_ref().is_some_and(|tenant| tenant.uid == uid));
        Some(carried)
    }

    /// Writes the status if it differs; else there is nothing to do.
    fn report(
        &self,
        step: StepName,
        phase: TenantPhase,
        fields: PostgreSQLTenantStatus,
        ready: Ready<TenantReason>,
    ) -> Step {
        let event = self.event(&ready);
        match (self.tenant.report(step, phase, fields, ready, self.now), event) {
            (None, _) => Step::Idle,
            (Some(step), None) => step,
            (Some(step), Some((reason, message))) => step.with_event(reason, true, message),
        }
    }

    /// The Event that goes with a reason that the Tenant did not have before.
    fn event(&self, ready: &Ready<TenantReason>) -> Option<(EventReason, String)> {
        let event = match ready.reason {
            TenantReason::Conflict => EventReason::Conflict,
            TenantReason::DatabaseLost => EventReason::DatabaseLost,
            _ => return None,
        };
        (self.tenant.reason() != Some(ready.reason)).then(|| (event, ready.message.clone()))
    }

    /// Says why nothing goes on, with the phase and the rest as they are.
    fn stay(&self, phase: TenantPhase, reason: TenantReason, message: impl Into<String>) -> Step {
        let ready = Ready::no(reason, message);
        self.report(StepName::ReportStatus, phase, self.tenant.status.clone(), ready)
    }

    /// Says why a Tenant without a binding on record waits; its spec can be edited, and the names are not fixed.
    fn pending(&self, reason: TenantReason, message: impl Into<String>) -> Step {
        let step = if self.tenant.is_frozen() { StepName::BackToPending } else { StepName::ReportStatus };
        let fields =
            PostgreSQLTenantStatus { database: None, login_role: None, ..self.tenant.status.clone() };
        self.report(step, TenantPhase::Pending, fields, Ready::no(reason, message))
    }

    /// A conflict of a Tenant without a binding on record. It goes back to Pending: a Database that is being deleted can
    /// then be sure that no completion is under way, and the target can be put right.
    fn conflict(&self, message: String) -> Step {
        self.pending(TenantReason::Conflict, message)
    }

    fn invalid(&self, fault: &str) -> Step {
        if self.tenant.recorded_database().is_some() {
            let is_lost = self.tenant.phase() == Some(TenantPhase::Lost);
            let phase = if is_lost { TenantPhase::Lost } else { TenantPhase::Bound };
            return self.stay(phase, TenantReason::InvalidSpec, fault);
        }
        self.pending(TenantReason::InvalidSpec, fault)
    }

    /// Our finalizer, unless nothing may be begun in the namespace. `Err` holds what to do instead of going on.
    fn protected(&self) -> Result<(), Step> {
        if self.tenant.metadata.has_finalizer(names::TENANT_FINALIZER) {
            return Ok(());
        }
        self.open_namespace()?;
        Err(add_finalizer(
            StepName::AddTenantFinalizer,
            Kind::PostgreSQLTenant,
            &self.tenant.metadata,
            names::TENANT_FINALIZER,
        ))
    }

    /// Whether something may be begun in the namespace.
    fn open_namespace(&self) -> Result<(), Step> {
        match self.world.namespace {
            Namespace::Active => Ok(()),
            // The Tenant is about to be deleted as well: no word of it.
            Namespace::Terminating => Err(Step::Idle),
            Namespace::Unknown => Err(UNKNOWN),
        }
    }

    /// What the request that this pass has tried came to, if that is still of interest.
    fn outcome(&self) -> Option<&'a Outcome> {
        self.world.tried.as_ref().map(|tried| &tried.outcome)
    }
}

fn names_of<'a>(databases: &[&'a ObservedDatabase]) -> Vec<&'a str> {
    databases.iter().map(|seen| seen.database.metadata.name.as_str()).collect()
}

/// In which fields a Database that exists differs from what the Tenant asks for.
fn differences(tenant: &Tenant, database: &Database) -> Vec<&'static str> {
    let identity = tenant.identity();
    let bound = database.tenant_ref.as_ref();
    let mut fields = Vec::new();
    let mut differs = |is_different: bool, field: &'static str| {
        if is_different {
            fields.push(field);
        }
    };
    differs(bound.is_none_or(|bound| bound.uid != identity.uid), "spec.tenantRef");
    differs(
        bound.is_some_and(|bound| {
            bound.uid == identity.uid
                && (bound.namespace != identity.namespace || bound.name != identity.name)
        }),
        "the names in spec.tenantRef",
    );
    match &tenant.target {
        Target::Provision { instance, database: name, login_role } => {
            differs(!database.is_made_for(&identity.uid), "metadata.name");
            differs(database.instance != *instance, "spec.instanceRef");
            differs(database.database != *name, "spec.database");
            differs(database.login_role != *login_role, "spec.loginRole");
            differs(database.source != Source::Provision.as_str(), "spec.source");
        }
        Target::Existing { name } => differs(database.metadata.name != *name, "metadata.name"),
        Target::Invalid => differs(true, "spec"),
    }
    fields
}

/// Whether a Database that carries the Tenant's UID is somebody else's by another record: its own, or that of a Tenant
/// that says it is bound. `None` where that is not known. A Tenant whose own record names the Database agrees with it.
fn is_contested(tenant: &Tenant, seen: &ObservedDatabase) -> Option<bool> {
    let agrees =
        tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == seen.database.metadata.uid);
    if agrees {
        return Some(false);
    }
    let record = seen.database.status.tenant_ref.as_ref();
    if record.is_some_and(|record| !record.uid.is_empty() && record.uid != tenant.metadata.uid) {
        return Some(true);
    }
    others(&seen.referrers, &tenant.metadata.uid).map(|others| !others.is_empty())
}

/// The Tenants but this one that say they are bound to a Database.
pub(super) fn others<'a>(referrers: &'a Listing<Referrer>, uid: &str) -> Option<Vec<&'a Referrer>> {
    match referrers {
        Listing::Complete(referrers) => {
            Some(referrers.iter().filter(|referrer| referrer.uid != uid).collect())
        }
        Listing::Unknown => None,
    }
}
