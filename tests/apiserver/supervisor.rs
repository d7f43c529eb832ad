//! The supervisor: whatever is killed, nothing stays behind. These tests read `/proc`, so they are for Linux.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use covenant::controlplane::supervise::{self, StopMode, Supervisor};
use covenant::controlplane::{ProcessRequest, Signal};
use rustix::process::{Pid, kill_process};
use serde_json::{Value, json};

use crate::support::{COVENANT, control_plane, eventually, start_control_plane};

/// Names the file in which a holder tells what it holds; only set for a copy of this test binary.
const HOLDER: &str = "COVENANT_TEST_HOLDER";
/// Whether the holder holds a whole control plane.
const WHOLE: &str = "COVENANT_TEST_HOLDER_WHOLE";

/// A shell script as a process for the supervisor.
fn script(supervisor: &Supervisor, name: &str, text: &str) -> ProcessRequest {
    ProcessRequest {
        name: name.to_owned(),
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), text.to_owned()],
        env: BTreeMap::from([("NAME".to_owned(), name.to_owned())]),
        log: supervisor.folder().join(format!("{name}.log")),
        stop: StopMode::Graceful,
    }
}

fn start() -> Supervisor {
    Supervisor::start(Path::new(COVENANT)).unwrap()
}

fn log(supervisor: &Supervisor, name: &str) -> String {
    std::fs::read_to_string(supervisor.folder().join(format!("{name}.log"))).unwrap_or_default()
}

#[test]
fn a_process_is_started_followed_and_may_be_started_again() {
    let supervisor = start();
    let request = script(&supervisor, "short", "echo $NAME; echo out of it >&2; exit 7");
    for _ in 0..2 {
        supervisor.run(request.clone()).unwrap();
        let status = supervisor.wait("short", Duration::from_mins(1)).unwrap();
        assert_eq!((status.code, status.signal), (Some(7), None));
    }
    assert_eq!(log(&supervisor, "short"), "short\nout of it\n".repeat(2));
}

#[test]
fn a_process_that_cannot_be_started_is_an_error_with_its_name() {
    let supervisor = start();
    let mut request = script(&supervisor, "missing", "");
    request.program = "/nonexistent/program".into();
    let error = supervisor.run(request).unwrap_err().to_string();
    assert_eq!(error, "cannot start missing: /nonexistent/program is no file");
    let request = script(&supervisor, "twice", "exec sleep 600");
    supervisor.run(request.clone()).unwrap();
    let error = supervisor.run(request).unwrap_err().to_string();
    assert_eq!(error, "cannot start twice: a process of that name is running already");
    let error = Supervisor::start(Path::new("/nonexistent/covenant")).err().unwrap().to_string();
    assert!(error.starts_with("cannot start the supervisor /nonexistent/covenant: "), "{error}");
}

#[test]
fn a_process_that_ignores_sigterm_and_one_that_is_frozen_are_killed() {
    let supervisor = start();
    let deaf = "trap '' TERM; echo deaf; while :; do sleep 1; done";
    supervisor.run(script(&supervisor, "deaf", deaf)).unwrap();
    eventually("the script has set its trap", || (!log(&supervisor, "deaf").is_empty()).then_some(()));
    let status = supervisor.stop("deaf", Duration::from_millis(100)).unwrap();
    assert_eq!(status.signal, Some(9));

    let pid = supervisor.run(script(&supervisor, "frozen", "exec sleep 600")).unwrap();
    supervisor.signal("frozen", Signal::Stop).unwrap();
    eventually("it is stopped", || (state(pid) == Some('T')).then_some(()));
    let status = supervisor.stop("frozen", Duration::from_mins(1)).unwrap();
    assert_eq!(status.signal, Some(15));
}

#[test]
fn the_end_is_in_reverse_order_and_leaves_no_folder() {
    let order = std::env::temp_dir().join(format!("covenant-test-order-{}", std::process::id()));
    let supervisor = start();
    for name in ["one", "two", "three"] {
        let text = format!(
            "trap 'echo $NAME >> {}; exit' TERM; echo up; while :; do sleep 0.05; done",
            order.display()
        );
        supervisor.run(script(&supervisor, name, &text)).unwrap();
        eventually("the script has set its trap", || (!log(&supervisor, name).is_empty()).then_some(()));
    }
    let folder = supervisor.folder().to_owned();
    let pid = supervisor.pid();
    drop(supervisor);
    assert_eq!(std::fs::read_to_string(&order).unwrap(), "three\ntwo\none\n");
    assert!(!folder.exists());
    assert_eq!(state(pid), None);
    std::fs::remove_file(order).unwrap();
}

#[test]
fn sigterm_to_the_supervisor_is_an_orderly_end() {
    let supervisor = start();
    let pid = supervisor.run(script(&supervisor, "sleeper", "exec sleep 600")).unwrap();
    let folder = supervisor.folder().to_owned();
    kill(supervisor.pid(), rustix::process::Signal::TERM);
    eventually("the process and the folder are gone", || (!is_alive(pid) && !folder.exists()).then_some(()));
    let error = supervisor.wait("sleeper", Duration::from_mins(1));
    assert!(error.is_ok_and(|status| status.signal == Some(15)), "its end was told before the supervisor's");
    assert!(supervisor.run(script(&supervisor, "late", "exit")).is_err());
}

