//! The controller against a real API server, under the shipped roles and with the token of its own service account.
//!
//! These tests have a control plane of their own: no webhook is installed in it, as if it were away. Each test has its
//! own namespace and, where it matters who writes, a controller of its own that looks at this namespace alone.

mod contracts;
mod corpus;
mod election;
mod endurance;
mod external_secrets;
mod leaks;
mod paused;
mod stored;
mod workloads;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use covenant::controlplane::supervise::StopMode;
use covenant::controlplane::{ControlPlane, ProcessRequest, Signal};
use serde_json::Value;

use crate::support::{Finished as _, eventually, start_control_plane};

const CONTROLLER: &str = env!("CARGO_BIN_EXE_covenant-controller");
const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");

/// The control plane of these tests, with definitions and roles installed.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<ControlPlane> = OnceLock::new();
    PLANE.get_or_init(|| {
        let plane = start_control_plane().expect("a control plane");
        install_definitions(&plane);
        apply_folder(&plane, "namespace");
        apply_folder(&plane, "rbac");
        plane
    })
}

fn apply_folder(plane: &ControlPlane, folder: &str) {
    let path = format!("{MANIFESTS}/{folder}");
    plane.kubectl(&["apply", "-k", &path], None).expect("kubectl runs").success();
}

fn install_definitions(plane: &ControlPlane) {
    apply_folder(plane, "crds");
    let wait = ["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"];
    plane.kubectl(&wait, None).expect("kubectl runs").success();
}

/// Runs `kubectl` as the administrator; it must succeed.
#[track_caller]
fn kubectl(arguments: &[&str]) -> String {
    plane().kubectl(arguments, None).expect("kubectl runs").success()
}

/// Applies objects written as YAML or JSON.
#[track_caller]
fn apply(objects: &str) {
    plane().kubectl(&["apply", "-f", "-"], Some(objects)).expect("kubectl runs").success();
}

/// One object as JSON.
#[track_caller]
fn get(arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["get", "-o", "json"].into_iter().chain(arguments.iter().copied()).collect();
    serde_json::from_str(&kubectl(&all)).expect("JSON")
}

/// Makes a namespace for one test.
fn namespace(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    kubectl(&["create", "namespace", &name]);
    name
}

/// The condition of this type, as `(status, reason)`.
fn condition(object: &Value, type_: &str) -> Option<(String, String)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|condition| condition["type"] == type_)?;
    Some((found["status"].as_str()?.to_owned(), found["reason"].as_str()?.to_owned()))
}

/// Waits until a condition of an object is as told, and returns the object.
#[track_caller]
fn until(object: &[&str], type_: &str, status: &str, reason: &str) -> Value {
    let wanted = Some((status.to_owned(), reason.to_owned()));
    eventually(&format!("{type_} {status}/{reason} of {object:?}"), || {
        let found = get(object);
        (condition(&found, type_) == wanted).then_some(found)
    })
}

/// A controller process, run by the supervisor of the control plane.
struct Controller {
    plane: &'static ControlPlane,
    name: String,
    pid: u32,
    port: u16,
    log: PathBuf,
}

impl Controller {
    /// Starts one with the token of the shipped service account.
    fn start(name: &str, arguments: &[&str]) -> Self {
        Self::start_as(plane(), "covenant-controller", name, arguments)
    }

    /// Starts one for `namespace` alone, and without an election.
    fn alone(namespace: &str) -> Self {
        Self::start(namespace, &["--leader-elect=false", "--watch-namespace", namespace])
    }

    /// Starts one with the token of the service account `account`.
    fn start_as(plane: &'static ControlPlane, account: &str, name: &str, arguments: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let kubeconfig = plane.kubeconfig_for_service_account("covenant-system", account).expect("a token");
        Self::start_with(
            plane,
            &kubeconfig,
            &format!("{name}-{}", COUNT.fetch_add(1, Ordering::Relaxed)),
            arguments,
        )
    }

    /// Starts one with this kubeconfig.
    fn start_with(plane: &'static ControlPlane, kubeconfig: &Path, name: &str, arguments: &[&str]) -> Self {
        let name = format!("controller-{name}");
        let port = free_port();
        let log = plane.log_file(&name);
        let mut args: Vec<String> = vec!["--kubeconfig".into(), kubeconfig.display().to_string()];
        args.extend(["--metrics-listen".into(), format!("127.0.0.1:{port}"), "--log-level=trace".into()]);
        args.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let env = [("HOSTNAME".to_owned(), name.clone())].into();
        let stop = StopMode::Immediate;
        let request = ProcessRequest {
            name: name.clone(),
            program: CONTROLLER.into(),
            args,
            env,
            log: log.clone(),
            stop,
        };
        let pid = plane.start_process(request).expect("the controller starts");
        let controller = Self { plane, name, pid, port, log };
        eventually("the controller answers", || controller.try_http("/livez"));
        controller
    }

    /// Waits until it has seen everything.
    #[track_caller]
    fn ready(&self) -> &Self {
        eventually("the controller is ready", || (self.http("/readyz").0 == 200).then_some(()));
        self
    }

    fn try_http(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let code = answer.split(' ').nth(1)?.parse().ok()?;
        Some((code, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// Asks the health listener.
    #[track_caller]
    fn http(&self, path: &str) -> (u16, String) {
        self.try_http(path).expect("the health listener answers")
    }

    /// The value of one line of the metrics; 0 when there is no such line.
    #[track_caller]
    fn metric(&self, line: &str) -> f64 {
        let text = self.http("/metrics").1;
        let value = text.lines().find_map(|found| found.strip_prefix(line)?.trim().parse().ok());
        value.unwrap_or_default()
    }

    /// How many passes over contracts it has done.
    #[track_caller]
    fn passes(&self) -> f64 {
        self.metric("covenant_reconcile_seconds_count{kind=\"SecretContract\"}")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("the log")
    }

    /// Asks it to end, and waits; the exit code.
    fn stop(self) -> Option<i32> {
        self.plane.stop_process(&self.name, Duration::from_secs(40)).expect("it ends").code
    }

    fn kill(self) {
        self.plane.signal_process(&self.name, Signal::Kill).expect("it is killed");
        self.plane.wait_for_process(&self.name, Duration::from_secs(30)).expect("it is gone");
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("its address").port()
}
