//! That every role grants the least, and that nobody but the two processes is bound to anything.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Document, documents, installed, list, strings, text, with};

const READ: [&str; 3] = ["get", "list", "watch"];

/// Everything that is wrong with a set of roles and bindings, one sentence each.
fn faults(documents: &[Document]) -> Vec<String> {
    let mut faults = Vec::new();
    let roles: Vec<&Document> = documents.iter().filter(|each| each.kind().ends_with("Role")).collect();
    for role in &roles {
        for rule in list(&role.value, "/rules") {
            faults.extend(
                faults_of_rule(role.name(), rule)
                    .into_iter()
                    .map(|fault| format!("{}: {fault}", role.name())),
            );
        }
        let aggregated: Vec<&String> = role.value["metadata"]["labels"]
            .as_object()
            .into_iter()
            .flat_map(|labels| labels.keys())
            .filter(|label| label.starts_with("rbac.authorization.k8s.io/"))
            .collect();
        let expected: &[&str] = match role.name() {
            "covenant-tenant-viewer" => &["rbac.authorization.k8s.io/aggregate-to-view"],
            "covenant-tenant-editor" => &["rbac.authorization.k8s.io/aggregate-to-edit"],
            _ => &[],
        };
        if aggregated != expected {
            faults.push(format!("{} is aggregated by {aggregated:?}", role.name()));
        }
    }
    for binding in documents.iter().filter(|each| each.kind().ends_with("RoleBinding")) {
        faults.extend(faults_of_binding(binding, &roles));
    }
    faults
}

fn faults_of_rule(holder: &str, rule: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let groups = strings(rule, "/apiGroups");
    let resources = strings(rule, "/resources");
    let verbs = strings(rule, "/verbs");
    let names = strings(rule, "/resourceNames");
    if rule.get("nonResourceURLs").is_some() {
        faults.push("grants URLs".to_owned());
    }
    for word in groups.iter().chain(&resources).chain(&verbs).chain(&names) {
        if word.contains('*') {
            faults.push(format!("grants {word}"));
        }
    }
    for verb in ["escalate", "impersonate", "approve", "sign"] {
        if verbs.iter().any(|each| each == verb) {
            faults.push(format!("grants {verb}"));
        }
    }
    // Our own virtual verbs, on our own kind alone, each in the hands named for it.
    for (verb, holders) in [
        ("bind", ["covenant-controller", "covenant-database-repair"].as_slice()),
        ("reopen", &["covenant-resource-admin"]),
    ] {
        if verbs.iter().any(|each| each == verb)
            && (resources != ["postgresqldatabases"] || !holders.contains(&holder))
        {
            faults.push(format!("grants {verb} on {resources:?}"));
        }
    }
    if groups.iter().any(|group| group == "rbac.authorization.k8s.io") {
        faults.push("grants something on roles".to_owned());
    }
    if !names.is_empty() && verbs.iter().any(|verb| verb == "create" || verb == "deletecollection") {
        faults.push("a name cannot limit create or deletecollection".to_owned());
    }
    let reads_only = verbs.iter().all(|verb| READ.contains(&verb.as_str()));
    if !reads_only
        && (holder.starts_with("covenant-webhook")
            || holder.ends_with("-viewer")
            || holder.ends_with("-secrets"))
    {
        faults.push(format!("writes: {verbs:?} on {resources:?}"));
    }
    if resources.iter().any(|resource| resource == "secrets") {
        let expected = match holder {
            "covenant-controller" => verbs == ["get"],
            "covenant-controller-secrets" => verbs == READ,
            "covenant-controller-certificates" => names == ["covenant-webhook-ca", "covenant-webhook-tls"],
            "covenant-webhook-certificate" => names == ["covenant-webhook-tls"],
            _ => false,
        };
        if !expected {
            faults.push(format!("grants {verbs:?} on secrets {names:?}"));
        }
    }
    let configures = resources.iter().any(|resource| resource.contains("webhookconfigurations"));
    if configures && names != ["covenant"] {
        faults.push(format!("grants {verbs:?} on {resources:?} {names:?}"));
    }
    let status = |resource: &String| resource.ends_with("/status") || resource.ends_with("/finalizers");
    if resources.iter().any(status) && (holder != "covenant-controller" || verbs != ["update"]) {
        faults.push(format!("grants {verbs:?} on {resources:?}"));
    }
    faults
}

fn faults_of_binding(binding: &Document, roles: &[&Document]) -> Vec<String> {
    let mut faults = Vec::new();
    let role = text(&binding.value, "/roleRef/name");
    if !roles.iter().any(|each| each.kind() == text(&binding.value, "/roleRef/kind") && each.name() == role) {
        faults.push(format!("{} binds {role}, which is not there", binding.name()));
    }
    if binding.name() != role {
        faults.push(format!("{} is not named after {role}", binding.name()));
    }
    // A role of a process goes to that process, any other to nobody.
    let process =
        if role.starts_with("covenant-webhook") { "covenant-webhook" } else { "covenant-controller" };
    let expected = json!([{"kind": "ServiceAccount", "name": process, "namespace": "covenant-system"}]);
    if !role.starts_with(process) || binding.value["subjects"] != expected {
        faults.push(format!("{} binds {role} to {}", binding.name(), binding.value["subjects"]));
    }
    faults
}

fn shipped() -> Vec<Document> {
    documents("rbac")
}

#[test]
fn the_shipped_roles_grant_the_least() {
    assert_eq!(faults(&shipped()), Vec::<String>::new());
}

#[test]
fn rights_stand_nowhere_else() {
    for document in installed("") {
        let grants = document.kind().contains("Role") || document.kind() == "ServiceAccount";
        assert!(!grants || document.file.starts_with("rbac/"), "{}", document.file);
    }
}

