//! `covenant-contract-author`: only a person who may `get` what a contract names may declare it.

use serde_json::{Value, json};

use crate::shipped::{User, grant, install};
use crate::support::{Finished, kubectl, kubectl_with_input, namespace};

const POLICY: &str = "ValidatingAdmissionPolicy 'covenant-contract-author' with binding 'covenant-contract-author' denied request: ";

/// The sixteen workloads that a contract may name, of all three kinds.
fn workloads() -> Vec<(&'static str, String)> {
    (0..16)
        .map(|index| (["Deployment", "StatefulSet", "DaemonSet"][index % 3], format!("workload-{index:02}")))
        .collect()
}

fn workload_refs(workloads: &[(&str, String)]) -> Value {
    workloads
        .iter()
        .map(|(kind, name)| json!({"apiVersion": "apps/v1", "kind": kind, "name": name}))
        .collect()
}

fn contract(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": name, "namespace": namespace}, "spec": spec,
    })
}

/// A contract that names all that a contract can name.
fn full_spec() -> Value {
    json!({
        "secretRef": {"name": "web"},
        "requiredKeys": [{"name": "token"}],
        "externalSecretRef": {"name": "web-source", "apiVersion": "external-secrets.io/v1"},
        "workloadRefs": workload_refs(&workloads()),
    })
}

fn contracts_rule() -> Value {
    json!({
        "apiGroups": ["secrets.codepop.tech"], "resources": ["secretcontracts"],
        "verbs": ["get", "create", "update", "patch", "delete"],
    })
}

fn get(group: &str, resource: &str, names: &[String]) -> Value {
    json!({"apiGroups": [group], "resources": [resource], "resourceNames": names, "verbs": ["get"]})
}

/// The rules that let a person declare the full contract, but for the one object at `without`, if any: 0 the Secret, 1 the
/// ExternalSecret, from 2 on the workloads.
fn rules(without: Option<usize>) -> Value {
    let mut rules = vec![contracts_rule()];
    let mut objects = vec![
        ("", "secrets", "web".to_owned()),
        ("external-secrets.io", "externalsecrets", "web-source".to_owned()),
    ];
    objects.extend(workloads().into_iter().map(|(kind, name)| {
        let resource = match kind {
            "Deployment" => "deployments",
            "StatefulSet" => "statefulsets",
            _ => "daemonsets",
        };
        ("apps", resource, name)
    }));
    for (index, (group, resource, name)) in objects.into_iter().enumerate() {
        if Some(index) != without {
            rules.push(get(group, resource, &[name]));
        }
    }
    Value::Array(rules)
}

/// The complete text of a refusal of the full contract.
fn full_refusal(user: &str, contract: &str) -> String {
    let mut asked =
        vec!["secrets \"web\"".to_owned(), "externalsecrets.external-secrets.io \"web-source\"".to_owned()];
    asked.extend(workloads().iter().map(|(kind, name)| format!("{}s.apps \"{name}\"", kind.to_lowercase())));
    format!(
        "secretcontracts.secrets.codepop.tech \"{contract}\" is forbidden: {POLICY}user \"{user}\" must be allowed to get each of: {}",
        asked.join(", ")
    )
}

#[test]
fn a_contract_with_eighteen_objects_passes_for_who_may_get_each_and_for_the_administrator() {
    install();
    let namespace = namespace("author-all");
    let author = User::new("author-all").with_rules(&namespace, &rules(None));
    author.kubectl(&["create", "-f", "-"], &contract(&namespace, "mine", &full_spec()).to_string()).success();
    kubectl_with_input(&["create", "-f", "-"], &contract(&namespace, "admins", &full_spec()).to_string())
        .success();

    // An edit that touches everything asks everything again.
    let mut spec = full_spec();
    spec["requiredKeys"][0]["minLength"] = json!(8);
    spec["workloadRefs"] = workload_refs(&workloads())
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| {
            let mut workload = workload.clone();
            workload["consumption"] = json!("Volume");
            workload
        })
        .collect();
    author
        .kubectl(&["apply", "--server-side", "-f", "-"], &contract(&namespace, "mine", &spec).to_string())
        .success();
}

