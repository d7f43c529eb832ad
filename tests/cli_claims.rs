//! `covenant check` over claims beside each other, the real binary: what two of the input may not have at once, and what a
//! former version with its status forbids.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Checks `input` with an optional former version: exit code, and of each object its name, verdict and findings.
fn check(input: &[Value], old: Option<&[Value]>) -> (i32, Vec<(String, String, Vec<String>)>) {
    let list = |objects: &[Value]| json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_covenant"));
    command.args(["check", "-o", "json"]);
    let file = old.map(|old| {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("cli-claims-{}-{count}.json", std::process::id());
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&file, list(old)).unwrap();
        command.arg("--old").arg(&file);
        file
    });
    let mut child = command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(list(input).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if let Some(file) = file {
        std::fs::remove_file(file).unwrap();
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = report["results"].as_array().unwrap().iter().map(|entry| {
        let findings = entry["findings"].as_array().unwrap().iter().map(|finding| {
            format!(
                "{} {}: {}",
                text(&finding["severity"]),
                text(&finding["field"]),
                text(&finding["message"])
            )
        });
        (text(&entry["name"]), text(&entry["verdict"]), findings.collect())
    });
    (output.status.code().unwrap(), results.collect())
}

fn object(kind: &str, metadata: &Value, spec: &Value) -> Value {
    json!({"apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})
}

fn database(name: &str, database: &str, role: &str) -> Value {
    let spec = json!({"instanceRef": {"name": "main"}, "database": database, "loginRole": role, "source": "Provision"});
    object("PostgreSQLDatabase", &json!({"name": name}), &spec)
}

fn tenant(namespace: &str, name: &str) -> Value {
    let metadata = json!({"name": name, "namespace": namespace});
    object("PostgreSQLTenant", &metadata, &json!({"provision": {"instanceRef": {"name": "main"}}}))
}

fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(field.to_owned(), value);
    object
}

#[test]
fn what_two_objects_of_the_input_both_take_makes_both_invalid() {
    let (code, results) = check(
        &[tenant("shop", "orders"), database("legacy", "orders", "owner"), tenant("shop", "billing")],
        None,
    );
    assert_eq!(code, 1);
    let taken = "is taken on this Instance by another claim; choose another name";
    let line = |field: &str| vec![format!("error {field}: Duplicate value: \"orders\": {taken}")];
    let entry = |name: &str, verdict: &str, findings| (name.to_owned(), verdict.to_owned(), findings);
    assert_eq!(
        results,
        [
            entry("orders", "Invalid", line("spec.provision.database")),
            entry("legacy", "Invalid", line("spec.database")),
            entry("billing", "Valid", vec![]),
        ]
    );
}

#[test]
fn an_instance_and_its_claims_are_judged_together_and_what_is_not_given_is_not_missed() {
    let spec = json!({"endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.1", "database": "legacy"},
        "adminCredentialRef": {"name": "admin"}});
    let instance = object("PostgreSQLInstance", &json!({"name": "main"}), &spec);
    let claim = database("legacy", "legacy", "owner");
    let (code, results) = check(&[claim.clone(), instance], None);
    assert_eq!((code, results[0].1.as_str(), results[1].1.as_str()), (1, "Invalid", "Invalid"));
    assert!(results[0].2[0].starts_with("error spec.database: Invalid value: \"legacy\""), "{results:?}");
    assert!(
        results[1].2[0].starts_with("error spec.endpoint.database: Duplicate value: \"legacy\""),
        "{results:?}"
    );
    let (code, results) = check(&[claim], None);
    assert_eq!((code, &results[0].2), (0, &vec![]), "the Instance may well be in the cluster");
}

#[test]
fn a_holder_that_is_leaving_and_an_old_fault_are_only_warnings() {
    let released = with(&database("legacy", "orders", "owner"), "/status", json!({"phase": "Released"}));
    let (code, results) = check(&[tenant("shop", "orders"), released.clone()], None);
    assert_eq!(results[0].1, "Valid");
    assert!(results[0].2[0].starts_with("warning spec.provision.database: Duplicate value"), "{results:?}");
    assert_eq!(code, 1, "the Released one still takes what a living claim has");
    let old = [tenant("shop", "orders"), database("legacy", "orders", "owner")];
    let (code, results) = check(&old, Some(&old));
    assert_eq!(code, 0, "{results:?}");
    assert!(
        results.iter().all(|(_, verdict, findings)| verdict == "Valid" && findings.len() == 1),
        "{results:?}"
    );
}

#[test]
fn the_status_of_the_former_version_freezes_the_target() {
    let new = with(&tenant("shop", "orders"), "/spec/provision/database", json!("other"));
    for (status, verdict) in
        [(json!({}), "Valid"), (json!({"phase": "Pending"}), "Valid"), (json!({"phase": "Bound"}), "Invalid")]
    {
        let old = with(&tenant("shop", "orders"), "/status", status);
        let (code, results) = check(std::slice::from_ref(&new), Some(&[old]));
        assert_eq!((results[0].1.as_str(), code), (verdict, i32::from(verdict == "Invalid")), "{results:?}");
        let is_frozen = |line: &String| {
            line.starts_with("error spec.provision: Forbidden: cannot be changed once binding")
        };
        assert_eq!(results[0].2.iter().any(is_frozen), verdict == "Invalid", "{results:?}");
    }
}

#[test]
fn the_status_of_the_former_version_freezes_the_policy_and_what_the_database_is() {
    let known = database("legacy", "orders", "owner");
    let old = with(&known, "/status", json!({"instanceUID": "i", "release": {"policy": "Retain"}}));
    let new = with(&with(&known, "/spec/reclaimPolicy", json!("Delete")), "/spec/loginRole", json!("other"));
    let (code, results) = check(std::slice::from_ref(&new), Some(&[old]));
    assert_eq!((code, results[0].1.as_str()), (1, "Invalid"));
    assert_eq!(
        results[0].2,
        [
            "error spec.loginRole: Forbidden: cannot be changed once the database was observed on its server or bound",
            "error spec.reclaimPolicy: Forbidden: cannot be changed while the database is being released; it can be once it was \
             re-opened",
        ]
    );
    let (code, results) = check(&[new], Some(&[known]));
    assert_eq!((code, results[0].1.as_str()), (0, "Valid"), "{results:?}");
}
