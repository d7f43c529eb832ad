//! Reads `manifests/` as it is shipped, and makes the few changes that a control plane without nodes needs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::api::names;
use crate::cli::input::yaml;

/// What of `manifests/` a control plane without nodes can use, in the order of installation. The Deployments and what
/// belongs to their Pods are left out: both processes run here as processes.
const PARTS: [&str; 5] = ["crds", "namespace", "rbac", "policies", "webhook"];
/// Of `webhook/`, the kinds that the API server itself needs.
const WEBHOOK_KINDS: [&str; 2] = ["Service", "ValidatingWebhookConfiguration"];

/// The sample of a contract with five faults that the schema cannot see.
pub const FIVE_FAULTS: &str = "refused/contract-five-faults.yaml";

/// `manifests/` cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Unreadable {
    path: String,
    problem: String,
}

/// The shipped manifests.
pub struct Manifests {
    root: PathBuf,
}

impl Manifests {
    /// Those of the source tree that this program was built from.
    pub fn shipped() -> Self {
        Self { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests") }
    }

    /// A sample, `accepted/contract.yaml`; as short a path as the current folder allows.
    pub fn sample(&self, name: &str) -> String {
        let path = self.root.join("samples").join(name);
        let here = std::env::current_dir().unwrap_or_default();
        path.strip_prefix(here).unwrap_or(&path).display().to_string()
    }

    /// A contract whose faults the schema cannot see.
    pub fn contract_that_only_the_webhook_refuses(&self) -> Result<Value, Unreadable> {
        let path = self.root.join("samples").join(FIVE_FAULTS);
        let unreadable = || Unreadable { path: path.display().to_string(), problem: "is empty".to_owned() };
        documents(&path)?.into_iter().next().ok_or_else(unreadable)
    }

    /// Every object to install, in order, for a webhook that listens on `port` of this machine.
    pub fn objects(&self, port: u16) -> Result<Vec<Value>, Unreadable> {
        let mut objects = Vec::new();
        for part in PARTS {
            let mut read = read(&self.root.join(part))?;
            if part == "webhook" {
                read.retain(|object| WEBHOOK_KINDS.contains(&kind(object)));
            }
            objects.append(&mut read);
        }
        for object in &mut objects {
            lead_here(object, port);
        }
        Ok(objects)
    }
}

/// Leads the API server's calls to this machine.
///
/// Nothing routes to a Service here, so it becomes one of type `ExternalName` for `localhost`: the API server then dials
/// `localhost` and still uses the Service's name for TLS and in its request, as in a cluster. Of such a Service it takes
/// the port as the webhook configuration gives it and never looks at the Service's ports, so 443 becomes the port that
/// the webhook has here: a privileged one would need root, and a fixed one may be in use.
fn lead_here(object: &mut Value, port: u16) {
    if kind(object) == "Service" {
        if let Some(spec) = object.get_mut("spec") {
            *spec = json!({"type": "ExternalName", "externalName": "localhost"});
        }
    } else if is_webhook_configuration(object) {
        let entries = object.get_mut("webhooks").and_then(Value::as_array_mut);
        for entry in entries.map_or(&mut [][..], Vec::as_mut_slice) {
            if let Some(shipped) = entry.pointer_mut("/clientConfig/service/port") {
                *shipped = json!(port);
            }
        }
    }
}

/// Whether an object is the shipped webhook configuration.
pub fn is_webhook_configuration(object: &Value) -> bool {
    kind(object) == "ValidatingWebhookConfiguration"
}

fn kind(object: &Value) -> &str {
    object.get("kind").and_then(Value::as_str).unwrap_or_default()
}

/// The patch that sets `caBundle`, and nothing else, in every entry of the shipped configuration.
pub fn authority_patch(configuration: &Value, bundle: &str) -> Value {
    let entries = configuration.get("webhooks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let entries: Vec<_> = entries
        .iter()
        .map(|entry| json!({"name": entry.get("name"), "clientConfig": {"caBundle": bundle}}))
        .collect();
    json!({
        "apiVersion": configuration.get("apiVersion"),
        "kind": configuration.get("kind"),
        "metadata": {"name": configuration.pointer("/metadata/name")},
        "webhooks": entries,
    })
}

/// The name that the webhook's certificate must carry.
pub fn webhook_host() -> String {
    format!("{}.{}.svc", names::WEBHOOK, names::NAMESPACE)
}

/// The objects of a folder as its kustomization lists them.
fn read(folder: &Path) -> Result<Vec<Value>, Unreadable> {
    let file = folder.join("kustomization.yaml");
    let unreadable =
        |problem: &str| Unreadable { path: file.display().to_string(), problem: problem.to_owned() };
    let listed = documents(&file)?;
    let resources = listed.first().and_then(|list| list.get("resources")).and_then(Value::as_array);
    let mut objects = Vec::new();
    for resource in resources.ok_or_else(|| unreadable("lists no resources"))? {
        let path = folder.join(resource.as_str().ok_or_else(|| unreadable("a resource is no path"))?);
        objects.append(&mut if path.is_dir() { read(&path)? } else { documents(&path)? });
    }
    Ok(objects)
}

fn documents(file: &Path) -> Result<Vec<Value>, Unreadable> {
    let unreadable = |problem: String| Unreadable { path: file.display().to_string(), problem };
    let text = std::fs::read_to_string(file).map_err(|error| {
        unreadable(format!("{error}; run the demo from the source tree that it was built from"))
    })?;
    yaml::documents(&text)
        .map(|document| {
            let root =
                document.root.map_err(|error| unreadable(format!("line {}: {}", error.line, error.problem)));
            root.map(yaml::Node::into_value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_the_calls_go_differs_from_what_is_shipped() {
        let manifests = Manifests::shipped();
        let objects = manifests.objects(12345).unwrap();
        let mut shipped = Vec::new();
        for part in PARTS {
            shipped.append(&mut read(&manifests.root.join(part)).unwrap());
        }
        let mut differing = Vec::new();
        for object in &objects {
            let same = shipped.iter().find(|other| {
                ["kind", "apiVersion"].iter().all(|field| other[*field] == object[*field])
                    && other["metadata"]["name"] == object["metadata"]["name"]
            });
            if same.unwrap() != object {
                differing.push(object["kind"].as_str().unwrap());
            }
        }
        differing.sort_unstable();
        assert_eq!(differing, ["Service", "ValidatingWebhookConfiguration"]);
        let kinds = |kind: &str| objects.iter().filter(|object| object["kind"] == kind).count();
        assert_eq!(kinds("CustomResourceDefinition"), 4);
        assert_eq!(kinds("ValidatingWebhookConfiguration"), 1);
        assert_eq!(kinds("Deployment"), 0);
        assert!(kinds("ClusterRole") >= 4 && kinds("ValidatingAdmissionPolicy") >= 4);
    }

    #[test]
    fn the_patch_sets_one_field_in_every_entry() {
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "covenant", "labels": {"a": "b"}},
            "webhooks": [{"name": "one", "sideEffects": "None"}, {"name": "two"}],
        });
        assert_eq!(
            authority_patch(&configuration, "Q0E=")["webhooks"],
            json!([{"name": "one", "clientConfig": {"caBundle": "Q0E="}},
                   {"name": "two", "clientConfig": {"caBundle": "Q0E="}}])
        );
    }
}
