//! The corpus on a real API server: every case in a namespace of its own, all at once, judged by one controller. The
//! control plane is the corpus's own, for its controller looks at every namespace.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::Controller;
use crate::corpus::{Case, Given, Outcome, Place};
use crate::support::{Finished as _, PATIENCE, start_control_plane};

/// How many requests are under way at once.
const AT_ONCE: usize = 16;

#[test]
fn the_controller_says_what_every_case_expects() {
    let plane = Box::leak(Box::new(start_control_plane().expect("a control plane")));
    let kubectl = |arguments: &[&str], input: Option<&str>| {
        plane.kubectl(arguments, input).expect("kubectl runs").success()
    };
    super::install_definitions(plane);
    kubectl(&["apply", "-f", "-"], Some(&external_secrets().to_string()));
    kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"], None);
    for folder in ["namespace", "rbac"] {
        super::apply_folder(plane, folder);
    }
    let controller = Controller::start_as(plane, "covenant-controller", "corpus", &["--leader-elect=false"]);
    controller.ready();

    let cases: Vec<Case> = Case::all(Some(covenant::process::clock::now()))
        .into_iter()
        .filter(|case| case.is_for(Place::Controller))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let wrong = runtime.block_on(async {
        let cluster = Cluster { client: plane.client().await.unwrap() };
        let applied = stream::iter(&cases).map(|case| cluster.apply(case)).buffer_unordered(AT_ONCE);
        let mut wrong: Vec<String> = applied.filter_map(std::future::ready).collect().await;
        wrong.extend(cluster.until_all_are_as_expected(&cases).await);
        wrong
    });
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    let log = controller.log();
    for case in &cases {
        assert!(
            !case.recognisable_values().iter().any(|value| log.contains(value)),
            "{}: in the log",
            case.name
        );
    }
    assert_eq!(controller.stop(), Some(0));
}

/// A definition that stores ExternalSecrets of any form in both versions, in place of the operator's own.
fn external_secrets() -> Value {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "externalsecrets.external-secrets.io"},
        "spec": {"group": "external-secrets.io", "scope": "Namespaced",
            "names": {"kind": "ExternalSecret", "plural": "externalsecrets", "singular": "externalsecret"},
            "versions": [version("v1", true), version("v1beta1", false)]}})
}

struct Cluster {
    client: Client,
}

