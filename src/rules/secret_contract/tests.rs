//! SHAPE of SecretContract, as a table: what stands in the object, and the lines a person reads.

use serde_json::{Value, json};

use crate::api::kind::Kind;
use crate::rules::finding::{Findings, Severity};
use crate::rules::{Installation, shape};

fn contract(spec: Value) -> Value {
    json!({"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

fn judge(spec: Value) -> Findings {
    shape(Kind::SecretContract, &contract(spec), &Installation::default())
}

fn lines(findings: &Findings) -> Vec<String> {
    findings.errors().map(crate::rules::finding::Finding::line).collect()
}

/// A contract with one key of these fields.
fn key(fields: Value) -> Value {
    let mut key = json!({"name": "a"});
    key.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"secretRef": {"name": "s"}, "requiredKeys": [key]})
}

#[test]
fn the_seeds_own_example_is_good() {
    let findings = judge(json!({
        "secretRef": {"name": "payments-api-secrets"},
        "requiredKeys": [
            {"name": "DB_USERNAME", "required": true, "nonEmpty": true},
            {"name": "DB_PASSWORD", "required": true, "minLength": 16, "maxLength": 256},
            {"name": "provider.json", "envName": "PROVIDER_CONFIG", "required": true, "format": "JSON"}],
        "externalSecretRef": {"name": "payments-api-secrets", "apiVersion": "external-secrets.io/v1"},
        "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "payments-api",
            "containers": ["api"], "includeInitContainers": false, "consumption": "EnvVars"}],
        "injection": {"mode": "Disabled"},
        "rotation": {"restartOnChange": false, "maxAge": "720h",
            "rotatedAtAnnotation": "secrets.codepop.tech/rotated-at"},
        "policy": {"requireExternalSecretReady": true, "requireWorkloadReference": true,
            "requireRotationPolicy": false}}));
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn five_faults_that_no_schema_sees_come_in_one_answer() {
    let findings = judge(json!({
        "secretRef": {"name": "s"},
        "requiredKeys": [
            {"name": "a", "envName": "9BAD", "minLength": 32, "maxLength": 16},
            {"name": "b", "envName": "TOKEN", "pattern": "(unclosed"},
            {"name": "c", "envName": "TOKEN"}],
        "policy": {"requireRotationPolicy": true}}));
    let lines = lines(&findings);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines[0].starts_with(
        "spec.requiredKeys[0].maxLength: Invalid value: 16: must be greater than or equal to minLength (32)"
    ));
    assert!(lines[1].starts_with("spec.requiredKeys[0].envName: Invalid value: \"9BAD\": a portable"));
    assert_eq!(
        lines[2],
        "spec.requiredKeys[1].pattern: Invalid value: \"(unclosed\": must be a Go regular expression: \
         error parsing regexp: missing closing ): `(unclosed`"
    );
    assert_eq!(lines[3], "spec.requiredKeys[2].envName: Duplicate value: \"TOKEN\"");
    assert_eq!(lines[4], "spec.rotation.maxAge: Required value: required by policy.requireRotationPolicy");
}

#[test]
fn a_wrong_type_hides_nothing_beside_it() {
    let findings = judge(json!({
        "secretRef": {"name": "Not_A_Name"},
        "requiredKeys": [
            {"name": "a", "minLength": "16", "format": "XML", "envName": "1"},
            {"name": "a", "minLenght": 3},
            "b"],
        "workloadRefs": {}}));
    let lines = lines(&findings);
    assert_eq!(
        lines[1..],
        [
            "spec.requiredKeys[0].minLength: Invalid value: \"string\": spec.requiredKeys[0].minLength in body must be \
             of type integer: \"string\"",
            "spec.requiredKeys[0].format: Unsupported value: \"XML\": supported values: \"None\", \"JSON\", \"URI\", \"PEM\"",
            "spec.requiredKeys[0].envName: Invalid value: \"1\": a portable environment variable name must consist of \
             letters, digits or '_', and must not start with a digit (e.g. 'MY_NAME',  or '_name', regex used for \
             validation is '[A-Za-z_][A-Za-z0-9_]*')",
            "spec.requiredKeys[1]: Duplicate value: {\"name\":\"a\"}",
            "spec.requiredKeys[1].minLenght: Forbidden: unknown field; did you mean minLength?",
            "spec.requiredKeys[2]: Invalid value: \"string\": spec.requiredKeys[2] in body must be of type object: \"string\"",
            "spec.workloadRefs: Invalid value: \"object\": spec.workloadRefs in body must be of type array: \"object\"",
        ],
        "{lines:#?}"
    );
    assert!(
        lines[0].starts_with(
            "spec.secretRef.name: Invalid value: \"Not_A_Name\": a lowercase RFC 1123 subdomain"
        )
    );
}

