//! What a pass is to do: one step, with everything that its executor needs. The executor decides nothing.

use std::fmt;

use serde_json::Value;

use super::observed::{DeliveredObject, Metadata};
use crate::api::Kind;
use crate::api::postgresql_database::PostgreSQLDatabaseStatus;
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::refs::TenantRef;

/// The one step of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Everything is as it should be, until something changes.
    Idle,
    /// Something could not be found out, or was refused: nothing is written, and the pass comes back after a back-off.
    Wait,
    /// This is to be written; then the pass comes back.
    Write(Box<Write>),
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Which step of the protocol it is: the label of metrics and the name of failure points.
    pub name: StepName,
    /// The request.
    pub operation: Operation,
    /// The request is sent as a dry run: it shows whether admission lets it through, and stores nothing.
    pub is_dry_run: bool,
    /// The Event to record once the write was done, about the object that is written.
    pub event: Option<Event>,
}

/// The steps of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepName {
    /// W0: our finalizer on a Tenant.
    AddTenantFinalizer,
    /// W1: a Tenant's phase Binding, with the names that are fixed from then on.
    BeginBinding,
    /// W2: an existing Database gets its tenantRef and our finalizer.
    BindDatabase,
    /// W2': a Database is made for a Tenant, bound from its first moment.
    CreateDatabase,
    /// Our finalizer on a Database.
    AddDatabaseFinalizer,
    /// A claim Lease is created.
    TakeClaim,
    /// A claim Lease whose holder is gone is deleted.
    DropStaleClaim,
    /// W3: a Database's status says to whom it is bound.
    RecordBinding,
    /// W4: a Tenant's status says which Database it has.
    CompleteBinding,
    /// A Tenant that began to bind and cannot go on can be edited again.
    BackToPending,
    /// X2: a delivered object is removed.
    RemoveDelivery,
    /// X3: a Database's status records the release, before the Tenant may go.
    RecordRelease,
    /// X4: our finalizer off a Tenant.
    RemoveTenantFinalizer,
    /// X5: a Database is deleted, as its policy says or because nothing was ever made for it.
    DeleteDatabase,
    /// A re-opened Database's record of release is archived.
    ArchiveRelease,
    /// Our finalizer off a Database.
    RemoveDatabaseFinalizer,
    /// Our finalizer on an Instance.
    AddInstanceFinalizer,
    /// Our finalizer off an Instance.
    RemoveInstanceFinalizer,
    /// A status says what is the case.
    ReportStatus,
}

impl StepName {
    /// The word, as metrics and logs have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AddTenantFinalizer => "AddTenantFinalizer",
            Self::BeginBinding => "BeginBinding",
            Self::BindDatabase => "BindDatabase",
            Self::CreateDatabase => "CreateDatabase",
            Self::AddDatabaseFinalizer => "AddDatabaseFinalizer",
            Self::TakeClaim => "TakeClaim",
            Self::DropStaleClaim => "DropStaleClaim",
            Self::RecordBinding => "RecordBinding",
            Self::CompleteBinding => "CompleteBinding",
            Self::BackToPending => "BackToPending",
            Self::RemoveDelivery => "RemoveDelivery",
            Self::RecordRelease => "RecordRelease",
            Self::RemoveTenantFinalizer => "RemoveTenantFinalizer",
            Self::DeleteDatabase => "DeleteDatabase",
            Self::ArchiveRelease => "ArchiveRelease",
            Self::RemoveDatabaseFinalizer => "RemoveDatabaseFinalizer",
            Self::AddInstanceFinalizer => "AddInstanceFinalizer",
            Self::RemoveInstanceFinalizer => "RemoveInstanceFinalizer",
            Self::ReportStatus => "ReportStatus",
        }
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Exactly this version of exactly this object: both UID and resourceVersion go along with the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectVersion {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace, if it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
}

impl ObjectVersion {
    /// The version that was read.
    pub fn of(kind: Kind, metadata: &Metadata) -> Self {
        Self {
            kind,
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        }
    }
}

