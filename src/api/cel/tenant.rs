//! The rules of a `PostgreSQLTenant` that stand on more than one field or on the stored object.

use kube::core::{Reason, Rule, validate};
use schemars::Schema;

use crate::api::texts::{self, IDENTIFIER};

use super::{frozen_unless, proposal_from_object_name, reserved_database, reserved_role, rule, rule_saying};

/// Binding has not begun; from then on the target stays as it was written. A phase of a later version counts as begun.
const NOT_BEGUN: &str = "oldSelf.?status.?phase.orValue('') in ['', 'Pending']";

/// Not both sources.
pub fn not_both_sources() -> Rule {
    rule(
        "!has(self.provision) || !has(self.databaseRef) \
         || (oldSelf.hasValue() && has(oldSelf.value().provision) && has(oldSelf.value().databaseRef))",
        texts::NOT_BOTH_SOURCES,
    )
    .optional_old_self(true)
    .field_path(".databaseRef")
    .reason(Reason::FieldValueForbidden)
}

/// One source at least.
pub fn one_source() -> Rule {
    rule(
        "has(self.provision) || has(self.databaseRef) \
         || (oldSelf.hasValue() && !has(oldSelf.value().provision) && !has(oldSelf.value().databaseRef))",
        texts::ONE_SOURCE,
    )
    .optional_old_self(true)
    .reason(Reason::FieldValueRequired)
}

/// Without `spec.provision.database` the Tenant's own name must fit.
pub fn default_database_fits() -> Rule {
    default_fits("database", "db_", reserved_database)
}

/// Without `spec.provision.loginRole` the Tenant's own name must fit.
pub fn default_login_role_fits() -> Rule {
    default_fits("loginRole", "role_", reserved_role)
}

fn default_fits(field: &str, prefix: &str, reserved: fn(&str) -> String) -> Rule {
    const NAME: &str = "self.metadata.name";
    let omitted = |object: &str| {
        format!("{object}.?spec.?provision.hasValue() && !{object}.?spec.?provision.?{field}.hasValue()")
    };
    rule_saying(
        format!(
            "!({}) || ({NAME}.matches('{IDENTIFIER}') && !({})) || (oldSelf.hasValue() && {})",
            omitted("self"),
            reserved(NAME),
            omitted("oldSelf.value()")
        ),
        format!("'{}' + {}", texts::default_name(), proposal_from_object_name(NAME, prefix, reserved)),
    )
    .optional_old_self(true)
    .field_path(format!(".spec.provision.{field}"))
    .reason(Reason::FieldValueRequired)
}

/// The delivered object gets a name that Kubernetes accepts. A stored fault is spared while it grows no worse.
pub fn delivery_name_fits() -> Rule {
    let instance = |object: &str| format!("size({object}.?spec.?provision.?instanceRef.?name.orValue(''))");
    rule(
        format!(
            "{} + size(self.metadata.name) <= 241 || (oldSelf.hasValue() && {} <= {})",
            instance("self"),
            instance("self"),
            instance("oldSelf.value()")
        ),
        texts::DELIVERED_NAME,
    )
    .optional_old_self(true)
    .field_path(".spec.provision.instanceRef.name")
}

/// `spec.provision` is fixed once binding has begun.
pub fn provision_is_frozen() -> Rule {
    frozen_unless(NOT_BEGUN, "provision", texts::FROZEN_TARGET)
}

/// `spec.databaseRef` is fixed once binding has begun.
pub fn database_ref_is_frozen() -> Rule {
    frozen_unless(NOT_BEGUN, "databaseRef", texts::FROZEN_TARGET)
}

/// `spec.secretName` is fixed once binding has begun.
pub fn secret_name_is_frozen() -> Rule {
    frozen_unless(NOT_BEGUN, "secretName", texts::FROZEN_SECRET_NAME)
}

/// An extension that was installed stays in `spec.extensions`. One that was removed before it was installed, and is in
/// `status` since, must not block the object: so only what the stored `spec` still holds is judged.
pub fn installed_extensions_stay() -> Rule {
    const INSTALLED: &str = "e in oldSelf.status.installedExtensions";
    const WANTED: &str = "has(self.spec) && has(self.spec.extensions) && e in self.spec.extensions";
    rule_saying(
        format!(
            "!has(oldSelf.spec) || !has(oldSelf.spec.extensions) || !has(oldSelf.status) \
             || !has(oldSelf.status.installedExtensions) \
             || oldSelf.spec.extensions.all(e, !({INSTALLED}) || ({WANTED}))"
        ),
        format!(
            "'{}: %s'.format([oldSelf.spec.extensions.filter(e, {INSTALLED} && !({WANTED}))])",
            texts::EXTENSIONS_STAY
        ),
    )
    .field_path(".spec.extensions")
    .reason(Reason::FieldValueForbidden)
}

/// Puts a rule on the items of the list `spec.extensions`: each is a name as PostgreSQL has them.
pub fn extensions_are_names(list: &mut Schema) {
    let items = list.get_mut("items").and_then(|items| <&mut Schema>::try_from(items).ok());
    let Some(items) = items else { return };
    let is_name = rule("self.matches('^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$')", texts::EXTENSION_NAME);
    // A rule is always valid JSON; were it lost, the test that makes every rule refuse would miss it.
    drop(validate(items, is_name));
}
