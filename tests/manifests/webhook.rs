//! That the API server is told to ask the webhook about our own kinds, and about nothing else. A configuration that asks
//! about more could hold up other people's objects: it must not pass here.

use serde_json::{Value, json};

use crate::support::{documents, list, strings, text, with, without};

const CONTRACT: &str = "contract.secrets.codepop.tech";
const CLAIM: &str = "claim.database.ayatori.ddupan.top";
const PROTECT: &str = "protect.database.ayatori.ddupan.top";

/// What one entry may ask about: its path, operations, group and resources.
fn allowed(
    entry: &str,
) -> Option<(&'static str, &'static [&'static str], &'static str, &'static [&'static str])> {
    match entry {
        CONTRACT => Some(("/validate", &["CREATE", "UPDATE"], "secrets.codepop.tech", &["secretcontracts"])),
        CLAIM => Some((
            "/validate",
            &["CREATE", "UPDATE"],
            "database.ayatori.ddupan.top",
            &["postgresqldatabases", "postgresqlinstances", "postgresqltenants"],
        )),
        PROTECT => Some((
            "/protect",
            &["DELETE"],
            "database.ayatori.ddupan.top",
            &["postgresqldatabases", "postgresqlinstances"],
        )),
        _ => None,
    }
}

/// Everything that is wrong with a webhook configuration, one sentence each.
fn faults(configuration: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if text(configuration, "/metadata/name") != "covenant" {
        faults.push("the configuration is not called covenant".to_owned());
    }
    let entries = list(configuration, "/webhooks");
    let names: Vec<&str> = entries.iter().map(|entry| text(entry, "/name")).collect();
    if names != [CONTRACT, CLAIM, PROTECT] {
        faults.push(format!("its entries are {names:?}"));
    }
    for entry in entries {
        let name = text(entry, "/name");
        faults.extend(faults_of_entry(entry).into_iter().map(|fault| format!("{name}: {fault}")));
    }
    faults
}

fn faults_of_entry(entry: &Value) -> Vec<String> {
    let Some((path, operations, group, resources)) = allowed(text(entry, "/name")) else {
        return vec!["is unknown".to_owned()];
    };
    let mut faults = Vec::new();
    let mut expect = |pointer: &str, expected: Value| {
        let found = entry.pointer(pointer).cloned().unwrap_or_default();
        if found != expected {
            faults.push(format!("{pointer} is {found}, not {expected}"));
        }
    };
    expect("/clientConfig/service/name", json!("covenant-webhook"));
    expect("/clientConfig/service/namespace", json!("covenant-system"));
    expect("/clientConfig/service/path", json!(path));
    expect("/clientConfig/service/port", json!(443));
    expect("/clientConfig/url", Value::Null);
    expect("/clientConfig/caBundle", Value::Null);
    expect("/admissionReviewVersions", json!(["v1"]));
    expect("/failurePolicy", json!("Ignore"));
    expect("/matchPolicy", json!("Equivalent"));
    expect("/sideEffects", json!("None"));
    expect("/timeoutSeconds", json!(5));
    expect("/namespaceSelector", Value::Null);
    expect("/objectSelector", Value::Null);
    // An unchanged spec must pass with the webhook away; a deletion has no new spec to compare.
    let condition = "request.operation != 'UPDATE' || object.?spec != oldObject.?spec";
    let conditions = json!([{"name": "spec-changes", "expression": condition}]);
    expect("/matchConditions", if path == "/validate" { conditions } else { Value::Null });

    let mut asked: Vec<String> = Vec::new();
    for rule in list(entry, "/rules") {
        let scope = text(rule, "/scope");
        for (pointer, expected) in [
            ("/apiGroups", vec![group]),
            ("/apiVersions", vec!["v1alpha1"]),
            ("/operations", operations.to_vec()),
        ] {
            if strings(rule, pointer) != expected {
                faults.push(format!("{pointer} is {:?}", strings(rule, pointer)));
            }
        }
        for resource in strings(rule, "/resources") {
            let namespaced = matches!(resource.as_str(), "secretcontracts" | "postgresqltenants");
            if scope != if namespaced { "Namespaced" } else { "Cluster" } {
                faults.push(format!("scope {scope} for {resource}"));
            }
            asked.push(resource);
        }
    }
    asked.sort();
    if asked != resources {
        faults.push(format!("asks about {asked:?}, not {resources:?}"));
    }
    faults
}

