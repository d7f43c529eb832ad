//! Tables of ExternalSecrets, Secrets and the verdicts they must come to.

mod freshness;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::api::conditions::ConditionStatus::{self, False, True, Unknown};
use crate::api::conditions::{ContractReason as Why, MAX_MESSAGE_BYTES};
use crate::rules::facts::{OwnerReference, ReadFailure};

const NOW: &str = "2026-10-10T08:30:00Z";
const UID: &str = "8a823f49-9531-4c7b-83ef-d4016ce6a7e2";

/// An ExternalSecret as a running operator leaves it, refreshed at [`NOW`].
fn synced() -> Value {
    json!({
        "metadata": {"name": "web", "uid": UID, "generation": 1},
        "spec": {"refreshInterval": "1h", "target": {"creationPolicy": "Owner"}},
        "status": {
            "binding": {"name": "web"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "canary"}],
            "refreshTime": NOW,
            "syncedResourceVersion": "1-52f204393431cefafd4088eefbad9c478a43ec02524749366a383400",
        },
    })
}

/// `change` merged into `value`: a map into a map, `null` removes, everything else replaces.
fn merged(value: &mut Value, change: Value) {
    match (value, change) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                if change.is_null() {
                    fields.remove(&name);
                } else {
                    merged(fields.entry(name).or_insert(json!({})), change);
                }
            }
        }
        (value, change) => *value = change,
    }
}

fn with(change: Value) -> Value {
    let mut object = synced();
    merged(&mut object, change);
    object
}

fn ready(status: &str, reason: &str) -> Value {
    json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": reason}]}})
}

fn secret(owners: &[(&str, &str, &str)]) -> Lookup<SecretFacts> {
    let owner = |(kind, name, uid): &(&str, &str, &str)| OwnerReference {
        api_version: "external-secrets.io/v1".into(),
        kind: (*kind).into(),
        name: (*name).into(),
        uid: (*uid).into(),
        controller: true,
    };
    Lookup::Found(SecretFacts {
        name: "web".into(),
        uid: "u".into(),
        resource_version: "7".into(),
        type_: SecretFacts::DEFAULT_TYPE.into(),
        annotations: BTreeMap::new(),
        terminating: false,
        immutable: false,
        owner_references: owners.iter().map(owner).collect(),
        data: BTreeMap::new(),
    })
}

fn owned() -> Lookup<SecretFacts> {
    secret(&[("ExternalSecret", "web", UID)])
}

fn judged_at(
    external_secret: Lookup<ExternalSecretFacts>,
    secret: Lookup<SecretFacts>,
    now: &str,
) -> Producer {
    let spec = json!({
        "secretRef": {"name": "web"},
        "externalSecretRef": {"name": "web", "apiVersion": "external-secrets.io/v1"},
    });
    let mut facts = ContractFacts::of_secret(secret);
    facts.external_secret = Some(external_secret);
    let producer = judge(&EffectiveContract::of_spec(Some(&spec)), &facts, now.parse().unwrap());
    let message = &producer.verdict.message;
    assert!(message.contains("\"web\"") && message.ends_with('.'), "names the object: {message}");
    assert!(message.len() < MAX_MESSAGE_BYTES && !message.contains("canary"), "{message}");
    producer
}

fn judged(object: &Value, secret: Lookup<SecretFacts>) -> Producer {
    judged_at(Lookup::Found(ExternalSecretFacts::of_object(object)), secret, NOW)
}

type Said = (ConditionStatus, Why);

fn said(producer: &Producer) -> Said {
    (producer.verdict.status, producer.verdict.reason)
}

const READY: Said = (True, Why::ExternalSecretReady);
const NOT_READY: Said = (False, Why::ExternalSecretNotReady);
const PENDING: Said = (Unknown, Why::Pending);
const STALE: Said = (Unknown, Why::ExternalSecretStale);
const MISMATCH: Said = (False, Why::TargetMismatch);
const MISSING: Said = (False, Why::TargetMissing);
const NOT_OWNED: Said = (False, Why::NotOwned);
const GOING: Said = (False, Why::ExternalSecretTerminating);

fn check(rows: Vec<(&str, Value, Said)>) {
    for (what, change, expected) in rows {
        assert_eq!(said(&judged(&with(change), owned())), expected, "{what}");
    }
}

