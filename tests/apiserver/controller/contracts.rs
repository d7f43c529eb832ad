//! Contracts follow their Secrets, and nothing is written without need.

use covenant::controlplane::audit::AuditEvent;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Controller, apply, condition, get, kubectl, namespace, plane, until};
use crate::support::{Finished as _, eventually, start_control_plane};

pub(super) fn contract(namespace: &str, name: &str, spec: &Value) -> String {
    json!({
        "apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": name, "namespace": namespace}, "spec": spec
    })
    .to_string()
}

pub(super) fn secret(namespace: &str, name: &str, data: &Value) -> String {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "stringData": data})
        .to_string()
}

pub(super) fn simple(secret: &str) -> Value {
    json!({"secretRef": {"name": secret}, "requiredKeys": [{"name": "PASSWORD", "minLength": 8}]})
}

/// Status writes that were answered with success, of the contracts in a namespace.
pub(super) fn status_writes(namespace: &str) -> Vec<AuditEvent> {
    let all = plane().audit().expect("the audit log");
    let of_contract = |event: &AuditEvent| {
        event.object_ref.as_ref().is_some_and(|object| {
            object.resource == "secretcontracts"
                && object.subresource == "status"
                && object.namespace == namespace
        })
    };
    all.into_iter().filter(|event| event.is_write() && of_contract(event)).collect()
}

#[test]
fn conditions_follow_a_secret_that_is_made_changed_and_deleted() {
    let namespace = &namespace("follow");
    let controller = Controller::alone(namespace);
    controller.ready();
    apply(&contract(namespace, "web", &simple("web")));
    let object = ["secretcontract", "web", "-n", namespace.as_str()];
    let found = until(&object, "SecretExists", "False", "SecretNotFound");
    assert_eq!(condition(&found, "KeysValid"), Some(("Unknown".into(), "SecretNotFound".into())));
    assert_eq!(condition(&found, "Ready"), Some(("False".into(), "SecretNotFound".into())));
    assert_eq!(found["status"]["conditions"].as_array().unwrap().len(), 6);
    assert!(found["status"]["observedSecret"].is_null());

    apply(&secret(namespace, "web", &json!({"PASSWORD": "short"})));
    let found = until(&object, "KeysValid", "False", "KeysInvalid");
    let violation = &found["status"]["violations"][0];
    assert_eq!((&violation["key"], &violation["rule"]), (&json!("PASSWORD"), &json!("minLength")));
    assert_eq!(found["status"]["violationCount"], 1);

    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    let found = until(&object, "Ready", "True", "ContractSatisfied");
    let stored = get(&["secret", "web", "-n", namespace]);
    for field in ["uid", "resourceVersion"] {
        assert_eq!(found["status"]["observedSecret"][field], stored["metadata"][field], "{field}");
    }
    eventually("an Event tells that it is ready", || {
        let events = get(&["events", "-n", namespace]);
        let told = events["items"].as_array()?.iter().find(|event| event["reason"] == "ContractSatisfied")?;
        (told["type"] == "Normal").then_some(())
    });

    kubectl(&["delete", "secret", "web", "-n", namespace]);
    until(&object, "SecretExists", "False", "SecretNotFound");
    kubectl(&["delete", "secretcontract", "web", "-n", namespace]);
    eventually("the contract is no longer counted", || {
        (controller.metric("covenant_contracts{ready=\"False\"}") == 0.0).then_some(())
    });
    let delay = shortest_delay(namespace);
    assert!(
        delay <= SignedDuration::from_secs(2),
        "no change was followed within 2 s, the fastest took {delay}"
    );
    assert_eq!(controller.stop(), Some(0));
}

