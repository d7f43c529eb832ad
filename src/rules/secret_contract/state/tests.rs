//! Tables of contracts, facts and the verdicts they must come to.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::api::Kind;
use crate::rules::facts::{ReadFailure, SecretBytes, WorkloadFacts};
use crate::rules::{Installation, shape};

const NOW: &str = "2026-10-10T08:30:00Z";

fn secret(data: &[(&str, &[u8])]) -> SecretFacts {
    SecretFacts {
        name: "web".into(),
        uid: "u".into(),
        resource_version: "7".into(),
        type_: SecretFacts::DEFAULT_TYPE.into(),
        annotations: BTreeMap::new(),
        terminating: false,
        immutable: false,
        owner_references: Vec::new(),
        data: data.iter().map(|(key, value)| ((*key).to_owned(), SecretBytes::new(value.to_vec()))).collect(),
    }
}

fn object(mut spec: Value) -> Value {
    spec["secretRef"] = json!({"name": "web"});
    json!({"apiVersion": Kind::SecretContract.api_version(), "kind": "SecretContract",
        "metadata": {"name": "web", "namespace": "team"}, "spec": spec})
}

fn judged_with(spec: Value, secret: Lookup<SecretFacts>, settings: &Settings) -> Report {
    let object = object(spec);
    let findings = shape(Kind::SecretContract, &object, &Installation::default());
    if let Some(report) = Report::of_invalid_spec(&findings) {
        return report;
    }
    let contract = EffectiveContract::of_object(&object);
    Report::judge(&contract, &ContractFacts::of_secret(secret), settings, NOW.parse().unwrap())
}

fn judged(spec: Value, secret: Lookup<SecretFacts>) -> Report {
    judged_with(spec, secret, &Settings::default())
}

fn said(report: &Report, condition: ContractCondition) -> (ConditionStatus, ContractReason) {
    let verdict = report.verdict(condition).unwrap();
    assert!(!verdict.message.is_empty() && verdict.message.len() <= MAX_MESSAGE_BYTES);
    (verdict.status, verdict.reason)
}

use ConditionStatus::{False, True, Unknown};
use ContractCondition as Is;
use ContractReason as Why;

#[test]
fn key_rules_against_values() {
    let pem = b"-----BEGIN X-----\naGVsbG8=\n-----END X-----\n";
    let cases: &[(Value, &[u8], &[&str])] = &[
        (json!({}), b"x", &[]),
        (json!({}), b"", &["nonEmpty"]),
        (json!({"nonEmpty": false}), b"", &[]),
        (json!({"nonEmpty": false, "format": "JSON"}), b"", &["format"]),
        (json!({"minLength": 3, "pattern": "^a", "format": "JSON"}), b"", &["nonEmpty"]),
        (json!({"minLength": 4}), "äö".as_bytes(), &[]),
        (json!({"minLength": 5}), "äö".as_bytes(), &["minLength"]),
        (json!({"maxLength": 3}), "äö".as_bytes(), &["maxLength"]),
        (json!({"maxLength": 4}), "äö".as_bytes(), &[]),
        (json!({"pattern": "^..$"}), "äö".as_bytes(), &[]),
        (json!({"pattern": "b"}), b"abc", &[]),
        (json!({"pattern": "^b"}), b"abc", &["pattern"]),
        (
            json!({"minLength": 5, "pattern": "^b", "format": "URI"}),
            b"abc",
            &["format", "minLength", "pattern"],
        ),
        (json!({"format": "JSON"}), b" {\"a\": 1} ", &[]),
        (json!({"format": "JSON"}), b"{a}", &["format"]),
        (json!({"format": "URI"}), b"https://example.com/x", &[]),
        (json!({"format": "URI"}), b"example.com", &["format"]),
        (json!({"format": "PEM"}), pem, &[]),
        (json!({"format": "PEM"}), b"no pem", &["format"]),
        (json!({"format": "None"}), &[0xff, 0x00], &[]),
    ];
    for (rule, value, broken) in cases {
        let mut key = rule.clone();
        key["name"] = json!("K");
        let report = judged(json!({"requiredKeys": [key]}), Lookup::Found(secret(&[("K", value)])));
        let mut found: Vec<&str> =
            report.violations.iter().map(|violation| violation.rule.as_str()).collect();
        found.sort_unstable();
        assert_eq!(&found, broken, "{rule} {value:?}");
        let expected =
            if broken.is_empty() { (True, Why::RulesSatisfied) } else { (False, Why::KeysInvalid) };
        assert_eq!(said(&report, Is::KeysValid), expected);
        assert_eq!(said(&report, Is::Ready).0, expected.0);
        assert!(report.missing_keys.is_empty());
    }
}

