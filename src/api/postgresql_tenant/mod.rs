//! `PostgreSQLTenant`: a team's claim for a database, delivered as a Secret in its namespace.

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveTenant;

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
    selectable = ".spec.provision.instanceRef.name"
)]
pub struct PostgreSQLTenantSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provision: Option<Provision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_ref: Option<DatabaseRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
}

/// A database to be made for the tenant.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provision {
    pub instance_ref: InstanceRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_role: Option<String>,
}

/// What is known of the binding and of the delivery.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLTenantStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login_role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_ref: Option<DatabaseIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    #[serde(rename = "credentialURL", skip_serializing_if = "Option::is_none")]
    pub credential_url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub installed_extensions: Vec<String>,
    pub conditions: Vec<Condition>,
}
