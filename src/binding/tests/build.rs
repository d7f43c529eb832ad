//! Objects and worlds for tests, each with as little as it needs.

use jiff::Timestamp;

use crate::api::conditions::{Condition, ConditionStatus};
use crate::api::names;
use crate::api::postgresql_database::{Attempt, PostgreSQLDatabaseStatus, Release};
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::refs::{DatabaseIdentity, TenantIdentity, TenantRef};
use crate::binding::{
    Claim, ClaimNames, Claims, Database, Instance, Listing, Lookup, Metadata, Namespace, Observation,
    ObservedDatabase, Operation, Outcome, Referrer, Status, Step, StepName, Target, Tenant, TenantWorld,
    Tried, Write, plan_tenant, tenant_database,
};

pub(super) fn now() -> Timestamp {
    "2026-10-10T08:30:00Z".parse().unwrap()
}

pub(super) fn metadata(namespace: Option<&str>, name: &str, uid: &str) -> Metadata {
    Metadata {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
        uid: uid.to_owned(),
        resource_version: "7".to_owned(),
        generation: 1,
        is_deleting: false,
        finalizers: Vec::new(),
    }
}

pub(super) fn instance() -> Instance {
    Instance {
        metadata: metadata(None, "main", "i1"),
        fault: None,
        note: None,
        status: PostgreSQLInstanceStatus::default(),
    }
}

/// A Tenant `team/orders` with UID t1 that asks for a new database `orders`.
pub(super) fn tenant() -> Tenant {
    Tenant {
        metadata: metadata(Some("team"), "orders", "t1"),
        target: Target::Provision {
            instance: "main".to_owned(),
            database: "orders".to_owned(),
            login_role: "orders".to_owned(),
        },
        fault: None,
        status: PostgreSQLTenantStatus::default(),
    }
}

/// A Tenant `team/orders` with UID t1 that asks for the Database `legacy`.
pub(super) fn tenant_for_legacy() -> Tenant {
    Tenant { target: Target::Existing { name: "legacy".to_owned() }, ..tenant() }
}

pub(super) fn condition(reason: &str, status: ConditionStatus) -> Condition {
    Condition {
        type_: "Ready".to_owned(),
        status,
        observed_generation: Some(1),
        last_transition_time: "2026-01-01T00:00:00Z".to_owned(),
        reason: reason.to_owned(),
        message: "m".to_owned(),
    }
}

pub(super) trait TenantExt {
    fn protected(self) -> Self;
    fn deleting(self) -> Self;
    fn phase(self, phase: &str, reason: &str) -> Self;
    fn binding(self) -> Self;
    fn bound_to(self, name: &str, uid: &str) -> Self;
}

impl TenantExt for Tenant {
    fn protected(mut self) -> Self {
        self.metadata.finalizers.push(names::TENANT_FINALIZER.to_owned());
        self
    }

    fn deleting(mut self) -> Self {
        self.metadata.is_deleting = true;
        self
    }

    fn phase(mut self, phase: &str, reason: &str) -> Self {
        self.status.phase = Some(phase.to_owned());
        self.status.conditions = vec![condition(reason, ConditionStatus::False)];
        self
    }

    /// W0 and W1 are done.
    fn binding(self) -> Self {
        let mut tenant = self.protected().phase("Binding", "Binding");
        tenant.status.database = Some("orders".to_owned());
        tenant.status.login_role = Some("orders".to_owned());
        tenant
    }

    /// W4 is done.
    fn bound_to(self, name: &str, uid: &str) -> Self {
        let mut tenant = self.binding().phase("Bound", "BindingComplete");
        tenant.status.database_ref = Some(DatabaseIdentity { name: name.to_owned(), uid: uid.to_owned() });
        tenant
    }
}

pub(super) fn tenant_ref(uid: &str) -> TenantRef {
    TenantRef { namespace: "team".to_owned(), name: "orders".to_owned(), uid: uid.to_owned() }
}

