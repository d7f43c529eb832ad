//! What is shipped, on a real API server: it takes every object without a word, and the roles mean what they say.

use std::process::Command;
use std::sync::OnceLock;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::{Finished, control_plane, eventually, kubectl, kubectl_with_input, namespace};

/// A folder of `manifests/`.
pub(crate) fn folder(name: &str) -> String {
    format!("{}/manifests/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Applies a folder of `manifests/`; a warning fails it. Server-side, as other tests on the same control plane do.
fn apply_folder(more: &[&str], name: &str) -> covenant::controlplane::Output {
    let folder = folder(name);
    let arguments =
        ["apply", "--server-side", "--force-conflicts", "--warnings-as-errors", "--kustomize", &folder];
    kubectl(&[&arguments[..], more].concat())
}

/// Installs the definitions, the roles and the admission policies once, and waits until the policies are in force. The
/// webhook is not registered here: nothing would answer, and each write of ours would wait for it.
pub(crate) fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        for part in ["namespace", "crds", "rbac", "policies"] {
            let output = apply_folder(&[], part);
            assert!(output.is_success(), "{part}: {}", output.stderr);
        }
        let definitions = [
            "crd/secretcontracts.secrets.codepop.tech",
            "crd/postgresqlinstances.database.ayatori.ddupan.top",
            "crd/postgresqldatabases.database.ayatori.ddupan.top",
            "crd/postgresqltenants.database.ayatori.ddupan.top",
        ];
        kubectl(&[&["wait", "--for=condition=Established", "--timeout=60s"], &definitions[..]].concat()).success();
        let nobody = User::new("nobody").with_cluster_rules(&json!([
            {"apiGroups": ["secrets.codepop.tech"], "resources": ["secretcontracts"], "verbs": ["create"]},
            {"apiGroups": ["database.ayatori.ddupan.top"], "resources": ["postgresqldatabases"], "verbs": ["create"]},
        ]));
        let contract = json!({
            "apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
            "metadata": {"name": "probe", "namespace": "default"}, "spec": {"secretRef": {"name": "probe"}},
        });
        let database = json!({
            "apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": "PostgreSQLDatabase",
            "metadata": {"name": "tenant-probe"},
            "spec": {"instanceRef": {"name": "probe"}, "database": "probe", "loginRole": "probe", "source": "Provision"},
        });
        for (policy, object) in [("covenant-contract-author", contract), ("covenant-database-bind", database)] {
            eventually(&format!("{policy} is in force"), || {
                let output = nobody.kubectl(&["create", "--dry-run=server", "-f", "-"], &object.to_string());
                output.stderr.contains(policy).then_some(())
            });
        }
    });
}

/// Somebody who may do what a test grants, and nothing else.
pub(crate) struct User {
    pub(crate) name: String,
}

impl User {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// Grants rules in one namespace, and waits until the API server knows it.
    pub(crate) fn with_rules(self, namespace: &str, rules: &Value) -> Self {
        grant(namespace, &[(&self.name, rules.clone())]);
        self
    }

    /// Grants rules in the whole cluster, and waits until the API server knows it.
    pub(crate) fn with_cluster_rules(self, rules: &Value) -> Self {
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("test-{}", self.name)}, "rules": rules,
        });
        kubectl_with_input(&["apply", "-f", "-"], &role.to_string()).success();
        let role = format!("test-{}", self.name);
        self.with_cluster_role(&role)
    }

    /// Binds a role of the cluster that exists, and waits until the API server knows it.
    pub(crate) fn with_cluster_role(self, role: &str) -> Self {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": format!("test-{}-{role}", self.name)},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.name}],
        });
        kubectl_with_input(&["apply", "-f", "-"], &binding.to_string()).success();
        let rules = kubectl(&["get", "clusterrole", role, "-o", "json"]).success();
        let rules: Value = serde_json::from_str(&rules).unwrap();
        self.wait_until_granted(None, &rules["rules"][0]);
        self
    }

    fn wait_until_granted(&self, namespace: Option<&str>, rule: &Value) {
        let word = |field: &str| rule[field][0].as_str().unwrap_or_default().to_owned();
        let resource = format!("{}.{}", word("resources"), word("apiGroups"));
        eventually(&format!("{} may use {resource}", self.name), || {
            self.may(namespace, &word("verbs"), resource.trim_end_matches('.'), &word("resourceNames"))
                .then_some(())
        });
    }

    /// Whether the API server says that this user may; `resource` is `plural.group` or `plural.group/subresource`.
    pub(crate) fn may(&self, namespace: Option<&str>, verb: &str, resource: &str, name: &str) -> bool {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let target = if name.is_empty() { resource.to_owned() } else { format!("{resource}/{name}") };
        let mut arguments = vec!["auth", "can-i", verb, &target, "--as", &self.name, "--quiet"];
        arguments.extend(["--subresource", subresource]);
        arguments.extend(namespace.into_iter().flat_map(|namespace| ["--namespace", namespace]));
        kubectl(&arguments).is_success()
    }

    /// Runs `kubectl` as this user.
    pub(crate) fn kubectl(&self, arguments: &[&str], input: &str) -> covenant::controlplane::Output {
        let mut all = vec!["--as", &self.name];
        all.extend(arguments);
        kubectl_with_input(&all, input)
    }
}

