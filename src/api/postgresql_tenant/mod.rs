//! `PostgreSQLTenant`: a team's claim for a database, delivered as a Secret in its namespace.

#![allow(unreachable_pub, reason = "the schema derive makes a public copy of each type inside a function")]

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveTenant;

use super::cel;
use super::cel::tenant as rules;
use super::conditions::Condition;
use super::refs::{DatabaseIdentity, DatabaseRef, InstanceRef};

/// Which database the team asks for and how it is delivered.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "database.ayatori.ddupan.top",
    version = "v1alpha1",
    kind = "PostgreSQLTenant",
    plural = "postgresqltenants",
    singular = "postgresqltenant",
    shortname = "pgt",
    category = "covenant-databases",
    namespaced,
    status = "PostgreSQLTenantStatus",
    selectable = ".spec.databaseRef.name",
    selectable = ".spec.provision.instanceRef.name",
    doc = "A team's claim for a PostgreSQL database, either a new one on a PostgreSQLInstance or an existing \
           PostgreSQLDatabase. Once bound, its credential is delivered as a Secret in the claim's namespace. \
           Deleting the claim gives the database back; whether it is kept is decided by the platform.",
    validation = rules::default_database_fits(),
    validation = rules::default_login_role_fits(),
    validation = rules::delivery_name_fits(),
    validation = rules::provision_is_frozen(),
    validation = rules::database_ref_is_frozen(),
    validation = rules::secret_name_is_frozen(),
    validation = rules::installed_extensions_stay(),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Database", type_ = "string", json_path = ".status.database"),
    printcolumn(name = "Secret", type_ = "string", json_path = ".status.secretName"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason",
        priority = 1
    )
)]
#[x_kube(validation = rules::not_both_sources(), validation = rules::one_source())]
pub struct PostgreSQLTenantSpec {
    /// Asks for a new database. Exactly one of provision and databaseRef must be set; fixed once binding has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provision: Option<Provision>,
    /// Asks for an existing PostgreSQLDatabase that is Available; the Instance is that of the Database. Exactly one of
    /// provision and databaseRef must be set; fixed once binding has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_ref: Option<DatabaseRef>,
    /// The extensions to install in the database, as PostgreSQL names them; at most 64, each once. Omitted: none. More
    /// may be added at any time; one that was installed cannot be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 63)),
        extend("x-kubernetes-list-type" = "set"),
        transform = rules::extensions_are_names
    )]
    pub extensions: Vec<String>,
    /// Name of the Secret to deliver in the Tenant's namespace; a DNS subdomain of at most 253 characters, unique among
    /// the Tenants of the namespace. Omitted: `<instance>-<tenant>-postgresql`. Fixed once binding has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::dns_subdomain("Secret"))]
    pub secret_name: Option<String>,
}

/// A database to be made for the Tenant.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provision {
    /// The Instance to make the database on. Required. Its name and the Tenant's may have 241 characters together.
    pub instance_ref: InstanceRef,
    /// Name of the database on the server; a lower-case letter, then up to 62 lower-case letters, digits and `_`; not one
    /// of the server's own databases. Omitted: the Tenant's name, which must then fit; nothing is replaced in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = cel::identifier(), validation = cel::database_not_reserved())]
    pub database: Option<String>,
    /// Name on the server of the role that owns the database and logs in to it; a lower-case letter, then up to 62
    /// lower-case letters, digits and `_`; not reserved by PostgreSQL. Omitted: the Tenant's name, which must then fit;
    /// nothing is replaced in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = cel::identifier(), validation = cel::role_not_reserved())]
    pub login_role: Option<String>,
}

/// What is known of the binding and of the delivery, written by Covenant alone.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLTenantStatus {
    /// The generation of the Tenant that the rest of the status is about. A deletion raises the Tenant's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// How far things are: Pending, Binding, Bound, Provisioning, Ready, Releasing or Lost. From Binding on the target
    /// is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub phase: Option<String>,
    /// Name of the database on the server, as it was fixed when binding began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub database: Option<String>,
    /// Name of the login role on the server, as it was fixed when binding began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub login_role: Option<String>,
    /// The PostgreSQLDatabase that the Tenant is bound to, written once that Database has recorded the Tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_ref: Option<DatabaseIdentity>,
    /// Name of the delivered Secret in the Tenant's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub secret_name: Option<String>,
    /// Where the credential is kept in the credential store. It carries no password and no token.
    #[serde(rename = "credentialURL", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub credential_url: Option<String>,
    /// The extensions that were installed for the Tenant; at most 256, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 63)), extend("x-kubernetes-list-type" = "set"))]
    pub installed_extensions: Vec<String>,
    /// Ready says whether the credential was delivered and tried.
    #[schemars(
        length(max = 16),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<Condition>,
}