/// The Database that is made for the Tenant t1, as W2' leaves it; its UID is d1.
pub(super) fn made() -> Database {
    Database {
        metadata: Metadata {
            finalizers: vec![names::DATABASE_FINALIZER.to_owned()],
            ..metadata(None, &tenant_database("t1"), "d1")
        },
        instance: "main".to_owned(),
        database: "orders".to_owned(),
        login_role: "orders".to_owned(),
        source: "Provision".to_owned(),
        reclaim_policy: "Retain".to_owned(),
        tenant_ref: Some(tenant_ref("t1")),
        fault: None,
        status: PostgreSQLDatabaseStatus::default(),
    }
}

/// An imported Database `legacy` with UID d9 that nobody has looked at.
pub(super) fn legacy() -> Database {
    Database {
        metadata: metadata(None, "legacy", "d9"),
        source: "Import".to_owned(),
        tenant_ref: None,
        ..made()
    }
}

/// `legacy`, verified and free.
pub(super) fn available() -> Database {
    let mut database = legacy();
    database.metadata.finalizers.push(names::DATABASE_FINALIZER.to_owned());
    database.status.phase = Some("Available".to_owned());
    database.status.observed_generation = Some(1);
    database.status.instance_uid = Some("i1".to_owned());
    database.status.conditions = vec![condition("Available", ConditionStatus::True)];
    database
}

pub(super) trait DatabaseExt {
    fn deleting(self) -> Self;
    fn carrying(self, uid: &str) -> Self;
    fn on_record(self, uid: &str) -> Self;
    fn phase(self, phase: &str, reason: &str) -> Self;
    fn released(self, policy: &str, completed: bool) -> Self;
    fn attempted(self) -> Self;
    fn seen(self) -> ObservedDatabase;
    fn seen_with(self, referrers: &[&str]) -> ObservedDatabase;
}

impl DatabaseExt for Database {
    fn deleting(mut self) -> Self {
        self.metadata.is_deleting = true;
        self
    }

    fn carrying(mut self, uid: &str) -> Self {
        self.tenant_ref = Some(tenant_ref(uid));
        self
    }

    /// W3 is done.
    fn on_record(mut self, uid: &str) -> Self {
        self.status.tenant_ref = Some(TenantIdentity::from(&tenant_ref(uid)));
        self.status.tenant = Some("team/orders".to_owned());
        self.status.instance_uid = Some("i1".to_owned());
        self.phase("Bound", "ServerNotObserved")
    }

    fn phase(mut self, phase: &str, reason: &str) -> Self {
        self.status.phase = Some(phase.to_owned());
        self.status.observed_generation = Some(1);
        self.status.conditions = vec![condition(reason, ConditionStatus::False)];
        self
    }

    /// X3 is done for the Tenant t1.
    fn released(mut self, policy: &str, completed: bool) -> Self {
        self.status.release = Some(Release {
            policy: Some(policy.to_owned()),
            tenant_ref: Some(TenantIdentity::from(&tenant_ref("t1"))),
            released_at: Some("2026-01-01T00:00:00Z".to_owned()),
            completed: Some(completed),
        });
        self.on_record("t1").phase("Releasing", "Releasing")
    }

    fn attempted(mut self) -> Self {
        self.status.attempt = Some(Attempt { started_at: Some("2026-01-01T00:00:00Z".to_owned()) });
        self
    }

    fn seen(self) -> ObservedDatabase {
        self.seen_with(&[])
    }

    fn seen_with(self, referrers: &[&str]) -> ObservedDatabase {
        let referrers = referrers.iter().map(|uid| Referrer {
            namespace: "other".to_owned(),
            name: format!("tenant{uid}"),
            uid: (*uid).to_owned(),
        });
        ObservedDatabase { database: self, referrers: Listing::Complete(referrers.collect()) }
    }
}

