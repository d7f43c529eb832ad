//! The webhook's own process, asked over HTTPS as the API server asks it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use covenant::pki::{Authority, LeafRequest};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};

use crate::case::{Case, Fault, NAMESPACE, Place, differ};

/// The longest warning, in characters: Kubernetes cuts longer ones.
const WARNING: usize = 120;
const SERVICE: &str = "covenant-webhook.covenant-system.svc";

#[test]
fn the_webhook_says_what_every_case_expects() {
    let webhook = Webhook::start();
    let mut connection = webhook.connect();
    let mut wrong = Vec::new();
    for case in Case::all(None).iter().filter(|case| case.is_for(Place::Webhook)) {
        let response = connection.ask(&review(case));
        let differences = differences(case, &response);
        if !differences.is_empty() {
            wrong.push(format!("{}:\n  {}", case.name, differences.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

fn review(case: &Case) -> Value {
    let mut object = case.object.clone();
    object["metadata"]["namespace"] = json!(NAMESPACE);
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": case.name,
        "kind": {"group": "secrets.codepop.tech", "version": "v1alpha1", "kind": "SecretContract"},
        "resource": {"group": "secrets.codepop.tech", "version": "v1alpha1", "resource": "secretcontracts"},
        "name": object["metadata"]["name"], "namespace": NAMESPACE, "userInfo": {"username": "dev"},
        "operation": if case.old.is_some() { "UPDATE" } else { "CREATE" },
        "object": object, "oldObject": case.old, "dryRun": false, "options": null}})
}

fn differences(case: &Case, response: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    let faults = &case.expect.faults;
    let of = |severity: &'static str| faults.iter().filter(move |fault| fault.severity == severity);
    differ("uid", &[&response["uid"]], &[&json!(case.name)], &mut differences);
    differ("allowed", &[response["allowed"] == true], &[of("error").next().is_none()], &mut differences);

    let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
    let causes = response["status"]["details"]["causes"].as_array().cloned().unwrap_or_default();
    let told: Vec<_> = causes.iter().map(|cause| (text(cause, "field"), text(cause, "message"))).collect();
    let wanted: Vec<_> = of("error").map(|fault| (fault.field.clone(), fault.message.clone())).collect();
    differ("causes", &told, &wanted, &mut differences);
    let message = text(&response["status"], "message");
    for fault in of("error") {
        differ("message", &[message.contains(&line(fault))], &[true], &mut differences);
    }

    let warnings = response["warnings"].as_array().cloned().unwrap_or_default();
    let told: Vec<_> = warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect();
    let wanted: Vec<_> = of("warning").map(|fault| cut(&line(fault))).collect();
    differ("warnings", &told, &wanted, &mut differences);

    let mut rules: Vec<&str> = Vec::new();
    for fault in faults {
        if !rules.contains(&fault.rule.as_str()) {
            rules.push(&fault.rule);
        }
    }
    let told = text(&response["auditAnnotations"], "rule-ids");
    differ("rules", &[told], &[rules.join(",")], &mut differences);
    differences
}

fn line(fault: &Fault) -> String {
    format!("{}: {}", fault.field, fault.message)
}

fn cut(line: &str) -> String {
    if line.chars().count() <= WARNING {
        return line.to_owned();
    }
    format!("{}…", line.chars().take(WARNING - 1).collect::<String>())
}

/// The webhook's process.
struct Webhook {
    child: Child,
    folder: PathBuf,
    port: u16,
    trust: Arc<rustls::ClientConfig>,
}

impl Webhook {
    fn start() -> Self {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("corpus-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let now = covenant::process::clock::now();
        let hour = jiff::SignedDuration::from_hours(1);
        let authority = Authority::new("corpus", now - hour, now + hour).unwrap();
        let pair =
            authority.issue(LeafRequest::serving(SERVICE, now - hour, now + hour).dns_name(SERVICE)).unwrap();
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        std::fs::write(&certificate, &pair.cert_pem).unwrap();
        std::fs::write(&key, pair.key_pem.pem()).unwrap();

        // Its stores stay empty: nobody answers there. What a contract may say needs none of them.
        let kubeconfig = folder.join("kubeconfig");
        let nowhere = "{apiVersion: v1, kind: Config, current-context: c, \
            clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}], users: [{name: c, user: {}}], \
            contexts: [{name: c, context: {cluster: c, user: c}}]}";
        std::fs::write(&kubeconfig, nowhere).unwrap();
        let (port, health) = (free_port(), free_port());
        let child = Command::new(env!("CARGO_BIN_EXE_covenant-webhook"))
            .arg(format!("--listen=127.0.0.1:{port}"))
            .arg(format!("--metrics-listen=127.0.0.1:{health}"))
            .arg(format!("--tls-cert-file={}", certificate.display()))
            .arg(format!("--tls-key-file={}", key.display()))
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.cert_pem().as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let trust = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { child, folder, port, trust: Arc::new(trust) }
    }

    fn connect(&self) -> Connection {
        let end = Instant::now() + Duration::from_secs(30);
        let socket = loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(socket) => break socket,
                Err(error) => assert!(Instant::now() < end, "the webhook does not listen: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket.set_nodelay(true).unwrap();
        let session =
            rustls::ClientConnection::new(self.trust.clone(), ServerName::try_from(SERVICE).unwrap());
        Connection(rustls::StreamOwned::new(session.unwrap(), socket))
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// One connection, kept for all reviews as the API server keeps one.
struct Connection(rustls::StreamOwned<rustls::ClientConnection, TcpStream>);

impl Connection {
    /// Asks for one review and gives the response in the answer.
    fn ask(&mut self, review: &Value) -> Value {
        let body = review.to_string();
        let head = format!(
            "POST /validate?timeout=10s HTTP/1.1\r\nHost: {SERVICE}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.write_all(head.as_bytes()).unwrap();
        self.0.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut piece = [0; 16 * 1024];
        loop {
            let count = self.0.read(&mut piece).unwrap();
            assert!(count > 0, "the webhook ended the connection");
            answer.extend_from_slice(&piece[..count]);
            if let Some(body) = complete(&answer) {
                let review: Value = serde_json::from_slice(body).unwrap();
                return review["response"].clone();
            }
        }
    }
}

/// The body of an answer that is there as a whole.
fn complete(answer: &[u8]) -> Option<&[u8]> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("its length");
    let body = &answer[end + 4..];
    (body.len() == length.parse::<usize>().unwrap()).then_some(body)
}
