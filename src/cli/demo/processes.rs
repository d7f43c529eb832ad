//! Runs webhook and controller beside the control plane, each as a process with its own service account's rights.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::SignedDuration;

use super::manifests::webhook_host;
use super::programs::Programs;
use crate::api::names;
use crate::controlplane::supervise::StopMode;
use crate::controlplane::{self, ControlPlane, ExitStatus, ProcessRequest};
use crate::pki::{self, Authority, LeafRequest};
use crate::process::clock;

/// How long a process may take to say that it is ready.
const READY: Duration = Duration::from_mins(1);
/// Time between two looks.
const POLL: Duration = Duration::from_millis(50);
/// How long the certificate lasts: longer than a demo stays up.
const VALIDITY: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Leaves room for a clock that is set back a little.
const BACKDATE: SignedDuration = SignedDuration::from_hours(1);

/// Why the two processes do not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The control plane cannot do its part.
    #[error(transparent)]
    ControlPlane(#[from] controlplane::Error),
    /// No certificate.
    #[error(transparent)]
    Certificate(#[from] pki::Error),
    /// A file of the demo's own cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No port.
    #[error("no free port on 127.0.0.1: {0}")]
    Port(io::Error),
    /// Everything ended.
    #[error("the supervisor of the control plane was killed, and everything with it; start the demo again")]
    Gone,
    /// It ended.
    #[error("{name} ended with {status}; the end of its log: {log}")]
    Ended {
        /// The process.
        name: &'static str,
        /// How.
        status: ExitStatus,
        /// What it wrote last.
        log: String,
    },
    /// It runs, but does not get ready.
    #[error("{name} is not ready after {} s; the end of its log: {log}", READY.as_secs())]
    NotReady {
        /// The process.
        name: &'static str,
        /// What it wrote last.
        log: String,
    },
}

/// The webhook's way to be reached and trusted.
pub struct Entrance {
    /// The port of its TLS listener on 127.0.0.1.
    pub port: u16,
    /// The authority that signed its certificate, in PEM: what goes into `caBundle`.
    pub authority: String,
    certificate: PathBuf,
    key: PathBuf,
}

impl Entrance {
    /// Makes a certificate for the webhook's Service and takes a free port.
    pub fn prepare(folder: &Path) -> Result<Self, Error> {
        let now = clock::now();
        let (from, until) = (now - BACKDATE, now + VALIDITY);
        let authority = Authority::new("covenant-webhook-ca", from, until)?;
        let host = webhook_host();
        let pair = authority.issue(LeafRequest::serving(&host, from, until).dns_name(&host))?;
        let folder = folder.join("tls");
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::File { path, source }
        };
        std::fs::create_dir_all(&folder).map_err(fail(&folder))?;
        std::fs::write(&certificate, &pair.cert_pem).map_err(fail(&certificate))?;
        write_private(&key, pair.key_pem.pem()).map_err(fail(&key))?;
        Ok(Self { port: free_port()?, authority: authority.cert_pem(), certificate, key })
    }
}

/// The webhook's process, until it says that it is ready.
pub fn start_webhook(plane: &ControlPlane, programs: &Programs, entrance: &Entrance) -> Result<(), Error> {
    let flags = [
        format!("--listen=127.0.0.1:{}", entrance.port),
        format!("--tls-cert-file={}", entrance.certificate.display()),
        format!("--tls-key-file={}", entrance.key.display()),
        // Nothing balances load over several of these, so there is no one to wait for at the end.
        "--drain-delay=0s".to_owned(),
    ];
    start(plane, names::WEBHOOK, &programs.webhook, &flags)
}

/// The controller's process, until it says that it is ready.
pub fn start_controller(plane: &ControlPlane, programs: &Programs) -> Result<(), Error> {
    // The demo's certificate is its own; the controller keeps none.
    start(plane, names::CONTROLLER, &programs.controller, &["--certificates=external".to_owned()])
}

fn start(plane: &ControlPlane, name: &'static str, program: &Path, flags: &[String]) -> Result<(), Error> {
    let kubeconfig = plane.kubeconfig_for_service_account(names::NAMESPACE, name)?;
    let health = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut args = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--metrics-listen={health}"),
        "--log-format=text".to_owned(),
    ];
    args.extend_from_slice(flags);
    plane.start_process(ProcessRequest {
        name: name.to_owned(),
        program: program.to_owned(),
        args,
        env: std::collections::BTreeMap::new(),
        log: plane.log_file(name),
        stop: StopMode::Graceful,
    })?;
    let end = Instant::now() + READY;
    while !is_ready(health) {
        if let Some(status) = plane.process_exited(name) {
            return Err(Error::Ended { name, status, log: last_lines(plane, name) });
        }
        if Instant::now() >= end {
            return Err(Error::NotReady { name, log: last_lines(plane, name) });
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// How a process ended that should run, and what it wrote last.
pub fn ended(plane: &ControlPlane) -> Option<Error> {
    if plane.is_gone() {
        return Some(Error::Gone);
    }
    [names::WEBHOOK, names::CONTROLLER].into_iter().find_map(|name| {
        let status = plane.process_exited(name)?;
        Some(Error::Ended { name, status, log: last_lines(plane, name) })
    })
}

/// Whether `GET /readyz` is answered with 200.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || {
        let mut connection = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        connection.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        connection.take(4096).read_to_end(&mut answer)?;
        io::Result::Ok(answer.starts_with(b"HTTP/1.1 200 "))
    };
    ask().unwrap_or(false)
}

/// A port that is free at this moment. Should another process take it before it is used, the one that wanted it ends
/// and says so.
fn free_port() -> Result<u16, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::Port)?;
    Ok(listener.local_addr().map_err(Error::Port)?.port())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file = std::fs::File::options().create(true).truncate(true).write(true).mode(0o600).open(path);
    file?.write_all(text.as_bytes())
}

/// The last lines of a process's log.
fn last_lines(plane: &ControlPlane, name: &str) -> String {
    const LINES: usize = 5;
    let text = std::fs::read(plane.log_file(name)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<_> = text.lines().rev().take(LINES).collect();
    lines.reverse();
    lines.join(" | ")
}