/// A request to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// PUT of the object as it was read in this pass, with this list of finalizers.
    ReplaceFinalizers {
        /// The object.
        object: ObjectVersion,
        /// The whole new list.
        finalizers: Vec<String>,
    },
    /// PUT of the Database as it was read in this pass, with `spec.tenantRef` and this list of finalizers, in one
    /// request.
    Bind {
        /// The Database.
        object: ObjectVersion,
        /// The new `spec.tenantRef`; there was none.
        tenant_ref: TenantRef,
        /// The whole new list.
        finalizers: Vec<String>,
    },
    /// POST of a Database.
    CreateDatabase {
        /// The whole object.
        body: Value,
    },
    /// PUT on the status subresource.
    ReplaceStatus {
        /// The object.
        object: ObjectVersion,
        /// The whole new status.
        status: Status,
    },
    /// DELETE of a Database with both preconditions. Every refusal is tried again.
    DeleteDatabase {
        /// The Database.
        object: ObjectVersion,
    },
    /// POST of a claim Lease in the controller's namespace.
    CreateLease {
        /// The whole object but for its namespace.
        body: Value,
    },
    /// DELETE of a claim Lease in the controller's namespace with both preconditions.
    DeleteLease {
        /// Its name.
        name: String,
        /// Its UID.
        uid: String,
        /// Its resourceVersion.
        resource_version: String,
    },
    /// DELETE of a delivered object with both preconditions.
    DeleteDelivered {
        /// The Tenant's namespace.
        namespace: String,
        /// The object.
        object: DeliveredObject,
    },
}

/// A whole status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// A Tenant's.
    Tenant(Box<PostgreSQLTenantStatus>),
    /// A Database's.
    Database(Box<PostgreSQLDatabaseStatus>),
    /// An Instance's.
    Instance(Box<PostgreSQLInstanceStatus>),
}

/// An Event to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its reason.
    pub reason: EventReason,
    /// Whether its type is Warning; else Normal.
    pub is_warning: bool,
    /// What a person should know.
    pub message: String,
}

/// The reasons of Events: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventReason {
    /// A binding is recorded on both sides.
    Bound,
    /// Somebody has to decide.
    Conflict,
    /// A Database is free of its Tenant and kept.
    Released,
    /// A Database was given back for use by an administrator.
    Reopened,
    /// The Database of a bound Tenant is gone.
    DatabaseLost,
    /// An object is to be deleted but is in use.
    DeletionBlocked,
    /// A Database object went and what it stood for was kept.
    DatabaseRetained,
}

impl EventReason {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bound => "Bound",
            Self::Conflict => "Conflict",
            Self::Released => "Released",
            Self::Reopened => "Reopened",
            Self::DatabaseLost => "DatabaseLost",
            Self::DeletionBlocked => "DeletionBlocked",
            Self::DatabaseRetained => "DatabaseRetained",
        }
    }
}

impl Step {
    pub(super) fn write(name: StepName, operation: Operation) -> Self {
        Self::Write(Box::new(Write { name, operation, is_dry_run: false, event: None }))
    }

    /// The same write as a dry run.
    pub(super) fn into_dry_run(mut self) -> Self {
        if let Self::Write(write) = &mut self {
            write.is_dry_run = true;
        }
        self
    }

    /// The same write, with an Event once it was done.
    pub(super) fn with_event(mut self, reason: EventReason, is_warning: bool, message: String) -> Self {
        if let Self::Write(write) = &mut self {
            write.event = Some(Event { reason, is_warning, message });
        }
        self
    }

    /// The write, if this is one.
    pub fn as_write(&self) -> Option<&Write> {
        match self {
            Self::Write(write) => Some(write),
            Self::Idle | Self::Wait => None,
        }
    }
}

/// Our finalizer put at the end of the list.
pub(super) fn add_finalizer(name: StepName, kind: Kind, metadata: &Metadata, finalizer: &str) -> Step {
    let mut finalizers = metadata.finalizers.clone();
    finalizers.push(finalizer.to_owned());
    Step::write(name, Operation::ReplaceFinalizers { object: ObjectVersion::of(kind, metadata), finalizers })
}

/// Our finalizer taken out of the list, and no other.
pub(super) fn remove_finalizer(name: StepName, kind: Kind, metadata: &Metadata, finalizer: &str) -> Step {
    let finalizers = metadata.finalizers.iter().filter(|present| *present != finalizer).cloned().collect();
    Step::write(name, Operation::ReplaceFinalizers { object: ObjectVersion::of(kind, metadata), finalizers })
}
