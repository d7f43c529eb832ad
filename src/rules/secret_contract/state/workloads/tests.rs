//! Tables of pod templates and what the contract must say of them.

mod environment;
mod files;
mod order;
mod selection;
mod verdict;

use serde_json::{Value, json};

use super::*;

/// A variable that is set from a key of the contract's Secret.
fn from_key(variable: &str, key: &str) -> Value {
    json!({"name": variable, "valueFrom": {"secretKeyRef": {"name": "web", "key": key}}})
}

/// As [`from_key`], with `optional: true`.
fn from_optional_key(variable: &str, key: &str) -> Value {
    json!({"name": variable, "valueFrom": {"secretKeyRef": {"name": "web", "key": key, "optional": true}}})
}

fn literal(variable: &str, value: &str) -> Value {
    json!({"name": variable, "value": value})
}

/// Every key of the contract's Secret.
fn all() -> Value {
    json!({"secretRef": {"name": "web"}})
}

fn all_with_prefix(prefix: &str) -> Value {
    json!({"secretRef": {"name": "web"}, "prefix": prefix})
}

/// Every key of a ConfigMap that nobody looks into.
fn others() -> Value {
    json!({"configMapRef": {"name": "other"}})
}

fn workload(pod: &Value) -> Lookup<WorkloadFacts> {
    let object =
        json!({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": pod}}});
    Lookup::Found(WorkloadFacts::of_object(&object))
}

/// The spec of a contract with these keys and one reference with these fields beside its name.
fn spec(keys: &Value, mut reference: Value) -> Value {
    reference["apiVersion"] = json!("apps/v1");
    reference["kind"] = json!("Deployment");
    reference["name"] = json!("web");
    json!({"secretRef": {"name": "web"}, "requiredKeys": keys, "workloadRefs": [reference]})
}

fn judged(keys: &Value, reference: Value, pod: &Value) -> Workloads {
    let spec = spec(keys, reference);
    let judged = judge(&EffectiveContract::of_spec(Some(&spec)), &[workload(pod)]);
    check(&judged);
    judged
}

/// What holds for every outcome.
fn check(judged: &Workloads) {
    let message = &judged.verdict.message;
    assert!(!message.is_empty() && message.len() <= MAX_MESSAGE_BYTES, "{message}");
    for finding in &judged.findings {
        assert!(finding.message.starts_with(&format!("{} \"{}\"", finding.kind, finding.name)));
        assert!(finding.message.ends_with('.') || finding.message.ends_with('…'), "{}", finding.message);
        assert!(finding.message.len() <= MAX_MESSAGE_BYTES);
        let keyless = matches!(
            finding.reason,
            WorkloadFindingReason::ContainerNotFound | WorkloadFindingReason::InitContainerNotIncluded
        );
        assert_eq!(finding.key.is_none(), keyless);
    }
    let is_missing = judged.verdict.reason == ContractReason::ReferenceMissing;
    assert_eq!(!judged.findings.is_empty(), is_missing, "{message}");
}

/// Each finding as `container key Reason`, and `note` where the message has one.
fn told(judged: &Workloads) -> Vec<String> {
    let words = judged.findings.iter().map(|finding| {
        let key = finding.key.as_deref().unwrap_or("-");
        format!("{} {key} {}", finding.container, finding.reason)
    });
    words.chain(judged.verdict.message.contains("Note: ").then(|| "note".to_owned())).collect()
}
