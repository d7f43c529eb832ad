//! That the installation holds exactly the objects it should, under the names that other tools and people rely on.

use std::collections::BTreeSet;

use crate::support::{installed, text};

const EXPECTED: &str = "
CustomResourceDefinition postgresqldatabases.database.ayatori.ddupan.top
CustomResourceDefinition postgresqlinstances.database.ayatori.ddupan.top
CustomResourceDefinition postgresqltenants.database.ayatori.ddupan.top
CustomResourceDefinition secretcontracts.secrets.codepop.tech
ClusterRole covenant-contract-editor
ClusterRole covenant-contract-viewer
ClusterRole covenant-controller
ClusterRole covenant-controller-secrets
ClusterRole covenant-database-repair
ClusterRole covenant-resource-admin
ClusterRole covenant-tenant-editor
ClusterRole covenant-tenant-viewer
ClusterRole covenant-webhook
ClusterRoleBinding covenant-controller
ClusterRoleBinding covenant-controller-secrets
ClusterRoleBinding covenant-webhook
Deployment covenant-system/covenant-controller
Deployment covenant-system/covenant-webhook
Namespace covenant-system
NetworkPolicy covenant-system/covenant-controller
NetworkPolicy covenant-system/covenant-webhook
PodDisruptionBudget covenant-system/covenant-webhook
Role covenant-system/covenant-controller
RoleBinding covenant-system/covenant-controller
Service covenant-system/covenant-webhook
ServiceAccount covenant-system/covenant-controller
ServiceAccount covenant-system/covenant-webhook
ValidatingAdmissionPolicy covenant-contract-author
ValidatingAdmissionPolicy covenant-database-bind
ValidatingAdmissionPolicy covenant-database-policy
ValidatingAdmissionPolicy covenant-database-reopen
ValidatingAdmissionPolicyBinding covenant-contract-author
ValidatingAdmissionPolicyBinding covenant-database-bind
ValidatingAdmissionPolicyBinding covenant-database-policy
ValidatingAdmissionPolicyBinding covenant-database-reopen
ValidatingWebhookConfiguration covenant
";

#[test]
fn the_installation_holds_these_objects_and_no_others() {
    let found: BTreeSet<String> = installed("")
        .iter()
        .map(|document| match text(&document.value, "/metadata/namespace") {
            "" => format!("{} {}", document.kind(), document.name()),
            namespace => format!("{} {namespace}/{}", document.kind(), document.name()),
        })
        .collect();
    let expected: BTreeSet<String> =
        EXPECTED.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    let unexpected: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && unexpected.is_empty(), "missing: {missing:?}, unexpected: {unexpected:?}");
}

#[test]
fn every_object_is_marked_as_ours() {
    for document in installed("").iter().filter(|document| document.kind() != "CustomResourceDefinition") {
        assert_eq!(
            document.value.pointer("/metadata/labels/app.kubernetes.io~1name").and_then(|name| name.as_str()),
            Some("covenant"),
            "{} {} in {}",
            document.kind(),
            document.name(),
            document.file
        );
    }
}

#[test]
fn the_service_leads_to_the_webhooks_tls_port() {
    let installed = installed("");
    let find = |kind: &str, name: &str| {
        &installed.iter().find(|document| document.kind() == kind && document.name() == name).unwrap().value
    };
    let service = find("Service", "covenant-webhook");
    assert_eq!(service.pointer("/spec/ports/0/port"), Some(&443.into()));
    let target = text(service, "/spec/ports/0/targetPort");
    for (component, port, number) in
        [("webhook", target, 8443), ("webhook", "health", 8080), ("controller", "health", 8080)]
    {
        let deployment = find("Deployment", &format!("covenant-{component}"));
        let ports = crate::support::list(deployment, "/spec/template/spec/containers/0/ports");
        assert!(
            ports.iter().any(|entry| text(entry, "/name") == port && entry["containerPort"] == number),
            "{component} has no port {port} {number}"
        );
        assert_eq!(
            deployment.pointer("/spec/selector/matchLabels"),
            deployment.pointer("/spec/template/metadata/labels"),
            "{component} selects its own Pods"
        );
    }
    assert_eq!(
        service.pointer("/spec/selector"),
        find("Deployment", "covenant-webhook").pointer("/spec/template/metadata/labels")
    );
}
