//! What the API server itself holds of `metadata`: names, labels, annotations, and no field that it does not know.
//!
//! In a cluster no object that breaks these rules gets as far as Covenant, so webhook and controller do not ask here.
//! Whoever judges files does, because there nobody else has.

use serde_json::{Map, Value};

use super::field::FieldPath;
use super::finding::{Finding, Findings, Shown};
use super::id::RuleId;
use super::suggestion;
use crate::api::Kind;
use crate::format::name::{MAX_NAME_BYTES, dns_label, dns_subdomain, qualified_name};

/// The fields of `metadata` (`metav1.ObjectMeta`).
const FIELDS: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// The most bytes that all annotations of an object may have together, keys and values.
const MAX_ANNOTATION_BYTES: u64 = 256 << 10;
/// The longest value of a label, in bytes.
const MAX_LABEL_VALUE_BYTES: usize = 63;

/// Judges the `metadata` of an object of `kind`.
pub fn check(kind: Kind, object: &Value) -> Findings {
    let mut findings = Findings::new();
    let path = FieldPath::root("metadata");
    match object.get("metadata") {
        Some(Value::Object(metadata)) => {
            name(metadata, &path, &mut findings);
            if kind.namespaced() {
                namespace(metadata, &path, &mut findings);
            }
            labels(metadata, &path, &mut findings);
            annotations(metadata, &path, &mut findings);
            for field in metadata.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
                findings.push(unknown(&path, field));
            }
        }
        None | Some(Value::Null) => findings.push(nameless(&path)),
        Some(other) => findings.push(wrong_type(path, other, "object")),
    }
    findings
}

fn name(metadata: &Map<String, Value>, path: &FieldPath, findings: &mut Findings) {
    let generated = matches!(metadata.get("generateName"), Some(Value::String(prefix)) if !prefix.is_empty());
    let path_of_name = path.child("name");
    match metadata.get("name") {
        Some(Value::String(name)) if !name.is_empty() => {
            refuse_all(RuleId::ObjectName, &path_of_name, name, dns_subdomain(name), findings);
        }
        None | Some(Value::Null | Value::String(_)) if generated => {}
        None | Some(Value::Null | Value::String(_)) => findings.push(nameless(path)),
        Some(other) => findings.push(wrong_type(path_of_name, other, "string")),
    }
}

fn nameless(path: &FieldPath) -> Finding {
    Finding::required(RuleId::ObjectName, path.child("name"), "name or generateName is required")
}

fn namespace(metadata: &Map<String, Value>, path: &FieldPath, findings: &mut Findings) {
    let path = path.child("namespace");
    match metadata.get("namespace") {
        None | Some(Value::Null) => {}
        Some(Value::String(namespace)) if namespace.is_empty() => {}
        Some(Value::String(namespace)) => {
            refuse_all(RuleId::ObjectName, &path, namespace, dns_label(namespace), findings);
        }
        Some(other) => findings.push(wrong_type(path, other, "string")),
    }
}

fn labels(metadata: &Map<String, Value>, path: &FieldPath, findings: &mut Findings) {
    let path = path.child("labels");
    for (key, value) in texts(metadata.get("labels"), &path, findings) {
        refuse_all(RuleId::ObjectName, &path, key, qualified_name(key), findings);
        refuse_all(RuleId::ObjectName, &path, value, label_value(value), findings);
    }
}

fn annotations(metadata: &Map<String, Value>, path: &FieldPath, findings: &mut Findings) {
    let path = path.child("annotations");
    let mut bytes = 0;
    for (key, value) in texts(metadata.get("annotations"), &path, findings) {
        refuse_all(RuleId::ObjectName, &path, key, qualified_name(&key.to_lowercase()), findings);
        bytes += key.len() + value.len();
    }
    if bytes as u64 > MAX_ANNOTATION_BYTES {
        findings.push(Finding::too_long(RuleId::FieldBounds, path, bytes, MAX_ANNOTATION_BYTES, "byte"));
    }
}

/// The entries of a map of texts; what is none is refused.
fn texts<'a>(value: Option<&'a Value>, path: &FieldPath, findings: &mut Findings) -> Vec<(&'a str, &'a str)> {
    let entries = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(entries)) => entries,
        Some(other) => {
            findings.push(wrong_type(path.clone(), other, "object"));
            return Vec::new();
        }
    };
    let mut texts = Vec::new();
    for (key, value) in entries {
        match value {
            Value::String(text) => texts.push((key.as_str(), text.as_str())),
            Value::Null => texts.push((key.as_str(), "")),
            other => findings.push(wrong_type(path.entry(key.clone()), other, "string")),
        }
    }
    texts
}

