//! Contracts follow the ExternalSecret that they name.
//!
//! The definition here stands in for that of the External Secrets Operator, which itself does not run in these tests: the
//! same group, kind and versions without conversion, and a schema that takes everything. The statuses are what the real
//! operator (0.16) wrote in the situations that they are named after.

use std::sync::Once;

use covenant::controlplane::ControlPlane;
use covenant::process::clock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Controller, apply_folder, condition, install_definitions, namespace, plane};
use crate::support::{Finished as _, eventually, start_control_plane};

/// The hash behind the dash of a `syncedResourceVersion`.
const HASH: &str = "52f204393431cefafd4088eefbad9c478a43ec02524749366a383400";
const V1: &str = "external-secrets.io/v1";
const V1BETA1: &str = "external-secrets.io/v1beta1";

/// The stand-in; `served` says for `v1` and `v1beta1` whether they are.
fn definition(served: [bool; 2]) -> String {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = |name: &str, served: bool, storage: bool| {
        json!({
            "name": name, "served": served, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "externalsecrets.external-secrets.io"},
        "spec": {
            "group": "external-secrets.io", "scope": "Namespaced",
            "names": {"kind": "ExternalSecret", "plural": "externalsecrets", "singular": "externalsecret"},
            "versions": [version("v1", served[0], true), version("v1beta1", served[1], false)],
        },
    })
    .to_string()
}

/// A namespace of a control plane, and who works in it.
struct Site {
    plane: &'static ControlPlane,
    namespace: String,
}

impl Site {
    /// A namespace of its own in the control plane that these tests share, with both versions served.
    fn shared(prefix: &str) -> Self {
        static DEFINITION: Once = Once::new();
        let site = Self { plane: plane(), namespace: namespace(prefix) };
        DEFINITION.call_once(|| site.serve([true, true]));
        site
    }

    #[track_caller]
    fn kubectl(&self, arguments: &[&str]) -> String {
        let all: Vec<&str> = ["-n", &self.namespace].into_iter().chain(arguments.iter().copied()).collect();
        self.plane.kubectl(&all, None).expect("kubectl runs").success()
    }

    #[track_caller]
    fn apply(&self, object: &str) {
        self.plane
            .kubectl(&["apply", "-n", &self.namespace, "-f", "-"], Some(object))
            .expect("kubectl runs")
            .success();
    }

    #[track_caller]
    fn serve(&self, served: [bool; 2]) {
        self.apply(&definition(served));
        let name = "crd/externalsecrets.external-secrets.io";
        self.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", name]);
        let served = if served[0] { "v1" } else { "v1beta1" };
        let kind = format!("externalsecrets.{served}.external-secrets.io");
        eventually("it is served", || {
            let list =
                self.plane.kubectl(&["get", &kind, "-n", &self.namespace], None).expect("kubectl runs");
            list.is_success().then_some(())
        });
    }

    /// Makes a contract and an ExternalSecret of one name, and gives the UID of the latter.
    #[track_caller]
    fn contract(&self, name: &str, api_version: &str) {
        let contract = json!({
            "apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract", "metadata": {"name": name},
            "spec": {
                "secretRef": {"name": name}, "externalSecretRef": {"name": name, "apiVersion": api_version},
                "policy": {"requireExternalSecretReady": true},
            },
        });
        self.apply(&contract.to_string());
    }

    #[track_caller]
    fn external_secret(&self, name: &str, api_version: &str, spec: &Value) -> String {
        let object = json!({
            "apiVersion": api_version, "kind": "ExternalSecret", "metadata": {"name": name}, "spec": spec,
        });
        self.apply(&object.to_string());
        self.kubectl(&["get", "externalsecret", name, "-o", "jsonpath={.metadata.uid}"])
    }

    /// Writes a status as the operator does.
    #[track_caller]
    fn report(&self, name: &str, status: &Value) {
        self.report_through("v1", name, status);
    }

    /// The same through another version: `kubectl` would guess one from what was served a minute ago.
    #[track_caller]
    fn report_through(&self, version: &str, name: &str, status: &Value) {
        let kind = format!("externalsecrets.{version}.external-secrets.io");
        let patch = json!({"status": status}).to_string();
        self.kubectl(&["patch", &kind, name, "--subresource=status", "--type=merge", "-p", &patch]);
    }

    /// Makes the Secret, owned by this ExternalSecret or by nobody.
    #[track_caller]
    fn secret(&self, name: &str, owner: Option<&str>) {
        let owners: Vec<Value> = owner
            .iter()
            .map(|uid| {
                json!({"apiVersion": V1, "kind": "ExternalSecret", "name": name, "uid": uid,
                    "controller": true, "blockOwnerDeletion": true})
            })
            .collect();
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "ownerReferences": owners},
            "stringData": {"password": "p1"},
        });
        self.apply(&secret.to_string());
    }

    /// Waits until the contract's ExternalSecretReady is as told.
    #[track_caller]
    fn until(&self, name: &str, status: &str, reason: &str) -> Value {
        let wanted = Some((status.to_owned(), reason.to_owned()));
        eventually(&format!("ExternalSecretReady of {name:?} is {status}/{reason}"), || {
            let text = self.kubectl(&["get", "secretcontract", name, "-o", "json"]);
            let found: Value = serde_json::from_str(&text).expect("JSON");
            (condition(&found, "ExternalSecretReady") == wanted).then_some(found)
        })
    }
}

