//! Accepts connections and serves each one within limits: handshake, first request, idle time, count.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::server::ResolvesServerCert;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::app::App;
use super::metrics::{ResultLabels, ShedLabels};

/// The pause after a failed accept (no file descriptors left): an accept loop must not spin.
const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// The TLS side: TLS 1.2 and 1.3 with the provider's suites, HTTP/2 or HTTP/1.1 as the client chooses.
pub fn tls_config(certificate: Arc<dyn ResolvesServerCert>) -> ServerConfig {
    let mut config = ServerConfig::builder().with_no_client_auth().with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Serves `app` on `listener` until `stop`, then drains: for a while new requests are still answered, each answer
/// closing its connection; then the listener closes and requests under way get their time to end.
pub async fn serve(app: Arc<App>, listener: TcpListener, tls: ServerConfig, stop: CancellationToken) {
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let places = Arc::new(Semaphore::new(app.limits().connections));
    let (connections, closing) = (TaskTracker::new(), CancellationToken::new());
    let drained = async {
        stop.cancelled().await;
        app.drain();
        sleep(app.timeouts().drain_delay).await;
    };
    tokio::pin!(drained);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut drained => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(error = %error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            app.metrics().shed.get_or_create(&ShedLabels { reason: "connections" }).inc();
            continue;
        };
        let connection = Connection { app: app.clone(), closing: closing.clone() };
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            connection.app.metrics().connections.inc();
            let metrics = connection.app.metrics().clone();
            connection.run(stream, acceptor).await;
            metrics.connections.dec();
            drop(place);
        });
    }
    drop(listener);
    closing.cancel();
    connections.close();
    if timeout(app.timeouts().drain_timeout, connections.wait()).await.is_err() {
        tracing::warn!("requests were still under way at the end of --drain-timeout");
    }
}

struct Connection {
    app: Arc<App>,
    /// Cancelled when connections must end after the request under way.
    closing: CancellationToken,
}

impl Connection {
    async fn run(self, stream: TcpStream, acceptor: TlsAcceptor) {
        // Answers are single small writes: nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        let handshake = tokio::select! {
            handshake = timeout(self.app.timeouts().handshake, acceptor.accept(stream)) => handshake,
            // A peer that has not even finished its handshake has nothing under way.
            () = self.closing.cancelled() => return,
        };
        let result = match &handshake {
            Ok(Ok(_)) => "ok",
            Ok(Err(_)) => "failed",
            Err(_) => "timeout",
        };
        self.app.metrics().handshakes.get_or_create(&ResultLabels { result }).inc();
        let stream = match handshake {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(error = %error, "a TLS handshake failed");
                return;
            }
            Err(_) => return,
        };
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let seen = Arc::new(AtomicBool::new(false));
        let mark = seen.clone();
        let router = self.app.router().map_request(move |request: Request<Incoming>| {
            mark.store(true, Ordering::Relaxed);
            request.map(axum::body::Body::new)
        });
        let service = TowerToHyperService::new(router);
        let first_request = self.app.timeouts().first_request;
        let idle = self.app.timeouts().idle;
        let io = TokioIo::new(stream);
        let closing = self.closing.clone();
        let serving = async {
            let ended = if is_http2 {
                let mut connection = pin!(http2(idle).serve_connection(io, service));
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = closing.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                }
            } else {
                let mut connection = pin!(http1(idle).serve_connection(io, service));
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = closing.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                }
            };
            if let Err(error) = ended {
                tracing::debug!(error = %error, "a connection ended early");
            }
        };
        tokio::pin!(serving);
        tokio::select! {
            () = &mut serving => {}
            () = idle_at_the_end(&self.closing, &seen) => {}
            () = sleep(first_request) => {
                // A connection that never asked anything is given up; the others go on.
                if seen.load(Ordering::Relaxed) {
                    serving.await;
                }
            }
        }
    }
}

/// Ends when connections are to close, if this one never asked anything.
async fn idle_at_the_end(closing: &CancellationToken, seen: &AtomicBool) {
    closing.cancelled().await;
    if seen.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

/// HTTP/1.1. hyper's header timeout also runs between requests, so it is the idle limit.
fn http1(idle: std::time::Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(64 * 1024);
    builder
}

/// HTTP/2 with the API server's own bounds. A peer that no longer answers pings is gone.
fn http2(idle: std::time::Duration) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(100)
        .max_header_list_size(16 * 1024)
        .max_pending_accept_reset_streams(32)
        .keep_alive_interval(idle / 4)
        .keep_alive_timeout(std::time::Duration::from_secs(10));
    builder
}
