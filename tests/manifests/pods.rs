//! That both Deployments keep to Pod Security's level "restricted", and to the hardening beyond it.

use serde_json::{Value, json};

use crate::support::{Document, installed, list, strings, text, with, without};

/// Everything that is wrong with a Pod template, one sentence each.
fn faults(template: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let spec = &template["spec"];
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        if spec.get(field).is_some_and(|value| value != false) {
            faults.push(format!("{field} is set"));
        }
    }
    for (pointer, expected) in [
        ("/securityContext/runAsNonRoot", json!(true)),
        ("/securityContext/runAsUser", json!(65532)),
        ("/securityContext/runAsGroup", json!(65532)),
        ("/securityContext/seccompProfile/type", json!("RuntimeDefault")),
        ("/enableServiceLinks", json!(false)),
    ] {
        if spec.pointer(pointer) != Some(&expected) {
            faults.push(format!("{pointer} is not {expected}"));
        }
    }
    for volume in list(spec, "/volumes") {
        let fields: Vec<&String> = volume.as_object().unwrap().keys().filter(|key| *key != "name").collect();
        if !matches!(fields.as_slice(), [kind] if ["configMap", "secret", "projected", "emptyDir"].contains(&kind.as_str()))
        {
            faults.push(format!("volume {} is of {fields:?}", volume["name"]));
        }
    }
    for container in list(spec, "/containers").iter().chain(list(spec, "/initContainers")) {
        faults.extend(faults_of_container(container));
    }
    faults
}

fn faults_of_container(container: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (pointer, expected) in [
        ("/securityContext/allowPrivilegeEscalation", json!(false)),
        ("/securityContext/readOnlyRootFilesystem", json!(true)),
        ("/securityContext/capabilities", json!({"drop": ["ALL"]})),
        ("/livenessProbe/httpGet", json!({"path": "/livez", "port": "health"})),
        ("/readinessProbe/httpGet", json!({"path": "/readyz", "port": "health"})),
    ] {
        if container.pointer(pointer) != Some(&expected) {
            faults.push(format!("{pointer} is not {expected}"));
        }
    }
    for field in ["privileged", "runAsNonRoot", "runAsUser", "seccompProfile", "procMount"] {
        if container["securityContext"].get(field).is_some() {
            faults.push(format!("the container sets {field} itself"));
        }
    }
    if list(container, "/ports").iter().any(|port| port.get("hostPort").is_some()) {
        faults.push("a host port".to_owned());
    }
    if list(container, "/volumeMounts").iter().any(|mount| mount.get("subPath").is_some()) {
        faults.push("a subPath, which a renewed Secret never reaches".to_owned());
    }
    let resources = &container["resources"];
    if text(resources, "/requests/memory").is_empty()
        || resources.pointer("/requests/memory") != resources.pointer("/limits/memory")
    {
        faults.push("memory request and limit differ".to_owned());
    }
    if resources.pointer("/limits/cpu").is_some() || resources.pointer("/requests/cpu").is_none() {
        faults.push("a CPU limit, or no CPU request".to_owned());
    }
    faults
}

fn deployments() -> Vec<Document> {
    let found: Vec<_> =
        installed("").into_iter().filter(|document| document.kind() == "Deployment").collect();
    assert_eq!(found.len(), 2);
    found
}

#[test]
fn the_shipped_pods_are_restricted() {
    for deployment in deployments() {
        assert_eq!(
            faults(&deployment.value["spec"]["template"]),
            Vec::<String>::new(),
            "{}",
            deployment.name()
        );
    }
}