/// A status of the operator: its Ready, the Secret it is bound to, and, if it ever synced, when and which generation.
fn status(ready: (&str, &str), binding: &str, synced: Option<(i64, Timestamp)>) -> Value {
    let condition = json!({
        "type": "Ready", "status": ready.0, "reason": ready.1, "message": "free text of the operator",
        "lastTransitionTime": "2026-11-30T15:29:37Z",
    });
    let mut status = json!({"binding": {"name": binding}, "conditions": [condition], "refreshTime": null});
    if let Some((generation, time)) = synced {
        status["refreshTime"] = json!(format!("{time:.0}"));
        status["syncedResourceVersion"] = json!(format!("{generation}-{HASH}"));
    }
    status
}

fn synced(name: &str) -> Value {
    status(("True", "SecretSynced"), name, Some((1, clock::now())))
}

/// From an absent definition to one that is installed, that ceases to serve a version, that is removed and comes back:
/// one process, which is ready all the time.
#[test]
fn the_kind_comes_changes_its_version_and_goes() {
    // Others would notice: this control plane is not the shared one.
    let plane: &'static ControlPlane = Box::leak(Box::new(start_control_plane().expect("a control plane")));
    install_definitions(plane);
    apply_folder(plane, "namespace");
    apply_folder(plane, "rbac");
    let site = Site { plane, namespace: "default".to_owned() };
    let controller =
        Controller::start_as(plane, "covenant-controller", "producer", &["--leader-elect=false"]);
    controller.ready();
    for (name, version) in [("web", V1), ("old", V1BETA1)] {
        site.contract(name, version);
        let found = site.until(name, "Unknown", "APINotServed");
        assert_eq!(condition(&found, "Ready"), Some(("False".into(), "SecretNotFound".into())));
    }
    assert_eq!(controller.http("/readyz/externalsecrets").0, 200);

    // The one that asks for v1 is read through the version that is served.
    site.serve([false, true]);
    site.until("web", "False", "ExternalSecretNotFound");
    site.until("old", "False", "ExternalSecretNotFound");
    site.serve([true, true]);
    for (name, version) in [("web", V1), ("old", V1BETA1)] {
        let uid = site.external_secret(name, version, &json!({"refreshInterval": "1h"}));
        site.until(name, "Unknown", "Pending");
        site.secret(name, Some(&uid));
        site.report(name, &synced(name));
        let found = site.until(name, "True", "ExternalSecretReady");
        assert_eq!(condition(&found, "Ready"), Some(("True".into(), "ContractSatisfied".into())));
    }

    // The API server lets a watch of a version live on that it has ceased to serve, until it times out.
    site.serve([false, true]);
    site.report_through(
        "v1beta1",
        "web",
        &status(("False", "SecretSyncedError"), "web", Some((1, clock::now()))),
    );
    site.until("web", "False", "ExternalSecretNotReady");
    site.report_through(
        "v1beta1",
        "old",
        &status(("False", "SecretSyncedError"), "old", Some((1, clock::now()))),
    );
    site.until("old", "False", "ExternalSecretNotReady");
    site.serve([true, false]);
    site.report("old", &synced("old"));
    site.until("old", "True", "ExternalSecretReady");

    site.kubectl(&["delete", "crd", "externalsecrets.external-secrets.io"]);
    site.until("web", "Unknown", "APINotServed");
    site.until("old", "Unknown", "APINotServed");
    site.serve([true, true]);
    site.until("web", "False", "ExternalSecretNotFound");
    site.until("old", "False", "ExternalSecretNotFound");

    let log: String = controller.log().lines().filter(|line| line.contains("externalsecrets")).collect();
    let absent = "the API server does not serve externalsecrets";
    assert_eq!(log.matches(absent).count(), 2, "once each time, in {log}");
    for version in [V1, V1BETA1] {
        assert!(log.contains(&format!("watching externalsecrets of {version}\"")), "{version} in {log}");
    }
    assert_eq!(controller.http("/readyz").0, 200);
    assert_eq!(controller.stop(), Some(0));
}

