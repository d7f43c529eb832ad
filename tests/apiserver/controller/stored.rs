//! Contracts that no admission would let in today are in the store all the same: the webhook was away, or another version
//! of the definition let them pass. Each is told on its own status, and every other contract is served.

use serde_json::{Value, json};

use super::contracts::{contract, secret, simple};
use super::{Controller, condition, install_definitions};
use crate::support::{Finished as _, eventually, start_control_plane};

/// A contract, the status and reason of its Ready, and a part of the message.
fn cases() -> Vec<(&'static str, Value, [&'static str; 3])> {
    let spec = |more: Value| {
        let mut spec = json!({"secretRef": {"name": "web"}});
        for (field, value) in more.as_object().unwrap() {
            spec[field] = value.clone();
        }
        spec
    };
    let keys: Vec<Value> = (0..10_000).map(|number| json!({"name": format!("K{number}")})).collect();
    let workloads: Vec<Value> = (0..2_000)
        .map(|number| json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": format!("web-{number}")}))
        .collect();
    let invalid = |text: &'static str| ["False", "InvalidSpec", text];
    let later = |text: &'static str| ["Unknown", "NotSupported", text];
    vec![
        (
            "pattern",
            spec(json!({"requiredKeys": [{"name": "A", "pattern": "a("}]})),
            invalid("spec.requiredKeys[0].pattern"),
        ),
        (
            "format",
            spec(json!({"requiredKeys": [{"name": "A", "format": "XML"}]})),
            later("spec.requiredKeys[0].format"),
        ),
        ("mode", spec(json!({"injection": {"mode": "Sidecar"}})), later("spec.injection.mode")),
        (
            "workload-kind",
            spec(json!({"workloadRefs": [{"apiVersion": "apps/v1", "kind": "Rollout", "name": "web"}]})),
            later("spec.workloadRefs[0].kind"),
        ),
        ("days", spec(json!({"rotation": {"maxAge": "30d"}})), invalid("spec.rotation.maxAge")),
        ("many-keys", spec(json!({"requiredKeys": keys})), invalid("spec.requiredKeys: Too many: 10000")),
        (
            "many-workloads",
            spec(json!({"workloadRefs": workloads})),
            invalid("spec.workloadRefs: Too many: 2000"),
        ),
        ("types", json!({"secretRef": "web", "requiredKeys": {"name": "A"}}), invalid("spec.secretRef")),
        ("no-secret", json!({"requiredKeys": [null, 5, "A"]}), invalid("spec.secretRef")),
        ("text", json!("web"), invalid("spec")),
        ("nothing", Value::Null, invalid("spec")),
        (
            "both",
            spec(json!({"requiredKeys": [{"name": "A", "format": "XML", "minLength": 5, "maxLength": 3}]})),
            invalid("spec.requiredKeys[0].maxLength"),
        ),
        ("deep", spec(json!({"unknown": deep(90)})), invalid("spec.unknown")),
    ]
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn what_no_admission_lets_in_is_told_and_holds_up_nobody() {
    let plane: &'static _ = Box::leak(Box::new(start_control_plane().expect("a control plane")));
    install_definitions(plane);
    let run = |arguments: &[&str], input: Option<&str>| {
        plane.kubectl(arguments, input).expect("kubectl runs").success()
    };
    let loose = json!([{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    }}]);
    let definition = "secretcontracts.secrets.codepop.tech";
    let strict: Value = serde_json::from_str(&run(&["get", "crd", definition, "-o", "json"], None)).unwrap();
    run(&["patch", "crd", definition, "--type=json", "-p", &loose.to_string()], None);

    let object = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let mut items = vec![object(secret("default", "web", &json!({"PASSWORD": "long enough"})))];
    items.extend(cases().iter().map(|(name, spec, _)| object(contract("default", name, spec))));
    items.push(object(contract("default", "good", &simple("web"))));
    let all = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let mut refused = String::new();
    for _ in 0..40 {
        // Until the loose definition is in force, the strict one still answers.
        let output =
            plane.kubectl(&["create", "--validate=false", "-f", "-"], Some(&all)).expect("kubectl runs");
        refused = output
            .stderr
            .lines()
            .filter(|line| !line.contains("AlreadyExists"))
            .fold(String::new(), |all, line| all + line);
        if refused.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    assert_eq!(refused, "", "the loose definition stores everything");
    let controller = Controller::start_with(plane, plane.kubeconfig(), "stored", &["--leader-elect=false"]);
    controller.ready();
    let expect = |name: &str, [status, reason, text]: [&str; 3]| {
        let found = eventually(&format!("{name} is {status}/{reason}"), || {
            let found: Value =
                serde_json::from_str(&run(&["get", "secretcontract", name, "-o", "json"], None)).unwrap();
            (condition(&found, "Ready") == Some((status.to_owned(), reason.to_owned()))).then_some(found)
        });
        let conditions = found["status"]["conditions"].as_array().unwrap();
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap();
        assert!(ready["message"].as_str().unwrap().contains(text), "{name}: {ready}");
    };
    expect("good", ["True", "ContractSatisfied", "satisfied"]);
    for (name, _, expected) in cases() {
        expect(name, expected);
    }
    // The right definition comes back: nobody is any worse, and a mended contract is served.
    let schema = &strict["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let back = json!([{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": schema}]);
    run(&["patch", "crd", definition, "--type=json", "-p", &back.to_string()], None);
    let mended = contract("default", "pattern", &simple("web"));
    eventually("a contract is mended", || {
        let output = plane.kubectl(&["replace", "-f", "-"], Some(&mended)).ok()?;
        output.stderr.is_empty().then_some(())
    });
    expect("pattern", ["True", "ContractSatisfied", "satisfied"]);
    assert_eq!(controller.stop(), Some(0));
}
