//! The webhook behind a real API server, as people meet it through kubectl.

use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::installation::{Installation, installation, shipped};
use crate::support::{COVENANT, Finished as _};

/// Tests that take the webhook away hold this, and so do those that need it.
static WEBHOOK: Mutex<()> = Mutex::new(());

fn with_webhook() -> (std::sync::MutexGuard<'static, ()>, &'static Installation) {
    let guard = WEBHOOK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    (guard, installation())
}

fn contract(namespace: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": name, "namespace": namespace}, "spec": spec})
}

/// The five lines of the sample with five faults, without what differs between forms of printing.
fn five_faults() -> Vec<String> {
    let portable = "a portable environment variable name must consist of letters, digits or '_', and must not start with \
                    a digit (e.g. 'MY_NAME',  or '_name', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";
    vec![
        format!("spec.requiredKeys[0].envName: Invalid value: \"9-USERNAME\": {portable}"),
        "spec.requiredKeys[2].envName: Duplicate value: \"DB_PASSWORD\"".to_owned(),
        "spec.requiredKeys[3].maxLength: Invalid value: 32: must be greater than or equal to minLength (64)".to_owned(),
        "spec.requiredKeys[4].pattern: Invalid value: \"(https\": must be a Go regular expression: error parsing regexp: \
         missing closing ): `(https`"
            .to_owned(),
        "spec.externalSecretRef: Required value: required by policy.requireExternalSecretReady".to_owned(),
    ]
}

#[test]
fn five_faults_are_five_lines() {
    let (_guard, covenant) = with_webhook();
    let file = shipped("samples/refused/contract-five-faults.yaml");
    for arguments in [
        &["apply", "--dry-run=server", "-f", &file][..],
        &["create", "-f", &file],
        &["apply", "--server-side", "-f", &file],
    ] {
        let printed = covenant.kubectl(arguments).failure();
        let lines: Vec<String> = five_faults().iter().map(|line| format!("* {line}")).collect();
        let expected = format!("The SecretContract \"five-faults\" is invalid: \n{}\n", lines.join("\n"));
        assert_eq!(printed, expected, "{arguments:?}");
    }
}

#[test]
fn two_failing_objects_have_all_faults_in_one_message_each() {
    let (_guard, covenant) = with_webhook();
    let one = std::fs::read_to_string(shipped("samples/refused/contract-five-faults.yaml")).unwrap();
    let two = one.replace("name: five-faults", "name: five-more");
    let printed = covenant
        .kubectl_with_input(&["apply", "--dry-run=server", "-f", "-"], &format!("{one}---\n{two}"))
        .failure();
    for name in ["five-faults", "five-more"] {
        let message = format!(
            "admission webhook \"contract.secrets.codepop.tech\" denied the request: \
             SecretContract.secrets.codepop.tech \"{name}\" is invalid: [{}]",
            five_faults().join(", ")
        );
        assert!(printed.contains(&message), "{printed}");
    }
    assert_eq!(printed.trim_end().lines().count(), 2, "{printed}");
}

