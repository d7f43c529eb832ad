//! The words in the status of the three PostgreSQL kinds: condition types and reasons.

use crate::api::words::closed_words;

closed_words! {
    /// The conditions of `PostgreSQLInstance`, `PostgreSQLDatabase` and `PostgreSQLTenant`.
    pub enum DatabaseCondition {
        /// Instance: True when the server was reached, identified, and grants the rights that are needed.
        /// Database: True when the database was verified and is free to be bound, or is bound and verified.
        /// Tenant: True when the credential was delivered and tried. False: the reason says what stands in the way.
        /// Unknown: it could not be found out.
        Ready,
    }
}

closed_words! {
    /// The reasons of an Instance's Ready: a closed list.
    pub enum InstanceReason {
        /// False: no connection to the server has confirmed anything yet.
        ServerNotObserved,
        /// True: the server was reached, identified, and grants the rights that are needed.
        Ready,
        /// False: the Instance is being deleted but is still in use; the message lists by what.
        DeletionBlocked,
        /// False: the stored spec breaks a rule that admission would refuse today. Nothing is done until it is mended.
        InvalidSpec,
    }
}

closed_words! {
    /// The reasons of a Database's Ready: a closed list.
    pub enum DatabaseReason {
        /// False: no connection to the server has confirmed the database yet.
        ServerNotObserved,
        /// True: the database was verified and is free to be bound by a tenant.
        Available,
        /// True: the database is bound to the tenant in `spec.tenantRef` and was verified.
        Bound,
        /// False: its tenant is going; the release is recorded but not complete.
        Releasing,
        /// False: the tenant is gone and the database was kept. It is not bound again until an administrator re-opens
        /// it; the message prints the command.
        Released,
        /// False: somebody else has the same database or role, or the binding was changed past the rules. A person has
        /// to decide; the message says what is sure and what is not.
        Conflict,
        /// False: the Database is being deleted, but what is on the server is not what the record says. Nothing is
        /// dropped.
        ConflictOnDelete,
        /// False: the Database is being deleted but is in use; the message says by what.
        DeletionBlocked,
        /// False: the Instance that `spec.instanceRef` names does not exist.
        InstanceNotFound,
        /// False: the Instance of that name is not the one that was observed before. Nothing is trusted until a person
        /// confirms.
        InstanceIdentityChanged,
        /// False: the stored spec breaks a rule that admission would refuse today. Nothing is done until it is mended.
        InvalidSpec,
    }
}

closed_words! {
    /// The reasons of a Tenant's Ready: a closed list.
    pub enum TenantReason {
        /// False: both sides have recorded the binding; provisioning and delivery are still to come.
        BindingComplete,
        /// False: the binding has begun and is not recorded on both sides yet.
        Binding,
        /// False: the Instance that the tenant asks for does not exist.
        InstanceNotFound,
        /// False: the Instance that the tenant asks for is being deleted.
        InstanceDeleting,
        /// False: the Database that the tenant asks for is bound to somebody else, or the records contradict each
        /// other.
        Conflict,
        /// False: the Database that the tenant asks for cannot be bound now: it does not exist, is not verified, or is
        /// not free.
        NotAvailable,
        /// False: the Database that the tenant is bound to is being deleted.
        DatabaseDeleting,
        /// False, for good: the Database that the tenant was bound to is gone. A new one of the same name is not
        /// adopted.
        DatabaseLost,
        /// False: the Instance behind the bound Database is not the one that was observed before.
        InstanceIdentityChanged,
        /// False: a quota, a policy or the webhook definitely refused the binding. The tenant can be edited again.
        AdmissionDenied,
        /// False: the binding could not be admitted for now, because something did not answer. It is tried again.
        AdmissionUnavailable,
        /// False: the stored spec breaks a rule that admission would refuse today. Nothing is done until it is mended.
        InvalidSpec,
        /// False: the tenant is being deleted; its delivery is removed and its database released first.
        Releasing,
    }
}
