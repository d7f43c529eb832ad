//! The observed world as plain data: what one pass has read. Nothing here was judged yet.
//!
//! A read that failed (403, 429, 5xx, a timeout) is a value of its own and never reads as "gone": only a successful read
//! says that an object is absent.

use super::claims::Claims;
use super::outcome::Tried;
use crate::api::names;
use crate::api::postgresql_database::PostgreSQLDatabaseStatus;
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::refs::{TenantIdentity, TenantRef};

/// The answer to the live read of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lookup<T> {
    /// The object exists.
    Found(T),
    /// The API server said 404.
    Absent,
    /// The read failed, or was not made: nothing follows from it.
    #[default]
    Unknown,
}

/// The answer to a live list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listing<T> {
    /// Every object that exists.
    Complete(Vec<T>),
    /// The list failed, or was not made: nothing follows from it.
    #[default]
    Unknown,
}

impl<T> Lookup<T> {
    /// The object, if it was found.
    pub const fn found(&self) -> Option<&T> {
        match self {
            Self::Found(object) => Some(object),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// The metadata that the protocol needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The namespace of a namespaced object.
    pub namespace: Option<String>,
    /// The name: it only locates.
    pub name: String,
    /// The UID: it alone identifies.
    pub uid: String,
    /// The version that a write is guarded with.
    pub resource_version: String,
    /// The generation of the spec; a deletion raises it.
    pub generation: i64,
    /// Whether it has a deletionTimestamp.
    pub is_deleting: bool,
    /// All finalizers, in their order.
    pub finalizers: Vec<String>,
}

impl Metadata {
    /// Whether the list has this finalizer.
    pub fn has_finalizer(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|present| present == finalizer)
    }
}

/// What a Tenant asks for, with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new database.
    Provision {
        /// The Instance by name.
        instance: String,
        /// The database's name on the server.
        database: String,
        /// The role's name on the server.
        login_role: String,
    },
    /// An existing Database by name.
    Existing {
        /// Its name.
        name: String,
    },
    /// The spec says neither; [`Tenant::fault`] says why.
    Invalid,
}

/// A Tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its metadata.
    pub metadata: Metadata,
    /// What it asks for.
    pub target: Target,
    /// What SHAPE refuses of it, as one text.
    pub fault: Option<String>,
    /// The stored status; one that cannot be read counts as empty.
    pub status: PostgreSQLTenantStatus,
}

/// A Database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Its metadata.
    pub metadata: Metadata,
    /// `spec.instanceRef.name`.
    pub instance: String,
    /// `spec.database`.
    pub database: String,
    /// `spec.loginRole`.
    pub login_role: String,
    /// `spec.source`.
    pub source: String,
    /// `spec.reclaimPolicy`; every word but Delete keeps the database.
    pub reclaim_policy: String,
    /// `spec.tenantRef`; a part that is missing is empty.
    pub tenant_ref: Option<TenantRef>,
    /// What SHAPE refuses of it, as one text.
    pub fault: Option<String>,
    /// The stored status; one that cannot be read counts as empty.
    pub status: PostgreSQLDatabaseStatus,
}

/// An Instance. Binding needs no server, so its own Ready plays no part for the other kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its metadata.
    pub metadata: Metadata,
    /// What SHAPE refuses of it, as one text.
    pub fault: Option<String>,
    /// What must be remembered about its connection though it is allowed, as one text.
    pub note: Option<String>,
    /// The stored status; one that cannot be read counts as empty.
    pub status: PostgreSQLInstanceStatus,
}

/// A live Tenant whose `status.databaseRef` has the UID of a Database. It may be forged, so it only ever blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// The Tenant's namespace.
    pub namespace: String,
    /// The Tenant's name.
    pub name: String,
    /// The Tenant's UID.
    pub uid: String,
}

/// A Database together with the Tenants that say they are bound to it: found by an index, then confirmed one by one by
/// a live read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedDatabase {
    /// The Database.
    pub database: Database,
    /// The Tenants, deleting ones too.
    pub referrers: Listing<Referrer>,
}

/// What is known of a database on its server: the border to the data plane. The status of an object is no proof, so this
/// is what a process has seen itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Observation {
    /// Nothing looks at servers.
    #[default]
    NotObserved,
    /// Something does, but has not come to this object since the process began: what is stored stays.
    NotYet,
    /// It was verified.
    Verified {
        /// The generation of the Database that was verified.
        generation: i64,
        /// The Instance that it was verified on.
        instance_uid: String,
    },
    /// It was looked at and is not as it should be; the text may come from a server.
    Failed {
        /// Why, for a person.
        message: String,
    },
}

/// What is known of an Instance's server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InstanceObservation {
    /// Nothing looks at servers.
    #[default]
    NotObserved,
    /// Something does, but has not come to this object since the process began: what is stored stays.
    NotYet,
    /// The server was reached, identified, and grants what is needed.
    Ready {
        /// The generation of the Instance that this is about.
        generation: i64,
        /// The server's version as it reports it.
        version: String,
        /// The identity of the server's data.
        system_identifier: String,
    },
    /// It cannot be used; the text may come from a server.
    Failed {
        /// Why, for a person.
        message: String,
    },
}

