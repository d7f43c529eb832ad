//! `PostgreSQLInstance`: a PostgreSQL server that an administrator registers.

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveInstance;

use self::effective::SslMode;
use super::conditions::Condition;

/// How to reach the server and with which credential to manage it.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "database.ayatori.ddupan.top",
    version = "v1alpha1",
    kind = "PostgreSQLInstance",
    plural = "postgresqlinstances",
    singular = "postgresqlinstance",
    shortname = "pgi",
    category = "covenant-databases",
    status = "PostgreSQLInstanceStatus"
)]
pub struct PostgreSQLInstanceSpec {
    pub endpoint: Endpoint,
    pub admin_credential_ref: AdminCredentialRef,
}

/// Where the server listens and how its identity is checked.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    pub host: String,
    pub hostaddr: String,
    #[serde(default = "default_port")]
    pub port: i32,
    #[serde(default = "default_database")]
    pub database: String,
    #[serde(default = "default_ssl_mode")]
    #[schemars(extend("enum" = SslMode::VALUES))]
    pub ssl_mode: String,
}

/// The Secret with the managing role's credential.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdminCredentialRef {
    pub name: String,
    #[serde(default = "default_username_key")]
    pub username_key: String,
    #[serde(default = "default_password_key")]
    pub password_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_key: Option<String>,
}

fn default_port() -> i32 {
    effective::DEFAULT_PORT
}

fn default_database() -> String {
    effective::DEFAULT_DATABASE.to_owned()
}

fn default_ssl_mode() -> String {
    SslMode::VerifyFull.as_str().to_owned()
}

fn default_username_key() -> String {
    effective::DEFAULT_USERNAME_KEY.to_owned()
}

fn default_password_key() -> String {
    effective::DEFAULT_PASSWORD_KEY.to_owned()
}

/// What is known of the server.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLInstanceStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(rename = "postgresqlVersion", skip_serializing_if = "Option::is_none")]
    pub postgresql_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_identifier: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_extensions: Vec<AvailableExtension>,
    pub conditions: Vec<Condition>,
}

/// An extension that the server offers.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AvailableExtension {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub trusted: bool,
}
