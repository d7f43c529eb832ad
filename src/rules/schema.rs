//! Judges a raw JSON object by the schema of its own custom resource definition, in the API server's words.
//!
//! The schema is the one place that holds types, required fields, enumerations, bounds and uniqueness; this module only
//! reads it, so that the command line and the controller say what the API server would have said. CEL rules are not
//! run here: the rules of each kind repeat them.

use std::collections::HashSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};

use super::field::FieldPath;
use super::finding::{Finding, Findings, Shown};
use super::id::RuleId;
use super::suggestion;
use crate::go::regexp;

/// Judges `object` by `schema`, the schema of the whole object. `metadata` is the API server's own and is left out.
/// A value of the wrong type ends the walk below it; everything beside it is still judged.
pub fn check(schema: &JSONSchemaProps, object: &Map<String, Value>) -> Findings {
    let mut findings = Findings::new();
    let properties = schema.properties.iter().flatten();
    for (name, field_schema) in properties {
        if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let path = FieldPath::root(name.clone());
        match present(object, name) {
            Some(value) => value_of(field_schema, value, &path, &mut findings),
            None if is_required(schema, name) => {
                findings.push(Finding::required(RuleId::FieldRequired, path, ""));
            }
            None => {}
        }
    }
    for name in object.keys() {
        let known = matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        if !known && schema.properties.as_ref().is_none_or(|known| !known.contains_key(name)) {
            findings.push(unknown(schema, FieldPath::root(name.clone()), name));
        }
    }
    findings
}

/// The value of a field; `null` is the same as absent, as the API server prunes it.
fn present<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

fn is_required(schema: &JSONSchemaProps, name: &str) -> bool {
    schema.required.iter().flatten().any(|required| required == name)
}

fn value_of(schema: &JSONSchemaProps, value: &Value, path: &FieldPath, findings: &mut Findings) {
    let Some(wanted) = schema.type_.as_deref() else { return };
    match (wanted, value) {
        ("object", Value::Object(fields)) => object_of(schema, fields, path, findings),
        ("array", Value::Array(items)) => array_of(schema, items, path, findings),
        ("string", Value::String(text)) => string_of(schema, text, path, findings),
        ("integer", Value::Number(number)) if is_integer(number) => number_of(schema, number, path, findings),
        ("number", Value::Number(number)) => number_of(schema, number, path, findings),
        ("boolean", Value::Bool(_)) => {}
        (wanted, value) => {
            // Of a fraction newer API servers speak in Go's words, where the schema names the size of the integer.
            let (wanted, found) = match (&schema.format, value) {
                (Some(format), Value::Number(_)) if wanted == "integer" => (format.as_str(), "float64"),
                _ => (wanted, type_name(value)),
            };
            let detail = format!("{path} in body must be of type {wanted}: \"{found}\"");
            let shown = Shown::text(found);
            findings.push(Finding::type_invalid(RuleId::FieldType, path.clone(), shown, detail).about(value));
        }
    }
}

fn is_integer(number: &serde_json::Number) -> bool {
    // 3.0 is an integer to the API server; 3.5 is not, nor is what a floating-point number no longer holds exactly.
    const EXACT: f64 = 9_007_199_254_740_991.0;
    number.is_i64() || number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() <= EXACT)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_integer(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object_of(
    schema: &JSONSchemaProps,
    fields: &Map<String, Value>,
    path: &FieldPath,
    findings: &mut Findings,
) {
    if let Some(properties) = &schema.properties {
        for (name, field_schema) in properties {
            match present(fields, name) {
                Some(value) => value_of(field_schema, value, &path.child(name.clone()), findings),
                None if is_required(schema, name) && field_schema.default.is_none() => {
                    findings.push(Finding::required(RuleId::FieldRequired, path.child(name.clone()), ""));
                }
                None => {}
            }
        }
    }
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(entry_schema)) => {
            for (key, value) in fields {
                value_of(entry_schema, value, &path.entry(key.clone()), findings);
            }
        }
        Some(JSONSchemaPropsOrBool::Bool(true)) => {}
        _ if schema.x_kubernetes_preserve_unknown_fields == Some(true) => {}
        _ => {
            for name in fields.keys() {
                if schema.properties.as_ref().is_none_or(|known| !known.contains_key(name)) {
                    findings.push(unknown(schema, path.child(name.clone()), name));
                }
            }
        }
    }
}

fn unknown(schema: &JSONSchemaProps, path: FieldPath, name: &str) -> Finding {
    let known = schema.properties.iter().flatten().map(|(known, _)| known.as_str());
    let detail = match suggestion::nearest(name, known) {
        Some(nearest) => format!("unknown field; did you mean {nearest}?"),
        None => "unknown field".to_owned(),
    };
    Finding::forbidden(RuleId::FieldUnknown, path, detail)
}

