//! Starting with something wrong: one clear line that names it and the remedy, exit code 2, and nothing half-started.

#![cfg(all(feature = "webhook", feature = "controller", feature = "demo"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use covenant::pki::{Authority, LeafRequest};

const WEBHOOK: &str = env!("CARGO_BIN_EXE_covenant-webhook");
const CONTROLLER: &str = env!("CARGO_BIN_EXE_covenant-controller");
const COVENANT: &str = env!("CARGO_BIN_EXE_covenant");

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("covenant-startup-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A pair that belongs together, and a key that does not.
    fn certificates(&self) -> (PathBuf, PathBuf, PathBuf) {
        let now = covenant::process::clock::now();
        let hour = jiff::SignedDuration::from_hours(1);
        let authority = Authority::new("test-ca", now - hour, now + hour).unwrap();
        let issue = || {
            let name = "covenant-webhook.covenant-system.svc";
            authority.issue(LeafRequest::serving(name, now - hour, now + hour).dns_name(name)).unwrap()
        };
        let (pair, other) = (issue(), issue());
        (
            self.write("tls.crt", &pair.cert_pem),
            self.write("tls.key", pair.key_pem.pem()),
            self.write("other.key", other.key_pem.pem()),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .env_remove("KUBECONFIG")
        .env("HOME", "/nonexistent")
        .env("PATH", "/nonexistent")
        .env_remove("KUBEBUILDER_ASSETS")
        .env_remove("CARGO")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Exit code 2, nothing on standard output, one line on standard error that holds all of `expected`.
#[track_caller]
fn refuses(program: &str, arguments: &[&str], expected: &[&str]) {
    let output = run(program, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{arguments:?}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{arguments:?}: {stderr}");
    for words in expected {
        assert!(stderr.contains(words), "{arguments:?}: {words:?} is not in: {stderr}");
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let folder = Folder::new("certificate");
    let (certificate, key, other_key) = folder.certificates();
    let rubbish =
        folder.write("rubbish.pem", "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n");
    let missing = folder.0.join("missing.crt");
    let webhook = |certificate: &Path, key: &Path, expected: &[&str]| {
        let certificate = flag("--tls-cert-file", certificate);
        let key = flag("--tls-key-file", key);
        refuses(
            WEBHOOK,
            &[&certificate, &key, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0"],
            expected,
        );
    };
    webhook(&missing, &key, &["covenant-webhook: cannot read", "missing.crt", "--tls-cert-file"]);
    webhook(&certificate, &other_key, &["other.key", "does not belong to the certificate", "tls.crt"]);
    webhook(&rubbish, &key, &["rubbish.pem", "certificate"]);
    webhook(&key, &key, &["tls.key holds no PEM certificate"]);
    webhook(&certificate, &certificate, &["tls.crt holds no PEM private key"]);
    webhook(&folder.0, &key, &["cannot read"]);
}

#[test]
fn a_port_in_use_is_named_with_its_flag() {
    let folder = Folder::new("port");
    let (certificate, key, _) = folder.certificates();
    let (certificate, key) = (flag("--tls-cert-file", &certificate), flag("--tls-key-file", &key));
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = taken.local_addr().unwrap();
    let (listen, metrics) = (format!("--listen={address}"), format!("--metrics-listen={address}"));
    let both = [certificate.as_str(), key.as_str()];
    refuses(
        WEBHOOK,
        &[both[0], both[1], &listen, "--metrics-listen=127.0.0.1:0"],
        &["--listen", &address.to_string()],
    );
    refuses(
        WEBHOOK,
        &[both[0], both[1], &metrics, "--listen=127.0.0.1:0"],
        &["--metrics-listen", &address.to_string()],
    );
    let kubeconfig = folder.write("config", &kubeconfig("https://127.0.0.1:1"));
    let kubeconfig = flag("--kubeconfig", &kubeconfig);
    refuses(CONTROLLER, &[&kubeconfig, &metrics], &["--metrics-listen", &address.to_string()]);
}

fn kubeconfig(server: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n\
         users: [{{name: u, user: {{token: t}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
    )
}

#[test]
fn a_broken_kubeconfig_is_named() {
    let folder = Folder::new("kubeconfig");
    let broken = folder.write("broken", "clusters: [");
    let empty = folder.write("empty", "");
    let dangling = folder
        .write("dangling", &kubeconfig("https://127.0.0.1:1").replace("cluster: c,", "cluster: other,"));
    for (path, name) in
        [(broken, "broken"), (empty, "empty"), (dangling, "dangling"), (folder.0.join("missing"), "missing")]
    {
        let path = flag("--kubeconfig", &path);
        refuses(CONTROLLER, &[&path, "--metrics-listen=127.0.0.1:0"], &["covenant-controller: ", name]);
    }
    refuses(CONTROLLER, &["--metrics-listen=127.0.0.1:0"], &["--kubeconfig"]);
}

#[test]
fn a_flag_out_of_range_is_named() {
    refuses(CONTROLLER, &["--recheck-interval=1ns"], &["--recheck-interval", "1ns"]);
    refuses(CONTROLLER, &["--clock-skew=-1s"], &["--clock-skew", "-1s"]);
    refuses(CONTROLLER, &["--no-such-flag"], &["--no-such-flag"]);
    refuses(
        WEBHOOK,
        &["--max-body-bytes=1", "--tls-cert-file=a", "--tls-key-file=b"],
        &["--max-body-bytes", "65536"],
    );
    refuses(
        WEBHOOK,
        &["--drain-delay=forever", "--tls-cert-file=a", "--tls-key-file=b"],
        &["--drain-delay", "forever"],
    );
    refuses(WEBHOOK, &[], &["--tls-cert-file"]);
    refuses(COVENANT, &["demo", "--kubernetes-version=1.12"], &["1.12", "1.37"]);
}

#[test]
fn no_kubernetes_and_no_way_to_get_it_is_said_in_one_line() {
    let cache = Folder::new("cache");
    let output = Command::new(COVENANT)
        .args(["demo", "--once"])
        .env_clear()
        .env("HOME", &cache.0)
        .env("PATH", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let last = stderr.trim_end().lines().last().unwrap_or_default();
    for words in ["KUBEBUILDER_ASSETS", "setup-envtest", "Go"] {
        assert!(last.contains(words), "{words} is not in: {stderr}");
    }
}
