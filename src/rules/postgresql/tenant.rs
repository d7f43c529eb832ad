//! SHAPE of PostgreSQLTenant.

use serde_json::Value;

use super::identifier::{self, Purpose};
use super::reference;
use crate::api::postgresql_tenant::effective::{EffectiveTenant, TenantSource};
use crate::api::texts;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::limits;

/// The fields of the kind, in the order of its table.
pub const ORDER: &[&str] = &[
    "metadata",
    "spec",
    "spec.provision",
    "spec.provision.instanceRef",
    "spec.provision.instanceRef.name",
    "spec.provision.database",
    "spec.provision.loginRole",
    "spec.databaseRef",
    "spec.databaseRef.name",
    "spec.extensions",
    "spec.secretName",
    "status",
];

/// Every rule beyond the schema.
pub fn shape(object: &Value) -> Findings {
    let tenant = EffectiveTenant::of_object(object);
    let mut findings = Findings::new();
    source(object, &tenant, &mut findings);
    names(&tenant, &mut findings);
    let rule = RuleId::TenantReferenceName;
    reference(
        rule,
        tenant.instance(),
        "PostgreSQLInstance",
        "spec.provision.instanceRef.name",
        &mut findings,
    );
    let database_ref = tenant.source.database_ref();
    reference(rule, database_ref, "PostgreSQLDatabase", "spec.databaseRef.name", &mut findings);
    reference(rule, tenant.declared_secret_name, "Secret", "spec.secretName", &mut findings);
    extensions(&tenant, &mut findings);
    findings
}

/// Exactly one source. Where `spec` itself is absent or no object, the schema says so.
fn source(object: &Value, tenant: &EffectiveTenant<'_>, findings: &mut Findings) {
    match tenant.source {
        TenantSource::Both { .. } => {
            let field = FieldPath::dotted("spec.databaseRef");
            findings.push(Finding::forbidden(RuleId::TenantSource, field, texts::NOT_BOTH_SOURCES));
        }
        TenantSource::Neither => {
            let spec = object.get("spec").and_then(Value::as_object);
            let is_absent = |name| spec.is_some_and(|spec| spec.get(name).is_none_or(Value::is_null));
            if is_absent("provision") && is_absent("databaseRef") {
                let field = FieldPath::root("spec");
                findings.push(Finding::required(RuleId::TenantSource, field, texts::ONE_SOURCE));
            }
        }
        TenantSource::Provision(_) | TenantSource::DatabaseRef(_) => {}
    }
}

fn names(tenant: &EffectiveTenant<'_>, findings: &mut Findings) {
    let Some(provision) = tenant.source.provision() else { return };
    for (purpose, name, field) in [
        (Purpose::Database, provision.database, "spec.provision.database"),
        (Purpose::Role, provision.login_role, "spec.provision.loginRole"),
    ] {
        identifier::check(RuleId::TenantReservedName, purpose, name, field, findings);
        if let (None, Some(default)) = (name, tenant.name) {
            identifier::check_default(purpose, default, field, findings);
        }
    }
    let characters = |name: Option<&str>| name.map_or(0, |name| name.chars().count());
    if characters(provision.instance) + characters(tenant.name) > limits::DELIVERED_NAMES_CHARACTERS {
        let field = FieldPath::dotted("spec.provision.instanceRef.name");
        let detail = texts::DELIVERED_NAME;
        findings.push(Finding::invalid(RuleId::TenantDeliveredName, field, Shown::omitted(), detail));
    }
}

fn extensions(tenant: &EffectiveTenant<'_>, findings: &mut Findings) {
    let is_name = |name: &str| {
        name.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let bad = |name: &str| !name.is_empty() && !is_name(name);
    for extension in tenant.extensions.iter().filter(|extension| bad(extension.value)) {
        let field = FieldPath::dotted("spec.extensions").keyed_item(extension.index, extension.value);
        let shown = Shown::text(extension.value);
        findings.push(Finding::invalid(RuleId::TenantExtensionName, field, shown, texts::EXTENSION_NAME));
    }
}
