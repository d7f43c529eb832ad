//! The rules of the PostgreSQL kinds. They repeat what the definitions say in CEL, word for word, for stored objects and
//! for the command line, and add what CEL cannot say.

mod among;
pub mod database;
mod identifier;
pub mod instance;
pub mod protection;
mod stored;
pub mod tenant;
#[cfg(test)]
mod tests;
mod transition;
#[cfg(test)]
mod world_tests;

use serde_json::Value;

use super::field::FieldPath;
use super::finding::{Finding, Findings, Shown};
use super::id::RuleId;
use super::world::World;
use super::{grammar, limits};
use crate::api::{Kind, texts};
use crate::format::dns_subdomain;

/// What is wrong with an object beside the others.
pub(super) fn among(kind: Kind, object: &Value, world: &dyn World) -> Findings {
    match kind {
        Kind::PostgreSQLDatabase => among::database(object, world),
        Kind::PostgreSQLTenant => among::tenant(object, world),
        Kind::PostgreSQLInstance => among::instance(object, world),
        Kind::SecretContract => Findings::new(),
    }
}

/// What an update may not do to the stored object.
pub(super) fn transition(kind: Kind, object: &Value, old: &Value, world: &dyn World) -> Findings {
    match kind {
        Kind::PostgreSQLDatabase => transition::database(object, old, world),
        Kind::PostgreSQLTenant => transition::tenant(object, old, world),
        Kind::PostgreSQLInstance | Kind::SecretContract => Findings::new(),
    }
}

/// Judges the name of an object of `kind` that a field refers to.
fn reference(rule: RuleId, name: Option<&str>, kind: &str, field: &'static str, findings: &mut Findings) {
    let Some(name) = name else { return };
    if !grammar(name, limits::NAME_CHARACTERS, dns_subdomain).is_empty() {
        let detail = texts::dns_subdomain(kind);
        findings.push(Finding::invalid(rule, FieldPath::dotted(field), Shown::text(name), detail));
    }
}