#[test]
fn each_rule_refuses_and_accepts() {
    // (spec, the faults' beginnings)
    let table: Vec<(Value, &[&str])> = vec![
        (json!({}), &["spec.secretRef: Required value"]),
        (
            key(json!({"maxLength": 0})),
            &["spec.requiredKeys[0].maxLength: Invalid value: 0: must be at least 1"],
        ),
        (key(json!({"maxLength": 0, "nonEmpty": false})), &[]),
        (key(json!({"minLength": 5, "maxLength": 5})), &[]),
        (key(json!({"minLength": -1})), &["spec.requiredKeys[0].minLength: Invalid value: -1: "]),
        (key(json!({"maxLength": 1_048_577})), &["spec.requiredKeys[0].maxLength: Invalid value: 1048577: "]),
        (key(json!({"pattern": ""})), &["spec.requiredKeys[0].pattern: Invalid value: \"\": "]),
        (
            key(json!({"pattern": "é".repeat(600)})),
            &["spec.requiredKeys[0].pattern: Too long: may not be more than 1024 bytes"],
        ),
        (
            key(json!({"pattern": "x".repeat(1025)})),
            &["spec.requiredKeys[0].pattern: Too long: may not be more than 1024 bytes"],
        ),
        (key(json!({"pattern": r"^\d+$"})), &[]),
        (key(json!({"name": ".."})), &["spec.requiredKeys[0].name: Invalid value: \"..\": must not be '..'"]),
        (
            key(json!({"name": "a/b"})),
            &["spec.requiredKeys[0].name: Invalid value: \"a/b\": a valid config key"],
        ),
        (
            key(json!({"envName": "A".repeat(254)})),
            &["spec.requiredKeys[0].envName: Too long: may not be more than 253 bytes"],
        ),
        (key(json!({"required": false, "envName": "A"})), &[]),
        (
            json!({"secretRef": {"name": "s"}, "injection": {"mode": "Volume"}}),
            &["spec.injection.mode: Invalid value: \"Volume\": must be Disabled in this version"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"restartOnChange": true, "maxAge": "1h"}}),
            &["spec.rotation.restartOnChange: Invalid value: true: must be false in this version"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "30d"}}),
            &[
                "spec.rotation.maxAge: Invalid value: \"30d\": must be a Go duration (e.g. '720h'): time: unknown unit \"d\"",
            ],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "0.9ns"}}),
            &["spec.rotation.maxAge: Invalid value: \"0.9ns\": must be greater than 0"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "-1h"}}),
            &["spec.rotation.maxAge: Invalid value: \"-1h\": must be greater than 0"],
        ),
        (json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "87600h"}}), &[]),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "87600h1ns"}}),
            &["spec.rotation.maxAge: Invalid value: \"87600h1ns\": must be less than"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"rotatedAtAnnotation": "example.com/at"}}),
            &["spec.rotation.rotatedAtAnnotation: Forbidden: may not be set without maxAge"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "1h", "rotatedAtAnnotation": "at"}}),
            &["spec.rotation.rotatedAtAnnotation: Invalid value: \"at\": must have a prefix"],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "1h", "rotatedAtAnnotation": "apps.k8s.io/at"}}),
            &[
                "spec.rotation.rotatedAtAnnotation: Invalid value: \"apps.k8s.io/at\": must not be in the domain k8s.io",
            ],
        ),
        (
            json!({"secretRef": {"name": "s"}, "rotation": {"maxAge": "1h", "rotatedAtAnnotation": "notk8s.io/at"}}),
            &[],
        ),
        (
            json!({"secretRef": {"name": "s"}, "externalSecretRef": {"name": "e", "apiVersion": "external-secrets.io/v2"}}),
            &[
                "spec.externalSecretRef.apiVersion: Unsupported value: \"external-secrets.io/v2\": supported values: \"external-secrets.io/v1\", \"external-secrets.io/v1beta1\"",
            ],
        ),
        (
            json!({"secretRef": {"name": "s"}, "policy": {"requireExternalSecretReady": true, "requireWorkloadReference": true}, "workloadRefs": []}),
            &[
                "spec.externalSecretRef: Required value: required by policy.requireExternalSecretReady",
                "spec.workloadRefs: Required value: required by policy.requireWorkloadReference",
            ],
        ),
    ];
    for (spec, expected) in table {
        let found = lines(&judge(spec.clone()));
        assert_eq!(found.len(), expected.len(), "{spec}: {found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{spec}: {found}");
        }
    }
}