/// Grants rules to users, all in one go, and waits until the API server knows the last, and so all.
pub(crate) fn grant(namespace: &str, users: &[(&str, Value)]) {
    let objects: Vec<Value> = users
        .iter()
        .flat_map(|(user, rules)| {
            let metadata = json!({"name": format!("test-{user}"), "namespace": namespace});
            [
                json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules,
                }),
                json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": format!("test-{user}")},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
                }),
            ]
        })
        .collect();
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    kubectl_with_input(&["apply", "-f", "-"], &objects.to_string()).success();
    let (last, rules) = users.last().expect("somebody");
    User::new(last).wait_until_granted(Some(namespace), &rules[0]);
}

/// Everything in a dry run, with warnings as errors: the Pods are held to the namespace's level by the API server itself.
#[test]
fn the_api_server_takes_every_object_without_a_warning() {
    install();
    for part in ["", "rbac/certificates"] {
        let output = apply_folder(&["--dry-run=server"], part);
        assert!(output.is_success() && output.stderr.is_empty(), "{part:?}: {}", output.stderr);
    }
}

/// The API server compiles the policies when they are applied; that their expressions fit the definitions' schemas is found
/// out afterwards, by kube-controller-manager.
#[test]
fn the_policies_fit_the_definitions() {
    install();
    for policy in [
        "covenant-contract-author",
        "covenant-database-bind",
        "covenant-database-policy",
        "covenant-database-reopen",
    ] {
        let checked = eventually(&format!("{policy} is checked against the schemas"), || {
            let found = kubectl(&["get", "validatingadmissionpolicy", policy, "-o", "json"]).success();
            let found: Value = serde_json::from_str(&found).unwrap();
            let current = found["status"]["observedGeneration"] == found["metadata"]["generation"];
            (current && found["status"]["typeChecking"].is_object())
                .then(|| found["status"]["typeChecking"].clone())
        });
        assert_eq!(checked, json!({}), "{policy}");
    }
}

/// The script and the overlay together, as `webhook-certs/README.md` says, in a copy of `manifests/`.
#[test]
fn the_overlay_with_files_brings_the_certificate_and_its_authority() {
    install();
    let scratch = control_plane().folder().join("files-overlay");
    let copied = Command::new("cp").arg("-R").arg(folder("")).arg(&scratch).status().unwrap();
    assert!(copied.success());
    let overlay = scratch.join("overlays/files");
    let certificates = overlay.join("certificates");
    let script = folder("../webhook-certs/make-certificate.sh");
    let made = Command::new(script).arg(&certificates).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let overlay = overlay.to_str().unwrap();
    let arguments =
        ["apply", "--server-side", "--force-conflicts", "--warnings-as-errors", "--dry-run=server"];
    let applied = kubectl(&[&arguments[..], &["-o", "json", "--kustomize", overlay]].concat()).success();
    let applied: Value = serde_json::from_str(&applied).unwrap();
    let find = |kind: &str| -> &Value {
        applied["items"].as_array().unwrap().iter().find(|object| object["kind"] == kind).unwrap()
    };
    let authority =
        base64::engine::general_purpose::STANDARD.encode(std::fs::read(certificates.join("ca.crt")).unwrap());
    for entry in find("ValidatingWebhookConfiguration")["webhooks"].as_array().unwrap() {
        assert_eq!(entry["clientConfig"]["caBundle"], authority.as_str(), "{}", entry["name"]);
    }
    let secret = find("Secret");
    assert_eq!(secret["metadata"]["name"], "covenant-webhook-tls");
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(secret["data"]["ca.crt"], authority.as_str());
}

