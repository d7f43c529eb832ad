//! The rules alone, as the library gives them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use covenant::api::Kind;
use covenant::api::secret_contract::effective::WorkloadKind;
use covenant::api::secret_contract::{EffectiveContract, SecretContractStatus};
use covenant::rules::facts::{
    ContractFacts, ExternalSecretFacts, Lookup, OwnerReference, ReadFailure, SecretBytes, SecretFacts,
    WorkloadFacts,
};
use covenant::rules::finding::Findings;
use covenant::rules::secret_contract::state::{Report, Settings};
use covenant::rules::{self, Installation};
use serde_json::Value;

use crate::case::{Case, Fault, Given, Outcome, Unreadable, differ};

#[test]
fn the_rules_say_what_every_case_expects() {
    let mut wrong = Vec::new();
    for case in Case::all(None) {
        let mut differences = Vec::new();
        let (faults, shape) = faults(&case);
        differ("faults", &faults, &case.expect.faults, &mut differences);
        let is_known = case.expect.offline.is_empty();
        for offline in [false, true].into_iter().filter(|offline| !offline || !is_known) {
            let report = judge(&case, &shape, offline);
            let status = covenant::status::contract::of_report(
                &report,
                &SecretContractStatus::default(),
                1,
                case.facts.now,
            );
            let said = serde_json::to_value(&status).unwrap();
            let text = format!("{said}{report:?}");
            assert!(
                !case.recognisable_values().iter().any(|value| text.contains(value)),
                "{}: {text}",
                case.name
            );
            let found = Outcome::of_status(&said);
            differences.extend(found.differences(&case.expected(offline).cut_as_in_a_status()));
        }
        if !differences.is_empty() {
            wrong.push(format!("{}:\n  {}", case.name, differences.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// What admission would say, and what the object's own SHAPE is.
fn faults(case: &Case) -> (Vec<Fault>, Findings) {
    let installation = Installation::default();
    let judge = |object: &Value| -> Findings {
        let metadata = rules::metadata::check(Kind::SecretContract, object);
        metadata.into_iter().chain(rules::shape(Kind::SecretContract, object, &installation)).collect()
    };
    let shape = judge(&case.object);
    let findings = match &case.old {
        Some(old) => shape.clone().ratcheted(&judge(old)),
        None => shape.clone(),
    };
    let faults = findings
        .iter()
        .map(|finding| Fault {
            rule: finding.rule.identifier(Kind::SecretContract),
            field: finding.field.to_string(),
            message: finding.body(),
            severity: finding.severity.as_str().to_owned(),
        })
        .collect();
    (faults, shape)
}

fn judge(case: &Case, shape: &Findings, offline: bool) -> Report {
    if let Some(report) = Report::of_invalid_spec(shape) {
        return report;
    }
    let contract = EffectiveContract::of_object(&case.object);
    let secret = case.facts.secret.as_ref();
    let mut facts = ContractFacts::of_secret(found(
        secret.filter(|given| is_of(given, contract.secret_name)),
        offline,
        secret_facts,
    ));
    facts.external_secret = contract.external_secret.map(|reference| {
        let given = case.facts.external_secret.as_ref().filter(|given| is_of(given, reference.name));
        found(given, offline, ExternalSecretFacts::of_object)
    });
    facts.workloads = contract
        .workloads
        .iter()
        .map(|reference| {
            let kind = reference.kind.map(WorkloadKind::as_str);
            let given = case.facts.workloads.iter().find(|given| {
                given.manifest().is_none_or(|manifest| manifest["kind"].as_str() == kind)
                    && is_of(given, reference.name)
            });
            found(given, offline, WorkloadFacts::of_object)
        })
        .collect();
    Report::judge(&contract, &facts, &Settings::default(), case.facts.now)
}

fn is_of(given: &Given, name: Option<&str>) -> bool {
    given.manifest().is_none_or(|manifest| manifest["metadata"]["name"].as_str() == name)
}

fn found<T>(given: Option<&Given>, offline: bool, read: impl Fn(&Value) -> T) -> Lookup<T> {
    match given {
        Some(Given::Manifest(manifest)) => Lookup::Found(read(manifest)),
        Some(Given::Unreadable(Unreadable::Forbidden)) => Lookup::Forbidden,
        Some(Given::Unreadable(Unreadable::Failed)) => Lookup::Failed(ReadFailure::Timeout),
        Some(Given::Unreadable(Unreadable::NotServed)) => Lookup::NotServed,
        None if offline => Lookup::NotInInput,
        None => Lookup::Absent,
    }
}

/// A Secret as the API server would store it.
fn secret_facts(manifest: &Value) -> SecretFacts {
    let texts = |value: &Value| -> Vec<(String, String)> {
        let entries = value.as_object().cloned().unwrap_or_default();
        entries.into_iter().map(|(key, text)| (key, text.as_str().unwrap_or_default().to_owned())).collect()
    };
    let metadata = &manifest["metadata"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut data = BTreeMap::new();
    for (key, text) in texts(&manifest["data"]) {
        data.insert(key, SecretBytes::new(STANDARD.decode(text).unwrap()));
    }
    for (key, text) in texts(&manifest["stringData"]) {
        data.insert(key, SecretBytes::new(text.into_bytes()));
    }
    let owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    SecretFacts {
        name: word(&metadata["name"]),
        uid: word(&metadata["uid"]),
        resource_version: "1".to_owned(),
        type_: manifest["type"].as_str().unwrap_or(SecretFacts::DEFAULT_TYPE).to_owned(),
        annotations: texts(&metadata["annotations"])
            .into_iter()
            .map(|(key, text)| (key, SecretBytes::new(text.into_bytes())))
            .collect(),
        terminating: metadata["deletionTimestamp"].is_string(),
        immutable: manifest["immutable"] == true,
        owner_references: owners
            .iter()
            .map(|owner| OwnerReference {
                api_version: word(&owner["apiVersion"]),
                kind: word(&owner["kind"]),
                name: word(&owner["name"]),
                uid: word(&owner["uid"]),
                controller: owner["controller"] == true,
            })
            .collect(),
        data,
    }
}
