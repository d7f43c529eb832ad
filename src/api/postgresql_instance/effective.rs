//! What a written `PostgreSQLInstance` means: a borrowed view of the raw object with its defaults filled in.

use serde_json::Value;

use crate::api::raw;
use crate::api::words::open_words;

/// `spec.endpoint.port` when it is omitted.
pub const DEFAULT_PORT: i32 = 5432;
/// `spec.endpoint.database` when it is omitted.
pub const DEFAULT_DATABASE: &str = "postgres";
/// `spec.adminCredentialRef.usernameKey` when it is omitted.
pub const DEFAULT_USERNAME_KEY: &str = "username";
/// `spec.adminCredentialRef.passwordKey` when it is omitted.
pub const DEFAULT_PASSWORD_KEY: &str = "password";
/// `spec.adminCredentialRef.caKey` when it is omitted; the key itself may then be absent.
pub const DEFAULT_CA_KEY: &str = "ca.crt";

/// An Instance's `spec` with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveInstance<'a> {
    /// `metadata.name`, if the object has one.
    pub name: Option<&'a str>,
    /// `endpoint.host`; absent only in an invalid Instance.
    pub host: Option<&'a str>,
    /// `endpoint.hostaddr`; absent only in an invalid Instance.
    pub hostaddr: Option<&'a str>,
    /// `endpoint.port`, by default 5432.
    pub port: i64,
    /// `endpoint.database`, by default postgres.
    pub database: &'a str,
    /// `endpoint.sslMode`, by default verify-full.
    pub ssl_mode: SslMode<'a>,
    /// `adminCredentialRef.name`; absent only in an invalid Instance.
    pub credential_name: Option<&'a str>,
    /// `adminCredentialRef.usernameKey`, by default username.
    pub username_key: &'a str,
    /// `adminCredentialRef.passwordKey`, by default password.
    pub password_key: &'a str,
    /// `adminCredentialRef.caKey` as written; [`EffectiveInstance::ca_key`] fills in the default.
    pub declared_ca_key: Option<&'a str>,
}

open_words! {
    /// How the connection is protected and how much of the server's certificate is checked.
    pub enum SslMode {
        /// No TLS.
        Disable = "disable",
        /// TLS without any check of the certificate.
        Require = "require",
        /// TLS; the certificate must be signed by a known authority.
        VerifyCa = "verify-ca",
        /// TLS; the certificate must be signed by a known authority and cover host and address.
        VerifyFull = "verify-full",
    }
}

impl<'a> EffectiveInstance<'a> {
    /// Reads a whole object.
    pub fn of_object(object: &'a Value) -> Self {
        let name = raw::text(raw::object(Some(object), "metadata"), "name");
        Self::of_spec(name, raw::field(Some(object), "spec"))
    }

    /// Reads a `spec` of the Instance with this name; an absent one reads as empty.
    pub fn of_spec(name: Option<&'a str>, spec: Option<&'a Value>) -> Self {
        let endpoint = raw::object(spec, "endpoint");
        let credential = raw::object(spec, "adminCredentialRef");
        Self {
            name,
            host: raw::text(endpoint, "host"),
            hostaddr: raw::text(endpoint, "hostaddr"),
            port: raw::integer(endpoint, "port").unwrap_or(i64::from(DEFAULT_PORT)),
            database: raw::text(endpoint, "database").unwrap_or(DEFAULT_DATABASE),
            ssl_mode: raw::text(endpoint, "sslMode").map_or(SslMode::VerifyFull, SslMode::from_word),
            credential_name: raw::text(credential, "name"),
            username_key: raw::text(credential, "usernameKey").unwrap_or(DEFAULT_USERNAME_KEY),
            password_key: raw::text(credential, "passwordKey").unwrap_or(DEFAULT_PASSWORD_KEY),
            declared_ca_key: raw::text(credential, "caKey"),
        }
    }

    /// The key of the credential's Secret that holds the authority's certificate.
    pub fn ca_key(&self) -> &'a str {
        self.declared_ca_key.unwrap_or(DEFAULT_CA_KEY)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn omitted_fields_mean_what_the_documentation_says() {
        let object = json!({"metadata": {"name": "main"}, "spec": {
            "endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.1", "port": "5433"},
            "adminCredentialRef": {"name": "admin"},
        }});
        let instance = EffectiveInstance::of_object(&object);
        assert_eq!(instance.name, Some("main"));
        assert_eq!((instance.port, instance.database), (5432, "postgres"));
        assert_eq!(instance.ssl_mode, SslMode::VerifyFull);
        assert_eq!((instance.username_key, instance.password_key), ("username", "password"));
        assert_eq!((instance.declared_ca_key, instance.ca_key()), (None, "ca.crt"));
        assert_eq!(EffectiveInstance::of_object(&json!([])).host, None);
    }
}
