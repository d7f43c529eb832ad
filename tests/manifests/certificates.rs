//! That no key is in the tree, and that every certificate variant is about the Service's own name.

use std::fs;

use crate::support::{documents, files_below, repository, strings, text};

const SERVICE_NAME: &str = "covenant-webhook.covenant-system.svc";

#[test]
fn no_private_key_is_kept_in_the_tree() {
    // In two pieces, so that this file is no find of its own.
    let mark = ["PRIVATE", "KEY-----"].join(" ");
    for folder in ["manifests", "webhook-certs", ".ci"] {
        for path in files_below(&repository().join(folder)) {
            let content = fs::read(&path).unwrap();
            assert!(
                !String::from_utf8_lossy(&content).contains(&mark),
                "{} holds a private key",
                path.display()
            );
        }
    }
    for document in documents("rbac/certificates").iter().filter(|document| document.kind() == "Secret") {
        assert!(document.value.get("data").is_none() && document.value.get("stringData").is_none());
    }
}

#[test]
fn the_folders_for_made_certificates_are_ignored_by_git() {
    for folder in ["manifests/overlays/files", "webhook-certs"] {
        let ignored = fs::read_to_string(repository().join(folder).join(".gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == "/certificates/"), "{folder}/.gitignore");
    }
}

#[test]
fn cert_manager_makes_the_secret_that_the_webhook_mounts() {
    let documents = documents("overlays/cert-manager");
    let leaf = documents
        .iter()
        .find(|document| document.kind() == "Certificate" && document.name() == "covenant-webhook")
        .unwrap();
    assert_eq!(text(&leaf.value, "/spec/secretName"), "covenant-webhook-tls");
    assert!(strings(&leaf.value, "/spec/dnsNames").contains(&SERVICE_NAME.to_owned()));
    let patch =
        documents.iter().find(|document| document.kind() == "ValidatingWebhookConfiguration").unwrap();
    assert_eq!(
        text(&patch.value, "/metadata/annotations/cert-manager.io~1inject-ca-from"),
        format!("covenant-system/{}", leaf.name())
    );
}

/// Runs the script in an empty folder, checks the pair with openssl, and once more for the renewal. Without openssl there
/// is nothing to run: the script says so itself.
#[test]
fn the_script_makes_a_pair_for_the_service_and_renews_it_under_the_same_authority() {
    use std::process::Command;
    let script = repository().join("webhook-certs/make-certificate.sh");
    let folder = std::env::temp_dir().join(format!("covenant-certificates-{}", std::process::id()));
    let run = || Command::new(&script).arg(&folder).output().unwrap();

    let first = run();
    if Command::new("openssl").arg("version").output().is_err() {
        assert_eq!(first.status.code(), Some(2));
        return;
    }
    let printed = String::from_utf8(first.stdout).unwrap();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert!(
        printed.contains("kubectl create secret generic covenant-webhook-tls --namespace covenant-system")
    );
    assert!(printed.contains("kubectl patch validatingwebhookconfiguration covenant"));
    let authority = fs::read(folder.join("ca.crt")).unwrap();
    let leaf = fs::read(folder.join("tls.crt")).unwrap();

    assert!(run().status.success());
    assert_eq!(fs::read(folder.join("ca.crt")).unwrap(), authority, "a renewal keeps the authority");
    assert_ne!(fs::read(folder.join("tls.crt")).unwrap(), leaf, "a renewal makes a new leaf");
    let verified = Command::new("openssl")
        .args(["verify", "-purpose", "sslserver", "-verify_hostname", SERVICE_NAME, "-CAfile"])
        .args([folder.join("ca.crt"), folder.join("tls.crt")])
        .output()
        .unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for key in ["ca.key", "tls.key"] {
            assert_eq!(fs::metadata(folder.join(key)).unwrap().permissions().mode() & 0o077, 0, "{key}");
        }
    }
    let bundle = fs::read_to_string(folder.join("ca-bundle.yaml")).unwrap();
    assert_eq!(bundle.matches("caBundle: ").count(), 3);
    fs::remove_dir_all(&folder).unwrap();
}