/// What the operator wrote, and what it means for a contract.
#[test]
fn statuses_of_the_operator() {
    let site = Site::shared("operator");
    let controller = Controller::alone(&site.namespace);
    controller.ready();
    let now = clock::now();
    let long_ago = now - SignedDuration::from_hours(2);
    let failed = ("False", "SecretSyncedError");
    let rows = [
        ("synced", synced("synced"), true, ("True", "ExternalSecretReady")),
        ("never", status(failed, "", None), false, ("False", "ExternalSecretNotReady")),
        ("lost", status(failed, "lost", Some((1, now))), true, ("False", "ExternalSecretNotReady")),
        (
            "deleted",
            status(("True", "SecretDeleted"), "deleted", Some((1, now))),
            false,
            ("False", "TargetMissing"),
        ),
        ("missing", status(("True", "SecretMissing"), "", Some((1, now))), false, ("False", "TargetMissing")),
        ("taken", status(failed, "taken", None), true, ("False", "ExternalSecretNotReady")),
        ("elsewhere", synced("from-fake-secret"), true, ("False", "TargetMismatch")),
        ("vanished", synced("vanished"), false, ("False", "TargetMissing")),
        ("silent", json!({}), true, ("Unknown", "Pending")),
        (
            "late",
            status(("True", "SecretSynced"), "late", Some((1, long_ago))),
            true,
            ("Unknown", "ExternalSecretStale"),
        ),
        (
            "older",
            status(("True", "SecretSynced"), "older", Some((0, now))),
            true,
            ("Unknown", "ExternalSecretStale"),
        ),
    ];
    for (name, status, owned, _) in &rows {
        site.contract(name, V1);
        let uid = site.external_secret(
            name,
            V1,
            &json!({"refreshInterval": "1h", "target": {"creationPolicy": "Owner"}}),
        );
        if *owned {
            site.secret(name, Some(&uid));
        }
        site.report(name, status);
    }
    for (name, _, _, (status, reason)) in &rows {
        let found = site.until(name, status, reason);
        assert!(!found["status"].to_string().contains("free text"), "what the operator says is not repeated");
    }
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn a_contract_follows_its_external_secret() {
    let site = Site::shared("producer");
    let controller = Controller::alone(&site.namespace);
    controller.ready();
    site.contract("web", V1);
    site.until("web", "False", "ExternalSecretNotFound");
    let uid = site.external_secret("web", V1BETA1, &json!({"refreshInterval": "1h"}));
    site.until("web", "Unknown", "Pending");
    site.report("web", &synced("web"));
    site.until("web", "False", "TargetMissing");
    site.secret("web", None);
    site.until("web", "False", "NotOwned");
    site.secret("web", Some(&uid));
    site.until("web", "True", "ExternalSecretReady");

    // A new generation is not synced yet; then it is, but nobody refreshes any more: the contract is looked at again at
    // the very instant, long before the next scheduled check.
    site.external_secret("web", V1, &json!({"refreshInterval": "1m"}));
    site.until("web", "Unknown", "ExternalSecretStale");
    let almost = clock::now() - SignedDuration::from_mins(6) + SignedDuration::from_secs(20);
    site.report("web", &status(("True", "SecretSynced"), "web", Some((2, almost))));
    site.until("web", "True", "ExternalSecretReady");
    site.until("web", "Unknown", "ExternalSecretStale");

    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}}).to_string();
    site.kubectl(&["patch", "externalsecret", "web", "--type=merge", "-p", &finalizer]);
    site.kubectl(&["delete", "externalsecret", "web", "--wait=false"]);
    site.until("web", "False", "ExternalSecretTerminating");
    site.kubectl(&[
        "patch",
        "externalsecret",
        "web",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ]);
    site.until("web", "False", "ExternalSecretNotFound");
    assert_eq!(controller.stop(), Some(0));
}

#[test]
fn without_the_right_to_read_it_the_process_is_ready_and_the_contract_says_so() {
    let site = Site::shared("no-producer");
    let rules = json!([
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets", "daemonsets"], "verbs": ["get", "list", "watch"]},
    ]);
    let account = "without-producers";
    let subject = json!([{"kind": "ServiceAccount", "name": account, "namespace": "covenant-system"}]);
    let object = |kind: &str, rest: Value| {
        let mut object = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": account}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        object.to_string()
    };
    let binding = |name: &str, role: &str| {
        let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
        object(
            "ClusterRoleBinding",
            json!({"metadata": {"name": name}, "roleRef": reference, "subjects": subject}),
        )
    };
    site.kubectl(&["create", "serviceaccount", account, "-n", "covenant-system"]);
    site.apply(&object("ClusterRole", json!({"rules": rules})));
    site.apply(&binding("without-producers-own", account));
    site.apply(&binding("without-producers", "covenant-controller"));
    let account = format!("--serviceaccount=covenant-system:{account}");
    site.kubectl(&[
        "create",
        "rolebinding",
        "without-producers",
        "-n",
        "covenant-system",
        "--role=covenant-controller",
        &account,
    ]);
    let account = "without-producers";
    let arguments = ["--leader-elect=false", "--watch-namespace", site.namespace.as_str()];
    let controller = Controller::start_as(plane(), account, &site.namespace, &arguments);
    controller.ready();
    let uid = site.external_secret("web", V1, &json!({}));
    site.secret("web", Some(&uid));
    site.contract("web", V1);
    let found = site.until("web", "Unknown", "AccessDenied");
    assert_eq!(condition(&found, "SecretExists"), Some(("True".into(), "SecretFound".into())));
    assert_eq!(condition(&found, "Ready"), Some(("Unknown".into(), "AccessDenied".into())));
    assert_eq!(controller.log().matches("cannot watch externalsecrets").count(), 1);
    assert_eq!(controller.http("/readyz").0, 200);
    assert_eq!(controller.stop(), Some(0));
}