#[test]
fn one_missing_right_refuses_it_with_the_whole_list() {
    install();
    let namespace = namespace("author-one");
    let names: Vec<String> = (0..18).map(|index| format!("author-without-{index}")).collect();
    let users: Vec<(&str, Value)> =
        names.iter().enumerate().map(|(index, name)| (name.as_str(), rules(Some(index)))).collect();
    grant(&namespace, &users);
    let object = contract(&namespace, "c", &full_spec()).to_string();
    for name in &names {
        let answer = User::new(name).kubectl(&["create", "--dry-run=server", "-f", "-"], &object).failure();
        let expected = full_refusal(name, "c");
        assert!(answer.trim_end().ends_with(&expected), "{name}:\n{answer}\nexpected:\n{expected}");
    }
}

#[test]
fn the_answer_is_the_same_whether_or_not_the_secret_exists() {
    install();
    let namespace = namespace("author-oracle");
    let author = User::new("author-oracle").with_rules(&namespace, &json!([contracts_rule()]));
    let spec = json!({"secretRef": {"name": "web"}, "requiredKeys": [{"name": "token", "pattern": "^a"}]});
    let object = contract(&namespace, "c", &spec).to_string();
    let answer = || author.kubectl(&["create", "-f", "-"], &object).failure();
    let absent = answer();
    kubectl(&["create", "secret", "generic", "web", "--from-literal=token=abc", "--namespace", &namespace])
        .success();
    assert_eq!(answer(), absent);
    assert!(
        absent.trim_end().ends_with("user \"author-oracle\" must be allowed to get each of: secrets \"web\""),
        "{absent}"
    );
}

/// An edit of a stored contract as a merge patch.
fn patch(user: &User, namespace: &str, edit: &Value) -> covenant::controlplane::Output {
    let edit = edit.to_string();
    let arguments = [
        "patch",
        "secretcontracts.secrets.codepop.tech",
        "stored",
        "--namespace",
        namespace,
        "--type=merge",
        "--patch",
        &edit,
    ];
    user.kubectl(&arguments, "")
}

