//! SHAPE of PostgreSQLInstance.

use std::net::IpAddr;

use serde_json::Value;

use super::reference;
use crate::api::postgresql_instance::effective::{EffectiveInstance, SslMode};
use crate::api::texts;
use crate::format::secret_key;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{grammar, limits};

/// The fields of the kind, in the order of its table.
pub const ORDER: &[&str] = &[
    "metadata",
    "spec",
    "spec.endpoint",
    "spec.endpoint.host",
    "spec.endpoint.hostaddr",
    "spec.endpoint.port",
    "spec.endpoint.database",
    "spec.endpoint.sslMode",
    "spec.adminCredentialRef",
    "spec.adminCredentialRef.name",
    "spec.adminCredentialRef.usernameKey",
    "spec.adminCredentialRef.passwordKey",
    "spec.adminCredentialRef.caKey",
    "status",
];

/// Every rule beyond the schema.
pub fn shape(object: &Value) -> Findings {
    let instance = EffectiveInstance::of_object(object);
    let mut findings = Findings::new();
    endpoint(&instance, &mut findings);
    transport(&instance, &mut findings);
    let rule = RuleId::InstanceAdminCredential;
    reference(rule, instance.credential_name, "Secret", "spec.adminCredentialRef.name", &mut findings);
    for (key, field) in [
        (Some(instance.username_key), "spec.adminCredentialRef.usernameKey"),
        (Some(instance.password_key), "spec.adminCredentialRef.passwordKey"),
        (instance.declared_ca_key, "spec.adminCredentialRef.caKey"),
    ] {
        let Some(key) = key else { continue };
        if !grammar(key, limits::NAME_CHARACTERS, secret_key).is_empty() {
            let field = FieldPath::dotted(field);
            findings.push(Finding::invalid(rule, field, Shown::text(key), texts::SECRET_KEY));
        }
    }
    findings
}

fn endpoint(instance: &EffectiveInstance<'_>, findings: &mut Findings) {
    let mut refuse = |rule, field: &'static str, text: &str, detail: &str| {
        findings.push(Finding::invalid(rule, FieldPath::dotted(field), Shown::text(text), detail));
    };
    if let Some(host) = instance.host.filter(|host| !host.is_empty()) {
        if !is_dns_name(host) {
            refuse(RuleId::InstanceHost, "spec.endpoint.host", host, texts::HOST_IS_A_DNS_NAME);
        }
        let last = host.rsplit('.').next().unwrap_or(host);
        if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) {
            refuse(RuleId::InstanceHost, "spec.endpoint.host", host, texts::HOST_IS_NOT_AN_ADDRESS);
        }
    }
    if let Some(address) = instance.hostaddr.filter(|address| !address.is_empty())
        && address.parse::<IpAddr>().is_err()
    {
        refuse(RuleId::InstanceHostAddress, "spec.endpoint.hostaddr", address, texts::HOSTADDR_IS_AN_ADDRESS);
    }
    if instance.database.len() > 63 || instance.database.contains('\0') {
        refuse(RuleId::InstanceDatabase, "spec.endpoint.database", instance.database, texts::FITS_THE_SERVER);
    }
}

/// A DNS name in lower case, with labels of at most 63 characters.
fn is_dns_name(host: &str) -> bool {
    host.split('.').all(|label| {
        let ends =
            |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        (1..=63).contains(&label.len())
            && ends(label.bytes().next())
            && ends(label.bytes().last())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}

/// Legal, but suspicious: whoever stands between can read or change what is said.
fn transport(instance: &EffectiveInstance<'_>, findings: &mut Findings) {
    let detail = match instance.ssl_mode {
        SslMode::Disable => "sends passwords and data without encryption; verify-full protects both",
        SslMode::Require => "encrypts without checking who the server is; verify-full checks it",
        _ => return,
    };
    let field = FieldPath::dotted("spec.endpoint.sslMode");
    let shown = Shown::text(instance.ssl_mode.as_str());
    findings.push(Finding::invalid(RuleId::InstanceInsecureTransport, field, shown, detail).as_warning());
}
