//! What only shows over time or in numbers: idle contracts, a restart under many, a Secret that never rests, a namespace
//! full of other people's Secrets, patterns that cost as much as patterns can.
//!
//! `COVENANT_TEST_IDLE_SECONDS` makes the idle time longer (600 for a night's run).

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use covenant::cluster::client;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use super::contracts::{contract, secret, simple, status_writes};
use super::{Controller, apply, condition, get, install_definitions, namespace, plane, until};
use crate::support::{Finished as _, eventually, start_control_plane};

/// How long contracts are left alone.
fn idle() -> Duration {
    let seconds = std::env::var("COVENANT_TEST_IDLE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

/// `count` contracts about one Secret, in one list.
fn many(namespace: &str, count: usize) -> String {
    let items = (0..count).map(|number| {
        serde_json::from_str::<Value>(&contract(namespace, &format!("web-{number}"), &simple("web"))).unwrap()
    });
    json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()}).to_string()
}

/// What each contract of a namespace says, once all of them are ready.
fn all_ready(namespace: &str, count: usize) -> Vec<Value> {
    eventually("every contract is ready", || {
        let items = get(&["secretcontracts", "-n", namespace])["items"].as_array()?.clone();
        let ready = items.iter().filter(|item| {
            condition(item, "Ready")
                .is_some_and(|(status, reason)| status == "True" && reason == "ContractSatisfied")
        });
        (ready.count() == count).then_some(items)
    })
}

#[test]
fn idle_contracts_are_written_only_when_their_check_is_scheduled() {
    let namespace = &namespace("idle");
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&many(namespace, 100));
    let controller = Controller::alone(namespace);
    all_ready(namespace, 100);
    let before = status_writes(namespace).len();
    std::thread::sleep(idle());
    let written = status_writes(namespace).len() - before;
    // A scheduled check is due every 5 minutes, at the earliest a tenth before.
    let due = usize::try_from(idle().as_secs() / 270).unwrap() * 100;
    assert!(written <= due, "{written} writes in {:?}, {due} were due", idle());
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn a_killed_controller_comes_back_and_moves_no_condition() {
    let namespace = &namespace("killed");
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&many(namespace, 50));
    let controller = Controller::alone(namespace);
    let before = all_ready(namespace, 50);
    controller.kill();
    let controller = Controller::alone(namespace);
    eventually("every contract was looked at again", || (controller.passes() >= 50.0).then_some(()));
    assert_eq!(get(&["secretcontracts", "-n", namespace])["items"].as_array().unwrap(), &before);
    assert_eq!(controller.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_never_rests_costs_one_write_a_second() {
    const TOGGLES: u32 = 150;
    let (namespace, controller) = tokio::task::spawn_blocking(|| {
        let namespace = namespace("restless");
        let controller = Controller::alone(&namespace);
        controller.ready();
        apply(&secret(&namespace, "web", &json!({"PASSWORD": "long enough"})));
        apply(&contract(&namespace, "web", &simple("web")));
        until(&["secretcontract", "web", "-n", &namespace], "Ready", "True", "ContractSatisfied");
        (namespace, controller)
    })
    .await
    .unwrap();
    let secrets: Api<Secret> =
        Api::namespaced(client::connect(Some(plane().kubeconfig()), "toggle").await.unwrap(), &namespace);
    let begun = Instant::now();
    let mut beat = tokio::time::interval(Duration::from_millis(200));
    for round in 1..=TOGGLES {
        beat.tick().await;
        let value = if round == TOGGLES {
            "long enough at last"
        } else if round % 2 == 0 {
            "long enough"
        } else {
            "bad"
        };
        let patch = json!({"data": {"PASSWORD": STANDARD.encode(value)}});
        secrets
            .patch("web", &kube::api::PatchParams::default(), &kube::api::Patch::Merge(&patch))
            .await
            .unwrap();
    }
    let changed = secrets.get("web").await.unwrap().metadata.resource_version;
    tokio::task::spawn_blocking(move || {
        eventually("the last state is told", || {
            let found = get(&["secretcontract", "web", "-n", &namespace]);
            let seen = found["status"]["observedSecret"]["resourceVersion"].as_str();
            (seen == changed.as_deref()).then_some(found)
        });
        until(&["secretcontract", "web", "-n", &namespace], "Ready", "True", "ContractSatisfied");
        let lasted = usize::try_from(begun.elapsed().as_secs()).unwrap() + 1;
        let writes = status_writes(&namespace).len();
        assert!(writes <= lasted + 2, "{writes} writes in {lasted} s");
        assert!(writes >= 5, "{writes} writes: the changes were not followed");
        assert_eq!(controller.stop(), Some(0));
    })
    .await
    .unwrap();
}

#[test]
fn patterns_that_cost_too_much_are_given_up_and_hold_up_nobody() {
    let namespace = &namespace("costly");
    let controller = Controller::alone(namespace);
    controller.ready();
    // Each value keeps hundreds of threads alive to its end; 256 rules read values of one MiB together.
    let keys: Vec<Value> = (0..256)
        .map(|number| json!({"name": format!("K{number}"), "pattern": format!("(?:a|aa|a?a?a?){{{}}}$|z", 100 + number)}))
        .collect();
    let values: serde_json::Map<String, Value> =
        (0..256).map(|number| (format!("K{number}"), json!("a".repeat(4_000) + "b"))).collect();
    apply_large(&secret(namespace, "costly", &Value::Object(values)));
    apply(&contract(namespace, "costly", &json!({"secretRef": {"name": "costly"}, "requiredKeys": keys})));
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&contract(namespace, "web", &simple("web")));
    until(&["secretcontract", "web", "-n", namespace], "Ready", "True", "ContractSatisfied");
    let object = ["secretcontract", "costly", "-n", namespace.as_str()];
    let found = until(&object, "KeysValid", "Unknown", "EvaluationLimitExceeded");
    assert_eq!(condition(&found, "Ready"), Some(("Unknown".into(), "EvaluationLimitExceeded".into())));
    assert_eq!(found["status"]["violationCount"], 0);
    // What is cheap is judged in full although it is as large as a Secret can be.
    let keys: Vec<Value> =
        (0..256).map(|number| json!({"name": format!("K{number}"), "pattern": "b$"})).collect();
    apply(&contract(namespace, "costly", &json!({"secretRef": {"name": "costly"}, "requiredKeys": keys})));
    until(&object, "KeysValid", "True", "RulesSatisfied");
    assert_eq!(controller.stop(), Some(0));
}

