//! SHAPE of PostgreSQLDatabase.

use serde_json::Value;

use super::identifier::{self, Purpose};
use super::reference;
use crate::api::postgresql_database::effective::{EffectiveDatabase, Source};
use crate::api::texts;
use crate::format::dns_label;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::{Installation, grammar, limits};

/// The fields of the kind, in the order of its table.
pub const ORDER: &[&str] = &[
    "metadata",
    "spec",
    "spec.instanceRef",
    "spec.instanceRef.name",
    "spec.database",
    "spec.loginRole",
    "spec.source",
    "spec.credentialRef",
    "spec.credentialRef.mount",
    "spec.credentialRef.path",
    "spec.reclaimPolicy",
    "spec.tenantRef",
    "spec.tenantRef.namespace",
    "spec.tenantRef.name",
    "spec.tenantRef.uid",
    "status",
];

/// Every rule beyond the schema.
pub fn shape(object: &Value, installation: &Installation) -> Findings {
    let database = EffectiveDatabase::of_object(object);
    let mut findings = Findings::new();
    let rule = RuleId::DatabaseReferenceName;
    reference(rule, database.instance, "PostgreSQLInstance", "spec.instanceRef.name", &mut findings);
    for (purpose, name, field) in [
        (Purpose::Database, database.database, "spec.database"),
        (Purpose::Role, database.login_role, "spec.loginRole"),
    ] {
        identifier::check(RuleId::DatabaseReservedName, purpose, name, field, &mut findings);
    }
    credential(object, &database, &mut findings);
    credential_place(&database, installation, &mut findings);
    tenant(&database, &mut findings);
    findings
}

fn credential(object: &Value, database: &EffectiveDatabase<'_>, findings: &mut Findings) {
    let is_declared = object.pointer("/spec/credentialRef").is_some_and(|value| !value.is_null());
    let field = FieldPath::dotted("spec.credentialRef");
    let rule = RuleId::DatabaseCredential;
    match database.source {
        Some(Source::Import) if !is_declared => {
            findings.push(Finding::required(rule, field, texts::IMPORT_NEEDS_A_CREDENTIAL));
        }
        Some(Source::Provision) if is_declared => {
            findings.push(Finding::forbidden(rule, field, texts::PROVISION_FORBIDS_A_CREDENTIAL));
        }
        _ => {}
    }
}

/// The texts of a mount or path that would not mean the same inside a URL, or would climb out of its place.
fn credential_place(database: &EffectiveDatabase<'_>, installation: &Installation, findings: &mut Findings) {
    let Some(credential) = database.credential else { return };
    let rule = RuleId::DatabaseCredentialPath;
    let mut refuse = |field: &'static str, text: &str, detail: String| {
        findings.push(Finding::invalid(rule, FieldPath::dotted(field), Shown::text(text), detail));
    };
    let mut are_plain = true;
    let places =
        [("spec.credentialRef.mount", credential.mount), ("spec.credentialRef.path", credential.path)];
    for (field, text) in places {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        if text.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            refuse(field, text, texts::PLAIN_SEGMENTS.to_owned());
            are_plain = false;
        }
        if text.chars().any(|letter| matches!(letter, '%' | '?' | '#' | '\\') || letter.is_ascii_control()) {
            refuse(field, text, texts::PLAIN_CHARACTERS.to_owned());
            are_plain = false;
        }
    }
    let Some(path) = credential.path else { return };
    if matches!(path.split('/').next(), Some("data" | "metadata")) {
        refuse("spec.credentialRef.path", path, texts::LOGICAL_PATH.to_owned());
    }
    if let Some(mount) = credential.mount
        && are_plain
        && !is_permitted(&format!("{mount}/{path}"), &installation.credential_paths)
    {
        let permitted = installation.credential_paths.join("', '");
        let detail =
            format!("must lie, with its mount, below one of the installation's places: '{permitted}'");
        refuse("spec.credentialRef.path", path, detail);
    }
}

/// Whether a place lies below one of the permitted ones; segments are compared whole.
fn is_permitted(place: &str, permitted: &[String]) -> bool {
    permitted.is_empty()
        || permitted.iter().any(|prefix| {
            place
                .strip_prefix(prefix.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn tenant(database: &EffectiveDatabase<'_>, findings: &mut Findings) {
    let Some(tenant) = database.tenant else { return };
    let rule = RuleId::DatabaseTenantRef;
    if let Some(namespace) = tenant.namespace
        && !grammar(namespace, limits::LABEL_CHARACTERS, dns_label).is_empty()
    {
        let field = FieldPath::dotted("spec.tenantRef.namespace");
        findings.push(Finding::invalid(rule, field, Shown::text(namespace), texts::NAMESPACE_NAME));
    }
    reference(rule, tenant.name, "PostgreSQLTenant", "spec.tenantRef.name", findings);
}