/// Every right of both processes in one list. A change here is a change of what an installation trusts us with.
#[test]
fn the_processes_hold_these_rights_and_no_others() {
    let mut rights = BTreeSet::new();
    for role in shipped().iter().filter(|each| each.kind().ends_with("Role")) {
        if !["covenant-webhook", "covenant-controller", "covenant-controller-secrets"].contains(&role.name())
        {
            continue;
        }
        for rule in list(&role.value, "/rules") {
            for resource in strings(rule, "/resources") {
                let names = strings(rule, "/resourceNames");
                let limit = if names.is_empty() { String::new() } else { format!(" {}", names.join(",")) };
                rights.insert(format!(
                    "{} {} {resource}{limit}: {}",
                    role.kind(),
                    role.name(),
                    strings(rule, "/verbs").join(" ")
                ));
            }
        }
    }
    let expected = [
        "ClusterRole covenant-controller events: create patch",
        "ClusterRole covenant-controller namespaces: get",
        "ClusterRole covenant-controller postgresqldatabases/finalizers: update",
        "ClusterRole covenant-controller postgresqldatabases/status: update",
        "ClusterRole covenant-controller postgresqldatabases: get list watch create update delete bind",
        "ClusterRole covenant-controller postgresqlinstances/status: update",
        "ClusterRole covenant-controller postgresqlinstances: get list watch create update",
        "ClusterRole covenant-controller postgresqltenants/finalizers: update",
        "ClusterRole covenant-controller postgresqltenants/status: update",
        "ClusterRole covenant-controller postgresqltenants: get list watch update",
        "ClusterRole covenant-controller secretcontracts/status: update",
        "ClusterRole covenant-controller secretcontracts: get list watch",
        "ClusterRole covenant-controller validatingwebhookconfigurations covenant: get list watch patch",
        "ClusterRole covenant-controller-secrets daemonsets: get list watch",
        "ClusterRole covenant-controller-secrets deployments: get list watch",
        "ClusterRole covenant-controller-secrets externalsecrets: get list watch",
        "ClusterRole covenant-controller-secrets secrets: get list watch",
        "ClusterRole covenant-controller-secrets statefulsets: get list watch",
        "ClusterRole covenant-webhook postgresqldatabases: get list watch",
        "ClusterRole covenant-webhook postgresqlinstances: get list watch",
        "ClusterRole covenant-webhook postgresqltenants: get list watch",
        "ClusterRole covenant-webhook secretcontracts: get list watch",
        "Role covenant-controller leases covenant-controller: update",
        "Role covenant-controller leases: get list watch create delete",
        "Role covenant-controller secrets: get",
    ];
    assert_eq!(rights, expected.into_iter().map(str::to_owned).collect());
}

#[test]
fn a_wider_role_is_found_out() {
    let shipped = shipped();
    let place = |kind: &str, name: &str| {
        shipped.iter().position(|each| each.kind() == kind && each.name() == name).unwrap()
    };
    let controller = place("ClusterRole", "covenant-controller");
    let webhook = place("ClusterRole", "covenant-webhook");
    let worse = [
        (controller, "/rules/0/verbs", json!(["*"])),
        (controller, "/rules/0/apiGroups", json!(["*"])),
        (controller, "/rules/0/resources", json!(["secretcontracts", "secretcontracts/*"])),
        (controller, "/rules/1/verbs", json!(["update", "patch"])),
        (
            controller,
            "/rules/-",
            json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}),
        ),
        (
            controller,
            "/rules/-",
            json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["bind"]}),
        ),
        (
            controller,
            "/rules/-",
            json!({"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}),
        ),
        (
            controller,
            "/rules/-",
            json!({"apiGroups": ["admissionregistration.k8s.io"], "resources": ["validatingwebhookconfigurations"], "verbs": ["patch"]}),
        ),
        (
            controller,
            "/rules/-",
            json!({"apiGroups": [""], "resources": ["events"], "resourceNames": ["a"], "verbs": ["create"]}),
        ),
        (controller, "/rules/-", json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})),
        (webhook, "/rules/0/verbs", json!(["get", "list", "watch", "update"])),
        (webhook, "/rules/-", json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]})),
        (
            place("ClusterRole", "covenant-tenant-editor"),
            "/rules/0/resources",
            json!(["postgresqltenants", "postgresqltenants/status"]),
        ),
        (
            place("ClusterRole", "covenant-tenant-editor"),
            "/rules/-",
            json!({"apiGroups": ["database.ayatori.ddupan.top"], "resources": ["postgresqldatabases"], "verbs": ["bind"]}),
        ),
        (
            place("ClusterRole", "covenant-resource-admin"),
            "/rules/1/verbs",
            json!(["update", "reopen", "bind"]),
        ),
        (
            place("ClusterRole", "covenant-contract-editor"),
            "/metadata/labels/rbac.authorization.k8s.io~1aggregate-to-edit",
            json!("true"),
        ),
        (place("ClusterRoleBinding", "covenant-controller"), "/roleRef/name", json!("cluster-admin")),
        (
            place("ClusterRoleBinding", "covenant-controller"),
            "/subjects/0",
            json!({"kind": "Group", "name": "system:authenticated"}),
        ),
        (place("ClusterRoleBinding", "covenant-webhook"), "/roleRef/name", json!("covenant-controller")),
        (
            place("ClusterRoleBinding", "covenant-controller-secrets"),
            "/roleRef/name",
            json!("covenant-database-repair"),
        ),
    ];
    for (index, pointer, value) in worse {
        let mut copy = shipped.clone();
        copy[index].value = with(&copy[index].value, pointer, value.clone());
        assert!(!faults(&copy).is_empty(), "{} with {pointer} {value} passed", copy[index].name());
    }
}
