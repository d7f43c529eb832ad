//! `PostgreSQLDatabase`: one database with its one login role, managed by the platform and bound to at most one tenant.

#![allow(unreachable_pub, reason = "the schema derive makes a public copy of each type inside a function")]

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveDatabase;

use self::effective::{ReclaimPolicy, Source};
use super::cel;
use super::cel::database as rules;
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
    selectable = ".spec.instanceRef.name",
    doc = "A database on a PostgreSQLInstance with its one login role, managed by the platform. It belongs to no \
           namespace and is bound to at most one PostgreSQLTenant. Covenant makes one for a Tenant that asks for a \
           new database; an administrator makes one to import a database that exists.",
    validation = rules::database_is_frozen(),
    validation = rules::login_role_is_frozen(),
    validation = rules::source_is_frozen(),
    validation = rules::credential_is_frozen(),
    validation = rules::policy_is_frozen(),
    printcolumn(name = "Instance", type_ = "string", json_path = ".spec.instanceRef.name"),
    printcolumn(name = "Database", type_ = "string", json_path = ".spec.database"),
    printcolumn(name = "Role", type_ = "string", json_path = ".spec.loginRole"),
    printcolumn(name = "Policy", type_ = "string", json_path = ".spec.reclaimPolicy"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Tenant", type_ = "string", json_path = ".status.tenant"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason",
        priority = 1
    )
)]
#[x_kube(
    validation = rules::import_needs_a_credential(),
    validation = rules::provision_forbids_a_credential(),
    validation = rules::tenant_is_set_or_removed_whole()
)]
pub struct PostgreSQLDatabaseSpec {
    /// The Instance that the database is on. Required, and immutable from creation on.
    #[x_kube(validation = rules::instance_is_immutable())]
    pub instance_ref: InstanceRef,
    /// Name of the database on the server. Required; a lower-case letter, then up to 62 lower-case letters, digits and
    /// `_`; not one of the server's own databases. Fixed once the database was observed or bound.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = cel::identifier(), validation = cel::database_not_reserved())]
    pub database: String,
    /// Name on the server of the one role that owns the database and logs in to it. Required; a lower-case letter, then
    /// up to 62 lower-case letters, digits and `_`; not reserved by PostgreSQL. Fixed once the database was observed or
    /// bound.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = cel::identifier(), validation = cel::role_not_reserved())]
    pub login_role: String,
    /// Provision: Covenant makes database, role and credential. Import: all three exist and are only checked. Required:
    /// that something of the same name exists is never taken as leave to use it. Fixed once the database was observed or
    /// bound.
    #[schemars(extend("enum" = Source::VALUES))]
    pub source: String,
    /// Where the credential of an imported database is kept. Required with source Import, forbidden with Provision.
    /// Fixed once the database was observed or bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_ref: Option<CredentialRef>,
    /// What becomes of the database when its Tenant is deleted. Retain: it is kept and marked Released. Delete: it is
    /// dropped; setting this is the leave to do so. Default: Retain. May be changed until the release begins.
    #[serde(default = "default_reclaim_policy")]
    #[schemars(extend("enum" = ReclaimPolicy::VALUES))]
    pub reclaim_policy: String,
    /// The Tenant that the database is bound to, written by Covenant. It is set whole where there is none, and removed
    /// whole to re-open a released database, which takes the right `reopen`; it is never changed. Omitted: not bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantRef>,
}

/// Where an existing credential is kept: an entry of a KV version 2 store.
#[derive(Clone, Debug, Default, Deserialize, Eq, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialRef {
    /// The mount of the KV version 2 store, without slashes at its ends. Required; at most 128 characters. The
    /// installation may allow only some mounts and paths.
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = rules::segments_are_plain(), validation = rules::characters_are_plain())]
    pub mount: String,
    /// The logical path of the entry inside the mount, without slashes at its ends and without the store's own `data/`
    /// in front. Required; at most 512 characters.
    #[schemars(length(min = 1, max = 512))]
    #[x_kube(
        validation = rules::segments_are_plain(),
        validation = rules::characters_are_plain(),
        validation = rules::path_is_logical()
    )]
    pub path: String,
}

fn default_reclaim_policy() -> String {
    ReclaimPolicy::Retain.as_str().to_owned()
}

/// What is known of the database and of its binding, written by Covenant alone.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLDatabaseStatus {
    /// The generation of the Database that the rest of the status is about. A deletion raises the Database's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// How far things are: Pending, Validating, Available, Bound, Releasing, Released or Deleting. For the eye; it
    /// grants nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub phase: Option<String>,
    /// UID of the Instance that the database was observed on. A new Instance of the same name is not trusted.
    #[serde(rename = "instanceUID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub instance_uid: Option<String>,
    /// The Tenant on record as having the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantIdentity>,
    /// The Tenant on record, as namespace/name, for the eye.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 317))]
    pub tenant: Option<String>,
    /// Evidence that work on the server or in the credential store was begun. Without it nothing there is ever removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// The record of the release that is under way or complete. Present until the database is re-opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// The record of the last release, kept when the database was re-opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_release: Option<Release>,
    /// Ready says whether the database was verified, and is free or bound.
    #[schemars(
        length(max = 16),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<Condition>,
}

/// Evidence that work outside Kubernetes was begun.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Attempt {
    /// When the first work outside Kubernetes was about to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
}

/// The record of a release: who had the database and what was decided when it was given back.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Release {
    /// The reclaim policy in force when the release began. A later change of the spec does not act on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub policy: Option<String>,
    /// The Tenant that had the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_ref: Option<TenantIdentity>,
    /// When the release began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub released_at: Option<String>,
    /// Whether the binding had been recorded on both sides. A half-made binding leaves nothing behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<bool>,
}
