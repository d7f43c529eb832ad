//! G01: a leader that is stopped in the middle of its work, loses its Lease meanwhile, and goes on as if nothing had happened.
//!
//! What was already on its way to the wire when it was stopped still goes out when it goes on; no process can take that back.
//! It is as good as a request that the network has kept for a while: what it changes carries the version that was judged, what
//! it makes has a fixed name. So that much, one request of each pass, is allowed for, and nothing begun after it.
//!
//! `COVENANT_TEST_ROUNDS` asks for more rounds (50 for a night's run).

use covenant::controlplane::audit::AuditEvent;
use covenant::controlplane::{ControlPlane, Signal};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Controller, MANIFESTS, install_definitions};
use crate::support::{Finished as _, eventually, start_control_plane};

const ACCOUNTS: [&str; 2] = ["covenant-controller", "second-controller"];

fn rounds() -> usize {
    std::env::var("COVENANT_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn kubectl(plane: &ControlPlane, arguments: &[&str], input: Option<&str>) -> String {
    plane.kubectl(arguments, input).expect("kubectl runs").success()
}

/// A second account with the rights of the first, so that the audit log tells who wrote what.
fn second_account(plane: &ControlPlane) {
    let subject = json!([{"kind": "ServiceAccount", "name": ACCOUNTS[1], "namespace": "covenant-system"}]);
    let role =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let binding = |kind: &str, name: &str, role: Value, namespace: Option<&str>| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "roleRef": role, "subjects": subject,
            "metadata": {"name": name, "namespace": namespace}})
    };
    let all = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNTS[1], "namespace": "covenant-system"}},
        binding("ClusterRoleBinding", "second-controller", role("ClusterRole", "covenant-controller"), None),
        binding("ClusterRoleBinding", "second-secrets", role("ClusterRole", "covenant-controller-secrets"), None),
        binding("RoleBinding", "second-controller", role("Role", "covenant-controller"), Some("covenant-system")),
    ]});
    kubectl(plane, &["apply", "-f", "-"], Some(&all.to_string()));
}

fn lease(plane: &ControlPlane) -> Value {
    let text =
        kubectl(plane, &["get", "lease", "covenant-controller", "-n", "covenant-system", "-o", "json"], None);
    serde_json::from_str(&text).unwrap()
}

/// Tenants enough to keep a leader busy for some seconds.
fn tenants(round: usize) -> String {
    let items = (0..40).map(|number| {
        json!({"apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": "PostgreSQLTenant",
            "metadata": {"name": format!("shop{round}x{number}"), "namespace": "default"},
            "spec": {"provision": {"instanceRef": {"name": "main"}}}})
    });
    json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()}).to_string()
}

#[test]
fn g01_a_leader_that_was_stopped_writes_nothing_once_another_one_leads() {
    let plane: &'static ControlPlane = Box::leak(Box::new(start_control_plane().expect("a control plane")));
    install_definitions(plane);
    for folder in ["namespace", "rbac"] {
        kubectl(plane, &["apply", "-k", &format!("{MANIFESTS}/{folder}")], None);
    }
    second_account(plane);
    let instance = json!({"apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": "PostgreSQLInstance", "metadata": {"name": "main"},
        "spec": {"endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.10"}, "adminCredentialRef": {"name": "admin"}}});
    kubectl(plane, &["apply", "-f", "-"], Some(&instance.to_string()));

    let mut leader = Controller::start_as(plane, ACCOUNTS[0], "round", &[]);
    eventually("the first leads", || (leader.metric("covenant_leader") > 0.0).then_some(()));
    for round in 0..rounds() {
        let (old, new) = (ACCOUNTS[round % 2], ACCOUNTS[(round + 1) % 2]);
        let next = Controller::start_as(plane, new, "round", &[]);
        kubectl(plane, &["create", "-f", "-"], Some(&tenants(round)));
        plane.signal_process(&leader.name, Signal::Stop).expect("it is stopped");
        eventually("the other leads", || (next.metric("covenant_leader") > 0.0).then_some(()));
        let taken: Timestamp = lease(plane)["spec"]["acquireTime"].as_str().unwrap().parse().unwrap();
        plane.signal_process(&leader.name, Signal::Continue).expect("it goes on");
        let status =
            plane.wait_for_process(&leader.name, std::time::Duration::from_secs(30)).expect("it ends");
        assert_eq!(status.code, Some(1), "it says that it was overtaken");
        eventually("every Tenant is bound", || {
            let phases = ["get", "postgresqltenants", "-o", "jsonpath={.items[*].status.phase}"];
            let phases = kubectl(plane, &phases, None);
            (phases.split(' ').filter(|phase| *phase == "Bound").count() == 40 * (round + 1)).then_some(())
        });
        let user = format!("system:serviceaccount:covenant-system:{old}");
        let late = |event: &AuditEvent| {
            let time: Timestamp = event.request_received_timestamp.parse().unwrap();
            event.is_write() && event.user.username == user && time > taken
        };
        let late: Vec<String> = plane
            .audit()
            .expect("the audit log")
            .into_iter()
            .filter(late)
            .map(|event| format!("{} {} {}", event.request_received_timestamp, event.verb, event.request_uri))
            .collect();
        // Eight passes at once over each of the four kinds, of which Tenants and Databases have work here.
        assert!(late.len() <= 16, "round {round}: after {taken}: {late:#?}");
        let databases = ["get", "postgresqldatabases", "-o", "jsonpath={.items[*].spec.tenantRef.uid}"];
        let databases = kubectl(plane, &databases, None);
        let mut tenants: Vec<&str> = databases.split(' ').collect();
        tenants.sort_unstable();
        tenants.dedup();
        assert_eq!(
            (tenants.len(), databases.split(' ').count()),
            (40 * (round + 1), 40 * (round + 1)),
            "one each"
        );
        leader = next;
    }
    assert_eq!(leader.stop(), Some(0));
}
