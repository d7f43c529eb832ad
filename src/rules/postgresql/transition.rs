//! TRANSITION of the PostgreSQL kinds: what an update may not do to what is stored.

use serde_json::Value;

use super::stored;
use crate::api::names::TENANT_DATABASE_PREFIX;
use crate::api::postgresql_database::effective::{EffectiveDatabase, EffectiveTenantRef};
use crate::api::postgresql_tenant::effective::EffectiveTenant;
use crate::api::{Kind, raw, texts};
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::world::World;

const TENANT_REF: &str = "spec.tenantRef";

fn spec<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    raw::field(raw::object(Some(object), "spec"), field).filter(|value| !value.is_null())
}

fn forbid(rule: RuleId, field: &'static str, detail: impl Into<String>, findings: &mut Findings) {
    findings.push(Finding::forbidden(rule, FieldPath::dotted(field), detail));
}

/// What an update of a Tenant breaks.
pub fn tenant(object: &Value, old: &Value, world: &dyn World) -> Findings {
    let mut findings = Findings::new();
    let carrier = stored::database_of(old, world);
    if stored::has_begun(old) || carrier.is_some() {
        // With its status lost, a Tenant may be put back to what its Database holds; the definition forbids it else.
        let is_put_back = carrier.is_some_and(|database| is_target(object, database));
        for (field, path) in [("provision", "spec.provision"), ("databaseRef", "spec.databaseRef")] {
            if spec(object, field) != spec(old, field) && (stored::has_begun(old) || !is_put_back) {
                forbid(RuleId::TenantTarget, path, texts::FROZEN_TARGET, &mut findings);
            }
        }
        if spec(object, "secretName") != spec(old, "secretName") {
            forbid(RuleId::TenantTarget, "spec.secretName", texts::FROZEN_SECRET_NAME, &mut findings);
        }
    }
    let removed = removed_extensions(object, old);
    if !removed.is_empty() {
        let detail = format!("{}: [{}]", texts::EXTENSIONS_STAY, removed.join(", "));
        forbid(RuleId::TenantInstalledExtensions, "spec.extensions", detail, &mut findings);
    }
    findings
}

/// Whether `tenant` asks for just what `database` is.
fn is_target(tenant: &Value, database: &Value) -> bool {
    let (tenant, effective) = (EffectiveTenant::of_object(tenant), EffectiveDatabase::of_object(database));
    if let Some(name) = tenant.source.database_ref() {
        return name == stored::name(database);
    }
    tenant.instance() == effective.instance
        && tenant.database() == effective.database
        && tenant.login_role() == effective.login_role
}

/// Only what the stored `spec` still holds is judged: a name removed before it was installed must not block the object.
fn removed_extensions<'a>(object: &Value, old: &'a Value) -> Vec<&'a str> {
    let wanted = raw::texts(raw::object(Some(object), "spec"), "extensions");
    let installed = raw::texts(stored::status(old), "installedExtensions");
    let has = |list: &[raw::Indexed<&str>], name: &str| list.iter().any(|item| item.value == name);
    let before = raw::texts(raw::object(Some(old), "spec"), "extensions").into_iter().map(|item| item.value);
    before.filter(|name| has(&installed, name) && !has(&wanted, name)).collect()
}

/// What an update of a Database breaks.
pub fn database(object: &Value, old: &Value, world: &dyn World) -> Findings {
    let mut findings = Findings::new();
    let before = EffectiveDatabase::of_object(old);
    if spec(object, "instanceRef") != spec(old, "instanceRef") {
        let rule = RuleId::DatabaseInstanceImmutable;
        forbid(rule, "spec.instanceRef", texts::INSTANCE_IS_IMMUTABLE, &mut findings);
    }
    let observed = raw::text(stored::status(old), "instanceUID").is_some_and(|uid| !uid.is_empty());
    if observed || before.tenant.is_some() {
        for (field, path, text) in [
            ("database", "spec.database", texts::FROZEN_DATABASE),
            ("loginRole", "spec.loginRole", texts::FROZEN_FIELD),
            ("source", "spec.source", texts::FROZEN_FIELD),
            ("credentialRef", "spec.credentialRef", texts::FROZEN_CREDENTIAL),
        ] {
            if spec(object, field) != spec(old, field) {
                forbid(RuleId::DatabaseFrozen, path, text, &mut findings);
            }
        }
    }
    if EffectiveDatabase::of_object(object).reclaim_policy != before.reclaim_policy {
        policy(old, world, &mut findings);
    }
    tenant_ref(object, old, world, &mut findings);
    findings
}

