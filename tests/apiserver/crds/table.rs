//! Objects and edits that the rules in the definitions accept or refuse.

mod databases;
mod instances;
mod tenants;

use covenant::api::Kind;
use serde_json::{Value, json};

/// One line of the table.
pub struct Case {
    /// What is tried, for the message of a failure.
    pub what: &'static str,
    pub kind: Kind,
    /// Name of the object; without one it is made from the place in the table.
    pub name: Option<String>,
    pub spec: Value,
    /// Written to the status before the edit.
    pub status: Value,
    /// Merge patch of the stored object; without one the creation itself is judged.
    pub edit: Option<Value>,
    /// The faults that must be reported, no more and no less: field, and a part of the text. Empty = accepted.
    pub faults: Vec<(&'static str, &'static str)>,
}

/// A valid Instance's spec, changed by a merge patch.
pub fn instance(change: Value) -> Value {
    let spec = json!({
        "endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.10"},
        "adminCredentialRef": {"name": "admin"},
    });
    merged(spec, change)
}

/// A valid Database's spec, changed by a merge patch.
pub fn database(change: Value) -> Value {
    let spec = json!({
        "instanceRef": {"name": "main"}, "database": "orders", "loginRole": "orders_app", "source": "Provision",
    });
    merged(spec, change)
}

/// A valid Tenant's spec that asks for a new database, changed by a merge patch.
pub fn tenant(change: Value) -> Value {
    merged(json!({"provision": {"instanceRef": {"name": "main"}}}), change)
}

fn merged(mut value: Value, change: Value) -> Value {
    merge(&mut value, change);
    value
}

fn merge(value: &mut Value, change: Value) {
    let Value::Object(fields) = change else {
        *value = change;
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    for (name, change) in fields {
        if change.is_null() {
            value.as_object_mut().unwrap().remove(&name);
        } else {
            merge(&mut value[name], change);
        }
    }
}

fn case(what: &'static str, kind: Kind, spec: Value, faults: &[(&'static str, &'static str)]) -> Case {
    Case { what, kind, name: None, spec, status: json!({}), edit: None, faults: faults.to_vec() }
}

fn edit(
    what: &'static str,
    kind: Kind,
    spec: Value,
    edit: Value,
    faults: &[(&'static str, &'static str)],
) -> Case {
    Case { edit: Some(json!({ "spec": edit })), ..case(what, kind, spec, faults) }
}

impl Case {
    fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    fn with_status(self, status: Value) -> Self {
        Self { status, ..self }
    }

    /// The object's name, unlike that of any other line.
    pub fn object_name(&self, place: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("case{place}"))
    }
}

/// The whole table.
pub fn cases() -> Vec<Case> {
    let parts = [
        instances::cases(),
        databases::cases(),
        databases::edits(),
        tenants::cases(),
        tenants::names(),
        tenants::edits(),
    ];
    parts.into_iter().flatten().collect()
}
