//! The rig does what it says: each fault once, seen from both sides.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use covenant::cluster::client;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use serde_json::json;

use super::{Fault, Rig, Write, point};
use crate::support::{Finished as _, control_plane, eventually, kubectl, kubectl_with_input};

/// A rig in front of the shared control plane, for an account that may do everything.
fn rig(name: &str) -> Rig {
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "covenant-system"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "rig", "namespace": "covenant-system"}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "rig"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "rig", "namespace": "covenant-system"}]},
    ]});
    kubectl_with_input(&["apply", "-f", "-"], &objects.to_string()).success();
    Rig::start(control_plane(), "rig", name)
}

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"a": "b"}})).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_what_it_says() {
    let (rig, space) =
        tokio::task::spawn_blocking(|| (rig("faults"), crate::support::namespace("rig"))).await.unwrap();
    let maps: Api<ConfigMap> =
        Api::namespaced(client::connect(Some(&rig.kubeconfig), "rig").await.unwrap(), &space);
    let create = async |name: &str| maps.create(&PostParams::default(), &map(name)).await;
    let stored = async |name: &str| maps.get_opt(name).await.unwrap().is_some();
    let posts = |write: &Write| write.method == "POST" && write.resource() == ["configmaps"];

    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let call: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for (name, fault, arrives) in [
        ("before", Fault::FailBefore, false),
        ("lost", Fault::LoseReply, true),
        ("killed-before", Fault::KillBefore(call.clone()), false),
        ("killed-after", Fault::KillAfter(call.clone()), true),
    ] {
        let rule = rig.on(1, fault, posts);
        assert!(create(name).await.is_err(), "{name}");
        assert_eq!((rig.hits(rule), stored(name).await), (1, arrives), "{name}");
        let again = create(name).await;
        assert_eq!(again.is_err(), arrives, "{name}: only once: {again:?}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    rig.on(1, Fault::Answer(429), posts);
    let Err(kube::Error::Api(status)) = create("refused").await else { panic!("not refused") };
    assert_eq!((status.code, status.reason.as_str()), (429, "TooManyRequests"));
    rig.on(1, Fault::Delay(std::time::Duration::from_millis(1)), posts);
    create("delayed").await.unwrap();
    rig.on(1, Fault::First(call), posts);
    create("first").await.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert!(rig.writes().iter().all(|write| write.starts_with("other POST /api/v1/namespaces/")));
}

#[test]
fn watch_events_are_held_back_while_reads_stay_current() {
    let rig = rig("held");
    let space = crate::support::namespace("rig");
    let kubectl_through = |arguments: &[&str]| {
        let mut command = Command::new(control_plane().kubectl_binary().expect("kubectl"));
        command.arg("--kubeconfig").arg(&rig.kubeconfig).args(["-n", &space]).args(arguments);
        command
    };
    let seen = control_plane().folder().join("rig-watch.txt");
    let out = std::fs::File::create(&seen).unwrap();
    let mut watching = kubectl_through(&["get", "configmaps", "--watch", "-o", "name"])
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let has = |name: &str| std::fs::read_to_string(Path::new(&seen)).unwrap().contains(name);
    kubectl(&["create", "configmap", "one", "-n", &space]).success();
    eventually("an event comes", || has("configmap/one").then_some(()));
    rig.hold("configmaps");
    kubectl(&["create", "configmap", "two", "-n", &space]).success();
    let read = kubectl_through(&["get", "configmap", "two", "-o", "name"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "configmap/two\n");
    assert!(!has("configmap/two"));
    rig.release("configmaps");
    eventually("the event comes after all", || has("configmap/two").then_some(()));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn every_write_of_the_protocol_has_its_name() {
    let group = "/apis/database.ayatori.ddupan.top/v1alpha1";
    let tenant = format!("{group}/namespaces/team/postgresqltenants/shop");
    let database = format!("{group}/postgresqldatabases");
    let one = format!("{database}/one");
    let leases = "/apis/coordination.k8s.io/v1/namespaces/covenant-system/leases".to_owned();
    let finalizers = |list: &[&str]| json!({"metadata": {"finalizers": list}});
    let ours = "database.ayatori.ddupan.top/tenant-release";
    let phase = |phase: &str| json!({"status": {"phase": phase}});
    let claim = |kind: &str| json!({"metadata": {"labels": {"database.ayatori.ddupan.top/claim": kind}}});
    let bound = json!({"metadata": {"finalizers": [ours]}, "spec": {"tenantRef": {"uid": "u"}}});
    for (method, target, body, expected) in [
        ("PUT", tenant.clone(), finalizers(&["other/one", ours]), "W0"),
        ("PUT", tenant.clone(), finalizers(&["other/one"]), "X4"),
        ("PUT", format!("{tenant}/status"), phase("Binding"), "W1"),
        ("PUT", format!("{tenant}/status"), phase("Bound"), "W4"),
        ("PUT", format!("{tenant}/status"), phase("Pending"), "tenant-status"),
        ("POST", database.clone(), bound.clone(), "W2"),
        ("POST", format!("{database}?&dryRun=All"), bound.clone(), "W2-dry"),
        ("PUT", one.clone(), bound, "W2"),
        ("PUT", one.clone(), finalizers(&[ours]), "database-finalizer"),
        ("PUT", one.clone(), finalizers(&[]), "database-finalizer-off"),
        ("PUT", format!("{one}/status"), phase("Bound"), "W3"),
        ("PUT", format!("{one}/status"), phase("Releasing"), "X3"),
        ("PUT", format!("{one}/status"), phase("Released"), "released"),
        ("DELETE", one, json!({}), "X5"),
        ("POST", leases.clone(), claim("database"), "claim-database"),
        ("POST", leases.clone(), claim("role"), "claim-role"),
        ("PUT", format!("{leases}/covenant-controller"), json!({}), "other"),
        ("POST", "/api/v1/namespaces/team/secrets".to_owned(), json!({}), "other"),
    ] {
        let write = Write { method: method.into(), target, body };
        assert_eq!(point(&write), expected, "{write}");
    }
}