fn policy(old: &Value, world: &dyn World, findings: &mut Findings) {
    let bound_to = stored::tenant_uid(old);
    let orphaned =
        world.knows_absence() && !bound_to.is_empty() && stored::tenant_of(bound_to, world).is_none();
    let text = if stored::is_deleting(old) {
        "cannot be changed while the database is being deleted"
    } else if stored::release(old).is_some() {
        texts::FROZEN_POLICY
    } else if orphaned {
        "cannot be changed while the database is bound to a tenant that is gone; it can be once it was re-opened"
    } else {
        return;
    };
    forbid(RuleId::DatabasePolicyFrozen, "spec.reclaimPolicy", text, findings);
}

fn tenant_ref(object: &Value, old: &Value, world: &dyn World, findings: &mut Findings) {
    let (before, after) =
        (EffectiveDatabase::of_object(old).tenant, EffectiveDatabase::of_object(object).tenant);
    match (before, after) {
        (None, Some(tenant)) if tenant.is_full() => bind(object, old, &tenant, world, findings),
        (Some(tenant), None) => reopen(object, old, &tenant, world, findings),
        (Some(before), Some(after)) if before != after => {
            forbid(RuleId::DatabaseBinding, TENANT_REF, texts::TENANT_COMES_AND_GOES_WHOLE, findings);
        }
        _ => {}
    }
}

/// The conditions of truth of a binding. They hold for everybody, whatever rights they have.
fn bind(
    object: &Value,
    old: &Value,
    tenant: &EffectiveTenantRef<'_>,
    world: &dyn World,
    findings: &mut Findings,
) {
    let rule = RuleId::DatabaseBinding;
    let record = raw::object(stored::status(old), "tenantRef");
    if stored::release(old).is_none() && !stored::recorded_uid(old, "tenantRef").is_empty() {
        let is_recorded = raw::text(record, "uid") == tenant.uid
            && raw::text(record, "name") == tenant.name
            && raw::text(record, "namespace") == tenant.namespace;
        if !is_recorded {
            let text = "may only be put back as status.tenantRef has it on record; the database is released from there";
            forbid(rule, TENANT_REF, text, findings);
        }
        return;
    }
    if stored::is_deleting(old) {
        forbid(rule, TENANT_REF, "cannot be set while the database is being deleted", findings);
        return;
    }
    if !world.knows_absence() {
        return;
    }
    let (uid, namespace, name) = (
        tenant.uid.unwrap_or_default(),
        tenant.namespace.unwrap_or_default(),
        tenant.name.unwrap_or_default(),
    );
    let live = world.find(Kind::PostgreSQLTenant, namespace, name).filter(|live| stored::uid(live) == uid);
    match live {
        Some(live) if stored::is_deleting(live) => {
            forbid(rule, TENANT_REF, "cannot be set to a tenant that is being deleted", findings);
        }
        Some(live) if asks_for(live, stored::name(object)) => {}
        _ => {
            let field = FieldPath::dotted("spec.tenantRef.uid");
            findings.push(Finding::not_found(rule, field, Shown::text(uid)));
        }
    }
}

/// Whether `tenant` asks for the Database called `name`.
fn asks_for(tenant: &Value, name: &str) -> bool {
    let effective = EffectiveTenant::of_object(tenant);
    match effective.source.database_ref() {
        Some(wanted) => wanted == name,
        None => {
            effective.source.provision().is_some()
                && name.strip_prefix(TENANT_DATABASE_PREFIX) == Some(stored::uid(tenant))
        }
    }
}

/// The conditions of a re-opening.
fn reopen(
    object: &Value,
    old: &Value,
    tenant: &EffectiveTenantRef<'_>,
    world: &dyn World,
    findings: &mut Findings,
) {
    let uid = tenant.uid.unwrap_or_default();
    let released =
        raw::text(raw::object(stored::release(old), "tenantRef"), "uid").is_some_and(|record| record == uid);
    let text = if stored::is_deleting(old) {
        "cannot be removed while the database is being deleted"
    } else if !released {
        "cannot be removed before the release of the database is on record; delete the tenant first and wait for phase \
         Released"
    } else if stored::tenant_of(uid, world).is_some() {
        "cannot be removed while the tenant still exists; wait until it is gone"
    } else if !only_tenant_ref_differs(object, old) {
        "must be removed alone: make the other changes in an edit of their own"
    } else {
        return;
    };
    forbid(RuleId::DatabaseBinding, TENANT_REF, text, findings);
}

fn only_tenant_ref_differs(object: &Value, old: &Value) -> bool {
    let rest = |object: &Value| {
        let mut spec = object.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
        spec.remove("tenantRef");
        spec
    };
    rest(object) == rest(old)
}
