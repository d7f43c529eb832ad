//! `PostgreSQLInstance`: a PostgreSQL server that an administrator registers.

#![allow(unreachable_pub, reason = "the schema derive makes a public copy of each type inside a function")]

pub mod effective;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effective::EffectiveInstance;

use self::effective::SslMode;
use super::cel;
use super::cel::instance as rules;
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
    status = "PostgreSQLInstanceStatus",
    doc = "A PostgreSQL server that an administrator registers, so that teams can be given databases on it. It cannot \
           be deleted while a PostgreSQLDatabase or an unbound PostgreSQLTenant refers to it.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.postgresqlVersion"),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".spec.endpoint.host"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason",
        priority = 1
    )
)]
pub struct PostgreSQLInstanceSpec {
    /// Where the server listens and how its identity is checked. Required. A change makes earlier observations void; it
    /// moves no data.
    pub endpoint: Endpoint,
    /// The Secret with the credential of the managing role, in the namespace of the Covenant controller. Required. The
    /// server is connected to anew when it changes; without it Ready is False.
    pub admin_credential_ref: AdminCredentialRef,
}

/// Where the server listens and how its identity is checked.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// DNS name of the server, in lower case and without a dot at the end. Required; at most 253 characters. With
    /// verify-full the server's certificate must cover it as a DNS name.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rules::host_is_a_dns_name(), validation = rules::host_is_not_an_address())]
    pub host: String,
    /// The one IPv4 or IPv6 address to connect to; host is not looked up. Required. With verify-full the server's
    /// certificate must cover it as an IP address.
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(validation = rules::hostaddr_is_an_address())]
    pub hostaddr: String,
    /// Port of the server, 1 to 65535. Default: 5432.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The database to connect to for management. Default: postgres. At most 63 bytes. No Tenant may ask for it.
    #[serde(default = "default_database")]
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rules::database_fits_the_server())]
    pub database: String,
    /// How the connection is protected: disable (no TLS), require (TLS, but any certificate is accepted), verify-ca
    /// (the certificate must be signed by a known authority), or verify-full (it must also cover both host and
    /// hostaddr). A warning is given for disable and require. Default: verify-full.
    #[serde(default = "default_ssl_mode")]
    #[schemars(extend("enum" = SslMode::VALUES))]
    pub ssl_mode: String,
}

/// The Secret with the managing role's credential.
#[derive(Clone, Debug, Default, Deserialize, KubeSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdminCredentialRef {
    /// Name of the Secret in the namespace of the Covenant controller. Required; a DNS subdomain of at most 253
    /// characters.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::dns_subdomain("Secret"))]
    pub name: String,
    /// The key of the Secret that holds the role's name. Default: username. At most 253 characters.
    #[serde(default = "default_username_key")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::secret_key())]
    pub username_key: String,
    /// The key of the Secret that holds the role's password. Default: password. At most 253 characters.
    #[serde(default = "default_password_key")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::secret_key())]
    pub password_key: String,
    /// The key of the Secret that holds the certificates of the authorities that may sign the server's, in PEM. At most
    /// 253 characters. Omitted: `ca.crt` if the Secret has it, else the authorities of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = cel::secret_key())]
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

/// What is known of the server, written by Covenant alone.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgreSQLInstanceStatus {
    /// The generation of the Instance that the rest of the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// How far things are: Pending, Validating, Ready or Deleting. For the eye; only the condition Ready counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub phase: Option<String>,
    /// The server's version as it reports it.
    #[serde(rename = "postgresqlVersion", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub postgresql_version: Option<String>,
    /// The identity of the server's data, compared at each connection: another server at the same address is not
    /// trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub system_identifier: Option<String>,
    /// The extensions that the server offers, sorted by name; at most 512.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "atomic"))]
    pub available_extensions: Vec<AvailableExtension>,
    /// Ready says whether the server was reached, identified, and grants the rights that are needed.
    #[schemars(
        length(max = 16),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"])
    )]
    pub conditions: Vec<Condition>,
}

/// An extension that the server offers.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AvailableExtension {
    /// Name of the extension.
    #[schemars(length(max = 63))]
    pub name: String,
    /// The version that would be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub version: Option<String>,
    /// Whether the owner of a database may install it without being a superuser.
    pub trusted: bool,
}
