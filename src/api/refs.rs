//! References from one object to another, as they stand in `spec` and `status`.
//!
//! A name locates, a UID identifies: only a reference with a UID says which object is meant once and for all.

#![allow(unreachable_pub, reason = "the schema derive makes a public copy of each type inside a function")]

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cel;

/// The PostgreSQLInstance that is meant.
#[derive(Clone, Debug, Default, Deserialize, Eq, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceRef {
    /// Name of the PostgreSQLInstance. Required; a DNS subdomain of at most 253 characters. An Instance that does not
    /// exist yet is accepted with a warning; until it exists Ready is False with reason InstanceNotFound.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::dns_subdomain("PostgreSQLInstance"))]
    pub name: String,
}

/// The PostgreSQLDatabase that a tenant asks for.
#[derive(Clone, Debug, Default, Deserialize, Eq, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseRef {
    /// Name of the PostgreSQLDatabase. Required; a DNS subdomain of at most 253 characters. While that Database cannot
    /// be bound Ready is False with reason NotAvailable, and with reason Conflict when somebody else has it.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::dns_subdomain("PostgreSQLDatabase"))]
    pub name: String,
}

/// The full identity of a tenant.
#[derive(Clone, Debug, Default, Deserialize, Eq, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantRef {
    /// Namespace of the PostgreSQLTenant. Required; a DNS label of at most 63 characters.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = cel::namespace_name())]
    pub namespace: String,
    /// Name of the PostgreSQLTenant. Required; a DNS subdomain of at most 253 characters.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::dns_subdomain("PostgreSQLTenant"))]
    pub name: String,
    /// UID of the PostgreSQLTenant. Required, at most 128 characters: a new Tenant of the same name never inherits a
    /// binding.
    #[schemars(length(min = 1, max = 128))]
    pub uid: String,
}

/// A tenant's identity as a record in `status`; every field may be missing in what is read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TenantIdentity {
    /// Namespace of the PostgreSQLTenant.
    #[schemars(length(max = 63))]
    pub namespace: String,
    /// Name of the PostgreSQLTenant.
    #[schemars(length(max = 253))]
    pub name: String,
    /// UID of the PostgreSQLTenant.
    #[schemars(length(max = 128))]
    pub uid: String,
}

/// A database's identity as a record in `status`; every field may be missing in what is read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DatabaseIdentity {
    /// Name of the PostgreSQLDatabase.
    #[schemars(length(max = 253))]
    pub name: String,
    /// UID of the PostgreSQLDatabase.
    #[schemars(length(max = 128))]
    pub uid: String,
}

impl From<&TenantRef> for TenantIdentity {
    fn from(reference: &TenantRef) -> Self {
        Self {
            namespace: reference.namespace.clone(),
            name: reference.name.clone(),
            uid: reference.uid.clone(),
        }
    }
}