/// The state of a Tenant's namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Namespace {
    /// In use.
    Active,
    /// Being deleted: nothing is begun in it.
    Terminating,
    /// Not known.
    #[default]
    Unknown,
}

/// An object that was delivered to a Tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredObject {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name, in the Tenant's namespace.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its version.
    pub resource_version: String,
}

/// What one pass over a Tenant has read, in this order: the Tenant, the list, the Databases by name, all the rest. The
/// order matters: what was read later is newer, and binding is completed only on a Database read after its Tenant.
#[derive(Clone, Debug, Default)]
pub struct TenantWorld {
    /// The Tenant, live.
    pub tenant: Lookup<Tenant>,
    /// Every Database whose `spec.tenantRef.uid` is the Tenant's UID, by a live list with that field selector.
    pub carrying: Listing<ObservedDatabase>,
    /// The Database of [`Tenant::named_database`], live.
    pub named: Lookup<ObservedDatabase>,
    /// The Database of [`Tenant::recorded_database`], live; the same answer as `named` where the names are the same.
    pub recorded: Lookup<ObservedDatabase>,
    /// The Instance of [`TenantWorld::instance_name`], live.
    pub instance: Lookup<Instance>,
    /// The claims of [`TenantWorld::claim_names`], live.
    pub claims: Claims,
    /// The Tenant's namespace.
    pub namespace: Namespace,
    /// What is known of `named` on its server.
    pub observation: Observation,
    /// What was delivered to the Tenant; only needed while it is being deleted.
    pub delivered: Listing<DeliveredObject>,
    /// What became of the step that this very pass has tried, if it was not done.
    pub tried: Option<Tried>,
}

/// What one pass over a Database has read, in this order: the Database, its Tenant, all the rest. A Tenant that is found
/// alive was so after the Database was read.
#[derive(Clone, Debug, Default)]
pub struct DatabaseWorld {
    /// The Database, live, and the Tenants that say they are bound to it.
    pub database: Lookup<ObservedDatabase>,
    /// The Tenant at the namespace and name of [`Database::tenant_on_record`], live.
    pub tenant: Lookup<Tenant>,
    /// The names of the other Databases with the same `spec.tenantRef.uid`, by a live list; only needed with one.
    pub siblings: Listing<String>,
    /// The Instance of `spec.instanceRef`, live.
    pub instance: Lookup<Instance>,
    /// The claims of [`DatabaseWorld::claim_names`], live.
    pub claims: Claims,
    /// The names of all claim Leases whose holder is this Database. A store will do: it is a net for lost status.
    pub owned_claims: Listing<String>,
    /// What is known of the database on its server.
    pub observation: Observation,
}

/// A Tenant that names an Instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferringTenant {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether `status.databaseRef` is set: then its Database refers to the Instance for it.
    pub is_bound: bool,
    /// Whether it is being deleted.
    pub is_deleting: bool,
}

/// What one pass over an Instance has read.
#[derive(Clone, Debug, Default)]
pub struct InstanceWorld {
    /// The Instance, live.
    pub instance: Lookup<Instance>,
    /// The names of all Databases whose `spec.instanceRef.name` is the Instance's, by a live list; only needed while it
    /// is being deleted.
    pub databases: Listing<String>,
    /// All Tenants whose `spec.provision.instanceRef.name` is the Instance's, by a live list; only needed while it is
    /// being deleted.
    pub tenants: Listing<ReferringTenant>,
    /// What is known of the server.
    pub observation: InstanceObservation,
}

impl Tenant {
    /// The Database to look for: the one that the spec names, or the one that is made for this UID.
    pub fn named_database(&self) -> Option<String> {
        match &self.target {
            Target::Provision { .. } => Some(tenant_database(&self.metadata.uid)),
            Target::Existing { name } => Some(name.clone()),
            Target::Invalid => None,
        }
    }

    /// The Database that the status has on record, by name.
    pub fn recorded_database(&self) -> Option<&str> {
        let record = self.status.database_ref.as_ref().filter(|record| !record.uid.is_empty())?;
        Some(&record.name)
    }

    /// The Tenant's full identity.
    pub fn identity(&self) -> TenantRef {
        TenantRef {
            namespace: self.metadata.namespace.clone().unwrap_or_default(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
        }
    }
}

impl Database {
    /// The Tenant to look for: the bound one, else the released one, else the one on record.
    pub fn tenant_on_record(&self) -> Option<TenantIdentity> {
        let bound = self.tenant_ref.as_ref().map(TenantIdentity::from);
        let released = || self.status.release.as_ref().and_then(|release| release.tenant_ref.clone());
        bound.or_else(released).or_else(|| self.status.tenant_ref.clone())
    }

    /// Whether this is the Database that is made for the Tenant with this UID.
    pub fn is_made_for(&self, tenant_uid: &str) -> bool {
        self.metadata.name == tenant_database(tenant_uid)
    }
}

/// The name of the Database that is made for a Tenant.
pub fn tenant_database(tenant_uid: &str) -> String {
    format!("{}{tenant_uid}", names::TENANT_DATABASE_PREFIX)
}
