//! The rules of a `PostgreSQLDatabase` that stand on more than one field or on the stored object.

use kube::core::{Reason, Rule};

use crate::api::texts;

use super::{frozen_unless, rule};

/// The stored object was neither observed on its Instance nor is bound.
const NEITHER_OBSERVED_NOR_BOUND: &str =
    "oldSelf.?status.?instanceUID.orValue('') == '' && !oldSelf.?spec.?tenantRef.hasValue()";

/// `spec.instanceRef` never changes.
pub fn instance_is_immutable() -> Rule {
    rule("self == oldSelf", texts::INSTANCE_IS_IMMUTABLE).reason(Reason::FieldValueForbidden)
}

/// An Import names its credential.
pub fn import_needs_a_credential() -> Rule {
    rule(
        "self.?source.orValue('') != 'Import' || has(self.credentialRef) \
         || (oldSelf.hasValue() && oldSelf.value().?source.orValue('') == 'Import' \
         && !has(oldSelf.value().credentialRef))",
        texts::IMPORT_NEEDS_A_CREDENTIAL,
    )
    .optional_old_self(true)
    .field_path(".credentialRef")
    .reason(Reason::FieldValueRequired)
}

/// A database that Covenant makes gets its credential from Covenant.
pub fn provision_forbids_a_credential() -> Rule {
    rule(
        "self.?source.orValue('') != 'Provision' || !has(self.credentialRef) \
         || (oldSelf.hasValue() && oldSelf.value().?source.orValue('') == 'Provision' \
         && has(oldSelf.value().credentialRef))",
        texts::PROVISION_FORBIDS_A_CREDENTIAL,
    )
    .optional_old_self(true)
    .field_path(".credentialRef")
    .reason(Reason::FieldValueForbidden)
}

/// `spec.tenantRef` comes whole and goes whole.
pub fn tenant_is_set_or_removed_whole() -> Rule {
    rule(
        "!has(oldSelf.tenantRef) || !has(self.tenantRef) || self.tenantRef == oldSelf.tenantRef",
        texts::TENANT_COMES_AND_GOES_WHOLE,
    )
    .field_path(".tenantRef")
    .reason(Reason::FieldValueForbidden)
}

/// `spec.database` is fixed once the database was observed or bound.
pub fn database_is_frozen() -> Rule {
    frozen_unless(NEITHER_OBSERVED_NOR_BOUND, "database", texts::FROZEN_DATABASE)
}

/// `spec.loginRole` is fixed once the database was observed or bound.
pub fn login_role_is_frozen() -> Rule {
    frozen_unless(NEITHER_OBSERVED_NOR_BOUND, "loginRole", texts::FROZEN_FIELD)
}

/// `spec.source` is fixed once the database was observed or bound.
pub fn source_is_frozen() -> Rule {
    frozen_unless(NEITHER_OBSERVED_NOR_BOUND, "source", texts::FROZEN_FIELD)
}

/// `spec.credentialRef` is fixed once the database was observed or bound.
pub fn credential_is_frozen() -> Rule {
    frozen_unless(NEITHER_OBSERVED_NOR_BOUND, "credentialRef", texts::FROZEN_CREDENTIAL)
}

/// `spec.reclaimPolicy` is fixed from the release on. For a database that is being deleted an admission policy says the
/// same: CEL cannot see a deletion.
pub fn policy_is_frozen() -> Rule {
    frozen_unless("!oldSelf.?status.?release.hasValue()", "reclaimPolicy", texts::FROZEN_POLICY)
}

/// A mount or path has no empty segment and none that would climb.
pub fn segments_are_plain() -> Rule {
    rule("self.split('/').all(segment, !(segment in ['', '.', '..']))", texts::PLAIN_SEGMENTS)
}

/// A mount or path means the same inside a URL.
pub fn characters_are_plain() -> Rule {
    rule(r"!self.matches('[%?#\\\\\\x00-\\x1f\\x7f]')", texts::PLAIN_CHARACTERS)
}

/// `spec.credentialRef.path` is the logical path.
pub fn path_is_logical() -> Rule {
    rule("!self.matches('^(data|metadata)(/|$)')", texts::LOGICAL_PATH)
}
