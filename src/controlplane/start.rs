//! Starts a control plane and hands out what its users need.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;

use super::audit::AuditEvent;
use super::kubeconfig::{self, Credential};
use super::parts::{ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, Layout, Ports, free_port};
use super::supervise::{ExitStatus, ProcessRequest, Signal, Supervisor};
use super::{Binaries, Error, Version, audit, blocking};
use crate::process::clock;

/// How often a start is tried when another process takes a port meanwhile.
const ATTEMPTS: u32 = 3;
/// How long a part may take to be ready. Usually it is seconds; a machine busy with builds takes longer.
const READY_LIMIT: Duration = Duration::from_mins(2);
/// How long a part may take to answer a single question.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks at a part that is not ready yet.
const POLL: Duration = Duration::from_millis(50);
/// How long tokens of service accounts last, in seconds: a week.
const TOKEN_SECONDS: i64 = 7 * 24 * 3600;
/// How many of a log's last lines an error shows.
const LOG_LINES: usize = 8;

/// What a control plane is started from.
#[derive(Clone, Debug)]
pub struct Options {
    /// The `covenant` binary, which is also the supervisor.
    pub covenant: PathBuf,
    /// The parts.
    pub binaries: Binaries,
}

/// A running control plane of this process's own. Dropping it ends all its processes and removes its data.
pub struct ControlPlane {
    covenant: PathBuf,
    version: Version,
    layout: Layout,
    server: String,
    kubeconfig: PathBuf,
    kubectl: Mutex<Option<PathBuf>>,
    /// What every process was started with, to start it again.
    started: Mutex<BTreeMap<String, ProcessRequest>>,
    supervisor: Supervisor,
}

impl ControlPlane {
    /// Starts etcd and kube-apiserver, waits until the API server is ready, and does the same with
    /// kube-controller-manager if there is one.
    pub fn start(options: Options) -> Result<Self, Error> {
        let Options { covenant, binaries } = options;
        let supervisor = Supervisor::start(&covenant)?;
        let layout = Layout::prepare(supervisor.folder(), clock::now())?;
        let mut plane = Self {
            covenant,
            version: binaries.version,
            server: String::new(),
            kubeconfig: layout.path("admin.kubeconfig"),
            kubectl: Mutex::new(binaries.kubectl),
            started: Mutex::default(),
            layout,
            supervisor,
        };
        retry(|| plane.start_server(&binaries.etcd, &binaries.kube_apiserver))?;
        if let Some(program) = binaries.kube_controller_manager {
            plane.start_kube_controller_manager(&program)?;
        }
        Ok(plane)
    }

    fn start_server(&mut self, etcd: &Path, kube_apiserver: &Path) -> Result<(), Error> {
        // What an earlier try has left.
        for part in [KUBE_APISERVER, ETCD] {
            if self.supervisor.is_running(part) {
                self.supervisor.stop(part, Duration::ZERO)?;
            }
        }
        let data = self.layout.path("etcd");
        if data.exists() {
            fs::remove_dir_all(&data).map_err(Error::file(&data))?;
        }
        let ports = Ports::free()?;
        self.server = format!("https://127.0.0.1:{}", ports.kube_apiserver);
        self.start_process(self.layout.etcd(etcd, ports)?)?;
        // The API server waits for etcd by itself; waiting here too would only take longer.
        self.start_process(self.layout.kube_apiserver(kube_apiserver, ports)?)?;
        self.write_kubeconfig(
            &self.kubeconfig,
            "kubernetes-admin",
            &Credential::Certificate(&self.layout.admin),
        )?;
        self.wait_until_ready()
    }

    /// Waits until the API server is ready: at the start, and after it or etcd was started again.
    pub fn wait_until_ready(&self) -> Result<(), Error> {
        self.wait_for(KUBE_APISERVER, &[KUBE_APISERVER, ETCD], "/readyz")
    }

    /// Starts kube-controller-manager, if it was not there at the start, and waits until it works.
    pub fn start_kube_controller_manager(&self, program: &Path) -> Result<(), Error> {
        let kubeconfig = self.layout.path("kube-controller-manager.kubeconfig");
        let credential = Credential::Certificate(&self.layout.controller_manager);
        self.write_kubeconfig(&kubeconfig, "system:kube-controller-manager", &credential)?;
        retry(|| {
            self.start_process(self.layout.kube_controller_manager(program, free_port()?, &kubeconfig)?)?;
            // Its controller for service accounts makes this one in every namespace.
            let path = "/api/v1/namespaces/default/serviceaccounts/default";
            self.wait_for(KUBE_CONTROLLER_MANAGER, &[KUBE_CONTROLLER_MANAGER, KUBE_APISERVER], path)
        })
    }

    /// Waits until the API server answers a GET of `path` with success, while each of `parts` runs.
    fn wait_for(&self, part: &str, parts: &[&str], path: &str) -> Result<(), Error> {
        let end = Instant::now() + READY_LIMIT;
        let last = blocking::run(|| async {
            let client = kubeconfig::client(&self.kubeconfig).await?;
            loop {
                let request = http::Request::get(path).body(Vec::new());
                let request =
                    request.map_err(|error| self.request_error(path, kube::Error::HttpError(error)))?;
                // A part that hangs must not keep this from seeing that the time is up.
                let last = match tokio::time::timeout(ANSWER_LIMIT, client.request_text(request)).await {
                    Ok(Ok(_)) => return Ok(None),
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => format!("no answer within {} s", ANSWER_LIMIT.as_secs()),
                };
                for part in parts {
                    if let Some(status) = self.supervisor.exited(part) {
                        let log = last_lines(&self.layout.log(part));
                        return Err(Error::Ended { part: (*part).to_owned(), status, log });
                    }
                }
                if Instant::now() >= end {
                    return Ok(Some(last));
                }
                tokio::time::sleep(POLL).await;
            }
        })?;
        last.map_or(Ok(()), |last| {
            let log = last_lines(&self.layout.log(part));
            Err(Error::NotReady { part: part.to_owned(), seconds: READY_LIMIT.as_secs(), last, log })
        })
    }

