//! What tests against a real API server share: one control plane for the whole test process, started on first use,
//! and a namespace of its own for each test.
//!
//! `COVENANT_TEST_KUBERNETES` chooses the version (`1.34`); without it the newest supported one runs. A first run may
//! have to build Kubernetes, which takes minutes; its progress is on standard error. At the end of the process the
//! supervisor stops everything by itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use covenant::controlplane::{Binaries, ControlPlane, Options, Output, Provider, Version, version};

/// The `covenant` binary that Cargo built for this test.
pub const COVENANT: &str = env!("CARGO_BIN_EXE_covenant");

/// How long a condition may take to come true before a test fails. It is a guard, not a measure.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// The Kubernetes version that this test run is about.
pub fn kubernetes_version() -> Version {
    match std::env::var("COVENANT_TEST_KUBERNETES") {
        Ok(request) if !request.is_empty() => Version::resolve(&request).expect("COVENANT_TEST_KUBERNETES"),
        _ => version::NEWEST,
    }
}

/// The binaries of that version, obtained if need be.
pub fn binaries() -> Result<Binaries, String> {
    let provider =
        Provider::new(kubernetes_version(), Path::new(COVENANT)).map_err(|error| error.to_string())?;
    provider.all().map_err(|error| error.to_string())
}

/// Starts a control plane that the caller owns. Most tests use the shared one.
pub fn start_control_plane() -> Result<ControlPlane, String> {
    start_control_plane_with(binaries()?)
}

/// Starts a control plane of the given binaries that the caller owns.
pub fn start_control_plane_with(binaries: Binaries) -> Result<ControlPlane, String> {
    ControlPlane::start(Options { covenant: COVENANT.into(), binaries }).map_err(|error| error.to_string())
}

/// The control plane that all tests of this process share.
pub fn control_plane() -> &'static ControlPlane {
    static SHARED: OnceLock<Result<ControlPlane, String>> = OnceLock::new();
    match SHARED.get_or_init(start_control_plane) {
        Ok(plane) => plane,
        Err(error) => panic!("no control plane: {error}"),
    }
}

/// Makes a namespace for one test and returns its name, which begins with `prefix`.
pub fn namespace(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    kubectl(&["create", "namespace", &name]).success();
    name
}

/// Writes a shell script that can be run at once. A process of its own writes it: a file that this process has open for
/// writing may be inherited by a child that another thread starts meanwhile, and then the system refuses to run it.
pub fn script(path: &Path, text: &str) -> PathBuf {
    let mut command = Command::new("/bin/sh");
    command.args([
        "-c",
        "mkdir -p \"$(dirname \"$1\")\" && printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"",
    ]);
    assert!(command.arg("sh").arg(path).arg(text).status().expect("sh runs").success());
    path.to_owned()
}

/// Runs `kubectl` as the administrator.
pub fn kubectl(arguments: &[&str]) -> Output {
    control_plane().kubectl(arguments, None).expect("kubectl runs")
}

/// Runs `kubectl` as the administrator with `input` on its standard input, for `-f -`.
pub fn kubectl_with_input(arguments: &[&str], input: &str) -> Output {
    control_plane().kubectl(arguments, Some(input)).expect("kubectl runs")
}

/// What tests ask of a finished `kubectl`.
pub trait Finished {
    /// Its standard output; fails the test if it did not succeed.
    fn success(self) -> String;
    /// Its standard error; fails the test if it succeeded.
    fn failure(self) -> String;
}

impl Finished for Output {
    #[track_caller]
    fn success(self) -> String {
        assert!(self.is_success(), "kubectl failed: {self:#?}");
        self.stdout
    }

    #[track_caller]
    fn failure(self) -> String {
        assert!(!self.is_success(), "kubectl succeeded: {self:#?}");
        self.stderr
    }
}

/// Waits until `look` finds something; fails the test when that takes longer than [`PATIENCE`].
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within {} s", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(50));
    }
}