impl Cluster {
    fn api(&self, namespace: &str, manifest: &Value) -> Api<DynamicObject> {
        let kind = manifest["kind"].as_str().unwrap();
        let api_version = manifest["apiVersion"].as_str().unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        };
        match namespace {
            "" => Api::all_with(self.client.clone(), &resource),
            namespace => Api::namespaced_with(self.client.clone(), namespace, &resource),
        }
    }

    /// Creates an object as it is described: with its status, and on its way out if it has a time of deletion.
    async fn create(&self, namespace: &str, manifest: &Value) -> Result<DynamicObject, kube::Error> {
        let mut manifest = manifest.clone();
        let terminating = manifest["metadata"]["deletionTimestamp"].is_string();
        let status = manifest.as_object_mut().unwrap().remove("status");
        if let Some(metadata) = manifest["metadata"].as_object_mut() {
            for field in ["deletionTimestamp", "uid", "generation"] {
                metadata.remove(field);
            }
            if terminating {
                metadata.insert("finalizers".to_owned(), json!(["corpus.example.com/hold"]));
            }
        }
        let api = self.api(namespace, &manifest);
        let mut created =
            api.create(&PostParams::default(), &serde_json::from_value(manifest).unwrap()).await?;
        if let Some(status) = status {
            let patch = Patch::Merge(json!({"status": status}));
            created = api.patch_status(&created.name_any(), &PatchParams::default(), &patch).await?;
        }
        if terminating {
            api.delete(&created.name_any(), &DeleteParams::default()).await?;
        }
        Ok(created)
    }

    /// Brings one case into the cluster, facts first; says what went otherwise than expected.
    async fn apply(&self, case: &Case) -> Option<String> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.name}});
        self.create("", &namespace).await.unwrap();
        let create = async |manifest: &Value| {
            self.create(&case.name, manifest).await.unwrap_or_else(|error| panic!("{}: {error}", case.name))
        };
        let mut uid = None;
        if let Some(manifest) = case.facts.external_secret.as_ref().and_then(Given::manifest) {
            let written = manifest["metadata"]["uid"].as_str().map(str::to_owned);
            uid = written.zip(create(manifest).await.uid());
        }
        if let Some(manifest) = case.facts.secret.as_ref().and_then(Given::manifest) {
            let mut manifest = manifest.clone();
            for owner in manifest["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
                if let Some((written, real)) = &uid
                    && owner["uid"] == *written
                {
                    owner["uid"] = json!(real);
                }
            }
            create(&manifest).await;
        }
        for manifest in case.facts.workloads.iter().filter_map(Given::manifest) {
            create(&complete(manifest)).await;
        }
        match (self.create(&case.name, &case.object).await, case.stored) {
            (Ok(_), true) => None,
            (Ok(_), false) => Some(format!("{}: is stored", case.name)),
            (Err(kube::Error::Api(status)), false) => said_by_the_schema(case, &status),
            (Err(error), _) => Some(format!("{}: is not stored: {error}", case.name)),
        }
    }

    /// Waits until every stored case has the status that it must have; what differs at the end.
    async fn until_all_are_as_expected(&self, cases: &[Case]) -> Vec<String> {
        let end = Instant::now() + PATIENCE;
        let any = json!({"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract"});
        let api = self.api("", &any);
        loop {
            let found = api.list(&kube::api::ListParams::default()).await.unwrap();
            let wrong: Vec<String> = cases
                .iter()
                .filter(|case| case.stored)
                .filter_map(|case| {
                    let is_it = |object: &&DynamicObject| object.namespace().as_deref() == Some(&case.name);
                    let Some(object) = found.iter().find(is_it) else {
                        return Some(format!("{}: is gone", case.name));
                    };
                    differences(case, object)
                })
                .collect();
            if wrong.is_empty() || Instant::now() >= end {
                return wrong;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

fn differences(case: &Case, object: &DynamicObject) -> Option<String> {
    let status = &object.data["status"];
    let expected = case.expected(false);
    let mut differences = Outcome::of_status(status).differences(&expected.clone().cut_as_in_a_status());
    for (field, count) in [
        ("missingKeyCount", expected.missing_keys.len()),
        ("violationCount", expected.violations.len()),
        ("workloadFindingCount", expected.workload_findings.len()),
    ] {
        if status[field] != count {
            differences.push(format!("{field} is {}, expected {count}", status[field]));
        }
    }
    let text = status.to_string();
    if case.recognisable_values().iter().any(|value| text.contains(value)) {
        differences.push("a value of the Secret is in the status".to_owned());
    }
    if status["observedGeneration"] != json!(object.metadata.generation) {
        differences.push(format!("observedGeneration is {}", status["observedGeneration"]));
    }
    (!differences.is_empty()).then(|| format!("{}:\n  {}", case.name, differences.join("\n  ")))
}

/// Whether the API server refuses an object with the words that the rules have for what the schema holds.
fn said_by_the_schema(case: &Case, status: &Status) -> Option<String> {
    let causes: Vec<(String, String)> = status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .map(|cause| (cause.field.clone(), cause.message.clone()))
        .collect();
    let held = case.expect.faults.iter().filter(|fault| is_held_by_the_schema(&fault.rule));
    let wanted: Vec<_> = held.map(|fault| (fault.field.clone(), fault.message.clone())).collect();
    let missing: Vec<_> = wanted.iter().filter(|fault| !causes.contains(fault)).collect();
    let more: Vec<_> =
        causes.iter().filter(|cause| cause.0.starts_with("spec.") && !wanted.contains(cause)).collect();
    let differs = wanted.is_empty() || !missing.is_empty() || !more.is_empty();
    differs.then(|| format!("{}: not said: {missing:#?}; said: {causes:#?}", case.name))
}

fn is_held_by_the_schema(rule: &str) -> bool {
    use covenant::rules::id::{Layer, RuleId};
    let of_contract = |id: &RuleId| id.identifier(covenant::api::Kind::SecretContract) == rule;
    RuleId::ALL.iter().find(|id| of_contract(id)).is_some_and(|id| id.layers().contains(&Layer::Schema))
}

/// A workload with what the API server asks for and no rule looks at.
fn complete(manifest: &Value) -> Value {
    let mut workload = manifest.clone();
    let labels = json!({"app": "corpus"});
    let spec = &mut workload["spec"];
    spec["selector"] = json!({"matchLabels": labels});
    spec["template"]["metadata"] = json!({"labels": labels});
    if manifest["kind"] == "StatefulSet" {
        spec["serviceName"] = json!("corpus");
    }
    if manifest["kind"] != "DaemonSet" {
        spec["replicas"] = json!(0);
    }
    let pod = &mut spec["template"]["spec"];
    for list in ["containers", "initContainers"] {
        for container in pod[list].as_array_mut().into_iter().flatten() {
            container["image"] = json!("example.com/image");
        }
    }
    workload
}