#[test]
fn the_schema_answers_first_and_the_command_line_says_everything() {
    let (_guard, covenant) = with_webhook();
    let file = shipped("samples/refused/contract-seven-faults.yaml");
    let printed = covenant.kubectl(&["apply", "--dry-run=server", "-f", &file]).failure();
    assert!(
        printed
            .contains("Unsupported value: \"XML\": supported values: \"None\", \"JSON\", \"URI\", \"PEM\""),
        "{printed}"
    );
    assert!(!printed.contains("DB_PASSWORD"), "the webhook was not asked: {printed}");
    let checked = Command::new(COVENANT).args(["check", "-o", "json", &file]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let findings = report["results"][0]["findings"].as_array().unwrap();
    let errors: Vec<&Value> = findings.iter().filter(|finding| finding["severity"] == "error").collect();
    assert!(errors.len() >= 7, "{report:#}");
    // What the command line says of these two is what the API server says.
    for finding in errors.iter().filter(|finding| {
        ["FieldEnum", "enum"].iter().any(|word| finding["reason"].as_str().unwrap_or_default().contains(word))
    }) {
        let line =
            format!("{}: {}", finding["field"].as_str().unwrap(), finding["message"].as_str().unwrap());
        assert!(printed.contains(&line), "{line} is not in {printed}");
    }
}

#[test]
fn good_objects_pass_and_every_refused_sample_is_refused() {
    let (_guard, covenant) = with_webhook();
    for entry in std::fs::read_dir(shipped("samples/accepted")).unwrap() {
        let file = entry.unwrap().path().display().to_string();
        covenant.kubectl(&["apply", "--dry-run=server", "-f", &file]).success();
    }
    for entry in std::fs::read_dir(shipped("samples/refused")).unwrap() {
        let file = entry.unwrap().path().display().to_string();
        let printed = covenant.kubectl(&["apply", "--dry-run=server", "-f", &file]).failure();
        assert!(printed.contains("is invalid"), "{file}: {printed}");
    }
}

#[test]
fn an_old_fault_never_blocks() {
    let (_guard, covenant) = with_webhook();
    let namespace = covenant.namespace("webhook-ratchet");
    let faulty = json!({"secretRef": {"name": "s"}, "requiredKeys": [{"name": "a", "envName": "9BAD"}]});
    covenant.kill_webhook();
    let mut stored = contract(&namespace, "old", faulty.clone());
    stored["metadata"]["finalizers"] = json!(["covenant.test/hold"]);
    covenant.apply(&stored);
    covenant.start_webhook();
    covenant.wait_until_asked();
    let edit = |patch: Value| {
        covenant.kubectl(&[
            "-n",
            &namespace,
            "patch",
            "sctr",
            "old",
            "--type=merge",
            "-p",
            &patch.to_string(),
        ])
    };
    edit(json!({"metadata": {"labels": {"a": "b"}}})).success();
    // An edit beside the fault passes and says what is still wrong.
    let output = edit(json!({"spec": {"secretRef": {"name": "other"}}}));
    assert!(
        output.is_success()
            && output.stderr.contains("Warning: spec.requiredKeys[0].envName: Invalid value: \"9BAD\""),
        "{output:?}"
    );
    let worse = json!({"spec": {"requiredKeys": [{"name": "a", "envName": "9BAD"}, {"name": "b", "envName": "8BAD"}]}});
    let printed = edit(worse).failure();
    assert!(printed.contains("8BAD") && !printed.contains("* spec.requiredKeys[0]"), "{printed}");
    covenant.kubectl(&["-n", &namespace, "delete", "sctr", "old", "--wait=false"]).success();
    edit(json!({"metadata": {"finalizers": null}})).success();
    covenant.kubectl(&["-n", &namespace, "get", "sctr", "old"]).failure();
}

#[test]
fn a_webhook_that_is_away_blocks_nothing_and_the_definitions_still_hold() {
    let (_guard, covenant) = with_webhook();
    let namespace = covenant.namespace("webhook-away");
    covenant.kill_webhook();
    let printed = covenant
        .kubectl(&[
            "-n",
            &namespace,
            "apply",
            "--dry-run=server",
            "-f",
            &shipped("samples/refused/tenant-both-sources.yaml"),
        ])
        .failure();
    assert!(printed.contains("may not be set together with provision"), "{printed}");
    covenant.apply(&contract(&namespace, "any", json!({"secretRef": {"name": "s"}})));
    covenant.kubectl(&["-n", &namespace, "label", "sctr", "any", "a=b"]).success();
    covenant.kubectl(&["-n", &namespace, "delete", "sctr", "any"]).success();
    covenant.start_webhook();
    covenant.wait_until_asked();
}

/// What the API server says by CEL and what the rules say must be the same words at the same fields.
#[test]
fn definitions_and_rules_say_the_same() {
    let (_guard, covenant) = with_webhook();
    let installation = covenant::rules::Installation::default();
    for (file, kind) in [
        ("tenant-both-sources", covenant::api::Kind::PostgreSQLTenant),
        ("tenant-name", covenant::api::Kind::PostgreSQLTenant),
        ("tenant-no-source", covenant::api::Kind::PostgreSQLTenant),
        ("tenant-reserved-names", covenant::api::Kind::PostgreSQLTenant),
        ("database-credential", covenant::api::Kind::PostgreSQLDatabase),
        ("database-reserved-names", covenant::api::Kind::PostgreSQLDatabase),
        ("instance-address", covenant::api::Kind::PostgreSQLInstance),
    ] {
        let text = std::fs::read_to_string(shipped(&format!("samples/refused/{file}.yaml"))).unwrap();
        for object in serde_saphyr::from_multiple::<Value>(&text).unwrap() {
            let findings = covenant::rules::shape(kind, &object, &installation);
            let printed = covenant
                .kubectl_with_input(&["apply", "--dry-run=server", "-f", "-"], &object.to_string())
                .failure();
            let lines =
                printed.lines().filter(|line| line.starts_with("* ") || line.contains("is invalid: spec"));
            assert_eq!(lines.count(), findings.errors().count(), "{file}: {printed}{findings:#?}");
            for finding in findings.errors() {
                let (field, detail) = (finding.field.to_string(), finding.detail.as_str());
                let is_said = printed.contains(&field) && printed.contains(detail);
                assert!(is_said, "{file}: {field}: {detail} is not in {printed}");
            }
        }
    }
}

#[test]
fn the_log_names_objects_and_rules_and_the_audit_log_has_the_rules() {
    let (_guard, covenant) = with_webhook();
    covenant
        .kubectl(&["create", "--dry-run=server", "-f", &shipped("samples/refused/contract-five-faults.yaml")])
        .failure();
    let log = covenant.webhook_log();
    let line =
        log.lines().rfind(|line| line.contains("\"verdict\":\"refused\"")).expect("a refusal is logged");
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&line["kind"], &line["name"], &line["operation"]),
        (&json!("SecretContract"), &json!("five-faults"), &json!("create"))
    );
    assert!(line["rules"].as_str().unwrap().contains("contract/env-name-grammar"), "{line}");
}