#[test]
fn absent_keys() {
    let keys = json!([{"name": "b"}, {"name": "a", "minLength": 3}, {"name": "c", "required": false}]);
    let report = judged(json!({"requiredKeys": keys}), Lookup::Found(secret(&[])));
    assert_eq!(report.missing_keys, ["b", "a"]);
    assert!(report.violations.is_empty(), "a missing key is no violation beside");
    let message = &report.verdict(Is::KeysValid).unwrap().message;
    assert_eq!(message, "2 required keys are missing: \"a\", \"b\".");
    let optional =
        judged(json!({"requiredKeys": [{"name": "c", "required": false}]}), Lookup::Found(secret(&[])));
    assert_eq!(said(&optional, Is::KeysValid), (True, Why::RulesSatisfied));
    assert_eq!(said(&judged(json!({}), Lookup::Found(secret(&[]))), Is::KeysValid), (True, Why::NoRules));
}

#[test]
fn secrets_that_are_not_there_or_cannot_be_read() {
    let spec = json!({"requiredKeys": [{"name": "K"}], "rotation": {"maxAge": "24h"}});
    for (lookup, exists, others, ready) in [
        (Lookup::Absent, (False, Why::SecretNotFound), (Unknown, Why::SecretNotFound), False),
        (Lookup::Forbidden, (Unknown, Why::AccessDenied), (Unknown, Why::AccessDenied), Unknown),
        (Lookup::Failed(ReadFailure::Timeout), (Unknown, Why::APIError), (Unknown, Why::APIError), Unknown),
        (Lookup::NotInInput, (Unknown, Why::NotInInput), (Unknown, Why::NotInInput), Unknown),
    ] {
        let report = judged(spec.clone(), lookup);
        assert_eq!(said(&report, Is::SecretExists), exists);
        assert_eq!(said(&report, Is::KeysValid), others);
        assert_eq!(said(&report, Is::RotationPolicySatisfied), others);
        assert_eq!(said(&report, Is::Ready), (ready, exists.1));
        assert_eq!((&report.observed_secret, report.missing_keys.len()), (&None, 0));
    }
    let mut going = secret(&[("K", b"x")]);
    going.terminating = true;
    let report = judged(spec, Lookup::Found(going));
    assert_eq!(said(&report, Is::SecretExists), (True, Why::SecretTerminating));
    assert_eq!(said(&report, Is::KeysValid), (True, Why::RulesSatisfied));
    assert_eq!(report.observed_secret.unwrap().resource_version, "7");
}

#[test]
fn types_on_the_deny_list_are_not_looked_into() {
    let mut token = secret(&[]);
    token.type_ = "kubernetes.io/service-account-token".into();
    let report = judged(json!({"requiredKeys": [{"name": "K"}]}), Lookup::Found(token));
    assert_eq!(said(&report, Is::KeysValid), (Unknown, Why::TypeNotPermitted));
    assert_eq!(said(&report, Is::SecretExists), (True, Why::SecretFound));
    assert!(report.missing_keys.is_empty());
    assert_eq!(said(&report, Is::Ready), (Unknown, Why::TypeNotPermitted));
}

#[test]
fn limits_of_evaluation() {
    let large = vec![b'a'; (1 << 20) + 1];
    let spec = |rule: Value| json!({"requiredKeys": [rule]});
    let found = |value: &[u8]| Lookup::Found(secret(&[("K", value)]));
    let report = judged(spec(json!({"name": "K", "format": "JSON"})), found(&large));
    assert_eq!(said(&report, Is::KeysValid), (Unknown, Why::EvaluationLimitExceeded));
    let report = judged(spec(json!({"name": "K", "minLength": 3})), found(&large));
    assert_eq!(said(&report, Is::KeysValid), (True, Why::RulesSatisfied), "lengths need not read the value");
    let report = judged(spec(json!({"name": "K", "maxLength": 3, "format": "JSON"})), found(&large));
    assert_eq!(
        said(&report, Is::KeysValid),
        (False, Why::KeysInvalid),
        "what is definitely wrong comes first"
    );

    let few = Settings { evaluation_steps: 10, ..Settings::default() };
    let pattern = json!({"name": "K", "pattern": "(a|b)*c$"});
    let report = judged_with(spec(pattern.clone()), found(b"aaaaaaaaaaaaaaaaaaaaaaaa"), &few);
    assert_eq!(said(&report, Is::KeysValid), (Unknown, Why::EvaluationLimitExceeded));
    assert!(report.violations.is_empty(), "neither a match nor no match");
    let both = json!({"requiredKeys": [pattern, {"name": "M"}]});
    let report = judged_with(both, found(b"aaaaaaaaaaaaaaaaaaaaaaaa"), &few);
    assert_eq!(said(&report, Is::KeysValid), (False, Why::KeysInvalid));
}