#[test]
fn without_the_object() {
    for (lookup, expected, word) in [
        (Lookup::Absent, (False, Why::ExternalSecretNotFound), "create it"),
        (Lookup::Forbidden, (Unknown, Why::AccessDenied), "covenant-controller-secrets"),
        (Lookup::Failed(ReadFailure::Timeout), (Unknown, Why::APIError), "in time"),
        (Lookup::Failed(ReadFailure::Status(500)), (Unknown, Why::APIError), "500"),
        (Lookup::NotServed, (Unknown, Why::APINotServed), "Install the External Secrets Operator"),
        (Lookup::NotInInput, (Unknown, Why::NotInInput), "not part of the input"),
    ] {
        let producer = judged_at(lookup, owned(), NOW);
        assert_eq!((said(&producer), producer.next_change), (expected, None));
        assert!(producer.verdict.message.contains(word), "{}", producer.verdict.message);
    }
    let unconfigured = judge(
        &EffectiveContract::of_spec(Some(&json!({"secretRef": {"name": "web"}}))),
        &ContractFacts::of_secret(owned()),
        NOW.parse().unwrap(),
    );
    assert_eq!(said(&unconfigured), (True, Why::NotConfigured));
}

#[test]
fn what_it_produces() {
    check(vec![
        ("bound to the Secret", json!({}), READY),
        ("bound to another", json!({"status": {"binding": {"name": "other"}}}), MISMATCH),
        ("the binding counts before the target", json!({"spec": {"target": {"name": "other"}}}), READY),
        (
            "a right target does not outweigh the binding",
            json!({"spec": {"target": {"name": "web"}}, "status": {"binding": {"name": "other"}}}),
            MISMATCH,
        ),
        (
            "an empty binding is none, so the target counts",
            json!({"spec": {"target": {"name": "other"}}, "status": {"binding": {"name": ""}}}),
            MISMATCH,
        ),
        (
            "the target alone",
            json!({"metadata": {"name": "x"}, "spec": {"target": {"name": "web"}}, "status": {"binding": null}}),
            READY,
        ),
        ("its own name where nothing else is said", json!({"status": {"binding": null}}), READY),
        ("no target at all", json!({"spec": {"target": null}, "status": {"binding": null}}), READY),
        ("creationPolicy None", json!({"spec": {"target": {"creationPolicy": "None"}}}), MISMATCH),
        (
            "a manifest",
            json!({"spec": {"target": {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}}}),
            MISMATCH,
        ),
        ("a manifest of the wrong type is none", json!({"spec": {"target": {"manifest": "x"}}}), READY),
    ]);
    let named = judged(&with(json!({"status": {"binding": {"name": "other"}}})), owned());
    assert!(
        named.verdict.message.contains("Secret \"other\", not Secret \"web\""),
        "{}",
        named.verdict.message
    );
    let odd = judged(&with(json!({"status": {"binding": {"name": "canary\u{1b}[2J"}}})), owned());
    assert_eq!(said(&odd), MISMATCH);
    assert!(odd.verdict.message.contains("another Secret"), "what is no name is not repeated");
}

#[test]
fn what_it_reports() {
    check(vec![
        ("False", ready("False", "SecretSyncedError"), NOT_READY),
        ("Unknown", ready("Unknown", ""), PENDING),
        ("a word that is no status", ready("true", "SecretSynced"), PENDING),
        ("no conditions", json!({"status": {"conditions": null}}), PENDING),
        (
            "only another condition",
            json!({"status": {"conditions": [{"type": "Deleted", "status": "True"}]}}),
            PENDING,
        ),
        ("no status, as in a manifest", json!({"status": null}), PENDING),
        ("deleted by the operator", ready("True", "SecretDeleted"), MISSING),
        ("nothing to merge into", ready("True", "SecretMissing"), MISSING),
        ("another reason", ready("True", "SomethingElse"), READY),
        ("no reason", json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}), READY),
        ("being deleted", json!({"metadata": {"deletionTimestamp": NOW}}), GOING),
    ]);
    let manifest = judged(
        &with(json!({"metadata": {"uid": null, "generation": null}, "status": null})),
        Lookup::NotInInput,
    );
    assert_eq!(said(&manifest), PENDING);
    assert!(manifest.verdict.message.contains("A manifest has none"), "{}", manifest.verdict.message);
}

