//! That every sample says what must happen, in a form that other tests read.
//!
//! The first line says who answers: `# Accepted…`, `# Refused by the webhook…` or `# Refused by the schema…`. In a refused
//! one the lines `#   <field path>` that follow name every field of the answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use covenant::api::Kind;
use covenant::rules::finding::Severity;
use covenant::rules::{Installation, shape};

use crate::support::{Document, documents_of, files_below, manifests, text};

const OURS: [&str; 4] = ["SecretContract", "PostgreSQLInstance", "PostgreSQLDatabase", "PostgreSQLTenant"];

fn samples(verdict: &str) -> Vec<(PathBuf, String)> {
    let files = files_below(&manifests().join("samples").join(verdict));
    assert!(!files.is_empty());
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_accepted_sample_says_so_and_holds_an_object_of_ours() {
    let mut kinds = BTreeSet::new();
    for (path, content) in samples("accepted") {
        assert!(content.starts_with("# Accepted"), "{}", path.display());
        let documents = documents_of(&path);
        let ours: Vec<_> = documents.iter().filter(|document| OURS.contains(&document.kind())).collect();
        assert_eq!(ours.len(), 1, "{}", path.display());
        kinds.insert(ours[0].kind().to_owned());
    }
    assert_eq!(kinds, OURS.iter().map(|kind| (*kind).to_owned()).collect());
}

#[test]
fn every_refused_sample_says_by_whom_and_for_which_fields() {
    for (path, content) in samples("refused") {
        let first = content.lines().next().unwrap();
        assert!(
            first.starts_with("# Refused by the webhook") || first.starts_with("# Refused by the schema"),
            "{}: {first}",
            path.display()
        );
        let fields: Vec<&str> = content.lines().skip(1).map_while(|line| line.strip_prefix("#   ")).collect();
        assert!(!fields.is_empty(), "{} names no field", path.display());
        for field in fields {
            assert!(field.starts_with("spec"), "{}: {field} is no field path", path.display());
        }
        for document in documents_of(&path) {
            assert!(OURS.contains(&document.kind()), "{} holds a {}", path.display(), document.kind());
        }
    }
}

#[test]
fn samples_can_be_applied_side_by_side() {
    let mut seen = BTreeSet::new();
    for verdict in ["accepted", "refused"] {
        for (path, _) in samples(verdict) {
            for document in documents_of(&path) {
                let key = format!("{verdict} {} {}", document.kind(), document.name());
                assert!(seen.insert(key.clone()), "{key} of {} comes twice", path.display());
                let namespace = text(&document.value, "/metadata/namespace");
                assert!(
                    namespace.is_empty() || namespace == "covenant-system",
                    "{}: {namespace}",
                    path.display()
                );
            }
        }
    }
}

/// The field and text of every fault that SHAPE finds in an object of ours.
fn faults(document: &Document) -> Vec<(String, String)> {
    let kind = Kind::of(text(&document.value, "/apiVersion"), document.kind()).expect("a kind of ours");
    shape(kind, &document.value, &Installation::default())
        .into_iter()
        .map(|finding| {
            assert_eq!(finding.severity, Severity::Error, "{}: {}", document.file, finding.line());
            (finding.field.to_string(), finding.line())
        })
        .collect()
}

/// The rules see what the API server sees: nothing in an accepted sample; in a refused one what its comment lists, and
/// nothing else where the webhook is the one that answers.
#[test]
fn the_rules_find_in_every_sample_what_its_comment_says() {
    for (path, _) in samples("accepted") {
        for document in documents_of(&path).iter().filter(|document| OURS.contains(&document.kind())) {
            assert_eq!(faults(document), [], "{}", path.display());
        }
    }
    for (path, content) in samples("refused") {
        let listed: BTreeSet<String> =
            content.lines().skip(1).map_while(|line| line.strip_prefix("#   ")).map(str::to_owned).collect();
        for document in documents_of(&path) {
            let faults = faults(&document);
            let found: BTreeSet<String> = faults.iter().map(|(field, _)| field.clone()).collect();
            assert!(found.is_superset(&listed), "{}: {faults:#?}", path.display());
            if content.starts_with("# Refused by the webhook") {
                assert_eq!(found, listed, "{}: {faults:#?}", path.display());
            }
        }
    }
    let seven = documents_of(&manifests().join("samples/refused/contract-seven-faults.yaml"));
    assert_eq!(faults(&seven[0]).len(), 7, "two of the schema and five beyond it: {:#?}", faults(&seven[0]));
}

/// What a comment says of Ready is what `covenant check` says, where the Secret stands beside the contract.
#[test]
fn accepted_contracts_are_as_ready_as_their_comment_says() {
    let mut judged = 0;
    for (path, content) in samples("accepted") {
        let Some((_, claim)) = content.lines().next().unwrap().split_once("Ready=") else { continue };
        if !content.contains("kind: SecretContract") || !content.contains("kind: Secret\n") {
            continue;
        }
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_covenant"))
            .args(["check", "--output", "json"])
            .arg(&path)
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let ready = text(&report, "/results/0/ready");
        assert!(claim.starts_with(ready) && !ready.is_empty(), "{}: {report:#}", path.display());
        judged += 1;
    }
    assert_eq!(judged, 2);
}
