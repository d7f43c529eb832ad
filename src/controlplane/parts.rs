//! What each part of the control plane is started with: files in the data folder, certificates, flags.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::Error;
use super::kubeconfig::write_private;
use super::supervise::{ProcessRequest, StopMode};
use crate::pki::{Authority, LeafRequest, Pair, SigningKey};

/// The name of etcd as a process of the control plane.
pub const ETCD: &str = "etcd";
/// The name of kube-apiserver as a process of the control plane.
pub const KUBE_APISERVER: &str = "kube-apiserver";
/// The name of kube-controller-manager as a process of the control plane.
pub const KUBE_CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// The name that the API server shows to aggregated API servers.
const FRONT_PROXY: &str = "front-proxy-client";

/// How long the certificates last: longer than any control plane of this kind runs.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Leaves room for a clock that was set back a little after the start.
const BACKDATE: SignedDuration = SignedDuration::from_hours(1);

/// The address services get their virtual addresses from; nothing routes to it.
const SERVICE_RANGE: &str = "10.0.0.0/24";
/// The API server's own address in that range.
const SERVICE_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Who issues service-account tokens, and whom they are for.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// Nobody but the health endpoints is served without a name.
const AUTHENTICATION: &str = "apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
  - path: /livez
  - path: /readyz
  - path: /healthz
";

/// Who did what: for every request its metadata, for writes to Covenant's kinds the bodies too. Never the body of a
/// Secret or of a token.
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ['/livez*', '/readyz*', '/healthz*']
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - group: secrets.codepop.tech
  - group: database.ayatori.ddupan.top
- level: Metadata
";

/// The data folder with everything in it that does not depend on ports.
pub(super) struct Layout {
    folder: PathBuf,
    /// The authority's certificate, for kubeconfigs.
    pub(super) authority_pem: String,
    /// The administrator.
    pub(super) admin: Pair,
    /// kube-controller-manager's own identity.
    pub(super) controller_manager: Pair,
}

/// The ports of one try to start.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) kube_apiserver: u16,
}

impl Ports {
    /// Ports that are free at this moment. Another process may take one before it is used: then the part that wanted
    /// it ends, and the start is tried again with others.
    pub(super) fn free() -> Result<Self, Error> {
        // Both are held at once, so that they differ.
        let (one, two) = (listen()?, listen()?);
        let port =
            |listener: &TcpListener| listener.local_addr().map(|address| address.port()).map_err(Error::Port);
        Ok(Self { etcd: port(&one)?, kube_apiserver: port(&two)? })
    }
}

/// One port that is free at this moment.
pub(super) fn free_port() -> Result<u16, Error> {
    listen()?.local_addr().map(|address| address.port()).map_err(Error::Port)
}

fn listen() -> Result<TcpListener, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::Port)
}

impl Layout {
    /// Writes certificates, keys and configuration files.
    pub(super) fn prepare(folder: &Path, now: Timestamp) -> Result<Self, Error> {
        let (from, until) = (now - BACKDATE, now + VALIDITY);
        let authority = Authority::new("covenant-control-plane", from, until)?;
        let localhost = |request: LeafRequest| {
            request.dns_name("localhost").ip_address(Ipv4Addr::LOCALHOST).ip_address(Ipv6Addr::LOCALHOST)
        };
        let etcd = authority.issue(localhost(LeafRequest::serving(ETCD, from, until)))?;
        let etcd_client = authority.issue(LeafRequest::client("kube-apiserver-etcd-client", from, until))?;
        let mut serving =
            localhost(LeafRequest::serving(KUBE_APISERVER, from, until)).ip_address(SERVICE_ADDRESS);
        for name in ["kubernetes", "kubernetes.default", "kubernetes.default.svc"] {
            serving = serving.dns_name(name);
        }
        let kube_apiserver = authority.issue(serving)?;
        // Whoever has a certificate of this one may name any user, so it is another authority than the clients' one.
        let front_proxy = Authority::new("covenant-front-proxy", from, until)?;
        let front_proxy_client = front_proxy.issue(LeafRequest::client(FRONT_PROXY, from, until))?;
        let layout = Self {
            folder: folder.to_owned(),
            authority_pem: authority.cert_pem(),
            admin: authority
                .issue(LeafRequest::client("kubernetes-admin", from, until).organization("system:masters"))?,
            controller_manager: authority.issue(LeafRequest::client(
                "system:kube-controller-manager",
                from,
                until,
            ))?,
        };
        layout.write("ca.crt", layout.authority_pem.as_bytes())?;
        layout.write("front-proxy-ca.crt", front_proxy.cert_pem().as_bytes())?;
        let pairs = [
            (ETCD, &etcd),
            ("etcd-client", &etcd_client),
            (KUBE_APISERVER, &kube_apiserver),
            (FRONT_PROXY, &front_proxy_client),
        ];
        for (name, pair) in pairs {
            layout.write(&format!("{name}.crt"), pair.cert_pem.as_bytes())?;
            layout.write(&format!("{name}.key"), pair.key_pem.pem().as_bytes())?;
        }
        let tokens = SigningKey::generate()?;
        layout.write("service-account.pub", tokens.public_pem.as_bytes())?;
        layout.write("service-account.key", tokens.key_pem.pem().as_bytes())?;
        layout.write("authentication.yaml", AUTHENTICATION.as_bytes())?;
        layout.write("audit-policy.yaml", AUDIT_POLICY.as_bytes())?;
        Ok(layout)
    }