/// A claim on `orders` of the Instance i1.
pub(super) fn claim(name: &str, holder: &str, at_its_name: Lookup<String>) -> Lookup<Claim> {
    Lookup::Found(Claim {
        name: name.to_owned(),
        uid: format!("lease-{name}"),
        resource_version: "3".to_owned(),
        holder: holder.to_owned(),
        holder_lookup: Some(at_its_name),
    })
}

pub(super) fn claim_names() -> ClaimNames {
    ClaimNames::of("i1", "orders", "orders")
}

/// Both claims, held by this UID.
pub(super) fn held_by(uid: &str) -> Claims {
    let names = claim_names();
    let lookup = || Lookup::Found(uid.to_owned());
    Claims { database: claim(&names.database, uid, lookup()), role: claim(&names.role, uid, lookup()) }
}

pub(super) fn free() -> Claims {
    Claims { database: Lookup::Absent, role: Lookup::Absent }
}

/// The world of one Tenant; the Databases are found by name and by UID as a pass would.
pub(super) fn world(tenant: Tenant, databases: Vec<ObservedDatabase>) -> TenantWorld {
    let at = |name: Option<&str>| {
        let found = databases.iter().find(|seen| Some(seen.database.metadata.name.as_str()) == name);
        found.cloned().map_or(Lookup::Absent, Lookup::Found)
    };
    let uid = &tenant.metadata.uid;
    let carries = |seen: &&ObservedDatabase| {
        seen.database.tenant_ref.as_ref().is_some_and(|reference| reference.uid == *uid)
    };
    TenantWorld {
        named: at(tenant.named_database().as_deref()),
        recorded: at(tenant.recorded_database()),
        carrying: Listing::Complete(databases.iter().filter(carries).cloned().collect()),
        tenant: Lookup::Found(tenant),
        instance: Lookup::Found(instance()),
        claims: free(),
        namespace: Namespace::Active,
        observation: Observation::NotObserved,
        delivered: Listing::Complete(Vec::new()),
        tried: None,
    }
}

/// What a process that has verified `legacy` knows.
pub(super) fn verified() -> Observation {
    Observation::Verified { generation: 1, instance_uid: "i1".to_owned() }
}

pub(super) fn tried(step: StepName, outcome: Outcome) -> Tried {
    Tried { step, outcome }
}

pub(super) fn write(step: &Step) -> &Write {
    step.as_write().unwrap_or_else(|| panic!("no write: {step:?}"))
}

/// The step in a few words: `Idle`, `Wait`, `TakeClaim`, `dry CreateDatabase`, or for a status its phase and reason,
/// `BackToPending Pending/Conflict`.
pub(super) fn shown(step: &Step) -> String {
    let Some(write) = step.as_write() else { return format!("{step:?}") };
    let dry = if write.is_dry_run { "dry " } else { "" };
    let status = match &write.operation {
        Operation::ReplaceStatus { status, .. } => match status {
            Status::Tenant(status) => Some((&status.phase, &status.conditions)),
            Status::Database(status) => Some((&status.phase, &status.conditions)),
            Status::Instance(status) => Some((&status.phase, &status.conditions)),
        },
        _ => None,
    };
    let status = status.map(|(phase, conditions)| {
        format!(" {}/{}", phase.as_deref().unwrap_or_default(), conditions[0].reason)
    });
    format!("{dry}{}{}", write.name, status.unwrap_or_default())
}

/// The message of the condition that the step writes.
pub(super) fn message(step: &Step) -> String {
    match &write(step).operation {
        Operation::ReplaceStatus { status, .. } => match status {
            Status::Tenant(status) => status.conditions[0].message.clone(),
            Status::Database(status) => status.conditions[0].message.clone(),
            Status::Instance(status) => status.conditions[0].message.clone(),
        },
        other => panic!("no status: {other:?}"),
    }
}

pub(super) fn tenant_step(world: &TenantWorld) -> String {
    shown(&plan_tenant(world, now()))
}
