//! Which deletions are refused: those of a Database in use and of an Instance that something refers to. The finalizers
//! are the real guard; this tells the person before anything is marked for deletion.

use serde_json::Value;

use super::stored;
use crate::api::Kind;
use crate::api::phases::TenantPhase;
use crate::rules::id::RuleId;
use crate::rules::world::{Key, World};

/// How many names a refusal shows.
const SHOWN: usize = 3;

/// A deletion that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that refuses.
    pub rule: RuleId,
    /// What is in the way and what to do first. It never names a Tenant.
    pub message: String,
}

/// Judges the deletion of the stored `object`. None: nothing is in the way.
pub fn protect(kind: Kind, object: &Value, world: &dyn World) -> Option<Refusal> {
    if stored::is_deleting(object) {
        return None;
    }
    match kind {
        Kind::PostgreSQLDatabase => database(object, world),
        Kind::PostgreSQLInstance => instance(object, world),
        Kind::PostgreSQLTenant | Kind::SecretContract => None,
    }
}

fn database(object: &Value, world: &dyn World) -> Option<Refusal> {
    let uid = stored::uid(object);
    if uid.is_empty() || stored::release(object).is_some() {
        return None;
    }
    let in_use = world
        .having(Kind::PostgreSQLTenant, &Key::RecordedDatabase(uid.to_owned()))
        .any(|tenant| !stored::is_deleting(tenant));
    in_use.then(|| Refusal {
        rule: RuleId::DatabaseDeletion,
        message: format!(
            "PostgreSQLDatabase {:?} is bound and in use; delete the PostgreSQLTenant that spec.tenantRef names first, then \
             delete this one if its reclaim policy has kept it",
            stored::name(object)
        ),
    })
}

fn instance(object: &Value, world: &dyn World) -> Option<Refusal> {
    let name = stored::name(object);
    let on_instance = Key::Instance(name.to_owned());
    let databases: Vec<&str> =
        world.having(Kind::PostgreSQLDatabase, &on_instance).map(stored::name).collect();
    let tenants =
        world.having(Kind::PostgreSQLTenant, &on_instance).filter(|tenant| is_waiting(tenant, world)).count();
    if databases.is_empty() && tenants == 0 {
        return None;
    }
    let mut references = Vec::new();
    if !databases.is_empty() {
        let shown: Vec<String> = databases.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
        let more = if databases.len() > SHOWN { ", …" } else { "" };
        references.push(format!(
            "{} ({}{more})",
            count(databases.len(), "PostgreSQLDatabase"),
            shown.join(", ")
        ));
    }
    if tenants > 0 {
        references.push(format!("{} without a database yet", count(tenants, "PostgreSQLTenant")));
    }
    let message = format!(
        "PostgreSQLInstance {name:?} is still referred to by {}; delete them first",
        references.join(" and ")
    );
    Some(Refusal { rule: RuleId::InstanceDeletion, message })
}

/// Whether no Database stands yet for a Tenant that asks for one.
fn is_waiting(tenant: &Value, world: &dyn World) -> bool {
    !stored::is_deleting(tenant)
        && stored::phase(tenant) != TenantPhase::Lost.as_str()
        && stored::recorded_uid(tenant, "databaseRef").is_empty()
        && stored::database_of(tenant, world).is_none()
}

fn count(number: usize, kind: &str) -> String {
    if number == 1 { format!("1 {kind}") } else { format!("{number} {kind}s") }
}
