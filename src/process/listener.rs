//! The plain-HTTP listener for health and metrics: bound at the start, before anything else is begun.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::exit::StartError;

/// Most connections at once: probes and a scraper or two. One more waits until another ends.
const CONNECTIONS: usize = 64;
/// How long a connection may be silent before or between requests.
const IDLE: Duration = Duration::from_secs(10);
/// How long a connection may last; whoever still needs one makes another.
const LIFETIME: Duration = Duration::from_mins(1);
/// The pause after the system refused a connection, so that a lack of file descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Binds `address` for `flag`. A port in use is a configuration error that names both.
pub async fn bind(flag: &str, address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|error| {
        StartError::configuration(
            format!("{flag}: cannot listen on {address}: {error}"),
            format!("free the port or give {flag} another address"),
        )
    })
}

/// Serves `router` on `listener` until `stop` is cancelled. Ends with the connections that are open then.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .max_buf_size(16 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let stopped = stop.clone();
        tokio::spawn(async move {
            let _permit = permit;
            tokio::select! {
                () = stopped.cancelled() => {}
                // A client that goes away or sends rubbish is no event for us.
                _ = tokio::time::timeout(LIFETIME, connection) => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::super::health::{Readiness, router};
    use super::super::metrics::Metrics;
    use super::*;

    #[tokio::test]
    async fn a_port_in_use_is_named_with_its_flag() {
        let first = bind("--metrics-listen", ([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = first.local_addr().unwrap();
        let error = bind("--metrics-listen", address).await.unwrap_err();
        assert_eq!(error.code(), 2);
        assert!(
            error.to_string().starts_with(&format!("--metrics-listen: cannot listen on {address}: ")),
            "{error}"
        );
    }

    #[tokio::test]
    async fn serves_until_it_is_told_to_stop() {
        let listener = bind("--metrics-listen", ([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server =
            tokio::spawn(serve(listener, router(Readiness::new(), Metrics::build(|_| ())), stop.clone()));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
        stop.cancel();
        server.await.unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }
}