    /// A file in the data folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The log of a part.
    pub(super) fn log(&self, part: &str) -> PathBuf {
        self.path(&format!("{part}.log"))
    }

    /// The audit log.
    pub(super) fn audit_log(&self) -> PathBuf {
        self.path("audit.log")
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        write_private(&self.path(name), content)
    }

    /// A file in the data folder, as text for a flag.
    fn text(&self, name: &str) -> Result<String, Error> {
        let path = self.path(name);
        path.to_str().map(str::to_owned).ok_or(Error::Path { path })
    }

    /// etcd. It keeps nothing that must survive, so it does not wait for the disk.
    pub(super) fn etcd(&self, program: &Path, ports: Ports) -> Result<ProcessRequest, Error> {
        let url = format!("https://127.0.0.1:{}", ports.etcd);
        let args = vec![
            format!("--data-dir={}", self.text("etcd")?),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            // There are no peers, but the flag cannot be empty; the port is whatever is free.
            "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
            format!("--cert-file={}", self.text("etcd.crt")?),
            format!("--key-file={}", self.text("etcd.key")?),
            format!("--trusted-ca-file={}", self.text("ca.crt")?),
            "--client-cert-auth".to_owned(),
            "--unsafe-no-fsync".to_owned(),
            "--log-level=warn".to_owned(),
        ];
        Ok(self.request(ETCD, program, args))
    }

    /// kube-apiserver, with what a production cluster has: RBAC, service-account tokens, an audit log.
    pub(super) fn kube_apiserver(&self, program: &Path, ports: Ports) -> Result<ProcessRequest, Error> {
        let args = vec![
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", ports.kube_apiserver),
            // A loopback address may not stand in the Endpoints of the `kubernetes` Service; nothing here reads them.
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--etcd-servers=https://127.0.0.1:{}", ports.etcd),
            format!("--etcd-cafile={}", self.text("ca.crt")?),
            format!("--etcd-certfile={}", self.text("etcd-client.crt")?),
            format!("--etcd-keyfile={}", self.text("etcd-client.key")?),
            format!("--tls-cert-file={}", self.text("kube-apiserver.crt")?),
            format!("--tls-private-key-file={}", self.text("kube-apiserver.key")?),
            format!("--client-ca-file={}", self.text("ca.crt")?),
            format!("--authentication-config={}", self.text("authentication.yaml")?),
            "--authorization-mode=RBAC".to_owned(),
            // How the API server proves itself to aggregated ones; other parts read it from here too.
            format!("--requestheader-client-ca-file={}", self.text("front-proxy-ca.crt")?),
            format!("--requestheader-allowed-names={FRONT_PROXY}"),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            format!("--proxy-client-cert-file={}", self.text(&format!("{FRONT_PROXY}.crt"))?),
            format!("--proxy-client-key-file={}", self.text(&format!("{FRONT_PROXY}.key"))?),
            format!("--service-account-issuer={ISSUER}"),
            format!("--service-account-key-file={}", self.text("service-account.pub")?),
            format!("--service-account-signing-key-file={}", self.text("service-account.key")?),
            format!("--service-cluster-ip-range={SERVICE_RANGE}"),
            format!("--audit-policy-file={}", self.text("audit-policy.yaml")?),
            format!("--audit-log-path={}", self.text("audit.log")?),
            // Blocking: an answer that a client has seen is in the log. Rotation would hide the beginning.
            "--audit-log-mode=blocking".to_owned(),
            "--audit-log-maxsize=1000".to_owned(),
            "--profiling=false".to_owned(),
        ];
        Ok(self.request(KUBE_APISERVER, program, args))
    }

    /// kube-controller-manager, each controller under its own service account as in production.
    pub(super) fn kube_controller_manager(
        &self,
        program: &Path,
        port: u16,
        kubeconfig: &Path,
    ) -> Result<ProcessRequest, Error> {
        let kubeconfig = kubeconfig.to_str().ok_or_else(|| Error::Path { path: kubeconfig.to_owned() })?;
        let args = vec![
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--kubeconfig={kubeconfig}"),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            "--use-service-account-credentials=true".to_owned(),
            format!("--service-account-private-key-file={}", self.text("service-account.key")?),
            format!("--root-ca-file={}", self.text("ca.crt")?),
            "--leader-elect=false".to_owned(),
            // At its usual 20 requests a second it spends five seconds on its own service accounts before it works.
            "--kube-api-qps=1000".to_owned(),
            "--kube-api-burst=2000".to_owned(),
            "--profiling=false".to_owned(),
        ];
        Ok(self.request(KUBE_CONTROLLER_MANAGER, program, args))
    }

    fn request(&self, name: &str, program: &Path, args: Vec<String>) -> ProcessRequest {
        ProcessRequest {
            name: name.to_owned(),
            program: program.to_owned(),
            args,
            env: std::collections::BTreeMap::new(),
            log: self.log(name),
            // All that these parts write is thrown away with the folder.
            stop: StopMode::Immediate,
        }
    }
}