/// The shortest time between a change of a Secret and the next status write, by the API server's own log. The shortest,
/// because a busy machine can delay any one of them, but not make up for a controller that looks only now and then.
fn shortest_delay(namespace: &str) -> SignedDuration {
    let time = |text: &str| text.parse::<Timestamp>().expect("a time");
    let all = plane().audit().expect("the audit log");
    let changes = all.iter().filter(|event| {
        event.is_write()
            && event
                .object_ref
                .as_ref()
                .is_some_and(|object| object.resource == "secrets" && object.namespace == namespace)
    });
    let writes = status_writes(namespace);
    let delays = changes.filter_map(|change| {
        let done = time(&change.stage_timestamp);
        let after = writes.iter().map(|write| time(&write.request_received_timestamp));
        after.filter(|write| *write >= done).map(|write| write.duration_since(done)).min()
    });
    delays.min().expect("a change and a write after it")
}

#[test]
fn a_second_pass_and_a_restart_write_nothing() {
    let namespace = &namespace("restart");
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    let names: Vec<String> = (0..10).map(|number| format!("web-{number}")).collect();
    for name in &names {
        apply(&contract(namespace, name, &simple("web")));
    }
    let controller = Controller::alone(namespace);
    let versions = || -> Vec<Value> {
        let list = get(&["secretcontracts", "-n", namespace]);
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["metadata"]["resourceVersion"].clone())
            .collect()
    };
    for name in &names {
        until(&["secretcontract", name, "-n", namespace], "Ready", "True", "ContractSatisfied");
    }
    let before = versions();
    assert_eq!(controller.stop(), Some(0));

    let controller = Controller::alone(namespace);
    // Its own watch and that of the Secrets each ask for a pass over every contract.
    eventually("every contract was looked at again", || (controller.passes() >= 10.0).then_some(()));
    // A change that is none for the contract: another pass over all ten.
    let passes = controller.passes();
    kubectl(&["label", "secretcontracts", "--all", "-n", namespace, "team=a"]);
    kubectl(&["label", "secretcontracts", "--all", "-n", namespace, "team-"]);
    kubectl(&["create", "secret", "generic", "other", "-n", namespace]);
    let after = versions();
    assert_ne!(before, after, "labels are writes, but not ours");
    let writes = status_writes(namespace);
    assert_eq!(
        writes.len(),
        10,
        "one write each: {:?}",
        writes.iter().map(|write| &write.request_uri).collect::<Vec<_>>()
    );
    let settled = controller.passes();
    assert!(settled - passes <= 10.0, "a label or another Secret is no reason for a pass");
    assert_eq!(versions(), after);
    assert_eq!(controller.stop(), Some(0));
    assert_eq!(status_writes(namespace).len(), 10);
}

