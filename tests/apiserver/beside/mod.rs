//! Claims beside each other on a real API server: the webhook as a process, with the stores that its own watches keep, and
//! everything else as shipped.
//!
//! Databases and Instances have no namespace, so these tests run one after the other, each in an empty cluster.

mod bindings;
mod deletions;
mod duplicates;
mod stores;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use covenant::controlplane::Output;
use serde_json::{Value, json};

use crate::installation::Installation;
use crate::support::{Finished as _, eventually};

const GROUP: &str = "database.ayatori.ddupan.top";
const PLURALS: [&str; 3] = ["postgresqltenants", "postgresqldatabases", "postgresqlinstances"];

/// An installation without any claim, for one test.
struct Cluster {
    covenant: &'static Installation,
    _alone: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Cluster {
    type Target = Installation;
    fn deref(&self) -> &Installation {
        self.covenant
    }
}

/// Waits for the cluster of these tests and empties it.
fn cluster() -> Cluster {
    static ALONE: Mutex<()> = Mutex::new(());
    static SHARED: OnceLock<Installation> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = Cluster { covenant: SHARED.get_or_init(Installation::new), _alone: alone };
    cluster.ready();
    for plural in PLURALS {
        cluster.empty(plural);
    }
    cluster
}

/// While it lives, the webhook has another kubeconfig. Dropped, the usual webhook comes back, whatever the test did.
struct OtherWebhook(&'static Installation);

impl Drop for OtherWebhook {
    fn drop(&mut self) {
        self.0.kill_webhook();
        self.0.start_webhook();
    }
}

impl Cluster {
    /// Starts the webhook with another kubeconfig.
    fn with_webhook_of(&self, kubeconfig: &Path) -> OtherWebhook {
        self.kill_webhook();
        self.start_webhook_with(kubeconfig);
        OtherWebhook(self.covenant)
    }

    /// Waits until the webhook is ready. A test that failed may have left it away.
    fn ready(&self) {
        if self.webhook_health("/readyz").is_none() && self.plane.process_exited("webhook").is_some() {
            self.start_webhook();
        }
        eventually("the webhook is ready", || (self.webhook_health("/readyz")?.0 == 200).then_some(()));
        self.wait_until_asked();
    }

    fn list(&self, plural: &str) -> Vec<Value> {
        let text = self.kubectl(&["get", plural, "-A", "-o", "json"]).success();
        serde_json::from_str::<Value>(&text).unwrap()["items"].as_array().unwrap().clone()
    }

    /// Deletes every object; finalizers of ours, which no controller takes off here, go first. A deletion that the webhook
    /// still refuses, because it has not seen the last one yet, is tried again.
    fn empty(&self, plural: &str) {
        eventually(&format!("no {plural}"), || {
            let objects = self.list(plural);
            for object in &objects {
                let name = object["metadata"]["name"].as_str().unwrap();
                let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
                let patch = r#"{"metadata": {"finalizers": null}}"#;
                self.kubectl(&["-n", namespace, "patch", plural, name, "--type=merge", "-p", patch]);
                self.kubectl(&["-n", namespace, "delete", plural, name, "--wait=false"]);
            }
            objects.is_empty().then_some(())
        });
    }

    /// Creates an object for real.
    #[track_caller]
    fn create(&self, object: &Value) -> Output {
        self.kubectl_with_input(&["create", "-f", "-"], &object.to_string())
    }

    /// Rehearses a creation.
    #[track_caller]
    fn rehearse(&self, object: &Value) -> Output {
        self.kubectl_with_input(&["create", "--dry-run=server", "-f", "-"], &object.to_string())
    }

    /// Creates an object and returns its UID.
    #[track_caller]
    fn created(&self, object: &Value) -> String {
        let arguments = ["create", "-f", "-", "-o", "jsonpath={.metadata.uid}"];
        self.kubectl_with_input(&arguments, &object.to_string()).success()
    }

    /// Changes an object; `more` are further arguments.
    fn patch(&self, object: &Value, patch: &Value, more: &[&str]) -> Output {
        let (plural, namespace, name) = address(object);
        let patch = patch.to_string();
        let arguments = ["-n", &namespace, "patch", &plural, &name, "--type=merge", "-p", &patch];
        self.kubectl(&[&arguments[..], more].concat())
    }

    /// Writes the status, as a controller or a restored backup would.
    #[track_caller]
    fn set_status(&self, object: &Value, status: &Value) {
        self.patch(object, &json!({"status": status}), &["--subresource=status"]).success();
    }

    /// The reviews of one object that the webhook has logged, as `operation verdict`.
    fn reviews(&self, kind: &str, name: &str) -> Vec<String> {
        let log = self.webhook_log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line["message"] == "review" && line["kind"] == kind && line["name"] == name)
            .map(|line| {
                format!("{} {}", line["operation"].as_str().unwrap(), line["verdict"].as_str().unwrap())
            })
            .collect()
    }
}

/// Waits for a refusal, for the stores may not show yet what the test has just made, and returns its text.
#[track_caller]
fn refused(what: &str, mut attempt: impl FnMut() -> Output) -> String {
    eventually(&format!("{what} is refused"), || {
        let output = attempt();
        (!output.is_success()).then_some(output.stderr)
    })
}

/// Plural, namespace and name.
fn address(object: &Value) -> (String, String, String) {
    let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    (plural, namespace.to_owned(), object["metadata"]["name"].as_str().unwrap().to_owned())
}

fn object(kind: &str, metadata: &Value, spec: &Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": kind, "metadata": metadata, "spec": spec})
}

fn instance(name: &str) -> Value {
    let endpoint = json!({"host": "db.example.com", "hostaddr": "192.0.2.1"});
    let spec = json!({"endpoint": endpoint, "adminCredentialRef": {"name": "admin"}});
    object("PostgreSQLInstance", &json!({"name": name}), &spec)
}

fn database(name: &str, instance: &str, database: &str, role: &str) -> Value {
    let spec = json!({
        "instanceRef": {"name": instance}, "database": database, "loginRole": role, "source": "Provision",
    });
    object("PostgreSQLDatabase", &json!({"name": name}), &spec)
}

fn tenant(namespace: &str, name: &str, spec: &Value) -> Value {
    object("PostgreSQLTenant", &json!({"name": name, "namespace": namespace}), spec)
}

fn dynamic(namespace: &str, name: &str, instance: &str) -> Value {
    tenant(namespace, name, &json!({"provision": {"instanceRef": {"name": instance}}}))
}

fn existing(namespace: &str, name: &str, database: &str) -> Value {
    tenant(namespace, name, &json!({"databaseRef": {"name": database}}))
}

/// The tenantRef of a Database.
fn tenant_ref(tenant: &Value, uid: &str) -> Value {
    let metadata = &tenant["metadata"];
    json!({"namespace": metadata["namespace"], "name": metadata["name"], "uid": uid})
}

/// What kubectl prints for an object with these faults.
fn invalid(object: &Value, lines: &[&str]) -> String {
    let (kind, name) = (object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
    match lines {
        [line] => format!("The {kind} \"{name}\" is invalid: {line}\n"),
        lines => {
            let lines: Vec<String> = lines.iter().map(|line| format!("* {line}")).collect();
            format!("The {kind} \"{name}\" is invalid: \n{}\n", lines.join("\n"))
        }
    }
}
