//! Asks a binary for its version, and says why it cannot be used.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Binary, Version};
use crate::controlplane::command;

/// How long a binary may take to say its version; it is read from a cold disk the first time.
const LIMIT: Duration = Duration::from_secs(30);

/// The oldest etcd that the supported API servers work with, as major and minor.
const OLDEST_ETCD: (u16, u16) = (3, 5);

/// Accepts a binary that runs and is of the asked minor version, or gives the reason against it.
pub(super) fn check(binary: Binary, path: &Path, version: Version) -> Result<(), String> {
    let mut program = Command::new(path);
    match binary {
        Binary::Kubectl => program.args(["version", "--client", "--output=json"]),
        _ => program.arg("--version"),
    };
    let finished =
        command::finish(program, None, LIMIT).map_err(|error| format!("it does not run: {error}"))?;
    if !finished.status.success() {
        let first = finished.stderr.lines().next().unwrap_or_default();
        return Err(format!("asked for its version it ended with {}: {first}", finished.status));
    }
    let found = read(binary, &finished.stdout)
        .ok_or_else(|| format!("it does not say which version of {binary} it is"))?;
    let fits = match binary {
        Binary::KubeApiserver | Binary::KubeControllerManager => found.same_minor(version),
        Binary::Etcd => found.major == OLDEST_ETCD.0 && found.minor >= OLDEST_ETCD.1,
        Binary::Kubectl => true,
    };
    if fits {
        Ok(())
    } else if binary == Binary::Etcd {
        Err(format!("it is {found}; {}.{} or a later one is needed", OLDEST_ETCD.0, OLDEST_ETCD.1))
    } else {
        Err(format!("it is {found}; {}.{} was asked for", version.major, version.minor))
    }
}

/// Finds the version in what the binary prints.
fn read(binary: Binary, output: &str) -> Option<Version> {
    match binary {
        Binary::Etcd => output.lines().find_map(|line| line.strip_prefix("etcd Version: ")?.parse().ok()),
        Binary::KubeApiserver | Binary::KubeControllerManager => {
            output.lines().find_map(|line| line.strip_prefix("Kubernetes ")?.parse().ok())
        }
        Binary::Kubectl => {
            let value: serde_json::Value = serde_json::from_str(output).ok()?;
            value.pointer("/clientVersion/gitVersion")?.as_str()?.parse().ok()
        }
    }
}