#[test]
fn an_implicit_variable_clashes_with_an_explicit_one() {
    let keys =
        |first: Value, second: Value| json!({"secretRef": {"name": "s"}, "requiredKeys": [first, second]});
    let clash = ["spec.requiredKeys[0].envName: Duplicate value: \"TOKEN\""];
    assert_eq!(
        lines(&judge(keys(json!({"name": "a", "envName": "TOKEN"}), json!({"name": "TOKEN"})))),
        clash
    );
    let moved = json!({"name": "TOKEN", "envName": "OTHER"});
    assert!(judge(keys(json!({"name": "a", "envName": "TOKEN"}), moved)).is_empty());
}

#[test]
fn a_key_that_is_no_variable_is_a_warning_where_variables_are_consumed() {
    let spec = |consumption: &str| {
        json!({"secretRef": {"name": "s"}, "requiredKeys": [{"name": "provider.json"}],
            "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "consumption": consumption}]})
    };
    let findings = judge(spec("EnvVars"));
    assert_eq!(findings.iter().map(|finding| finding.severity).collect::<Vec<_>>(), [Severity::Warning]);
    assert!(judge(spec("Volume")).is_empty());
}

#[test]
fn an_old_fault_passes_with_a_warning_and_a_new_one_does_not() {
    let stored = judge(json!({"secretRef": {"name": "s"}, "requiredKeys": [
        {"name": "a", "envName": "9BAD"}, {"name": "b", "minLength": 5, "maxLength": 1}]}));
    // The faulty items have moved, one is mended, the other has changed.
    let edited = judge(json!({"secretRef": {"name": "s"}, "requiredKeys": [
        {"name": "new"}, {"name": "b", "minLength": 6, "maxLength": 1}, {"name": "a", "envName": "9BAD"}]}));
    let ratcheted = edited.ratcheted(&stored);
    assert_eq!(lines(&ratcheted).len(), 1);
    assert!(lines(&ratcheted)[0].starts_with("spec.requiredKeys[1].maxLength: Invalid value: 1: "));
    assert_eq!(ratcheted.warnings().count(), 1);
}

#[test]
fn a_count_that_is_over_its_limit_may_shrink_but_not_grow() {
    let keys = |count: usize| {
        let keys: Vec<Value> = (0..count).map(|number| json!({"name": format!("k{number}")})).collect();
        judge(json!({"secretRef": {"name": "s"}, "requiredKeys": keys}))
    };
    assert!(keys(256).is_empty());
    assert_eq!(lines(&keys(300)), ["spec.requiredKeys: Too many: 300: must have at most 256 items"]);
    assert!(!keys(299).ratcheted(&keys(300)).has_errors());
    assert!(keys(301).ratcheted(&keys(300)).has_errors());
}

#[test]
fn whatever_stands_for_an_object_is_judged_without_a_panic() {
    for object in [
        json!(null),
        json!([]),
        json!("x"),
        json!({}),
        json!({"spec": []}),
        json!({"spec": "x", "status": 1}),
    ] {
        assert!(shape(Kind::SecretContract, &object, &Installation::default()).has_errors(), "{object}");
    }
}