fn array_of(schema: &JSONSchemaProps, items: &[Value], path: &FieldPath, findings: &mut Findings) {
    if let Some(limit) = limit(schema.max_items)
        && items.len() as u64 > limit
    {
        findings.push(Finding::too_many(RuleId::FieldBounds, path.clone(), items.len(), limit));
    }
    if let Some(limit) = limit(schema.min_items)
        && (items.len() as u64) < limit
    {
        let detail = format!("{path} in body should have at least {limit} items");
        findings.push(Finding::invalid(RuleId::FieldBounds, path.clone(), Shown::plain(items.len()), detail));
    }
    let Some(JSONSchemaPropsOrArray::Schema(item_schema)) = &schema.items else { return };
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let identity = identity(schema, item);
        let item_path = match &identity {
            Some(identity) => path.keyed_item(index, identity.key.clone()),
            None => path.item(index),
        };
        if let Some(identity) = identity
            && !seen.insert(identity.key)
        {
            findings.push(Finding::duplicate(RuleId::ListItemUnique, item_path.clone(), identity.shown));
        }
        value_of(item_schema, item, &item_path, findings);
    }
}

/// What identifies an item of a set or a list-map.
struct Identity {
    key: String,
    shown: Shown,
}

fn identity(schema: &JSONSchemaProps, item: &Value) -> Option<Identity> {
    match schema.x_kubernetes_list_type.as_deref() {
        Some("set") => match item {
            Value::String(text) => Some(Identity { key: text.clone(), shown: Shown::text(text) }),
            _ => None,
        },
        Some("map") => {
            let item = item.as_object()?;
            let names = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
            let keys: Map<String, Value> = names
                .iter()
                .map(|name| Some((name.clone(), present(item, name)?.clone())))
                .collect::<Option<_>>()?;
            let key = match keys.values().next() {
                Some(Value::String(only)) if keys.len() == 1 => only.clone(),
                _ => Value::Object(keys.clone()).to_string(),
            };
            Some(Identity { key, shown: Shown::json(&Value::Object(keys)) })
        }
        _ => None,
    }
}

fn string_of(schema: &JSONSchemaProps, text: &str, path: &FieldPath, findings: &mut Findings) {
    if let Some(values) = &schema.enum_ {
        let supported: Vec<&str> = values.iter().filter_map(|value| value.0.as_str()).collect();
        if !supported.contains(&text) {
            let shown = Shown::text(text);
            findings.push(Finding::not_supported(RuleId::FieldEnum, path.clone(), shown, &supported));
            return;
        }
    }
    let length = text.chars().count();
    if let Some(limit) = limit(schema.max_length)
        && length as u64 > limit
    {
        // The API server counts code points here and says bytes.
        findings.push(Finding::too_long(RuleId::FieldBounds, path.clone(), length, limit, "byte"));
    }
    if let Some(limit) = limit(schema.min_length)
        && (length as u64) < limit
    {
        let detail = format!("{path} in body should be at least {limit} chars long");
        findings.push(Finding::invalid(RuleId::FieldBounds, path.clone(), Shown::text(text), detail));
    }
    if let Some(pattern) = &schema.pattern
        && !matches(pattern, text)
    {
        let detail = format!("{path} in body should match '{pattern}'");
        findings.push(Finding::invalid(RuleId::FieldPattern, path.clone(), Shown::text(text), detail));
    }
}

/// The API server's patterns are Go's. One that cannot be judged within the budget does not refuse.
fn matches(pattern: &str, text: &str) -> bool {
    match regexp::Program::compile(pattern) {
        Ok(program) => program.is_match(text.as_bytes(), &mut regexp::Budget::default()).unwrap_or(true),
        Err(_) => true,
    }
}

fn number_of(
    schema: &JSONSchemaProps,
    number: &serde_json::Number,
    path: &FieldPath,
    findings: &mut Findings,
) {
    let Some(value) = number.as_f64() else { return };
    let mut refuse = |words: &str, bound: f64| {
        let detail = format!("{path} in body should be {words} {bound}");
        findings.push(Finding::invalid(RuleId::FieldBounds, path.clone(), Shown::plain(number), detail));
    };
    match schema.minimum {
        Some(minimum) if value < minimum => refuse("greater than or equal to", minimum),
        _ => {}
    }
    match schema.maximum {
        Some(maximum) if value > maximum => refuse("less than or equal to", maximum),
        _ => {}
    }
}

fn limit(bound: Option<i64>) -> Option<u64> {
    bound.and_then(|bound| u64::try_from(bound).ok())
}