/// Not a test of its own: a copy of this test binary runs it to be killed.
#[test]
fn holder() {
    let Some(file) = std::env::var_os(HOLDER).map(PathBuf::from) else { return };
    let tell = |supervisor: u32, folder: &Path, parts: &[u32], tied: Option<u32>| {
        let told = json!({"supervisor": supervisor, "folder": folder, "parts": parts, "tied": tied});
        let text = told.to_string();
        let partial = file.with_extension("partial");
        std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, &file)).unwrap();
    };
    if std::env::var_os(WHOLE).is_some() {
        let plane = start_control_plane().unwrap();
        tell(plane.supervisor_pid(), plane.folder(), &children(plane.supervisor_pid()), None);
        std::thread::sleep(Duration::from_hours(1));
    } else {
        let supervisor = start();
        let parts =
            ["one", "two"].map(|name| supervisor.run(script(&supervisor, name, "exec sleep 600")).unwrap());
        let mut tied = supervise::tied_command(Path::new(COVENANT), "/bin/sleep");
        let mut tied = tied.arg("600").spawn().unwrap();
        tell(supervisor.pid(), supervisor.folder(), &parts, Some(tied.id()));
        tied.wait().unwrap();
    }
}

/// A process that holds a supervisor, and what it said about it.
struct Held {
    holder: Child,
    supervisor: u32,
    folder: PathBuf,
    parts: Vec<u32>,
    /// A process that the holder started itself, tied to its own life.
    tied: Option<u32>,
}

fn held(name: &str, whole: bool) -> Held {
    let file = std::env::temp_dir().join(format!("covenant-test-holder-{name}-{}", std::process::id()));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["supervisor::holder", "--exact"]).env(HOLDER, &file).stdout(Stdio::null());
    if whole {
        command.env(WHOLE, "1");
    }
    let holder = command.spawn().unwrap();
    let told: Value = eventually("the holder tells what it holds", || {
        serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok()
    });
    std::fs::remove_file(file).unwrap();
    let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    Held {
        holder,
        supervisor: number(&told["supervisor"]),
        folder: told["folder"].as_str().unwrap().into(),
        parts: told["parts"].as_array().unwrap().iter().map(number).collect(),
        tied: told["tied"].as_u64().map(|pid| u32::try_from(pid).unwrap()),
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

impl Held {
    fn kill_holder(&mut self) {
        self.holder.kill().unwrap();
        assert_eq!(self.holder.wait().unwrap().signal(), Some(9));
        eventually("the tied process is gone", || self.tied.is_none_or(|pid| !is_alive(pid)).then_some(()));
    }

    fn kill_supervisor(&self) {
        kill(self.supervisor, rustix::process::Signal::KILL);
    }

    fn wait_for_the_end(&self) {
        eventually("all processes are gone", || {
            let all = self.parts.iter().chain([&self.supervisor]);
            all.into_iter().all(|&pid| !is_alive(pid)).then_some(())
        });
    }
}

#[test]
fn sigkill_of_the_parent_leaves_nothing() {
    let mut held = held("parent", false);
    assert!(held.tied.is_some_and(is_alive));
    assert!(held.parts.len() == 2 && held.parts.iter().all(|&pid| is_alive(pid)) && held.folder.is_dir());
    held.kill_holder();
    held.wait_for_the_end();
    assert!(!held.folder.exists(), "{} was left", held.folder.display());
}

#[test]
fn sigkill_of_the_supervisor_leaves_no_process_and_the_next_start_sweeps_its_folder() {
    let mut held = held("supervisor", false);
    held.kill_supervisor();
    held.wait_for_the_end();
    drop(start());
    assert!(!held.folder.exists(), "{} was not swept", held.folder.display());
    held.kill_holder();
}

#[test]
fn sigkill_of_both_at_once_leaves_no_process() {
    let mut held = held("both", false);
    // Stopped first, so that neither has time to react to the other's death.
    kill(held.supervisor, rustix::process::Signal::STOP);
    held.kill_holder();
    held.kill_supervisor();
    held.wait_for_the_end();
}

#[test]
fn sigkill_of_a_process_with_a_whole_control_plane_leaves_nothing() {
    // Obtains the binaries, if need be, before anything waits for the holder.
    control_plane();
    let mut held = held("whole", true);
    assert_eq!(held.parts.len(), 3, "etcd, kube-apiserver, kube-controller-manager");
    held.kill_holder();
    held.wait_for_the_end();
    assert!(!held.folder.exists(), "{} was left", held.folder.display());
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// State letter and parent of a process; none if there is none.
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn state(pid: u32) -> Option<char> {
    state_and_parent(pid).map(|(state, _)| state)
}

/// Whether a process runs; one that only waits to be reaped by whoever adopted it does not.
fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

/// The running children of a process.
pub fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| state_and_parent(pid).is_some_and(|(state, of)| of == parent && state != 'Z'))
        .collect()
}

/// The addresses of the TCP sockets that a process listens on.
pub fn listening_addresses(pid: u32) -> BTreeSet<IpAddr> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let inodes: BTreeSet<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut addresses = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        for line in std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // 0A: listening.
            if fields[3] == "0A" && inodes.contains(fields[9]) {
                addresses.insert(address(fields[1].split_once(':').unwrap().0));
            }
        }
    }
    addresses
}

/// Decodes an address of the kernel's table: 32-bit words in hexadecimal, each in this machine's byte order.
fn address(text: &str) -> IpAddr {
    let word = |digits| u32::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let words = text.as_bytes().chunks(8).map(word);
    let bytes: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
    match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(bytes) => Ipv4Addr::from(bytes).into(),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).unwrap()).into(),
    }
}
