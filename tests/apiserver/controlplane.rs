//! The control plane itself: it is the version asked for, its controllers work, and its doors are closed.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use covenant::controlplane::audit::AuditEvent;
use covenant::controlplane::{Binaries, ControlPlane, ETCD, KUBE_APISERVER, Options};
use kube::Api;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;

use crate::support::{
    Finished as _, binaries, control_plane, eventually, kubectl, kubectl_with_input, kubernetes_version,
    namespace, script, start_control_plane_with,
};

#[test]
fn the_server_is_the_version_that_was_asked_for() {
    let version: Value = serde_json::from_str(&kubectl(&["get", "--raw", "/version"]).success()).unwrap();
    let asked = kubernetes_version();
    assert!(control_plane().version().same_minor(asked));
    assert_eq!(version["major"], asked.major.to_string());
    assert_eq!(version["minor"], asked.minor.to_string());
    assert!(
        version["gitVersion"].as_str().unwrap().starts_with(&format!("v{}.{}.", asked.major, asked.minor))
    );
}

#[test]
fn a_deleted_namespace_goes_with_what_is_in_it() {
    let namespace = namespace("deleted");
    kubectl(&["create", "configmap", "content", "-n", &namespace]).success();
    kubectl(&["delete", "namespace", &namespace, "--wait=false"]).success();
    eventually("the namespace is gone", || {
        let output = kubectl(&["get", "namespace", &namespace]);
        output.stderr.contains("NotFound").then_some(())
    });
}

#[test]
fn an_object_goes_when_its_owner_goes() {
    let namespace = namespace("garbage");
    let uid = kubectl(&["create", "configmap", "owner", "-n", &namespace, "-o", "jsonpath={.metadata.uid}"])
        .success();
    let dependent = format!(
        "apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: {uid}}}]
"
    );
    kubectl_with_input(&["create", "-n", &namespace, "-f", "-"], &dependent).success();
    kubectl(&["delete", "configmap", "owner", "-n", &namespace]).success();
    eventually("the dependent object is gone", || {
        let output = kubectl(&["get", "configmap", "dependent", "-n", &namespace]);
        output.stderr.contains("NotFound").then_some(())
    });
}

#[test]
fn roles_are_aggregated() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: aggregation-test
  labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}
rules:
- {apiGroups: [aggregation.test], resources: [things], verbs: [get]}
";
    kubectl_with_input(&["create", "-f", "-"], role).success();
    eventually("the role view has the rule", || {
        let view = kubectl(&["get", "clusterrole", "view", "-o", "json"]).success();
        view.contains("aggregation.test").then_some(())
    });
}

#[test]
fn a_service_account_has_its_own_rights_and_no_others() {
    let namespace = namespace("account");
    kubectl(&["create", "serviceaccount", "reader", "-n", &namespace]).success();
    kubectl(&["create", "role", "reader", "--verb=get,list", "--resource=configmaps", "-n", &namespace])
        .success();
    let subject = format!("--serviceaccount={namespace}:reader");
    kubectl(&["create", "rolebinding", "reader", "--role=reader", &subject, "-n", &namespace]).success();

    let plane = control_plane();
    let kubeconfig = plane.kubeconfig_for_service_account(&namespace, "reader").unwrap();
    assert_eq!(std::fs::metadata(&kubeconfig).unwrap().permissions().mode() & 0o777, 0o600);
    let reader = |arguments: &[&str]| plane.kubectl_as(&kubeconfig, arguments, None).unwrap();
    let user = format!("system:serviceaccount:{namespace}:reader");
    assert_eq!(reader(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"]).success(), user);
    reader(&["get", "configmaps", "-n", &namespace]).success();
    for forbidden in [["get", "secrets", "-n", &namespace], ["get", "configmaps", "-n", "default"]] {
        assert!(reader(&forbidden).failure().contains("(Forbidden)"));
    }
    let error = plane.kubeconfig_for_service_account(&namespace, "nobody").unwrap_err();
    assert!(error.to_string().contains("nobody"), "{error}");
}

#[tokio::test]
async fn nobody_without_a_name_gets_past_the_health_endpoints() {
    let plane = tokio::task::spawn_blocking(control_plane).await.unwrap();
    let mut kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = None;
    }
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = kube::Client::try_from(config).unwrap();
    let get = |path: &str| client.request_text(http::Request::get(path).body(Vec::new()).unwrap());
    assert_eq!(get("/livez").await.unwrap(), "ok");
    for path in ["/version", "/api", "/api/v1/namespaces", "/metrics", "/openapi/v2"] {
        let Err(kube::Error::Api(status)) = get(path).await else { panic!("{path} is open") };
        assert_eq!(status.code, 401, "{path}");
    }
}

#[test]
fn the_audit_log_tells_who_wrote_what_and_no_secret() {
    let namespace = namespace("audit");
    let literal = "--from-literal=password=never-in-the-audit-log";
    kubectl(&["create", "secret", "generic", "login", literal, "-n", &namespace]).success();
    kubectl(&["create", "secret", "generic", "rehearsal", literal, "-n", &namespace, "--dry-run=server"])
        .success();
    let plane = control_plane();
    let writes: Vec<(String, String)> = plane
        .audit()
        .unwrap()
        .into_iter()
        .filter(AuditEvent::is_write)
        .filter_map(|event| Some((event.user.username, event.object_ref?)))
        .filter(|(_, object)| object.resource == "secrets" && object.namespace == namespace)
        .map(|(user, object)| (user, object.name))
        .collect();
    assert_eq!(writes, [("kubernetes-admin".to_owned(), "login".to_owned())]);
    let raw = std::fs::read_to_string(plane.folder().join("audit.log")).unwrap();
    let encoded = "bmV2ZXItaW4tdGhlLWF1ZGl0LWxvZw";
    assert!(
        !raw.contains("never-in-the-audit-log") && !raw.contains(encoded),
        "the audit log holds a Secret"
    );
}

#[test]
fn what_is_private_is_closed_to_others() {
    let plane = control_plane();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(plane.folder()), 0o700);
    assert_eq!(mode(plane.kubeconfig()), 0o600);
}