#[test]
fn an_edit_asks_only_about_what_it_touches() {
    install();
    let namespace = namespace("author-edit");
    let author = User::new("author-edit").with_rules(&namespace, &json!([contracts_rule()]));
    let stored = json!({
        "secretRef": {"name": "web"},
        "requiredKeys": [{"name": "token"}],
        "externalSecretRef": {"name": "web", "apiVersion": "external-secrets.io/v1"},
        "workloadRefs": workload_refs(&[("Deployment", "a".to_owned()), ("StatefulSet", "b".to_owned())]),
        "rotation": {"maxAge": "720h"},
    });
    kubectl_with_input(&["create", "-f", "-"], &contract(&namespace, "stored", &stored).to_string())
        .success();
    let refused = |edit: &Value, asked: &str| {
        let answer = patch(&author, &namespace, edit).failure();
        let expected = format!("{POLICY}user \"author-edit\" must be allowed to get each of: {asked}");
        assert!(answer.trim_end().ends_with(&expected), "{edit}:\n{answer}");
    };
    let three =
        [("Deployment", "a".to_owned()), ("StatefulSet", "b".to_owned()), ("DaemonSet", "c".to_owned())];

    refused(&json!({"spec": {"secretRef": {"name": "other"}}}), "secrets \"other\"");
    refused(&json!({"spec": {"requiredKeys": [{"name": "token", "pattern": "^a"}]}}), "secrets \"web\"");
    refused(&json!({"spec": {"requiredKeys": null}}), "secrets \"web\"");
    refused(&json!({"spec": {"rotation": {"maxAge": "721h"}}}), "secrets \"web\"");
    refused(&json!({"spec": {"rotation": null}}), "secrets \"web\"");
    refused(
        &json!({"spec": {"externalSecretRef": {"name": "other"}}}),
        "externalsecrets.external-secrets.io \"other\"",
    );
    refused(&json!({"spec": {"workloadRefs": workload_refs(&three)}}), "daemonsets.apps \"c\"");
    refused(
        &json!({"spec": {"secretRef": {"name": "other"}, "workloadRefs": workload_refs(&three)}}),
        "secrets \"other\", daemonsets.apps \"c\"",
    );
    // The same workload, read in another way.
    let mut changed = workload_refs(&three[..2]);
    changed[1]["containers"] = json!(["app"]);
    refused(&json!({"spec": {"workloadRefs": changed}}), "statefulsets.apps \"b\"");

    for edit in [
        json!({"metadata": {"labels": {"team": "web"}, "finalizers": ["example.com/keep"]}}),
        json!({"metadata": {"finalizers": null}}),
        json!({"spec": {"policy": {"requireWorkloadReference": true}}}),
        json!({"spec": {"workloadRefs": workload_refs(&three[1..2])}}),
        json!({"spec": {"policy": null, "workloadRefs": null}}),
        json!({"spec": {"externalSecretRef": null}}),
    ] {
        patch(&author, &namespace, &edit).success();
    }
    author
        .kubectl(
            &[
                "delete",
                "secretcontracts.secrets.codepop.tech",
                "stored",
                "--wait=false",
                "--namespace",
                &namespace,
            ],
            "",
        )
        .success();
}

#[test]
fn writing_the_status_asks_nothing() {
    install();
    let namespace = namespace("author-status");
    kubectl_with_input(&["create", "-f", "-"], &contract(&namespace, "stored", &full_spec()).to_string())
        .success();
    let controller = User::new("author-status").with_rules(
        &namespace,
        &json!([{"apiGroups": ["secrets.codepop.tech"], "resources": ["secretcontracts", "secretcontracts/status"], "verbs": ["get", "patch"]}]),
    );
    let status = json!({"status": {"observedGeneration": 1}}).to_string();
    let arguments = [
        "patch",
        "secretcontracts.secrets.codepop.tech",
        "stored",
        "--namespace",
        &namespace,
        "--subresource=status",
        "--type=merge",
        "--patch",
        &status,
    ];
    controller.kubectl(&arguments, "").success();
}

/// A text above the API server's limit for computed messages falls back to a fixed one, and the refusal stands.
#[test]
fn names_of_any_length_are_refused_with_a_text() {
    install();
    let namespace = namespace("author-long");
    let author = User::new("author-long").with_rules(&namespace, &json!([contracts_rule()]));
    let long = |letter: usize| {
        let label = char::from(b'a' + u8::try_from(letter).unwrap()).to_string().repeat(63);
        [label.as_str(); 3].join(".")
    };
    let workloads: Vec<(&str, String)> =
        (0..16).map(|index| ("StatefulSet", format!("{}.{}", long(index), "z".repeat(61)))).collect();
    let spec = json!({
        "secretRef": {"name": long(16)},
        "externalSecretRef": {"name": long(17), "apiVersion": "external-secrets.io/v1"},
        "workloadRefs": workload_refs(&workloads),
    });
    let answer =
        author.kubectl(&["create", "-f", "-"], &contract(&namespace, "c", &spec).to_string()).failure();
    assert!(answer.contains(POLICY), "{answer}");
    let said = answer.split(POLICY).nth(1).unwrap().trim_end();
    let fixed = "the author of a contract must be allowed to get the Secret, the ExternalSecret and each workload that it names";
    assert!(
        said == fixed || said.starts_with("user \"author-long\" must be allowed to get each of: "),
        "{said}"
    );
}
