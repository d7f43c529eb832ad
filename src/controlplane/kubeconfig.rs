//! Writes kubeconfig files and makes clients from them.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::Error;
use crate::pki::Pair;

/// How a kubeconfig's user proves who it is.
pub(super) enum Credential<'a> {
    /// A client certificate.
    Certificate(&'a Pair),
    /// A bearer token.
    Token(&'a str),
}

/// Writes a kubeconfig that only its owner can read. All that is written is base64, a URL, or a name of our own.
pub(super) fn write(
    path: &Path,
    server: &str,
    authority_pem: &str,
    user: &str,
    credential: &Credential<'_>,
) -> Result<(), Error> {
    let authority = STANDARD.encode(authority_pem);
    let credential = match credential {
        Credential::Certificate(pair) => format!(
            "client-certificate-data: {}\n    client-key-data: {}",
            STANDARD.encode(&pair.cert_pem),
            STANDARD.encode(pair.key_pem.pem())
        ),
        Credential::Token(token) => format!("token: {token}"),
    };
    let text = format!(
        "apiVersion: v1
kind: Config
clusters:
- name: covenant
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: {user}
  user:
    {credential}
contexts:
- name: covenant
  context:
    cluster: covenant
    user: {user}
current-context: covenant
"
    );
    write_private(path, text.as_bytes())
}

/// Writes a file with mode 600, whole.
pub(super) fn write_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    let file = File::options().create(true).truncate(true).write(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(content)).map_err(Error::file(path))
}

/// Makes a client from a kubeconfig. It lives on the runtime that this is called in.
pub(super) async fn client(path: &Path) -> Result<kube::Client, Error> {
    let explain = |message: String| Error::Kubeconfig { path: path.to_owned(), message };
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| explain(error.to_string()))?;
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = config.map_err(|error| explain(error.to_string()))?;
    kube::Client::try_from(config).map_err(|error| explain(error.to_string()))
}
