//! `covenant demo`, the real binary: how it refuses to start, how it ends, and that it leaves nothing behind. What it shows
//! is checked by `covenant demo --once` itself.
#![cfg(all(target_os = "linux", feature = "demo", feature = "webhook", feature = "controller"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_covenant"));
    // Cargo has built all programs for this test; the demo need not ask it again.
    command.arg("demo").args(arguments).env_remove("CARGO").stdin(Stdio::null());
    command
}

/// The exit code and standard error of a demo that does not start.
fn refused(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_unknown_version_is_refused_with_the_known_ones() {
    for arguments in [&["--kubernetes-version", "1.12"][..], &["--", "--kubernetes-version", "1.12"]] {
        let (code, text) = refused(demo(arguments));
        assert_eq!(code, Some(2), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("covenant: ") && text.contains("1.12") && text.contains("1.37"), "{text}");
    }
    let (code, text) = refused(demo(&["--onec"]));
    assert_eq!((code, text.lines().count()), (Some(2), 1), "{text}");
}

#[test]
fn without_binaries_and_any_way_to_get_them_it_says_what_to_do() {
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-demo-empty-{}", std::process::id()));
    std::fs::create_dir_all(&empty).unwrap();
    let mut command = demo(&["--once"]);
    for folder in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "KUBEBUILDER_ASSETS", "PATH", "TMPDIR"] {
        command.env(folder, &empty);
    }
    command.env("COVENANT_ENVTEST_INDEX", "").env("COVENANT_KUBERNETES_RELEASES", "");
    let (code, text) = refused(command);
    let left: Vec<_> = std::fs::read_dir(&empty).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    std::fs::remove_dir_all(&empty).unwrap();
    assert_eq!(code, Some(2), "{text}");
    let own: Vec<_> = text.lines().filter(|line| line.starts_with("covenant: ")).collect();
    assert_eq!(own.len(), 1, "{text}");
    assert!(own[0].contains("KUBEBUILDER_ASSETS") && own[0].contains("install Go"), "{text}");
    assert!(
        !left.iter().any(|name| name.to_string_lossy().starts_with("covenant-")),
        "half-started: {left:?}"
    );
}

/// A demo that is up.
struct Up {
    child: Child,
    /// Where its control plane keeps everything.
    folder: PathBuf,
}

impl Up {
    fn start() -> Self {
        // Standard error stays the test's own: a first run shows there what it fetches or builds.
        let version = std::env::var("COVENANT_TEST_KUBERNETES").unwrap_or_default();
        let arguments = ["--kubernetes-version", &version];
        // It is waited for by whoever ends it; a test that fails before leaves it to the end of this process.
        #[allow(clippy::zombie_processes)]
        let mut child =
            demo(if version.is_empty() { &[] } else { &arguments }).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        loop {
            let mut line = String::new();
            let read = out.read_line(&mut line).unwrap();
            assert!(read > 0, "the demo ended before it was up:\n{text}");
            if let Some(kubeconfig) = line.trim_end().strip_prefix("export KUBECONFIG=") {
                assert!(!text.contains("not as expected"), "{text}");
                let folder = Path::new(kubeconfig).parent().unwrap().to_owned();
                assert!(Path::new(kubeconfig).is_file(), "{line}");
                // What it says from here on is nobody's business, but a full pipe would stop it.
                std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
                return Self { child, folder };
            }
            text.push_str(&line);
        }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Command lines of the processes that work in the demo's folder.
    fn processes(&self) -> Vec<String> {
        let folder = self.folder.to_str().unwrap();
        let commands = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let text = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&text).replace('\0', " "))
        });
        commands.filter(|command| command.contains(folder)).collect()
    }

    fn wait_until_nothing_is_left(&self) {
        let end = Instant::now() + Duration::from_mins(1);
        while self.folder.exists() || !self.processes().is_empty() {
            assert!(
                Instant::now() < end,
                "a minute later: {:?}, {:?}",
                self.folder.exists(),
                self.processes()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn it_ends_in_order_when_asked_and_leaves_nothing_when_killed() {
    let mut up = Up::start();
    let names = ["etcd", "kube-apiserver", "covenant-webhook", "covenant-controller"];
    let running = up.processes();
    for name in names {
        assert!(running.iter().any(|command| command.contains(&format!("/{name} "))), "{name}: {running:?}");
    }
    up.send(Signal::INT);
    assert_eq!(up.child.wait().unwrap().code(), Some(0));
    up.wait_until_nothing_is_left();

    let mut up = Up::start();
    up.send(Signal::KILL);
    assert_eq!(up.child.wait().unwrap().code(), None);
    up.wait_until_nothing_is_left();
}
