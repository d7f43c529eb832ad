//! Contracts follow the workloads that they name.

use serde_json::{Value, json};

use super::contracts::{contract, secret};
use super::{Controller, apply, condition, get, kubectl, namespace, plane, until};
use crate::support::eventually;

/// A workload without pods, whose one container is given.
fn workload(namespace: &str, kind: &str, name: &str, container: &Value) -> Value {
    let mut container = container.clone();
    container["name"] = json!("app");
    container["image"] = json!("example.com/app:1");
    let labels = json!({"app": name});
    let mut spec = json!({
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    });
    match kind {
        // No node has the label, so it has no pods either.
        "DaemonSet" => spec["template"]["spec"]["nodeSelector"] = json!({"example.com/none": "true"}),
        _ => spec["replicas"] = json!(0),
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = json!(name);
    }
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec})
}

/// A contract about the Secret `web` whose workloads count.
fn consumed_by(workloads: &[(&str, &str)]) -> Value {
    let references: Vec<Value> = workloads
        .iter()
        .map(|(kind, name)| json!({"apiVersion": "apps/v1", "kind": kind, "name": name}))
        .collect();
    json!({
        "secretRef": {"name": "web"}, "requiredKeys": [{"name": "PASSWORD"}],
        "workloadRefs": references, "policy": {"requireWorkloadReference": true},
    })
}

fn good() -> Value {
    json!({"envFrom": [{"secretRef": {"name": "web"}}]})
}

/// Sets the variable from the Secret, and then from a literal.
fn shadowed() -> Value {
    let mut container = good();
    container["env"] = json!([{"name": "PASSWORD", "value": "literal"}]);
    container
}

fn as_file() -> Value {
    json!({"volumeMounts": [{"name": "secret", "mountPath": "/etc/web"}]})
}

const KINDS: [&str; 3] = ["DaemonSet", "Deployment", "StatefulSet"];

#[test]
fn the_condition_follows_workloads_that_are_made_changed_and_deleted() {
    let namespace = &namespace("workloads");
    let controller = Controller::alone(namespace);
    controller.ready();
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&contract(namespace, "web", &consumed_by(&KINDS.map(|kind| (kind, "web")))));
    let object = ["secretcontract", "web", "-n", namespace.as_str()];
    let put = |kind: &str, container: &Value| {
        let mut workload = workload(namespace, kind, "web", container);
        workload["spec"]["template"]["spec"]["volumes"] =
            json!([{"name": "secret", "secret": {"secretName": "web"}}]);
        apply(&workload.to_string());
    };

    let found = until(&object, "WorkloadsConfigured", "False", "WorkloadNotFound");
    assert_eq!(condition(&found, "Ready"), Some(("False".into(), "WorkloadNotFound".into())));
    assert_eq!(found["status"]["workloadFindingCount"], 0);
    for kind in KINDS {
        put(kind, &if kind == "StatefulSet" { as_file() } else { good() });
    }
    let found = until(&object, "WorkloadsConfigured", "True", "WorkloadsReferenceSecret");
    assert_eq!(condition(&found, "Ready"), Some(("True".into(), "ContractSatisfied".into())));

    for kind in KINDS {
        put(kind, &shadowed());
        let found = until(&object, "WorkloadsConfigured", "False", "ReferenceMissing");
        let finding = &found["status"]["workloadFindings"][0];
        let of = |field: &str| finding[field].as_str().unwrap_or_default();
        assert_eq!(
            (of("kind"), of("name"), of("container"), of("key"), of("reason")),
            (kind, "web", "app", "PASSWORD", "Shadowed"),
            "{found:#}"
        );
        assert_eq!(found["status"]["workloadFindingCount"], 1);
        put(kind, &good());
        let found = until(&object, "WorkloadsConfigured", "True", "WorkloadsReferenceSecret");
        assert_eq!(found["status"]["workloadFindings"], json!([]));
    }

    for kind in KINDS {
        // As if somebody had to look before it may go.
        let (hold, free) =
            (r#"{"metadata":{"finalizers":["example.com/hold"]}}"#, r#"{"metadata":{"finalizers":null}}"#);
        kubectl(&["patch", kind, "web", "-n", namespace, "--type=merge", "-p", hold]);
        kubectl(&["delete", kind, "web", "-n", namespace, "--wait=false"]);
        until(&object, "WorkloadsConfigured", "False", "WorkloadTerminating");
        kubectl(&["patch", kind, "web", "-n", namespace, "--type=merge", "-p", free]);
        until(&object, "WorkloadsConfigured", "False", "WorkloadNotFound");
        put(kind, &good());
        until(&object, "WorkloadsConfigured", "True", "WorkloadsReferenceSecret");
    }
    assert!(!controller.log().contains("long enough"));
    assert_eq!(controller.stop(), Some(0));
}

/// How often the controller has read this Deployment.
fn reads(namespace: &str, name: &str) -> usize {
    let all = plane().audit().expect("the audit log");
    let of_workload = |object: &covenant::controlplane::audit::AuditObject| {
        object.resource == "deployments" && object.namespace == namespace && object.name == name
    };
    all.iter()
        .filter(|event| event.verb == "get" && event.user.username.ends_with(":covenant-controller"))
        .filter(|event| event.object_ref.as_ref().is_some_and(of_workload))
        .count()
}

