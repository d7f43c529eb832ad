//! Claims beside each other: judged over the whole input, when all of it is read. What is not given is not judged.

use serde_json::{Value, json};

use super::judge::described;
use super::report::{Entry, Verdict};
use crate::api::Kind;
use crate::cli::input::yaml::Node;
use crate::rules;
use crate::rules::world::Objects;

/// The objects of the PostgreSQL kinds in the input.
#[derive(Default)]
pub struct Claims(Vec<Claim>);

struct Claim {
    /// Which entry of the report is about it.
    entry: usize,
    kind: Kind,
    object: Value,
    old: Option<Value>,
    node: Node,
}

impl Claims {
    /// Takes an object in `namespace` (empty for a kind without) with its former version.
    pub fn add(
        &mut self,
        entry: usize,
        kind: Kind,
        namespace: &str,
        mut object: Value,
        mut old: Option<Value>,
        node: Node,
    ) {
        for object in std::iter::once(&mut object).chain(&mut old) {
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            if let Some(metadata) = metadata.filter(|_| !namespace.is_empty()) {
                metadata.insert("namespace".to_owned(), json!(namespace));
            }
        }
        if let Some(old) = &old {
            keep_identity(&mut object, old);
        }
        self.0.push(Claim { entry, kind, object, old, node });
    }

    /// Judges every object and adds what is found to its entry.
    pub fn judge(&self, entries: &mut [Option<Entry>]) {
        let mut world = Objects::new();
        for claim in &self.0 {
            world.insert(claim.kind, claim.object.clone());
        }
        for claim in &self.0 {
            // An entry that is gone belonged to an earlier version of the same object.
            let Some(Some(entry)) = entries.get_mut(claim.entry) else { continue };
            let findings = rules::beside(claim.kind, &claim.object, claim.old.as_ref(), &world);
            if findings.has_errors() {
                entry.verdict = Some(Verdict::Invalid);
            }
            entry.findings.extend(described(&findings, &claim.node));
        }
    }
}

/// A manifest has neither UID nor status: the stored object keeps its own.
fn keep_identity(object: &mut Value, old: &Value) {
    if object.get("status").is_none_or(Value::is_null)
        && let (Some(object), Some(status)) = (object.as_object_mut(), old.get("status"))
    {
        object.insert("status".to_owned(), status.clone());
    }
    let uid = old.pointer("/metadata/uid");
    if let (Some(metadata), Some(uid)) = (object.get_mut("metadata").and_then(Value::as_object_mut), uid) {
        metadata.entry("uid").or_insert_with(|| uid.clone());
    }
}
