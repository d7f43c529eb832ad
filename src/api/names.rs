//! Every name that other tools, people and later versions rely on: groups, finalizers, labels, annotations, Leases.
//!
//! Only constants live here. A name once released is never changed.

/// API group of `SecretContract`.
pub const SECRETS_GROUP: &str = "secrets.codepop.tech";
/// API group of the three PostgreSQL kinds.
pub const DATABASE_GROUP: &str = "database.ayatori.ddupan.top";
/// The version that all four kinds are served and stored in.
pub const VERSION: &str = "v1alpha1";

/// Field manager of everything that Covenant writes, and the name of the controller's election Lease.
pub const CONTROLLER: &str = "covenant-controller";
/// Name of the webhook's Deployment, Service and service account.
pub const WEBHOOK: &str = "covenant-webhook";
/// Namespace that Covenant is installed in unless a flag says otherwise.
pub const NAMESPACE: &str = "covenant-system";

/// Finalizer on a `PostgreSQLTenant`: its delivery is removed and its database released before it goes.
pub const TENANT_FINALIZER: &str = "database.ayatori.ddupan.top/tenant-release";
/// Finalizer on a `PostgreSQLDatabase`: a database in use is not forgotten, and Delete is carried out.
pub const DATABASE_FINALIZER: &str = "database.ayatori.ddupan.top/database-protection";
/// Finalizer on a `PostgreSQLInstance`: it stays while a database or an unbound tenant refers to it.
pub const INSTANCE_FINALIZER: &str = "database.ayatori.ddupan.top/instance-protection";

/// Lease that elects the controller's leader.
pub const ELECTION_LEASE: &str = CONTROLLER;
/// Start of the name of a Lease that claims a physical database or role. The first 40 hexadecimal digits of the
/// SHA-256 of `v1\0<database|role>\0<Instance UID>\0<name>` follow.
pub const CLAIM_LEASE_PREFIX: &str = "covenant-claim-";
/// Label on a claim Lease: [`CLAIM_DATABASE`] or [`CLAIM_ROLE`].
pub const CLAIM_LABEL: &str = "database.ayatori.ddupan.top/claim";
/// Value of [`CLAIM_LABEL`] on the claim of a database.
pub const CLAIM_DATABASE: &str = "database";
/// Value of [`CLAIM_LABEL`] on the claim of a role.
pub const CLAIM_ROLE: &str = "role";
/// Annotation on a claim Lease: the name of the `PostgreSQLDatabase` that holds it. A name only locates; the holder is
/// identified by the UID in `holderIdentity`.
pub const DATABASE_NAME_ANNOTATION: &str = "database.ayatori.ddupan.top/database-name";

/// Label on every object that Covenant creates.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY_LABEL`].
pub const MANAGED_BY: &str = "covenant";
/// Label on a database made for a tenant, and on what is delivered to it: the tenant's UID.
pub const TENANT_UID_LABEL: &str = "database.ayatori.ddupan.top/tenant-uid";
/// Label on what is delivered to a tenant: the UID of its `PostgreSQLDatabase`.
pub const DATABASE_UID_LABEL: &str = "database.ayatori.ddupan.top/database-uid";

/// Start of the name of a `PostgreSQLDatabase` that is made for a tenant; the tenant's UID follows.
pub const TENANT_DATABASE_PREFIX: &str = "tenant-";
/// End of the name of the `ExternalSecret` delivered to a tenant: `<instance>-<tenant>-postgresql`.
pub const DELIVERY_SUFFIX: &str = "postgresql";

/// Annotation on a Secret that says when its content was last rotated, where a contract names no other.
pub const ROTATED_AT_ANNOTATION: &str = "secrets.codepop.tech/rotated-at";

/// Virtual verb on `postgresqldatabases`: may write `spec.tenantRef` where there is none.
pub const BIND_VERB: &str = "bind";
/// Virtual verb on `postgresqldatabases`: may remove `spec.tenantRef` from a released database.
pub const REOPEN_VERB: &str = "reopen";
