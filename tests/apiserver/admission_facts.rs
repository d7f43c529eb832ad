//! How a real API server calls a webhook and what it makes of the answers: the facts that Covenant's serving stands on,
//! each confirmed against the version under test.

use std::time::Duration;

use hyper::Version;
use serde_json::{Value, json};

use crate::probe::{Probe, Reply};
use crate::support::{Finished as _, control_plane, eventually, kubectl, kubectl_with_input, namespace};

/// Where the webhook configuration sends the API server.
enum Target {
    /// A `url` with this host.
    Url(&'static str),
    /// A Service that leads to localhost by name.
    Service,
}

/// A probe that is asked about ConfigMaps of one namespace, and nothing else.
struct Asked {
    probe: Probe,
    namespace: String,
}

impl Asked {
    fn new(
        prefix: &str,
        target: Target,
        script: impl Fn(&Value, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let namespace = namespace(prefix);
        let service_name = format!("probe.{namespace}.svc");
        let probe = Probe::start(&["localhost", &service_name], script);
        let port = probe.address.port();
        let mut client_config = match target {
            Target::Url(host) => json!({"url": format!("https://{host}:{port}/probe")}),
            Target::Service => {
                let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "probe", "namespace": namespace},
                    "spec": {"type": "ExternalName", "externalName": "localhost"}});
                kubectl_with_input(&["apply", "-f", "-"], &service.to_string()).success();
                json!({"service": {"namespace": namespace, "name": "probe", "port": port, "path": "/probe"}})
            }
        };
        let bundle = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &probe.ca_pem);
        client_config["caBundle"] = json!(bundle);
        let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": namespace}, "webhooks": [{
                "name": "probe.covenant.test", "clientConfig": client_config, "failurePolicy": "Fail", "timeoutSeconds": 5,
                "sideEffects": "None", "admissionReviewVersions": ["v1"], "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}]}]});
        kubectl_with_input(&["apply", "-f", "-"], &configuration.to_string()).success();
        let asked = Self { probe, namespace };
        // The API server learns of a new configuration by its own watch.
        eventually("the webhook is asked", || {
            asked.create("first-of-all");
            (!asked.probe.calls().is_empty()).then_some(())
        });
        asked
    }

    fn create(&self, name: &str) -> covenant::controlplane::Output {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": self.namespace}});
        kubectl_with_input(&["create", "--dry-run=server", "-f", "-"], &object.to_string())
    }

    /// How the API server asked about the object `name`, once or more.
    fn calls(&self, name: &str) -> Vec<crate::probe::Call> {
        self.probe.calls().into_iter().filter(|call| call.review["request"]["name"] == *name).collect()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = control_plane().kubectl(&["delete", "validatingwebhookconfiguration", &self.namespace], None);
    }
}

fn named(review: &Value) -> &str {
    review["request"]["name"].as_str().unwrap_or_default()
}

#[test]
fn a_service_is_called_by_http_1_under_its_own_name() {
    let asked = Asked::new("facts-service", Target::Service, |_, _| Reply::allow());
    asked.create("one").success();
    let call = asked.calls("one").remove(0);
    let name = format!("probe.{}.svc", asked.namespace);
    assert_eq!(call.version, Version::HTTP_11);
    assert_eq!(call.server_name.as_deref(), Some(name.as_str()));
    assert!(call.host.starts_with(&name), "{}", call.host);
    assert!(call.user_agent.starts_with("kube-apiserver-admission"), "{}", call.user_agent);
    assert_eq!(call.target, "/probe?timeout=5s");
    assert_eq!(call.review["request"]["dryRun"], json!(true));
}

#[test]
fn a_loopback_address_is_called_by_http_2_and_without_a_server_name() {
    let asked = Asked::new("facts-loopback", Target::Url("127.0.0.1"), |_, _| Reply::allow());
    asked.create("one").success();
    let call = asked.calls("one").remove(0);
    assert_eq!(call.version, Version::HTTP_2);
    assert_eq!(call.server_name, None);
}