#[test]
fn a_looser_pod_is_found_out() {
    for deployment in deployments() {
        let template = &deployment.value["spec"]["template"];
        let container = "/spec/containers/0";
        let worse = [
            with(template, "/spec/hostNetwork", json!(true)),
            with(template, "/spec/enableServiceLinks", json!(true)),
            without(template, "/spec/securityContext/runAsNonRoot"),
            with(template, "/spec/securityContext/runAsUser", json!(0)),
            with(template, "/spec/securityContext/seccompProfile/type", json!("Unconfined")),
            with(template, "/spec/volumes", json!([{"name": "host", "hostPath": {"path": "/"}}])),
            with(template, &format!("{container}/securityContext/privileged"), json!(true)),
            with(template, &format!("{container}/securityContext/runAsUser"), json!(0)),
            with(template, &format!("{container}/securityContext/allowPrivilegeEscalation"), json!(true)),
            with(
                template,
                &format!("{container}/securityContext/capabilities"),
                json!({"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
            ),
            without(template, &format!("{container}/securityContext/capabilities")),
            with(template, &format!("{container}/securityContext/readOnlyRootFilesystem"), json!(false)),
            with(template, &format!("{container}/ports/0/hostPort"), json!(443)),
            with(template, &format!("{container}/resources/limits/cpu"), json!("1")),
            with(template, &format!("{container}/resources/limits/memory"), json!("1Gi")),
            without(template, &format!("{container}/resources/limits")),
            without(template, &format!("{container}/livenessProbe")),
            with(
                template,
                &format!("{container}/volumeMounts"),
                json!([{"name": "tls", "mountPath": "/tls.crt", "subPath": "tls.crt"}]),
            ),
        ];
        for (index, template) in worse.iter().enumerate() {
            assert!(!faults(template).is_empty(), "looser copy {index} of {} passed", deployment.name());
        }
    }
}

#[test]
fn each_process_runs_as_its_own_account_and_command() {
    for deployment in deployments() {
        let name = deployment.name();
        let spec = &deployment.value["spec"]["template"]["spec"];
        assert_eq!(text(spec, "/serviceAccountName"), name);
        assert_eq!(strings(spec, "/containers/0/command"), [format!("/{name}")]);
        assert_eq!(text(spec, "/containers/0/image"), concat!("covenant:", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn the_namespace_holds_its_pods_to_the_strictest_level() {
    let installed = installed("");
    let namespace = installed.iter().find(|document| document.kind() == "Namespace").unwrap();
    for mode in ["enforce", "audit", "warn"] {
        assert_eq!(
            text(&namespace.value, &format!("/metadata/labels/pod-security.kubernetes.io~1{mode}")),
            "restricted"
        );
    }
}

#[test]
fn the_webhook_stays_up_through_rollouts_and_drains() {
    let installed = installed("");
    let find = |kind: &str| {
        &installed.iter().find(|each| each.kind() == kind && each.name() == "covenant-webhook").unwrap().value
    };
    let deployment = find("Deployment");
    assert_eq!(deployment.pointer("/spec/replicas"), Some(&json!(2)));
    assert_eq!(deployment.pointer("/spec/minReadySeconds"), Some(&json!(5)));
    assert_eq!(
        deployment.pointer("/spec/strategy/rollingUpdate"),
        Some(&json!({"maxUnavailable": 0, "maxSurge": 1}))
    );
    let topologies: Vec<&str> = list(deployment, "/spec/template/spec/topologySpreadConstraints")
        .iter()
        .map(|constraint| text(constraint, "/topologyKey"))
        .collect();
    assert_eq!(topologies, ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
    let budget = find("PodDisruptionBudget");
    assert_eq!(budget.pointer("/spec/maxUnavailable"), Some(&json!(1)));
    assert_eq!(text(budget, "/spec/unhealthyPodEvictionPolicy"), "AlwaysAllow");
    assert_eq!(budget.pointer("/spec/selector"), deployment.pointer("/spec/selector"));
}

#[test]
fn a_network_policy_closes_each_process_off() {
    for component in ["webhook", "controller"] {
        let name = format!("covenant-{component}");
        let installed = installed("");
        let find = |kind: &str| {
            &installed.iter().find(|each| each.kind() == kind && each.name() == name).unwrap().value
        };
        let policy = find("NetworkPolicy");
        assert_eq!(strings(policy, "/spec/policyTypes"), ["Ingress", "Egress"], "{name}");
        assert_eq!(
            policy.pointer("/spec/podSelector"),
            find("Deployment").pointer("/spec/selector"),
            "{name}"
        );
        for rule in list(policy, "/spec/ingress") {
            let ports: Vec<&str> = list(rule, "/ports").iter().map(|port| text(port, "/port")).collect();
            let expected = if rule.get("from").is_some() { ["health"] } else { ["https"] };
            assert_eq!(ports, expected, "{name}: only TLS is open to everybody");
        }
    }
}
