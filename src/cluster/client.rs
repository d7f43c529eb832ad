//! How a process reaches the API server.

use std::path::Path;
use std::time::Duration;

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use super::fence::Fence;

use crate::process::exit::StartError;

/// How long to wait for a TCP and TLS connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a request may take to be sent.
const WRITE: Duration = Duration::from_secs(10);

/// How long a connection may be silent. Longer than a watch, which the API server ends after 290 s; requests have a
/// limit of their own.
const SILENCE: Duration = Duration::from_secs(330);

/// A client for the cluster that `kubeconfig` names; without one, the cluster that this pod runs in; outside a pod the
/// usual files (`$KUBECONFIG`, `~/.kube/config`).
///
/// Nothing is sent yet: an API server that does not answer is no error here. `process` is the name of the process in
/// the API server's log. Requests are not repeated by the client, because each caller has its own way to try again.
pub async fn connect(kubeconfig: Option<&Path>, process: &str) -> Result<Client, StartError> {
    fenced(kubeconfig, process, &Fence::open()).await
}

/// The same, of which nothing is written while the fence is closed.
pub async fn fenced(kubeconfig: Option<&Path>, process: &str, fence: &Fence) -> Result<Client, StartError> {
    let mut config = config(kubeconfig).await?;
    config.connect_timeout = Some(CONNECT);
    config.write_timeout = Some(WRITE);
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    config.default_retry = false;
    if let Ok(agent) = HeaderValue::from_str(&format!("{process}/{}", env!("CARGO_PKG_VERSION"))) {
        config.headers.push((USER_AGENT, agent));
    }
    let server = config.cluster_url.to_string();
    let builder = ClientBuilder::try_from(config).map(|builder| builder.with_layer(fence).build());
    builder.map_err(|error| {
        let what = format!("cannot make a client for {server}: {error}");
        StartError::configuration(what, "check certificate, key and token in the kubeconfig")
    })
}

async fn config(kubeconfig: Option<&Path>) -> Result<Config, StartError> {
    if let Some(path) = kubeconfig {
        let broken = |error: &dyn std::fmt::Display| {
            let what = format!("--kubeconfig {}: {}", path.display(), first_lines(error));
            StartError::configuration(what, "give a readable kubeconfig whose current context is complete")
        };
        let file = Kubeconfig::read_from(path).map_err(|error| match error {
            KubeconfigError::ReadConfig(cause, _) => broken(&format!("cannot be read: {cause}")),
            other => broken(&other),
        })?;
        let options = KubeConfigOptions::default();
        return Config::from_custom_kubeconfig(file, &options).await.map_err(|error| broken(&error));
    }
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Config::incluster().map_err(|error| {
            let what = format!("the pod's own service account cannot be used: {error}");
            StartError::configuration(what, "mount a service account token or give --kubeconfig")
        });
    }
    Config::from_kubeconfig(&KubeConfigOptions::default()).await.map_err(|error| {
        let what = format!("not in a pod, and no usable kubeconfig: {}", first_lines(&error));
        StartError::configuration(what, "give --kubeconfig, set KUBECONFIG or write ~/.kube/config")
    })
}

/// The parser of the file shows the lines around a fault, which may hold a token; its first line says what is wrong.
fn first_lines(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused(content: Option<&str>) -> String {
        let folder = std::env::temp_dir().join(format!("covenant-client-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("kubeconfig-{}", content.map_or(0, str::len)));
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let error = connect(Some(&path), "covenant-test").await.err().unwrap();
        assert_eq!(error.code(), 2);
        let text = error.to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(text.starts_with(&format!("--kubeconfig {}: ", path.display())), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    }

    #[tokio::test]
    async fn a_broken_kubeconfig_is_one_line() {
        assert!(refused(None).await.contains("cannot be read: No such file"));
        let nonsense = refused(Some("clusters: [}\nusers: [{name: a, user: {token: canary}}]")).await;
        assert!(!nonsense.contains("canary"), "{nonsense}");
        refused(Some("apiVersion: v1\nkind: Config\nusers: []\n")).await;
        refused(Some("")).await;
        refused(Some("apiVersion: v1\nkind: Config\ncurrent-context: gone\n")).await;
    }
}