#[test]
fn a_change_of_a_workloads_status_alone_is_no_reason_to_look() {
    let namespace = &namespace("status-only");
    let controller = Controller::alone(namespace);
    controller.ready();
    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    for name in ["web", "mark"] {
        apply(&workload(namespace, "Deployment", name, &good()).to_string());
        apply(&contract(namespace, name, &consumed_by(&[("Deployment", name)])));
    }
    let of = |name: &'static str| ["secretcontract", name, "-n", namespace.as_str()];
    // The watch has told of everything up to a change of the other Deployment, which comes by the same watch.
    let settle = |container: &Value, status: &str, reason: &str| {
        apply(&workload(namespace, "Deployment", "mark", container).to_string());
        until(&of("mark"), "WorkloadsConfigured", status, reason);
    };
    for name in ["web", "mark"] {
        until(&of(name), "Ready", "True", "ContractSatisfied");
    }
    // From its next change on the generation of the Deployment is known.
    apply(&workload(namespace, "Deployment", "web", &shadowed()).to_string());
    until(&of("web"), "WorkloadsConfigured", "False", "ReferenceMissing");
    eventually("the Deployment has been looked at by its own controller", || {
        (get(&["deployment", "web", "-n", namespace])["status"]["observedGeneration"] == 2).then_some(())
    });
    settle(&shadowed(), "False", "ReferenceMissing");
    let before = (reads(namespace, "web"), get(&of("web"))["metadata"]["resourceVersion"].clone());
    assert!(before.0 > 0);
    for round in 0..5 {
        let status = json!({"status": {"replicas": round, "unavailableReplicas": round}}).to_string();
        let kind = ["--subresource=status", "--type=merge", "-p", &status];
        kubectl(&[&["patch", "deployment", "web", "-n", namespace][..], &kind].concat());
    }
    kubectl(&["label", "deployment", "web", "-n", namespace, "team=a"]);
    settle(&good(), "True", "WorkloadsReferenceSecret");
    let after = (reads(namespace, "web"), get(&of("web"))["metadata"]["resourceVersion"].clone());
    assert_eq!(after, before, "neither read nor written again");

    apply(&workload(namespace, "Deployment", "web", &good()).to_string());
    until(&of("web"), "Ready", "True", "ContractSatisfied");
    assert!(reads(namespace, "web") > before.0);
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn a_workload_that_may_not_be_read_is_no_fault_of_it() {
    let namespace = &namespace("unread-workloads");
    let account = "secrets-alone";
    let subject = json!([{"kind": "ServiceAccount", "name": account, "namespace": "covenant-system"}]);
    let bind = |kind: &str, name: &str, role: &str| {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name});
        let metadata = json!({"name": format!("{account}-{name}"), "namespace": namespace});
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "roleRef": role,
            "subjects": subject})
        .to_string()
    };
    let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}]);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": account, "namespace": namespace}, "rules": rules});
    apply(
        &json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": account, "namespace": "covenant-system"}})
        .to_string(),
    );
    apply(&role.to_string());
    apply(&bind("RoleBinding", account, "Role"));
    apply(&bind("ClusterRoleBinding", "covenant-controller", "ClusterRole"));
    let arguments = ["--leader-elect=false", "--watch-namespace", namespace.as_str()];
    let controller = Controller::start_as(plane(), account, namespace, &arguments);

    apply(&secret(namespace, "web", &json!({"PASSWORD": "long enough"})));
    apply(&workload(namespace, "Deployment", "web", &shadowed()).to_string());
    let spec = consumed_by(&[("Deployment", "web"), ("DaemonSet", "none")]);
    apply(&contract(namespace, "web", &spec));
    let object = ["secretcontract", "web", "-n", namespace.as_str()];
    let found = until(&object, "WorkloadsConfigured", "Unknown", "AccessDenied");
    assert_eq!(condition(&found, "Ready"), Some(("Unknown".into(), "AccessDenied".into())));
    assert_eq!(condition(&found, "KeysValid"), Some(("True".into(), "RulesSatisfied".into())));
    assert_eq!(found["status"]["workloadFindingCount"], 0);
    let conditions = found["status"]["conditions"].as_array().unwrap();
    let told = conditions.iter().find(|condition| condition["type"] == "WorkloadsConfigured").unwrap();
    let message = told["message"].as_str().unwrap();
    for workload in ["Deployment \"web\"", "DaemonSet \"none\""] {
        assert!(message.contains(&format!("Covenant may not read {workload}")), "{message}");
    }
    assert!(message.contains("bind the ClusterRole covenant-controller-secrets"), "{message}");

    // Done as told, it is followed as soon as the watches get through.
    apply(&bind("RoleBinding", "covenant-controller-secrets", "ClusterRole"));
    let found = until(&object, "WorkloadsConfigured", "False", "ReferenceMissing");
    assert_eq!(found["status"]["workloadFindings"][0]["reason"], "Shadowed");
    assert_eq!(controller.stop(), Some(0));
}
