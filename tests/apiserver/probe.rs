//! A scripted admission endpoint over real TLS. It answers what a test tells it to and records how it was asked, so that
//! tests see how a real API server calls webhooks. It judges nothing.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use covenant::pki::{Authority, LeafRequest};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use tokio_rustls::TlsAcceptor;

/// How the endpoint was asked once.
#[derive(Clone, Debug)]
pub struct Call {
    /// HTTP version of the request.
    pub version: Version,
    /// Server name of the TLS handshake.
    pub server_name: Option<String>,
    /// The `Host` header, or the authority of HTTP/2.
    pub host: String,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Path and query.
    pub target: String,
    /// The review that was sent.
    pub review: Value,
}

/// What the endpoint answers.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Additional headers.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body; `None` builds a review from `response`.
    pub body: Option<String>,
    /// The `response` of the review; the uid is filled in where it is missing.
    pub response: Value,
    /// How long to wait first.
    pub delay: Duration,
}

impl Reply {
    /// A review with this `response`.
    pub fn review(response: Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: None, response, delay: Duration::ZERO }
    }

    /// An HTTP error with these headers.
    pub fn http(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Self {
        Self { status, headers: headers.to_vec(), body: Some(body.to_owned()), ..Self::review(Value::Null) }
    }

    /// Passes.
    pub fn allow() -> Self {
        Self::review(serde_json::json!({"allowed": true}))
    }
}

type Script = Arc<dyn Fn(&Value, usize) -> Reply + Send + Sync>;

/// The endpoint; it stops with its runtime, which it owns.
pub struct Probe {
    /// Where it listens.
    pub address: SocketAddr,
    /// The authority that signed its certificate, PEM.
    pub ca_pem: String,
    calls: Arc<Mutex<Vec<Call>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Probe {
    /// Starts an endpoint whose certificate names `names` and 127.0.0.1. `script` gets the review and the count of
    /// calls before this one.
    pub fn start(names: &[&str], script: impl Fn(&Value, usize) -> Reply + Send + Sync + 'static) -> Self {
        let now = covenant::process::clock::now();
        let hour = jiff::SignedDuration::from_hours(1);
        let (from, to) = (now - hour, now + hour);
        let authority = Authority::new("probe-ca", from, to).unwrap();
        let mut request = LeafRequest::serving("probe", from, to).ip_address([127, 0, 0, 1]);
        for name in names {
            request = request.dns_name(name);
        }
        let pair = authority.issue(request).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(pair.cert_pem.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(pair.key_pem.pem().as_bytes()).unwrap();
        let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(
            rustls::crypto::aws_lc_rs::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let accept = accept(listener, TlsAcceptor::from(Arc::new(tls)), Arc::new(script), calls.clone());
        runtime.spawn(accept);
        Self { address, ca_pem: authority.cert_pem(), calls, _runtime: runtime }
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

async fn accept(
    listener: tokio::net::TcpListener,
    acceptor: TlsAcceptor,
    script: Script,
    calls: Arc<Mutex<Vec<Call>>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, script, calls) = (acceptor.clone(), script.clone(), calls.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let server_name = stream.get_ref().1.server_name().map(str::to_owned);
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let service = service_fn(move |request| {
                answer(request, server_name.clone(), script.clone(), calls.clone())
            });
            let io = TokioIo::new(stream);
            if is_http2 {
                let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(io, service)
                    .await;
            } else {
                let mut builder = hyper::server::conn::http1::Builder::new();
                let _ = builder.timer(TokioTimer::new()).serve_connection(io, service).await;
            }
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    server_name: Option<String>,
    script: Script,
    calls: Arc<Mutex<Vec<Call>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name: &str| {
        request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let authority = request.uri().authority().map(ToString::to_string);
    let mut call = Call {
        version: request.version(),
        server_name,
        host: authority.unwrap_or_else(|| header("host")),
        user_agent: header("user-agent"),
        target: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
        review: Value::Null,
    };
    let body =
        request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    call.review = serde_json::from_slice(&body).unwrap_or_default();
    let review = call.review.clone();
    let before = {
        let mut calls = calls.lock().unwrap();
        calls.push(call);
        calls.len() - 1
    };
    let reply = script(&review, before);
    tokio::time::sleep(reply.delay).await;
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, *value);
    }
    let body = reply.body.unwrap_or_else(|| {
        response = std::mem::take(&mut response).header("content-type", "application/json");
        let mut answer = reply.response.clone();
        if answer.get("uid").is_none() {
            answer["uid"] = review["request"]["uid"].clone();
        }
        serde_json::json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})
            .to_string()
    });
    Ok(response.body(Full::new(Bytes::from(body))).unwrap())
}
