//! Builds a binary with `go` from the module that pins its release.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache::Slot;
use super::check::check;
use super::progress::Progress;
use super::stream::stream;
use super::{Binary, NotObtained, Provider, Version};
use crate::controlplane::supervise;

impl Provider {
    /// Builds a binary from its Go module.
    pub(super) fn build_from_module(&self, binary: Binary, slot: &Slot) -> Result<PathBuf, NotObtained> {
        let Some(go) = self.sources.program("go") else {
            return Err("Go is not installed, so it cannot be built".to_owned().into());
        };
        let module = match binary {
            Binary::Etcd => self.sources.modules.join("etcd"),
            _ => self.sources.modules.join(format!("v{}", self.version)),
        };
        if !module.join("go.mod").is_file() {
            return Err(format!(
                "it cannot be built, for there is no Go module in {} (set COVENANT_KUBERNETES_MODULES to tests/kubernetes \
                 of a source tree)",
                module.display()
            )
            .into());
        }
        let workspace = slot.workspace()?;
        let what = match binary {
            Binary::Etcd => "building etcd".to_owned(),
            _ => format!("building {binary} {}", self.version),
        };
        let mut progress =
            Progress::start(self.display, what, "from its Go module; only the first time takes long");
        let file = workspace.join(binary.name());
        let result = self.build(&go, &module, binary, &file, &mut progress).and_then(|()| {
            check(binary, &file, self.version)?;
            slot.install(&file, binary, self.version)
        });
        progress.end(result.as_ref().map_or("failed", |_| "done"));
        Ok(result.map_err(|reason| format!("building it from {} failed: {reason}", module.display()))?)
    }

    fn build(
        &self,
        go: &Path,
        module: &Path,
        binary: Binary,
        file: &Path,
        progress: &mut Progress,
    ) -> Result<(), String> {
        let total = self.packages_to_compile(go, module, binary, progress)?;
        let mut command = self.go(go, module);
        command.args(["build", "-v", "-o"]).arg(file).args(flags(binary, self.version)).arg(package(binary));
        let mut compiled = 0;
        let mut linking = false;
        let streamed = stream(command, |line| match line {
            // Go names a package when it begins to compile it, and the program itself last.
            Some(line) if line == package(binary) => linking = true,
            Some(line) if !line.starts_with("go: ") => compiled += 1,
            _ if linking || compiled >= total => progress.show("linking"),
            _ => progress.show(format!("{compiled} of {total} packages")),
        });
        succeeded(streamed)?;
        Ok(())
    }

    /// How many packages are not in Go's build cache yet. Fetches the modules that are missing.
    fn packages_to_compile(
        &self,
        go: &Path,
        module: &Path,
        binary: Binary,
        progress: &mut Progress,
    ) -> Result<usize, String> {
        let mut command = self.go(go, module);
        command.args(["list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"]);
        command.args(flags(binary, self.version)).arg(package(binary));
        let mut fetched = 0;
        let streamed = stream(command, |line| {
            if line.is_some_and(|line| line.starts_with("go: downloading ")) {
                fetched += 1;
            }
            match fetched {
                0 => progress.show("counting packages"),
                _ => progress.show(format!("{fetched} modules fetched")),
            }
        });
        let stdout = succeeded(streamed)?;
        Ok(stdout.lines().filter(|line| !line.is_empty()).count())
    }

    fn go(&self, go: &Path, module: &Path) -> Command {
        let mut command = supervise::tied_command(&self.covenant, go);
        // A workspace around the source tree must not take the pinned module's place.
        command.current_dir(module).env("GOWORK", "off").env("PWD", module);
        command
    }
}

/// The package that is the program.
fn package(binary: Binary) -> &'static str {
    match binary {
        Binary::Etcd => "go.etcd.io/etcd/server/v3",
        Binary::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
        Binary::KubeControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
        Binary::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
    }
}

/// Flags of `go build`. The version variables are what the programs report to their clients; a build from a module has
/// no other way to know them.
fn flags(binary: Binary, version: Version) -> [String; 4] {
    let mut link = "-s -w".to_owned();
    if binary != Binary::Etcd {
        let variable = "k8s.io/component-base/version";
        let Version { major, minor, .. } = version;
        link = format!(
            "{link} -X {variable}.gitVersion=v{version} -X {variable}.gitMajor={major} -X {variable}.gitMinor={minor}"
        );
    }
    // Whatever GOFLAGS says, the module is used as it is committed.
    ["-mod=readonly".to_owned(), "-trimpath".to_owned(), "-ldflags".to_owned(), link]
}

/// The standard output of a child that succeeded, else what it said last.
fn succeeded(streamed: std::io::Result<super::stream::Streamed>) -> Result<String, String> {
    let streamed = streamed.map_err(|error| error.to_string())?;
    if streamed.status.success() {
        Ok(streamed.stdout)
    } else {
        // Lines that only name the package at work explain nothing.
        let words: Vec<String> = streamed.last_lines.into_iter().filter(|line| line.contains(' ')).collect();
        Err(format!("{}: {}", streamed.status, words.join(" / ")))
    }
}