/// The administrator's tenants, databases and contracts, as the samples say.
#[test]
fn the_samples_are_accepted_or_refused_by_the_schema_as_they_say() {
    install();
    let namespace = namespace("samples");
    let files = |verdict: &str| -> Vec<std::path::PathBuf> {
        let mut files: Vec<_> = std::fs::read_dir(folder(&format!("samples/{verdict}")))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    };
    let apply = |path: &std::path::Path| {
        let path = path.to_str().unwrap();
        kubectl(&["apply", "--dry-run=server", "--warnings-as-errors", "--namespace", &namespace, "-f", path])
    };
    for path in files("accepted") {
        // One sample stands in another namespace in part; no `--namespace` there.
        let path_text = path.to_str().unwrap();
        let output = if std::fs::read_to_string(&path).unwrap().contains("\n  namespace:") {
            kubectl(&["apply", "--dry-run=server", "--warnings-as-errors", "-f", path_text])
        } else {
            apply(&path)
        };
        assert!(output.is_success(), "{path_text}: {}", output.stderr);
    }
    for path in files("refused") {
        let content = std::fs::read_to_string(&path).unwrap();
        if !content.starts_with("# Refused by the schema") {
            // What only the webhook can see passes here: it is not registered.
            assert!(apply(&path).is_success(), "{} is refused without the webhook", path.display());
            continue;
        }
        let answer = apply(&path).failure();
        for field in content.lines().skip(1).map_while(|line| line.strip_prefix("#   ")) {
            assert!(
                answer.contains(&format!("{field}:")),
                "{} does not name {field}:\n{answer}",
                path.display()
            );
        }
    }
}

#[test]
fn teams_ask_for_databases_with_the_built_in_roles_and_declare_contracts_only_with_ours() {
    install();
    let namespace = namespace("aggregation");
    let bind = |user: &str, role: &str| {
        let name = format!("test-{user}");
        let role = format!("--clusterrole={role}");
        let user = format!("--user={user}");
        kubectl(&["create", "rolebinding", &name, &role, &user, "--namespace", &namespace]).success();
    };
    bind("aggregation-editor", "edit");
    bind("aggregation-viewer", "view");
    let editor = User::new("aggregation-editor");
    let viewer = User::new("aggregation-viewer");
    let tenants = "postgresqltenants.database.ayatori.ddupan.top";
    eventually("edit may create tenants", || {
        editor.may(Some(&namespace), "create", tenants, "").then_some(())
    });
    eventually("view may list tenants", || viewer.may(Some(&namespace), "list", tenants, "").then_some(()));
    assert!(!viewer.may(Some(&namespace), "create", tenants, ""));
    for (verb, resource) in [
        ("update", "postgresqltenants.database.ayatori.ddupan.top/status"),
        ("get", "postgresqldatabases.database.ayatori.ddupan.top"),
        ("bind", "postgresqldatabases.database.ayatori.ddupan.top"),
        ("get", "postgresqlinstances.database.ayatori.ddupan.top"),
        ("get", "secretcontracts.secrets.codepop.tech"),
        ("create", "secretcontracts.secrets.codepop.tech"),
    ] {
        assert!(!editor.may(Some(&namespace), verb, resource, ""), "edit may {verb} {resource}");
    }
}

/// The two service accounts, asked of the API server: a few rights that matter most, each way.
#[test]
fn the_processes_may_do_what_they_must_and_not_what_would_hurt() {
    install();
    let webhook = User::new("system:serviceaccount:covenant-system:covenant-webhook");
    let controller = User::new("system:serviceaccount:covenant-system:covenant-controller");
    let databases = "postgresqldatabases.database.ayatori.ddupan.top";
    let home = Some("covenant-system");
    eventually("the controller is bound", || controller.may(None, "bind", databases, "").then_some(()));
    eventually("the webhook is bound", || webhook.may(None, "watch", databases, "").then_some(()));
    let configurations = "validatingwebhookconfigurations.admissionregistration.k8s.io";
    for (user, namespace, verb, resource, name, expected) in [
        (&controller, None, "patch", configurations, "covenant", true),
        (&controller, None, "patch", configurations, "other", false),
        (&controller, None, "update", configurations, "covenant", false),
        (&controller, None, "reopen", databases, "", false),
        (&controller, home, "update", "leases.coordination.k8s.io", "covenant-controller", true),
        (&controller, home, "update", "leases.coordination.k8s.io", "other", false),
        (&controller, Some("default"), "create", "leases.coordination.k8s.io", "", false),
        (&controller, Some("default"), "get", "secrets", "", true),
        (&controller, Some("default"), "update", "secrets", "", false),
        (&controller, Some("default"), "create", "pods", "", false),
        (&webhook, Some("default"), "get", "secrets", "", false),
        (&webhook, home, "get", "secrets", "", false),
        (&webhook, None, "update", databases, "", false),
        (&webhook, None, "get", configurations, "covenant", false),
    ] {
        let may = user.may(namespace, verb, resource, name);
        assert_eq!(may, expected, "{} {verb} {resource} {name} in {namespace:?}", user.name);
    }
}