fn shipped() -> Value {
    let found: Vec<_> = documents("webhook")
        .into_iter()
        .filter(|document| document.kind() == "ValidatingWebhookConfiguration")
        .collect();
    let [document] = found.as_slice() else { panic!("one configuration, found {}", found.len()) };
    document.value.clone()
}

#[test]
fn the_shipped_configuration_asks_about_our_kinds_alone() {
    assert_eq!(faults(&shipped()), Vec::<String>::new());
}

#[test]
fn there_is_no_mutating_webhook_and_no_second_configuration() {
    for folder in ["webhook", "controller", "rbac", "policies", "namespace"] {
        for document in documents(folder) {
            assert_ne!(document.kind(), "MutatingWebhookConfiguration", "{}", document.file);
        }
    }
}

#[test]
fn a_wider_or_weaker_configuration_is_found_out() {
    let shipped = shipped();
    let worse = [
        with(&shipped, "/webhooks/0/rules/0/apiGroups", json!(["*"])),
        with(&shipped, "/webhooks/0/rules/0/apiGroups/-", json!("apps")),
        with(&shipped, "/webhooks/0/rules/0/apiVersions", json!(["*"])),
        with(&shipped, "/webhooks/0/rules/0/resources", json!(["*"])),
        with(&shipped, "/webhooks/0/rules/0/resources", json!(["*/*"])),
        with(&shipped, "/webhooks/0/rules/0/resources/-", json!("secretcontracts/status")),
        with(&shipped, "/webhooks/0/rules/0/resources/-", json!("secretcontracts/*")),
        with(&shipped, "/webhooks/0/rules/0/operations", json!(["*"])),
        with(&shipped, "/webhooks/0/rules/0/operations/-", json!("DELETE")),
        with(&shipped, "/webhooks/0/rules/0/operations/-", json!("CONNECT")),
        with(&shipped, "/webhooks/0/rules/0/scope", json!("*")),
        with(
            &shipped,
            "/webhooks/0/rules/-",
            json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"], "scope": "Namespaced"}),
        ),
        with(&shipped, "/webhooks/1/rules/1/resources/-", json!("pods")),
        with(&shipped, "/webhooks/1/rules/0/operations/-", json!("DELETE")),
        with(&shipped, "/webhooks/2/rules/0/resources/-", json!("postgresqltenants")),
        with(&shipped, "/webhooks/2/failurePolicy", json!("Fail")),
        without(&shipped, "/webhooks/0/failurePolicy"),
        with(&shipped, "/webhooks/0/timeoutSeconds", json!(30)),
        without(&shipped, "/webhooks/0/timeoutSeconds"),
        with(&shipped, "/webhooks/0/sideEffects", json!("NoneOnDryRun")),
        with(&shipped, "/webhooks/0/matchPolicy", json!("Exact")),
        with(&shipped, "/webhooks/0/namespaceSelector", json!({"matchLabels": {"check": "yes"}})),
        with(&shipped, "/webhooks/0/objectSelector", json!({"matchLabels": {"check": "yes"}})),
        without(&shipped, "/webhooks/1/matchConditions"),
        with(
            &shipped,
            "/webhooks/1/matchConditions/0/expression",
            json!("!has(object.metadata.deletionTimestamp)"),
        ),
        with(&shipped, "/webhooks/1/matchConditions/-", json!({"name": "more", "expression": "true"})),
        with(&shipped, "/webhooks/0/clientConfig/service/path", json!("/")),
        with(&shipped, "/webhooks/2/clientConfig/service/path", json!("/validate")),
        with(&shipped, "/webhooks/0/clientConfig", json!({"url": "https://elsewhere.example.com/validate"})),
        with(&shipped, "/webhooks/0/clientConfig/caBundle", json!("Y2VydGlmaWNhdGU=")),
        with(&shipped, "/webhooks/0/name", json!("other.secrets.codepop.tech")),
        with(&shipped, "/webhooks/-", json!({"name": "more.secrets.codepop.tech"})),
        with(&shipped, "/metadata/name", json!("covenant-2")),
    ];
    for (index, configuration) in worse.iter().enumerate() {
        assert!(!faults(configuration).is_empty(), "worse copy {index} passed");
    }
}