#[test]
fn rotation() {
    let judged_at = |declared: Option<&str>, max_age: &str| {
        let mut secret = secret(&[]);
        if let Some(declared) = declared {
            let value = SecretBytes::new(declared.as_bytes().to_vec());
            secret.annotations.insert("secrets.codepop.tech/rotated-at".into(), value);
        }
        judged(
            json!({"rotation": {"maxAge": max_age}, "policy": {"requireRotationPolicy": true}}),
            Lookup::Found(secret),
        )
    };
    let cases = [
        (None, (False, Why::RotationTimeMissing), None),
        (Some(""), (False, Why::RotationTimeInvalid), None),
        (Some("2026-10-10 08:30:00"), (False, Why::RotationTimeInvalid), None),
        (Some("2026-10-09T08:30:00Z"), (True, Why::WithinMaxAge), Some("2026-10-10T08:30:00.000000001Z")),
        (Some("2026-10-09T08:29:59.999Z"), (False, Why::MaxAgeExceeded), None),
        (
            Some("2026-10-10T10:30:00+02:00"),
            (True, Why::WithinMaxAge),
            Some("2026-10-11T08:30:00.000000001Z"),
        ),
        (Some("2026-10-10T08:35:00Z"), (True, Why::WithinMaxAge), Some("2026-10-11T08:35:00.000000001Z")),
        (
            Some("2026-10-10T08:35:00.001Z"),
            (False, Why::RotationTimeInFuture),
            Some("2026-10-10T08:30:00.001Z"),
        ),
        (Some("9999-12-30T00:00:00Z"), (False, Why::RotationTimeInFuture), Some("9999-12-29T23:55:00Z")),
    ];
    for (declared, expected, next) in cases {
        let report = judged_at(declared, "24h");
        assert_eq!(said(&report, Is::RotationPolicySatisfied), expected, "{declared:?}");
        assert_eq!(said(&report, Is::Ready).0, expected.0);
        assert_eq!(report.next_change.map(|next| next.to_string()).as_deref(), next, "{declared:?}");
        let message = &report.verdict(Is::RotationPolicySatisfied).unwrap().message;
        assert!(message.contains("declare"), "{message}");
        assert!(declared.is_none_or(|declared| declared.is_empty() || !message.contains(declared)));
    }
    let unconfigured = judged(json!({}), Lookup::Absent);
    assert_eq!(said(&unconfigured, Is::RotationPolicySatisfied), (True, Why::NotConfigured));
}

#[test]
fn ready_is_what_counts() {
    let full = json!({
        "requiredKeys": [{"name": "K"}],
        "externalSecretRef": {"name": "web", "apiVersion": "external-secrets.io/v1"},
        "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        "rotation": {"maxAge": "24h"},
    });
    let report = judged(full.clone(), Lookup::Found(secret(&[("K", b"x")])));
    assert_eq!(said(&report, Is::ExternalSecretReady), (Unknown, Why::NotInInput));
    assert_eq!(said(&report, Is::WorkloadsConfigured), (Unknown, Why::NotInInput));
    assert_eq!(said(&report, Is::RotationPolicySatisfied), (False, Why::RotationTimeMissing));
    assert_eq!(said(&report, Is::Ready), (True, Why::ContractSatisfied), "nothing optional is required");

    let mut strict = full;
    strict["policy"] = json!({"requireExternalSecretReady": true, "requireRotationPolicy": true});
    let report = judged(strict, Lookup::Found(secret(&[])));
    assert_eq!(
        said(&report, Is::Ready),
        (False, Why::KeysInvalid),
        "the first False decides, Unknown or not"
    );
    let message = &report.verdict(Is::Ready).unwrap().message;
    assert!(message.contains("KeysValid is False (KeysInvalid)"), "{message}");
    assert!(message.contains("RotationPolicySatisfied is False (RotationTimeMissing)"), "{message}");

    let plain = judged(json!({"requiredKeys": [{"name": "K"}]}), Lookup::Found(secret(&[("K", b"x")])));
    assert_eq!(
        plain.verdict(Is::Ready).unwrap().message,
        "The contract is satisfied: 2 checks passed. 3 optional checks are not configured."
    );
    let conditions: Vec<_> = plain.conditions.iter().map(|(condition, _)| *condition).collect();
    assert_eq!(conditions, ContractCondition::ALL);
}

