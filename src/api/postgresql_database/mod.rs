//! `PostgreSQLDatabase`: one database with its one login role, managed by the platform and bound to at most one tenant.

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveDatabase;

use self::effective::{ReclaimPolicy, Source};
use super::conditions::Condition;
use super::refs::{InstanceRef, TenantIdentity, TenantRef};

/// Which database is meant, where it comes from, who has it, and what becomes of it.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "database.ayatori.ddupan.top",
    version = "v1alpha1",
    kind = "PostgreSQLDatabase",
    plural = "postgresqldatabases",
    singular = "postgresqldatabase",
    shortname = "pgdb",
    category = "covenant-databases",
    status = "PostgreSQLDatabaseStatus",
    selectable = ".spec.tenantRef.uid",
    selectable = ".spec.instanceRef.name"
)]
pub struct PostgreSQLDatabaseSpec {
    pub instance_ref: InstanceRef,
    pub database: String,
    pub login_role: String,
    #[schemars(extend("enum" = Source::VALUES))]
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_ref: Option<CredentialRef>,
    #[serde(default = "default_reclaim_policy")]
    #[schemars(extend("enum" = ReclaimPolicy::VALUES))]
    pub reclaim_policy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantRef>,
}

/// Where an existing credential is kept: an entry of a KV version 2 store.
#[derive(Clone, Debug, Default, Deserialize, Eq, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialRef {
    pub mount: String,
    pub path: String,
}

fn default_reclaim_policy() -> String {
    ReclaimPolicy::Retain.as_str().to_owned()
}

/// What is known of the database and of its binding.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLDatabaseStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(rename = "instanceUID", skip_serializing_if = "Option::is_none")]
    pub instance_uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_release: Option<Release>,
    pub conditions: Vec<Condition>,
}

/// Evidence that work outside Kubernetes was begun.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Attempt {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
}

/// The record of a release: who had the database and what was decided when it was given back.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Release {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<bool>,
}
