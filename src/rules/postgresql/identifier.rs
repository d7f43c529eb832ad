//! Names of databases and roles on a server.

use crate::api::texts;
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;

/// What a name is for: databases and roles have different reserved names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A database.
    Database,
    /// A login role.
    Role,
}

impl Purpose {
    /// Whether PostgreSQL, or every server, has the name for itself.
    pub(super) fn is_reserved(self, name: &str) -> bool {
        match self {
            Self::Database => texts::RESERVED_DATABASES.contains(&name),
            Self::Role => name.starts_with("pg_") || texts::RESERVED_ROLES.contains(&name),
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Database => "db_",
            Self::Role => "role_",
        }
    }

    fn reserved_text(self) -> String {
        match self {
            Self::Database => texts::database_not_reserved(),
            Self::Role => texts::role_not_reserved(),
        }
    }
}

/// Whether `name` is a lower-case letter and then up to 62 lower-case letters, digits and `_`.
pub(super) fn fits(name: &str) -> bool {
    name.len() <= 63
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The end of a message, `, for example 'orders_db'`: the name turned into one that fits and is not reserved, cut, with
/// `prefix` in front where it takes that. Empty where nothing helps. The definitions' CEL proposes the same.
fn proposal(name: &str, is_reserved: impl Fn(&str) -> bool, prefix: &str) -> String {
    // With a prefix of up to five characters the whole is not longer than a name may be.
    const CUT: usize = 58;
    let cut: String = name.to_ascii_lowercase().replace(['-', '.'], "_").chars().take(CUT).collect();
    let prefixed = format!("{prefix}{cut}");
    let can_be_used = |name: &String| fits(name) && !is_reserved(name);
    match [cut, prefixed].into_iter().find(can_be_used) {
        Some(name) => format!(", for example '{name}'"),
        None => String::new(),
    }
}

/// Judges a name that is written out.
pub(super) fn check(
    reserved_rule: RuleId,
    purpose: Purpose,
    name: Option<&str>,
    field: &'static str,
    findings: &mut Findings,
) {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return };
    if name.chars().count() <= 63 && !fits(name) {
        let detail = format!("{}{}", texts::identifier(), proposal(name, |_| false, "db_"));
        let field = FieldPath::dotted(field);
        findings.push(Finding::invalid(RuleId::FieldPattern, field, Shown::text(name), detail));
    }
    if purpose.is_reserved(name) {
        let field = FieldPath::dotted(field);
        findings.push(Finding::invalid(reserved_rule, field, Shown::text(name), purpose.reserved_text()));
    }
}

/// Judges the name that a left-out field takes from `metadata.name`.
pub(super) fn check_default(purpose: Purpose, name: &str, field: &'static str, findings: &mut Findings) {
    if fits(name) && !purpose.is_reserved(name) {
        return;
    }
    let proposal = proposal(name, |name| purpose.is_reserved(name), purpose.prefix());
    let detail = format!("{}{proposal}", texts::default_name());
    findings.push(Finding::required(RuleId::TenantDefaultName, FieldPath::dotted(field), detail));
}
