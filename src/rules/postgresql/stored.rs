//! What a stored object says besides its spec: identity, deletion, and the parts of status that rules read.

use serde_json::Value;

use crate::api::phases::{DatabasePhase, TenantPhase};
use crate::api::raw;
use crate::api::{Kind, postgresql_database::effective::EffectiveDatabase};
use crate::rules::world::{Key, World};

fn metadata<'a>(object: &'a Value, field: &str) -> &'a str {
    raw::text(raw::object(Some(object), "metadata"), field).unwrap_or_default()
}

/// The name; empty where there is none.
pub(super) fn name(object: &Value) -> &str {
    metadata(object, "name")
}

/// The namespace; empty where there is none.
pub(super) fn namespace(object: &Value) -> &str {
    metadata(object, "namespace")
}

/// The UID; empty where there is none.
pub(super) fn uid(object: &Value) -> &str {
    metadata(object, "uid")
}

/// Whether the object is being deleted.
pub(super) fn is_deleting(object: &Value) -> bool {
    !metadata(object, "deletionTimestamp").is_empty()
}

/// `status`, if it is there.
pub(super) fn status(object: &Value) -> Option<&Value> {
    raw::object(Some(object), "status")
}

/// `status.phase`; empty where there is none.
pub(super) fn phase(object: &Value) -> &str {
    raw::text(status(object), "phase").unwrap_or_default()
}

/// `status.<field>.uid`; empty where there is none.
pub(super) fn recorded_uid<'a>(object: &'a Value, field: &str) -> &'a str {
    raw::text(raw::object(status(object), field), "uid").unwrap_or_default()
}

/// The record of a Database's release.
pub(super) fn release(database: &Value) -> Option<&Value> {
    raw::object(status(database), "release")
}

/// UID of the Tenant in `spec.tenantRef`; empty where there is none.
pub(super) fn tenant_uid(database: &Value) -> &str {
    let tenant = EffectiveDatabase::of_object(database).tenant;
    tenant.and_then(|tenant| tenant.uid).unwrap_or_default()
}

/// Whether what an object holds is on its way out, so that somebody else may already ask for it.
pub(super) fn is_leaving(object: &Value) -> bool {
    let leaving = [
        DatabasePhase::Releasing.as_str(),
        DatabasePhase::Released.as_str(),
        DatabasePhase::Deleting.as_str(),
    ];
    is_deleting(object) || release(object).is_some() || leaving.contains(&phase(object))
}

/// Whether binding of a Tenant has begun. A phase of a later version counts as begun.
pub(super) fn has_begun(tenant: &Value) -> bool {
    !["", TenantPhase::Pending.as_str()].contains(&phase(tenant))
}

/// The Database that carries the UID of `tenant`.
pub(super) fn database_of<'a>(tenant: &Value, world: &'a dyn World) -> Option<&'a Value> {
    let wanted = uid(tenant);
    if wanted.is_empty() {
        return None;
    }
    world.having(Kind::PostgreSQLDatabase, &Key::BoundTenant(wanted.to_owned())).next()
}

/// The Tenant with this UID, deleting or not.
pub(super) fn tenant_of<'a>(wanted: &str, world: &'a dyn World) -> Option<&'a Value> {
    if wanted.is_empty() {
        return None;
    }
    world.having(Kind::PostgreSQLTenant, &Key::Uid(wanted.to_owned())).next()
}
