//! Runs `kubectl` against the control plane, as a person would.

use std::path::Path;
use std::time::Duration;

use super::{ControlPlane, Error, command, supervise};

/// How long one `kubectl` may take; it is killed after that.
const LIMIT: Duration = Duration::from_mins(3);

/// What a finished `kubectl` left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Whether it ended with exit code 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

impl ControlPlane {
    /// Runs `kubectl` as the administrator, with `input` on its standard input.
    pub fn kubectl(&self, arguments: &[&str], input: Option<&str>) -> Result<Output, Error> {
        self.kubectl_as(self.kubeconfig(), arguments, input)
    }

    /// Runs `kubectl` with a kubeconfig.
    pub fn kubectl_as(
        &self,
        kubeconfig: &Path,
        arguments: &[&str],
        input: Option<&str>,
    ) -> Result<Output, Error> {
        let binary = self.kubectl_binary().ok_or(Error::NoKubectl)?;
        let mut kubectl = supervise::tied_command(self.covenant(), &binary);
        kubectl
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            // Discovery is cached by address, and another control plane may have had the same port before.
            .env("KUBECACHEDIR", self.folder().join("kubectl-cache"));
        let finished =
            command::finish(kubectl, input.map(str::as_bytes), LIMIT).map_err(Error::file(binary))?;
        Ok(Output { code: finished.status.code(), stdout: finished.stdout, stderr: finished.stderr })
    }
}