    fn write_kubeconfig(&self, path: &Path, user: &str, credential: &Credential<'_>) -> Result<(), Error> {
        kubeconfig::write(path, &self.server, &self.layout.authority_pem, user, credential)
    }

    /// Makes a kubeconfig with a real token of a service account, which must exist; it lasts a week.
    pub fn kubeconfig_for_service_account(&self, namespace: &str, name: &str) -> Result<PathBuf, Error> {
        let what = format!("requesting a token for service account {namespace}/{name}");
        let token = blocking::run(|| async {
            let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await?, namespace);
            let spec =
                TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
            let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
            let answer = accounts.create_token_request(name, &PostParams::default(), &request).await;
            let answer = answer.map_err(|source| self.request_error(&what, source))?;
            answer.status.and_then(|status| status.token).ok_or_else(|| Error::NoToken(what.clone()))
        })?;
        // The API server has found both names, so they hold no character that a file name cannot.
        let path = self.layout.path(&format!("{namespace}.{name}.kubeconfig"));
        let user = format!("system:serviceaccount:{namespace}:{name}");
        self.write_kubeconfig(&path, &user, &Credential::Token(&token))?;
        Ok(path)
    }

    /// A client with the administrator's rights, on the runtime that this is called in.
    pub async fn client(&self) -> Result<kube::Client, Error> {
        kubeconfig::client(&self.kubeconfig).await
    }

    /// A client from a kubeconfig, on the runtime that this is called in.
    pub async fn client_as(&self, kubeconfig: &Path) -> Result<kube::Client, Error> {
        kubeconfig::client(kubeconfig).await
    }

    /// Every request that the API server has answered so far, in the order they were finished.
    pub fn audit(&self) -> Result<Vec<AuditEvent>, Error> {
        audit::read(&self.layout.audit_log())
    }

    /// Starts a further process, ended with the control plane and before it; returns its number.
    pub fn start_process(&self, request: ProcessRequest) -> Result<u32, Error> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert(request.name.clone(), request.clone());
        Ok(self.supervisor.run(request)?)
    }

    /// Starts a process that has ended again, just as it was started before; also a part, which keeps its port and
    /// its data.
    pub fn start_process_again(&self, name: &str) -> Result<u32, Error> {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let unknown = || Error::NeverStarted(name.to_owned());
        Ok(self.supervisor.run(started.ok_or_else(unknown)?)?)
    }

    /// Sends a signal to a process, a part of the control plane or a further one.
    pub fn signal_process(&self, name: &str, signal: Signal) -> Result<(), Error> {
        Ok(self.supervisor.signal(name, signal)?)
    }

    /// Ends a process with SIGTERM, after `grace` with SIGKILL, and waits for it.
    pub fn stop_process(&self, name: &str, grace: Duration) -> Result<ExitStatus, Error> {
        Ok(self.supervisor.stop(name, grace)?)
    }

    /// Whether everything is gone, because somebody killed the supervisor.
    pub fn is_gone(&self) -> bool {
        self.supervisor.is_gone()
    }

    /// How a process ended; none while it runs.
    pub fn process_exited(&self, name: &str) -> Option<ExitStatus> {
        self.supervisor.exited(name)
    }

    /// Waits at most `limit` for a process to end by itself.
    pub fn wait_for_process(&self, name: &str, limit: Duration) -> Result<ExitStatus, Error> {
        Ok(self.supervisor.wait(name, limit)?)
    }

    /// Where the log of a part is; a further process may have its own there too.
    pub fn log_file(&self, name: &str) -> PathBuf {
        self.layout.log(name)
    }

    /// The administrator's kubeconfig, readable by this user alone.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The API server's URL.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The certificate of the authority that signed the API server's certificate, in PEM.
    pub fn authority_pem(&self) -> &str {
        &self.layout.authority_pem
    }

    /// The version that was started.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The data folder, removed at the end; its users may put files of their own into it.
    pub fn folder(&self) -> &Path {
        self.supervisor.folder()
    }

    /// The supervisor's process number.
    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor.pid()
    }

    /// The `covenant` binary that this control plane uses.
    pub fn covenant(&self) -> &Path {
        &self.covenant
    }

    /// Makes `kubectl` known that was obtained after the start.
    pub fn set_kubectl(&self, program: PathBuf) {
        *self.kubectl.lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
    }

    /// The `kubectl` to run, if there is one.
    pub fn kubectl_binary(&self) -> Option<PathBuf> {
        self.kubectl.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request_error(&self, what: &str, source: kube::Error) -> Error {
        Error::Request { what: format!("{what} of {}", self.server), source: Box::new(source) }
    }
}

/// Tries again while another process takes the port that was free a moment ago.
fn retry(mut attempt: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let mut tries = 1;
    loop {
        match attempt() {
            Err(Error::Ended { log, .. }) if tries < ATTEMPTS && log.contains("address already in use") => {
                tries += 1;
            }
            result => return result,
        }
    }
}

/// The last lines of a part's log, each cut to a readable length.
fn last_lines(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<String> = text
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(LOG_LINES)
        .map(|line| format!("  {}", line.chars().take(400).collect::<String>()))
        .collect();
    lines.reverse();
    lines.join("\n")
}