/// Server-side: the copy that `kubectl apply` keeps in an annotation would be too large.
fn apply_large(object: &str) {
    plane().kubectl(&["create", "-f", "-"], Some(object)).expect("kubectl runs").success();
}

/// Resident memory of a process and the most that it ever was, in MiB.
fn memory(pid: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let of = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a known field");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    };
    (of("VmRSS:"), of("VmHWM:"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_secrets_of_others_stay_out_of_memory() {
    // A control plane of its own: this controller looks at all namespaces.
    let (plane, without) = tokio::task::spawn_blocking(|| {
        let plane: &'static _ = Box::leak(Box::new(start_control_plane().expect("a control plane")));
        install_definitions(plane);
        let controller = cluster_wide(plane, "without");
        let without = memory(controller.pid);
        assert_eq!(controller.stop(), Some(0));
        (plane, without)
    })
    .await
    .unwrap();
    let foreign: Api<Secret> =
        Api::namespaced(client::connect(Some(plane.kubeconfig()), "fill").await.unwrap(), "default");
    let controller = tokio::task::spawn_blocking(|| cluster_wide(plane, "watching")).await.unwrap();
    let value = STANDARD.encode("x".repeat(1_000_000));
    for number in 0..90 {
        let secret = json!({"metadata": {"name": format!("large-{number}")}, "data": {"value": value}});
        foreign.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
    }
    tokio::task::spawn_blocking(move || {
        // A contract that is judged after all of them were made has come through the same watches.
        let mark = contract("default", "mark", &json!({"secretRef": {"name": "large-89"}}));
        plane.kubectl(&["apply", "-f", "-"], Some(&mark)).expect("kubectl runs").success();
        eventually("the mark is judged", || {
            let found = plane.kubectl(&["get", "secretcontract", "mark", "-o", "json"], None).ok()?.success();
            condition(&serde_json::from_str(&found).ok()?, "Ready")
        });
        let watching = memory(controller.pid);
        assert_eq!(controller.stop(), Some(0));
        let controller = cluster_wide(plane, "listing");
        let listing = memory(controller.pid);
        assert_eq!(controller.stop(), Some(0));
        for (name, (_, most)) in [("watched", watching), ("listed", listing)] {
            let more = most.saturating_sub(without.1);
            assert!(
                more < 16,
                "90 Secrets of 1 MB that are {name} cost {more} MiB: {without:?}, {watching:?}, {listing:?}"
            );
        }
    })
    .await
    .unwrap();
}

/// A controller for all namespaces that has listed everything.
fn cluster_wide(plane: &'static covenant::controlplane::ControlPlane, name: &str) -> Controller {
    let controller = Controller::start_with(plane, plane.kubeconfig(), name, &["--leader-elect=false"]);
    controller.ready();
    controller
}