#[test]
fn a_zero_byte_is_a_violation_where_a_workload_takes_it_as_a_variable() {
    let pod = |container: Value| {
        let template = json!({"spec": {"containers": [container]}});
        WorkloadFacts::of_object(&json!({"metadata": {"name": "web"}, "spec": {"template": template}}))
    };
    let variables = || pod(json!({"name": "app", "envFrom": [{"secretRef": {"name": "web"}}]}));
    let files = || pod(json!({"name": "app", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}));
    for (workload, value, broken) in [
        (Lookup::Found(variables()), &b"a\0b"[..], &["representation"][..]),
        (Lookup::Found(variables()), b"ab", &[]),
        (Lookup::Found(files()), b"a\0b", &[]),
        (Lookup::Absent, b"a\0b", &[]),
        (Lookup::Forbidden, b"a\0b", &[]),
    ] {
        let what = format!("{workload:?}");
        let reference =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "consumption": "Volume"});
        let object = object(json!({"requiredKeys": [{"name": "K"}], "workloadRefs": [reference]}));
        let mut facts = ContractFacts::of_secret(Lookup::Found(secret(&[("K", value)])));
        facts.workloads.push(workload);
        let contract = EffectiveContract::of_object(&object);
        let report = Report::judge(&contract, &facts, &Settings::default(), NOW.parse().unwrap());
        let found: Vec<&str> = report.violations.iter().map(|violation| violation.rule.as_str()).collect();
        assert_eq!(found, broken, "{what}");
    }
}

#[test]
fn an_invalid_spec_is_told_and_nothing_is_evaluated() {
    let spec = json!({"requiredKeys": [{"name": "K", "minLength": 5, "maxLength": 3}], "policy": {"requireRotationPolicy": true}});
    let report = judged(spec, Lookup::Found(secret(&[])));
    assert_eq!(said(&report, Is::Ready), (False, Why::InvalidSpec));
    let message = &report.verdict(Is::Ready).unwrap().message;
    assert!(message.starts_with("spec.requiredKeys[0].maxLength: Invalid value: 3: "), "{message}");
    assert!(message.contains("; spec.rotation.maxAge: Required value"), "{message}");
    for check in ContractCondition::CHECKS {
        assert_eq!(said(&report, *check), (Unknown, Why::InvalidSpec));
    }
    assert_eq!((report.observed_secret, report.next_change), (None, None));

    let later = json!({"requiredKeys": [{"name": "K", "format": "XML"}]});
    let report = judged(later, Lookup::Found(secret(&[])));
    assert_eq!(said(&report, Is::Ready), (Unknown, Why::NotSupported));
    assert_eq!(said(&report, Is::KeysValid), (Unknown, Why::NotSupported));
    let both = json!({"requiredKeys": [{"name": "K", "format": "XML", "minLength": 5, "maxLength": 3}]});
    assert_eq!(said(&judged(both, Lookup::Absent), Is::Ready), (False, Why::InvalidSpec));
    let many = json!({"requiredKeys": (0..200).map(|n| json!({"name": format!("k{n}"), "pattern": "("})).collect::<Vec<_>>()});
    said(&judged(many, Lookup::Absent), Is::Ready);
}

#[test]
fn nothing_of_a_value_is_said() {
    let keys: Vec<Value> = ["JSON", "URI", "PEM"]
        .iter()
        .map(|format| json!({"name": format, "format": format, "minLength": 900, "maxLength": 1000, "pattern": "^x$"}))
        .collect();
    let value = b"canary-value-that-nobody-may-see".as_slice();
    let mut secret = secret(&[("JSON", value), ("URI", value), ("PEM", value)]);
    secret.annotations.insert("secrets.codepop.tech/rotated-at".into(), SecretBytes::new(value.to_vec()));
    let spec = json!({"requiredKeys": keys, "rotation": {"maxAge": "1h"}});
    let report = judged(spec, Lookup::Found(secret));
    let text = format!("{report:?}");
    assert_eq!(report.violations.len(), 9);
    for trace in ["canary", "nobody", &value.len().to_string()] {
        assert!(!text.contains(trace), "{trace} in {text}");
    }
}
