//! Pure rules: facts in, findings out. No clock, no I/O, no log.
//!
//! Three chains: SHAPE judges an object alone, TRANSITION the old and the new object (every fault that the stored
//! object already has is let through with a warning), STATE an object and the facts around it. Webhook, controller and
//! command line run the same ones; a rule is not told where it runs.

pub mod conditions;
pub mod facts;
pub mod field;
pub mod finding;
pub mod id;
pub mod limits;
pub mod metadata;
mod postgresql;
mod schema;
pub mod secret_contract;
mod suggestion;
pub mod text;
pub mod world;

use serde_json::Value;

use crate::api::Kind;
use field::FieldPath;
use finding::{Finding, Findings, Shown};
use id::RuleId;
pub use postgresql::protection;
use world::World;

/// What an installation decides by its flags and what no object says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The API versions in which ExternalSecrets are read.
    pub external_secret_api_versions: Vec<String>,
    /// Where an import's credential may lie: `MOUNT/PREFIX`. Empty: everywhere.
    pub credential_paths: Vec<String>,
}

impl Installation {
    /// Reads an entry of [`Installation::credential_paths`]: a mount and a path prefix, joined by `/`, as plain segments.
    ///
    /// # Errors
    /// A sentence that says what is right.
    pub fn credential_path(text: &str) -> Result<String, String> {
        let segments = text.split('/').collect::<Vec<_>>();
        let plain = segments
            .iter()
            .all(|segment| !segment.is_empty() && !matches!(*segment, "." | "..") && !segment.contains('%'));
        if segments.len() >= 2 && plain {
            Ok(text.to_owned())
        } else {
            Err("must be MOUNT/PREFIX, such as secret/teams, without empty, '.', '..' or encoded segments"
                .to_owned())
        }
    }
}

impl Default for Installation {
    fn default() -> Self {
        let versions = ["external-secrets.io/v1", "external-secrets.io/v1beta1"];
        Self {
            external_secret_api_versions: versions.map(str::to_owned).to_vec(),
            credential_paths: Vec::new(),
        }
    }
}

/// SHAPE: judges a whole object of `kind` as raw JSON, by the schema of its kind and by every rule beyond it. The
/// findings come in the order of the kind's fields.
pub fn shape(kind: Kind, object: &Value, installation: &Installation) -> Findings {
    let Some(fields) = object.as_object() else {
        let detail = "must be an object";
        let finding =
            Finding::type_invalid(RuleId::FieldType, FieldPath::root("metadata"), Shown::omitted(), detail);
        return std::iter::once(finding).collect();
    };
    let mut findings = schema::check(kind.schema(), fields);
    let order = match kind {
        Kind::SecretContract => {
            findings.extend(secret_contract::shape(object, installation));
            secret_contract::ORDER
        }
        Kind::PostgreSQLInstance => {
            findings.extend(postgresql::instance::shape(object));
            postgresql::instance::ORDER
        }
        Kind::PostgreSQLDatabase => {
            findings.extend(postgresql::database::shape(object, installation));
            postgresql::database::ORDER
        }
        Kind::PostgreSQLTenant => {
            findings.extend(postgresql::tenant::shape(object));
            postgresql::tenant::ORDER
        }
    };
    findings.in_document_order(order)
}

/// What is wrong with an object beside the other objects of `world`, and what an update may not do to `old`. Faults that
/// the stored object already has beside them are warnings. In the order of the kind's fields.
pub fn beside(kind: Kind, object: &Value, old: Option<&Value>, world: &dyn World) -> Findings {
    let mut findings = postgresql::among(kind, object, world);
    if let Some(old) = old {
        findings = findings.ratcheted(&postgresql::among(kind, old, world));
        findings.extend(postgresql::transition(kind, object, old, world));
    }
    findings.in_document_order(order(kind))
}

/// The fields of `kind`, in the order of its table.
pub const fn order(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::SecretContract => secret_contract::ORDER,
        Kind::PostgreSQLInstance => postgresql::instance::ORDER,
        Kind::PostgreSQLDatabase => postgresql::database::ORDER,
        Kind::PostgreSQLTenant => postgresql::tenant::ORDER,
    }
}

/// What a grammar says against a name. A text that is empty or longer than the schema allows is the schema's to refuse,
/// and is not judged twice.
fn grammar(text: &str, longest: usize, check: fn(&str) -> Vec<String>) -> Vec<String> {
    if text.is_empty() || text.chars().count() > longest { Vec::new() } else { check(text) }
}
