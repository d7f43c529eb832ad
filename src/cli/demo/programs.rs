//! The programs that the demo runs: `covenant-webhook` and `covenant-controller` beside this one.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::api::names;
use crate::cli::exit::Failure;
use crate::controlplane::supervise::tied_command;

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    /// This program, which is the supervisor too.
    pub covenant: PathBuf,
    /// The webhook.
    pub webhook: PathBuf,
    /// The controller.
    pub controller: PathBuf,
}

impl Programs {
    /// Finds the programs beside this one. When Cargo runs this one it has built no other, so they are built first: what
    /// stands there may be older than the source.
    pub fn ready() -> Result<Self, Failure> {
        let covenant = std::env::current_exe().map_err(|error| {
            Failure::new(format!("cannot tell where this program is: {error}"), "start it by its path")
        })?;
        let folder = covenant.parent().unwrap_or(Path::new("."));
        if let Some(cargo) = cargo() {
            build(&covenant, &cargo, folder)?;
        }
        let beside = |name: &str| {
            let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            let missing = || {
                let what = format!("there is no {name} beside {}", covenant.display());
                Failure::new(what, "build it with `cargo build --bins`, or put it there")
            };
            if path.is_file() { Ok(path) } else { Err(missing()) }
        };
        Ok(Self {
            webhook: beside(names::WEBHOOK)?,
            controller: beside(names::CONTROLLER)?,
            covenant: covenant.clone(),
        })
    }
}

/// Cargo, if it is what runs this program from this source tree.
fn cargo() -> Option<OsString> {
    let tree = std::env::var_os("CARGO_MANIFEST_DIR")?;
    (tree == env!("CARGO_MANIFEST_DIR")).then(|| std::env::var_os("CARGO")).flatten()
}

/// Builds all programs into the target folder that `folder`, of this program, belongs to, with its profile and features.
fn build(covenant: &Path, cargo: &OsString, folder: &Path) -> Result<(), Failure> {
    let Some(target) = folder.parent().filter(|target| target.join("CACHEDIR.TAG").is_file()) else {
        // Not a layout that Cargo makes by itself; what stands beside this program has to do.
        return Ok(());
    };
    let mut command = tied_command(covenant, cargo);
    command.args(["build", "--bins", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    command.arg("--target-dir").arg(target);
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some(profile) => {
            command.args(["--profile", profile]);
        }
    }
    command.args(features());
    let failed =
        |problem: String| Failure::new(format!("the programs cannot be built: {problem}"), "mend that first");
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| failed(error.to_string()))?;
    if let Some(said) = child.stderr.take() {
        // Nothing to say when all is fresh; else what is compiled, and every error.
        let lines = BufReader::new(said).lines().map_while(Result::ok);
        for line in lines.filter(|line| !line.trim_start().starts_with("Finished")) {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("cargo build ended with {status}"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The features that this program was built with, as flags; nothing when they are the default ones.
fn features() -> Vec<&'static str> {
    if cfg!(all(feature = "webhook", feature = "controller")) {
        return Vec::new();
    }
    let mut flags = vec!["--no-default-features", "--features", "demo"];
    if cfg!(feature = "webhook") {
        flags.extend(["--features", "webhook"]);
    }
    if cfg!(feature = "controller") {
        flags.extend(["--features", "controller"]);
    }
    flags
}