#[test]
fn whose_the_secret_is() {
    let stranger = || secret(&[("ExternalSecret", "web", "another-uid"), ("Deployment", "web", "d")]);
    let policy = |word: Option<&str>| with(json!({"spec": {"target": {"creationPolicy": word}}}));
    let no_uid = || with(json!({"metadata": {"uid": null}}));
    for (what, object, secret, expected) in [
        ("owned", policy(Some("Owner")), owned(), READY),
        (
            "owned, among others",
            policy(None),
            secret(&[("A", "a", "a"), ("ExternalSecret", "web", UID)]),
            READY,
        ),
        ("made by another of the same name", policy(Some("Owner")), stranger(), NOT_OWNED),
        ("owned by nobody", policy(Some("Owner")), secret(&[]), NOT_OWNED),
        ("the policy omitted is Owner", policy(None), secret(&[]), NOT_OWNED),
        ("an empty policy is omitted", policy(Some("")), secret(&[]), NOT_OWNED),
        ("Orphan owns nothing", policy(Some("Orphan")), secret(&[]), READY),
        ("Merge owns nothing", policy(Some("Merge")), stranger(), READY),
        ("a policy of a later version", policy(Some("Share")), secret(&[]), READY),
        ("without a UID the name rules out", no_uid(), secret(&[("ExternalSecret", "x", UID)]), NOT_OWNED),
        ("without a UID the name does not prove", no_uid(), owned(), (Unknown, Why::NotInInput)),
    ] {
        assert_eq!(said(&judged(&object, secret)), expected, "{what}");
    }
    let Lookup::Found(mut going) = owned() else { unreachable!() };
    going.terminating = true;
    assert_eq!(
        said(&judged(&synced(), Lookup::Found(going))),
        READY,
        "a Secret that is going is still there"
    );
}

#[test]
fn a_secret_that_is_absent_or_not_known() {
    let orphan = || with(json!({"spec": {"target": {"creationPolicy": "Orphan"}}}));
    let not_synced = || with(ready("False", "SecretSyncedError"));
    let unread = || Lookup::Failed(ReadFailure::Connection);
    for (what, object, secret, expected) in [
        ("ready, and no Secret", synced(), Lookup::Absent, MISSING),
        ("the same for Orphan", orphan(), Lookup::Absent, MISSING),
        ("not ready comes first", not_synced(), Lookup::Absent, NOT_READY),
        ("so does no report", with(json!({"status": null})), Lookup::Absent, PENDING),
        ("a right is missing", synced(), Lookup::Forbidden, (Unknown, Why::AccessDenied)),
        ("no answer", synced(), unread(), (Unknown, Why::APIError)),
        ("not among the files", synced(), Lookup::NotInInput, (Unknown, Why::NotInInput)),
        ("nor for Orphan", orphan(), Lookup::NotInInput, (Unknown, Why::NotInInput)),
        ("what needs no Secret is said all the same", not_synced(), Lookup::Forbidden, NOT_READY),
        (
            "deleted by the operator, as it says",
            with(ready("True", "SecretDeleted")),
            Lookup::Forbidden,
            MISSING,
        ),
    ] {
        let producer = judged(&object, secret);
        assert_eq!((said(&producer), producer.next_change), (expected, None), "{what}");
    }
}

#[test]
fn several_faults_come_in_one_order() {
    let mut object = synced();
    let steps = [
        (json!({"status": {"syncedResourceVersion": null}}), Some("owned"), STALE),
        (json!({}), Some("strange"), NOT_OWNED),
        (json!({}), None, MISSING),
        (ready("False", "SecretSyncedError"), None, NOT_READY),
        (json!({"status": {"binding": {"name": "other"}}}), None, MISMATCH),
        (json!({"metadata": {"deletionTimestamp": NOW}}), None, GOING),
    ];
    for (change, which, expected) in steps {
        merged(&mut object, change);
        let secret = match which {
            Some("owned") => owned(),
            Some(_) => secret(&[]),
            None => Lookup::Absent,
        };
        assert_eq!(said(&judged(&object, secret)), expected, "{object}");
    }
}
