//! The proxy itself: TLS in, TLS out, and between them what the plan says.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use covenant::controlplane::ControlPlane;
use covenant::pki::{Authority, LeafRequest};
use futures::StreamExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use kube::client::Body;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::{Fault, Plan, Write};

type Answer = Response<UnsyncBoxBody<Bytes, std::io::Error>>;

/// What every request needs.
#[derive(Clone)]
struct Shared {
    /// To the API server, without an identity of its own.
    upstream: kube::Client,
    plan: Arc<Mutex<Plan>>,
    held: watch::Receiver<Vec<String>>,
}

/// A running proxy; it stops with its runtime, which it owns.
pub struct Proxy {
    address: String,
    ca_pem: String,
    server: String,
    upstream_ca: String,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Proxy {
    pub fn start(
        plane: &'static ControlPlane,
        plan: Arc<Mutex<Plan>>,
        held: watch::Receiver<Vec<String>>,
    ) -> Self {
        let now = covenant::process::clock::now();
        let hour = jiff::SignedDuration::from_hours(12);
        let (from, to) = (now - hour, now + hour);
        let authority = Authority::new("fault-rig", from, to).unwrap();
        let pair =
            authority.issue(LeafRequest::serving("fault-rig", from, to).ip_address([127, 0, 0, 1])).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(pair.cert_pem.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(pair.key_pem.pem().as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let upstream = runtime.block_on(async {
            let mut config = kube::Config::new(plane.server().parse().unwrap());
            let authority = CertificateDer::from_pem_slice(plane.authority_pem().as_bytes()).unwrap();
            config.root_cert = Some(vec![authority.to_vec()]);
            config.read_timeout = None;
            kube::Client::try_from(config).unwrap()
        });
        runtime.spawn(accept(listener, TlsAcceptor::from(Arc::new(tls)), Shared { upstream, plan, held }));
        Self {
            address,
            ca_pem: authority.cert_pem(),
            server: plane.server().to_owned(),
            upstream_ca: plane.authority_pem().to_owned(),
            runtime: Some(runtime),
        }
    }

    /// A kubeconfig for the API server as one for this proxy.
    pub fn rewritten(&self, kubeconfig: &str) -> String {
        kubeconfig
            .replace(&self.server, &self.address)
            .replace(&STANDARD.encode(&self.upstream_ca), &STANDARD.encode(&self.ca_pem))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A test may end inside a runtime of its own, where nothing may wait for this one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, shared: Shared) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, shared) = (acceptor.clone(), shared.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request| answer(request, shared.clone()));
            let mut server = hyper::server::conn::http1::Builder::new();
            // An error of the service ends the connection without an answer: that is what a broken one looks like.
            let _ = server.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// The connection is to break.
#[derive(Debug, thiserror::Error)]
#[error("the test breaks this connection")]
struct Broken;

async fn answer(request: Request<Incoming>, shared: Shared) -> Result<Answer, Broken> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
    let target = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let fault = if parts.method == Method::GET {
        None
    } else {
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let write = Write { method: parts.method.to_string(), target: target.clone(), body };
        shared.plan.lock().unwrap().meet(&write)
    };
    match &fault {
        Some(Fault::FailBefore) => return Err(Broken),
        Some(Fault::KillBefore(kill)) => {
            run(kill).await;
            return Err(Broken);
        }
        Some(Fault::Answer(code)) => return Ok(refusal(*code)),
        Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
        Some(Fault::First(first)) => run(first).await,
        Some(Fault::LoseReply | Fault::KillAfter(_)) | None => {}
    }
    let mut onward = Request::new(Body::from(body.to_vec()));
    *onward.method_mut() = parts.method;
    *onward.uri_mut() = target.parse().map_err(|_| Broken)?;
    *onward.headers_mut() = parts.headers;
    onward.headers_mut().remove("host");
    onward.headers_mut().remove("content-length");
    let response = shared.upstream.send(onward).await.map_err(|_| Broken)?;
    match fault {
        Some(Fault::LoseReply) => Err(Broken),
        Some(Fault::KillAfter(kill)) => {
            run(&kill).await;
            Err(Broken)
        }
        _ => Ok(passed(response, &target, shared.held)),
    }
}

/// Callbacks wait for processes, so they run where they hold up nobody.
async fn run(callback: &Arc<dyn Fn() + Send + Sync>) {
    let callback = callback.clone();
    let _ = tokio::task::spawn_blocking(move || callback()).await;
}

/// The API server's answer, piece by piece. Of a watch that is held back nothing comes until it is released.
fn passed(response: Response<Body>, target: &str, held: watch::Receiver<Vec<String>>) -> Answer {
    let (parts, body) = response.into_parts();
    let is_watch = target.contains("watch=true") || target.contains("watch=1");
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let pieces = body.into_data_stream().then(move |piece| {
        let (mut held, path) = (held.clone(), path.clone());
        async move {
            if is_watch {
                let free = |held: &Vec<String>| !held.iter().any(|resource| path.ends_with(resource));
                let _ = held.wait_for(free).await;
            }
            piece.map(hyper::body::Frame::data).map_err(std::io::Error::other)
        }
    });
    Response::from_parts(parts, StreamBody::new(pieces).boxed_unsync())
}

/// A refusal as the API server words it, as far as clients read it.
fn refusal(code: u16) -> Answer {
    let reason = match code {
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        422 => "Invalid",
        429 => "TooManyRequests",
        _ => "InternalError",
    };
    let status: Value = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("the fault rig answers {code}"), "reason": reason, "code": code});
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never: Infallible| match never {});
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(body.boxed_unsync())
        .unwrap()
}
