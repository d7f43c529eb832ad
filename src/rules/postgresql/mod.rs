//! The rules of the PostgreSQL kinds. They repeat what the definitions say in CEL, word for word, for stored objects and
//! for the command line, and add what CEL cannot say.

pub mod database;
mod identifier;
pub mod instance;
pub mod tenant;
#[cfg(test)]
mod tests;

use super::field::FieldPath;
use super::finding::{Finding, Findings, Shown};
use super::id::RuleId;
use super::{grammar, limits};
use crate::api::texts;
use crate::format::dns_subdomain;

/// Judges the name of an object of `kind` that a field refers to.
fn reference(rule: RuleId, name: Option<&str>, kind: &str, field: &'static str, findings: &mut Findings) {
    let Some(name) = name else { return };
    if !grammar(name, limits::NAME_CHARACTERS, dns_subdomain).is_empty() {
        let detail = texts::dns_subdomain(kind);
        findings.push(Finding::invalid(rule, FieldPath::dotted(field), Shown::text(name), detail));
    }
}
