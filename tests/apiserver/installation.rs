//! Covenant installed in a control plane of its own: what is shipped, and the webhook as a process with its own service
//! account. Other tests share a control plane without it, so that no webhook stands in their way.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use covenant::controlplane::supervise::StopMode;
use covenant::controlplane::{ControlPlane, Output, ProcessRequest, Signal};
use covenant::pki::{Authority, LeafRequest};
use serde_json::{Value, json};

use crate::support::{Finished as _, eventually, start_control_plane};

const SERVICE_NAME: &str = "covenant-webhook.covenant-system.svc";

/// The control plane with Covenant in it.
pub struct Installation {
    pub plane: ControlPlane,
    port: u16,
    health_port: u16,
}

/// Shared by all tests of this process.
pub fn installation() -> &'static Installation {
    static SHARED: OnceLock<Installation> = OnceLock::new();
    SHARED.get_or_init(Installation::new)
}

/// A file of `manifests/`.
pub fn shipped(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests").join(path).display().to_string()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Installation {
    /// One that the caller has for itself.
    pub fn new() -> Self {
        let plane = start_control_plane().expect("a control plane");
        let installation = Self { plane, port: free_port(), health_port: free_port() };
        for part in ["crds", "namespace", "rbac", "policies"] {
            installation.kubectl(&["apply", "--server-side", "-k", &shipped(part)]).success();
        }
        let bundle = installation.make_certificate();
        let service = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "covenant-webhook", "namespace": "covenant-system"},
            "spec": {"type": "ExternalName", "externalName": "localhost"}});
        installation.apply(&service);
        let text = std::fs::read_to_string(shipped("webhook/validating-webhook-configuration.yaml")).unwrap();
        let mut configuration: Value = serde_saphyr::from_str(&text).unwrap();
        for entry in configuration["webhooks"].as_array_mut().unwrap() {
            entry["clientConfig"]["service"]["port"] = json!(installation.port);
            entry["clientConfig"]["caBundle"] = json!(bundle);
        }
        installation.apply(&configuration);
        installation.start_webhook();
        installation.wait_until_asked();
        installation
    }

    /// Writes the webhook's pair and returns the authority for `caBundle`.
    fn make_certificate(&self) -> String {
        let now = covenant::process::clock::now();
        let hour = jiff::SignedDuration::from_hours(1);
        let authority = Authority::new("test-ca", now - hour, now + hour).unwrap();
        let pair = authority
            .issue(LeafRequest::serving("webhook", now - hour, now + hour).dns_name(SERVICE_NAME))
            .unwrap();
        std::fs::write(self.plane.folder().join("webhook.crt"), &pair.cert_pem).unwrap();
        std::fs::write(self.plane.folder().join("webhook.key"), pair.key_pem.pem()).unwrap();
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, authority.cert_pem())
    }

    /// Starts the webhook as it runs in production: its own process, its own service account.
    pub fn start_webhook(&self) {
        let kubeconfig =
            self.plane.kubeconfig_for_service_account("covenant-system", "covenant-webhook").unwrap();
        self.start_webhook_with(&kubeconfig);
    }

    /// Starts the webhook with another kubeconfig.
    pub fn start_webhook_with(&self, kubeconfig: &Path) {
        let folder = self.plane.folder();
        let args = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--listen=127.0.0.1:{}", self.port),
            format!("--metrics-listen=127.0.0.1:{}", self.health_port),
            format!("--tls-cert-file={}", folder.join("webhook.crt").display()),
            format!("--tls-key-file={}", folder.join("webhook.key").display()),
            "--drain-delay=0s".to_owned(),
        ];
        let request = ProcessRequest {
            name: "webhook".to_owned(),
            program: env!("CARGO_BIN_EXE_covenant-webhook").into(),
            args,
            env: std::collections::BTreeMap::new(),
            log: self.plane.log_file("webhook"),
            stop: StopMode::Graceful,
        };
        self.plane.start_process(request).unwrap();
    }

    /// Ends the webhook at once.
    pub fn kill_webhook(&self) {
        self.plane.signal_process("webhook", Signal::Kill).unwrap();
        self.plane.wait_for_process("webhook", Duration::from_secs(10)).unwrap();
    }

    /// Waits until a faulty object is refused: the configuration lets pass what nobody answers.
    pub fn wait_until_asked(&self) {
        let faulty = shipped("samples/refused/contract-five-faults.yaml");
        eventually("the webhook is asked", || {
            let output = self.kubectl(&["create", "--dry-run=server", "-f", &faulty]);
            (!output.is_success()).then_some(())
        });
    }

    pub fn kubectl(&self, arguments: &[&str]) -> Output {
        self.plane.kubectl(arguments, None).expect("kubectl runs")
    }

    pub fn kubectl_with_input(&self, arguments: &[&str], input: &str) -> Output {
        self.plane.kubectl(arguments, Some(input)).expect("kubectl runs")
    }

    /// Applies an object as the administrator.
    pub fn apply(&self, object: &Value) -> String {
        self.kubectl_with_input(&["apply", "--server-side", "-f", "-"], &object.to_string()).success()
    }

    pub fn namespace(&self, name: &str) -> String {
        self.kubectl(&["create", "namespace", name]).success();
        name.to_owned()
    }

    /// What the webhook's health listener answers; None while nobody listens.
    pub fn webhook_health(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.health_port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let code = answer.split(' ').nth(1)?.parse().ok()?;
        Some((code, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// The log of the webhook's process.
    pub fn webhook_log(&self) -> String {
        std::fs::read_to_string(self.plane.log_file("webhook")).unwrap()
    }
}