#[tokio::test]
async fn a_client_works_on_the_runtime_of_its_test() {
    use k8s_openapi::api::core::v1::Namespace;
    // kubectl blocks; only the client may be used on this thread.
    let plane = tokio::task::spawn_blocking(control_plane).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(plane.client().await.unwrap());
    assert_eq!(namespaces.get("kube-system").await.unwrap().metadata.name.as_deref(), Some("kube-system"));
}

#[test]
fn a_taken_port_is_tried_again_and_parts_can_be_started_again_with_their_data() {
    // Others would notice: this control plane is not the shared one.
    let mut binaries = binaries().unwrap();
    binaries.kube_controller_manager = None;
    let etcd = control_plane().folder().join("etcd-that-fails-once");
    let text = "mkdir \"$0.tried\" 2>/dev/null && echo 'listen tcp 127.0.0.1:1: bind: address already in use' && exit 1";
    binaries.etcd = script(&etcd, &format!("{text}\nexec {} \"$@\"", binaries.etcd.display()));
    let plane = start_control_plane_with(binaries).unwrap();
    assert!(std::fs::exists(etcd.with_extension("tried")).unwrap(), "nothing failed");
    plane.kubectl(&["create", "configmap", "kept"], None).unwrap().success();
    for part in [KUBE_APISERVER, ETCD] {
        plane.stop_process(part, Duration::from_mins(1)).unwrap();
    }
    for part in [ETCD, KUBE_APISERVER] {
        plane.start_process_again(part).unwrap();
    }
    plane.wait_until_ready().unwrap();
    plane.kubectl(&["get", "configmap", "kept"], None).unwrap().success();
    let error = plane.start_process_again("stranger").unwrap_err();
    assert_eq!(error.to_string(), "stranger was never started");
}

#[test]
fn a_part_that_ends_at_once_is_told_with_its_last_words() {
    let plane = control_plane();
    let broken = script(&plane.folder().join("broken"), "echo 'no such flag' >&2; exit 3");
    let binaries = Binaries {
        version: plane.version(),
        etcd: broken.clone(),
        kube_apiserver: broken,
        kube_controller_manager: None,
        kubectl: None,
    };
    let error =
        ControlPlane::start(Options { covenant: plane.covenant().to_owned(), binaries }).err().unwrap();
    let text = error.to_string();
    assert!(text.ends_with(" ended with exit code 3; the last lines of its log:\n  no such flag"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_listens_beyond_loopback() {
    use crate::supervisor::{children, listening_addresses};

    let parts = children(control_plane().supervisor_pid());
    assert_eq!(parts.len(), 3, "etcd, kube-apiserver, kube-controller-manager: {parts:?}");
    for part in parts {
        let addresses = listening_addresses(part);
        assert!(!addresses.is_empty(), "process {part} listens nowhere");
        assert!(
            addresses.iter().all(std::net::IpAddr::is_loopback),
            "process {part} listens on {addresses:?}"
        );
    }
}