#[test]
fn a_complete_refusal_is_printed_as_that_of_a_built_in_kind() {
    let asked = Asked::new("facts-refusal", Target::Service, |review, _| {
        let name = named(review);
        Reply::review(
            json!({"allowed": false, "status": {"status": "Failure", "code": 422, "reason": "Invalid",
            "message": format!("Probe.covenant.test \"{name}\" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]"),
            "details": {"group": "covenant.test", "kind": "Probe", "name": name, "causes": [
                {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"},
                {"reason": "FieldValueInvalid", "message": "Invalid value: 1: must be 2", "field": "spec.b"}]}}}),
        )
    });
    assert_eq!(
        asked.create("web").failure(),
        "The Probe \"web\" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: 1: must be 2\n"
    );
    let two = ["one", "two"].map(|name| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": asked.namespace}}).to_string()
    });
    let both = kubectl_with_input(&["create", "--dry-run=server", "-f", "-"], &two.join("\n")).failure();
    for name in ["one", "two"] {
        let message = format!(
            "Probe.covenant.test \"{name}\" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]"
        );
        assert!(both.contains(&message), "{both}");
    }
}

#[test]
fn a_refusal_without_a_code_becomes_a_bad_request() {
    let asked = Asked::new("facts-nocode", Target::Service, |_, _| {
        Reply::review(json!({"allowed": false, "status": {"message": "words"}}))
    });
    let printed = asked.create("one").failure();
    assert!(printed.contains("denied the request: words"), "{printed}");
    assert!(!printed.contains("is invalid"), "{printed}");
}

#[test]
fn an_answer_under_another_uid_is_a_failed_call() {
    let asked =
        Asked::new("facts-uid", Target::Service, |_, _| Reply::review(json!({"uid": "", "allowed": false})));
    let printed = asked.create("one").failure();
    assert!(printed.contains("expected response.uid="), "{printed}");
}

#[test]
fn too_many_requests_with_retry_after_is_tried_again() {
    let asked = Asked::new("facts-retry", Target::Service, |review, _| {
        static TRIES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        match named(review) {
            "again" if TRIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2 => {
                Reply::http(429, &[("retry-after", "1")], "later")
            }
            "once" => Reply::http(429, &[("retry-after", "soon")], "later"),
            "down" => Reply::http(503, &[], "later"),
            _ => Reply::allow(),
        }
    });
    asked.create("again").success();
    assert_eq!(asked.calls("again").len(), 3);
    asked.create("once").failure();
    assert_eq!(asked.calls("once").len(), 1, "only an integer is a Retry-After");
    let printed = asked.create("down").failure();
    assert_eq!(asked.calls("down").len(), 1);
    assert!(!printed.contains("later"), "the body of a 503 is lost: {printed}");
}

#[test]
fn a_slow_answer_ends_with_the_timeout() {
    let asked = Asked::new("facts-slow", Target::Service, |review, _| {
        let delay = if named(review) == "slow" { Duration::from_secs(8) } else { Duration::ZERO };
        Reply { delay, ..Reply::allow() }
    });
    let printed = asked.create("slow").failure();
    assert!(printed.contains("context deadline exceeded"), "{printed}");
}

#[test]
fn warnings_are_cut_and_dropped_beyond_their_limits() {
    let asked = Asked::new("facts-warnings", Target::Service, |review, _| {
        let warnings: Vec<String> = match named(review) {
            "many" => (0..40).map(|number| format!("{number:050}")).collect(),
            "long" => (0..3).map(|number| format!("{number}{}", "x".repeat(2_000))).collect(),
            "flood" => (0..20).map(|number| format!("{number:0250}")).collect(),
            "control" => vec!["a\nb".to_owned(), "kept".to_owned(), "kept".to_owned()],
            _ => Vec::new(),
        };
        Reply::review(json!({"allowed": true, "warnings": warnings}))
    });
    let warnings = |name: &str| -> Vec<String> {
        let output = asked.create(name);
        assert!(output.is_success(), "{output:?}");
        output.stderr.lines().filter_map(|line| Some(line.strip_prefix("Warning: ")?.to_owned())).collect()
    };
    assert_eq!(warnings("many").len(), 40);
    let long = warnings("long");
    assert_eq!(long.len(), 3);
    assert!(long.iter().all(|line| line.len() <= 256), "{long:?}");
    let flood = warnings("flood");
    assert!(!flood.is_empty() && flood.len() < 20, "{}", flood.len());
    assert_eq!(
        warnings("control"),
        ["kept"],
        "a control character loses the warning, a repetition is shown once"
    );
}

#[test]
fn deleting_is_not_asked_about_when_only_creation_is() {
    let asked = Asked::new("facts-scope", Target::Service, |_, _| Reply::allow());
    let before = asked.probe.calls().len();
    let namespace = asked.namespace.clone();
    kubectl(&["create", "-n", &namespace, "configmap", "real"]).success();
    assert_eq!(asked.probe.calls().len(), before + 1);
    kubectl(&["delete", "-n", &namespace, "configmap", "real"]).success();
    assert_eq!(asked.probe.calls().len(), before + 1);
}