/// The grammar of a label's value: empty, or a name of at most 63 bytes.
fn label_value(value: &str) -> Vec<String> {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut messages = Vec::new();
    if value.len() > MAX_LABEL_VALUE_BYTES {
        messages.push(format!("must be no more than {MAX_LABEL_VALUE_BYTES} characters"));
    }
    let named = ends(value.bytes().next()) && ends(value.bytes().last()) && value.bytes().all(inside);
    if !value.is_empty() && !named {
        messages.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
             for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    messages
}

fn refuse_all(rule: RuleId, path: &FieldPath, text: &str, messages: Vec<String>, findings: &mut Findings) {
    findings.extend(
        messages.into_iter().map(|message| Finding::invalid(rule, path.clone(), Shown::text(text), message)),
    );
}

fn unknown(path: &FieldPath, field: &str) -> Finding {
    let detail = match suggestion::nearest(field, FIELDS.into_iter()) {
        Some(nearest) => format!("unknown field; did you mean {nearest}?"),
        None => "unknown field".to_owned(),
    };
    // No name of a field is long; what stands here may be anything.
    let shown: String = field.chars().take(MAX_NAME_BYTES).collect();
    Finding::forbidden(RuleId::FieldUnknown, path.child(shown), detail)
}

fn wrong_type(path: FieldPath, value: &Value, wanted: &str) -> Finding {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let detail = format!("{path} must be of type {wanted}: \"{found}\"");
    Finding::type_invalid(RuleId::FieldType, path, Shown::text(found), detail).about(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(kind: Kind, metadata: &Value) -> Vec<String> {
        check(kind, &json!({ "metadata": metadata })).iter().map(Finding::line).collect()
    }

    #[test]
    fn what_a_cluster_would_take_passes() {
        for metadata in [
            json!({"name": "web"}),
            json!({"name": "web.v1", "namespace": "shop", "labels": {"a.example/b": "", "c": "1.x"}}),
            json!({"generateName": "web-", "annotations": {"Mixed.Example/Case": "any text\n"}}),
            json!({"name": "web", "labels": null, "finalizers": ["x/y"], "uid": "u", "managedFields": []}),
        ] {
            assert_eq!(lines(Kind::SecretContract, &metadata), [] as [&str; 0], "{metadata}");
        }
        // kubectl and API server drop the namespace of a cluster-scoped object.
        assert!(lines(Kind::PostgreSQLInstance, &json!({"name": "i", "namespace": "Any_Thing"})).is_empty());
    }

    #[test]
    fn what_a_cluster_would_refuse_is_named() {
        for (metadata, expected) in [
            (json!(null), "metadata.name: Required value: name or generateName is required"),
            (json!({"name": ""}), "metadata.name: Required value: name or generateName is required"),
            (
                json!("web"),
                "metadata: Invalid value: \"string\": metadata must be of type object: \"string\"",
            ),
            (
                json!({"name": 7}),
                "metadata.name: Invalid value: \"number\": metadata.name must be of type string",
            ),
            (
                json!({"name": "Web_1"}),
                "metadata.name: Invalid value: \"Web_1\": a lowercase RFC 1123 subdomain must",
            ),
            (
                json!({"name": "a", "namespace": "a.b"}),
                "metadata.namespace: Invalid value: \"a.b\": must not contain dots",
            ),
            (
                json!({"name": "a", "namespce": "b"}),
                "metadata.namespce: Forbidden: unknown field; did you mean namespace?",
            ),
            (json!({"name": "a", "labels": {"a": true}}), "metadata.labels[a]: Invalid value: \"boolean\": "),
            (
                json!({"name": "a", "labels": {"a/b/c": ""}}),
                "metadata.labels: Invalid value: \"a/b/c\": a valid label key",
            ),
            (
                json!({"name": "a", "labels": {"a": "-"}}),
                "metadata.labels: Invalid value: \"-\": a valid label must be",
            ),
            (json!({"name": "a", "annotations": ["x"]}), "metadata.annotations: Invalid value: \"array\": "),
            (
                json!({"name": "a", "annotations": {"a": "x".repeat(256 << 10)}}),
                "metadata.annotations: Too long: may not be more than 262144 bytes",
            ),
        ] {
            let lines = lines(Kind::SecretContract, &metadata);
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(lines[0].starts_with(expected), "{lines:?} does not start with {expected}");
        }
    }
}