#[test]
fn a_faulty_contract_is_told_and_the_others_are_served() {
    let namespace = &namespace("faulty");
    let controller = Controller::alone(namespace);
    controller.ready();
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    let faulty = json!({
        "secretRef": {"name": "web"},
        "requiredKeys": [
            {"name": "A", "envName": "1A"}, {"name": "B", "pattern": "("}, {"name": "C", "minLength": 5, "maxLength": 3}
        ],
        "policy": {"requireRotationPolicy": true}
    });
    apply(&contract(namespace, "faulty", &faulty));
    apply(&contract(namespace, "good", &simple("web")));
    until(&["secretcontract", "good", "-n", namespace], "Ready", "True", "ContractSatisfied");
    let object = ["secretcontract", "faulty", "-n", namespace.as_str()];
    let found = until(&object, "Ready", "False", "InvalidSpec");
    assert_eq!(condition(&found, "KeysValid"), Some(("Unknown".into(), "InvalidSpec".into())));
    let conditions = found["status"]["conditions"].as_array().unwrap();
    let message = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap()["message"]
        .as_str()
        .unwrap();
    for field in [
        "spec.requiredKeys[0].envName: Invalid value: \"1A\"",
        "spec.requiredKeys[1].pattern: Invalid value: \"(\"",
        "spec.requiredKeys[2].maxLength: Invalid value: 3",
        "spec.rotation.maxAge: Required value",
    ] {
        assert!(message.contains(field), "{field} is not in {message}");
    }

    // A change of the Secret is no reason to look at it again; mending it is.
    let version = found["metadata"]["resourceVersion"].clone();
    apply(&secret(namespace, "web", &json!({"PASSWORD": "longer than before"})));
    let good = ["secretcontract", "good", "-n", namespace.as_str()];
    let changed = get(&["secret", "web", "-n", namespace])["metadata"]["resourceVersion"].clone();
    eventually("the other contract follows", || {
        (get(&good)["status"]["observedSecret"]["resourceVersion"] == changed).then_some(())
    });
    assert_eq!(get(&object)["metadata"]["resourceVersion"], version);
    apply(&contract(namespace, "faulty", &simple("web")));
    let found = until(&object, "Ready", "True", "ContractSatisfied");
    assert_eq!(found["status"]["observedGeneration"], 2);
    assert!(
        found["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|condition| condition["observedGeneration"] == 2)
    );
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn many_changes_are_followed_by_few_writes_and_the_right_end() {
    let namespace = &namespace("toggle");
    let controller = Controller::alone(namespace);
    controller.ready();
    apply(&contract(namespace, "web", &simple("web")));
    let object = ["secretcontract", "web", "-n", namespace.as_str()];
    for round in 0..20 {
        let value = if round % 2 == 0 { "bad" } else { "good enough" };
        apply(&secret(namespace, "web", &json!({"PASSWORD": value})));
    }
    until(&object, "Ready", "True", "ContractSatisfied");
    let writes: Vec<Timestamp> = status_writes(namespace)
        .iter()
        .map(|write| write.request_received_timestamp.parse().unwrap())
        .collect();
    for pair in writes.windows(2) {
        let apart = pair[1].duration_since(pair[0]);
        // The second begins at the answer to the first, so requests are at least that far apart.
        assert!(apart >= SignedDuration::from_millis(950), "two writes {apart} apart");
    }
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn a_right_that_is_missing_is_no_verdict_on_the_secret() {
    let namespace = &namespace("denied");
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "limited", "namespace": "covenant-system"}});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "limited"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "covenant-controller"},
        "subjects": [{"kind": "ServiceAccount", "name": "limited", "namespace": "covenant-system"}]
    });
    apply(&account.to_string());
    apply(&binding.to_string());
    let arguments = ["--leader-elect=false", "--watch-namespace", namespace.as_str()];
    let controller = Controller::start_as(plane(), "limited", namespace, &arguments);
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&contract(namespace, "web", &simple("web")));
    let found = until(&["secretcontract", "web", "-n", namespace], "Ready", "Unknown", "AccessDenied");
    assert_eq!(condition(&found, "SecretExists"), Some(("Unknown".into(), "AccessDenied".into())));
    let (code, text) = controller.http("/readyz");
    assert_eq!(code, 503);
    assert!(text.contains(&format!("[-]secrets-{namespace} failed: cannot list secrets: ")), "{text}");
    assert!(text.contains(&format!("[+]secretcontracts-{namespace} ok")), "{text}");
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn it_waits_for_the_definitions() {
    let plane = Box::leak(Box::new(start_control_plane().expect("a control plane")));
    let kubeconfig = plane.kubeconfig().to_owned();
    let controller = Controller::start_with(plane, &kubeconfig, "early", &["--leader-elect=false"]);
    let reason = "cannot list secretcontracts: the API server does not serve secretcontracts (404); are the \
                  CustomResourceDefinitions installed?";
    eventually("it says what is missing", || controller.http("/readyz").1.contains(reason).then_some(()));
    super::install_definitions(plane);
    let run = |arguments: &[&str], input: Option<&str>| {
        plane.kubectl(arguments, input).expect("kubectl runs").success()
    };
    run(&["apply", "-f", "-"], Some(&contract("default", "web", &simple("web"))));
    eventually("the contract is judged", || {
        let found: Value =
            serde_json::from_str(&run(&["get", "secretcontract", "web", "-o", "json"], None)).unwrap();
        condition(&found, "SecretExists")
    });
    controller.ready();
    assert_eq!(controller.stop(), Some(0));
}
