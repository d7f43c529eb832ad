//! The phases of the database kinds: words for a person's eye. A phase grants nothing and proves nothing.
//!
//! In `status` a phase is a plain string, so that an object of a later version still parses.

use super::words::closed_words;

closed_words! {
    /// The phases of a `PostgreSQLInstance`.
    pub enum InstancePhase {
        /// Nothing was tried yet.
        Pending,
        /// The connection, the server's identity and the rights are being checked.
        Validating,
        /// The server can be used.
        Ready,
        /// The Instance is being deleted and waits until nothing refers to it.
        Deleting,
    }
}

closed_words! {
    /// The phases of a `PostgreSQLDatabase`.
    pub enum DatabasePhase {
        /// Nothing was tried yet.
        Pending,
        /// The database is being made or checked.
        Validating,
        /// The database was verified and is free to be bound.
        Available,
        /// The database belongs to the Tenant in `spec.tenantRef`.
        Bound,
        /// The Tenant is going and the release is recorded.
        Releasing,
        /// The Tenant is gone and the database was kept; an administrator may re-open it.
        Released,
        /// The Database is being deleted.
        Deleting,
    }
}

closed_words! {
    /// The phases of a `PostgreSQLTenant`.
    pub enum TenantPhase {
        /// Nothing is fixed yet: the spec can still be edited.
        Pending,
        /// Binding has begun: the target is fixed as it was written.
        Binding,
        /// Tenant and Database have recorded each other.
        Bound,
        /// The database is being made and its credential delivered.
        Provisioning,
        /// The credential was delivered and tried.
        Ready,
        /// The Tenant is being deleted and gives its database back first.
        Releasing,
        /// The bound Database is gone, for good.
        Lost,
    }
}
