//! Starts the webhook: flags, certificate, listeners; then serves until it is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::app::App;
use super::certificate::Files;
use super::config::{Limits, Timeouts};
use super::metrics::Metrics;
use super::reload::Reload;
use super::serve::{serve, tls_config};
use super::stores::Stores;
use crate::api::names;
use crate::cluster::client;
use crate::process::exit::StartError;
use crate::process::flags::{SharedFlags, duration_between, socket_address};
use crate::process::health::Readiness;
use crate::process::{health, listener, metrics, signals, telemetry};
use crate::rules::Installation;

/// Covenant's admission webhook.
#[derive(Debug, clap::Parser)]
#[command(name = "covenant-webhook", version)]
pub struct Arguments {
    #[command(flatten)]
    shared: SharedFlags,

    /// Address and port of the admission endpoint, TLS.
    #[arg(long, env = "COVENANT_LISTEN", value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8443", value_parser = socket_address)]
    listen: SocketAddr,

    /// PEM file of the serving certificate with its chain; read again when it changes.
    #[arg(long, env = "COVENANT_TLS_CERT_FILE", value_name = "FILE")]
    tls_cert_file: PathBuf,

    /// PEM file of the certificate's private key; read again when it changes.
    #[arg(long, env = "COVENANT_TLS_KEY_FILE", value_name = "FILE")]
    tls_key_file: PathBuf,

    /// Largest body of a review, in bytes.
    #[arg(long, env = "COVENANT_MAX_BODY_BYTES", value_name = "BYTES", default_value_t = Limits::default().body_bytes as u64, value_parser = clap::value_parser!(u64).range(64 * 1024..=64 * 1024 * 1024))]
    max_body_bytes: u64,

    /// How many reviews are judged at once.
    #[arg(long, env = "COVENANT_MAX_CONCURRENT_REVIEWS", value_name = "COUNT", default_value_t = Limits::default().concurrent_reviews as u64, value_parser = clap::value_parser!(u64).range(1..=1024))]
    max_concurrent_reviews: u64,

    /// How many reviews may wait for their turn; one more is answered 429 and tried again by the API server.
    #[arg(long, env = "COVENANT_MAX_QUEUED_REVIEWS", value_name = "COUNT", default_value_t = Limits::default().queued_reviews as u64, value_parser = clap::value_parser!(u64).range(0..=100_000))]
    max_queued_reviews: u64,

    /// How many bytes the bodies of all reviews under way may hold together.
    #[arg(long, env = "COVENANT_MAX_QUEUED_BYTES", value_name = "BYTES", default_value_t = Limits::default().queued_bytes as u64, value_parser = clap::value_parser!(u64).range(64 * 1024..=1 << 32))]
    max_queued_bytes: u64,

    /// How many connections may be open at once.
    #[arg(long, env = "COVENANT_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = Limits::default().connections as u64, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    max_connections: u64,

    /// How long new requests are still served after the signal to stop.
    #[arg(long, env = "COVENANT_DRAIN_DELAY", value_name = "DURATION", default_value = "15s", value_parser = duration_between("0s", "10m"))]
    drain_delay: Duration,

    /// How long requests under way may take to end after that.
    #[arg(long, env = "COVENANT_DRAIN_TIMEOUT", value_name = "DURATION", default_value = "30s", value_parser = duration_between("1s", "10m"))]
    drain_timeout: Duration,
}

impl Arguments {
    fn limits(&self) -> Limits {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Limits {
            body_bytes: size(self.max_body_bytes),
            concurrent_reviews: size(self.max_concurrent_reviews),
            queued_reviews: size(self.max_queued_reviews),
            queued_bytes: size(self.max_queued_bytes),
            connections: size(self.max_connections),
        }
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts { drain_delay: self.drain_delay, drain_timeout: self.drain_timeout, ..Timeouts::default() }
    }

    fn installation(&self) -> Installation {
        Installation {
            external_secret_api_versions: self.shared.external_secret_api_versions.clone(),
            credential_paths: self.shared.credential_paths.clone(),
        }
    }

    /// The name that API servers ask for when they call a Service.
    fn service_name(&self) -> String {
        format!("{}.{}.svc", names::WEBHOOK, self.shared.namespace)
    }
}

/// Runs the webhook until the first signal to stop, then drains; a second signal stops at once.
pub async fn run(arguments: Arguments) -> Result<(), StartError> {
    telemetry::start(arguments.shared.log_level, arguments.shared.log_format);
    let mut registered = None;
    let registry = metrics::Metrics::build(|registry| registered = Some(Metrics::register(registry)));
    let Some(metrics) = registered else {
        return Err(StartError::Stopped("metrics were not registered".to_owned()));
    };
    let files = Files { certificate: arguments.tls_cert_file.clone(), key: arguments.tls_key_file.clone() };
    let reload = Reload::start(files, arguments.service_name(), metrics.clone())?;
    let health_listener = listener::bind("--metrics-listen", arguments.shared.metrics_listen).await?;
    let admission_listener = listener::bind("--listen", arguments.listen).await?;
    let client = client::connect(arguments.shared.kubeconfig.as_deref(), names::WEBHOOK).await?;
    let signals = signals::termination()?;

    let readiness = Readiness::new();
    let serving_check = readiness.register("serving", "starting");
    let current = reload.current();
    let poll = tokio::spawn(reload.run(readiness.register("certificate", "not checked yet")));
    let (stores, watches) = Stores::start(&client, &readiness);
    let health_stop = CancellationToken::new();
    let health = health::router(readiness, registry);
    let health = tokio::spawn(listener::serve(health_listener, health, health_stop.clone()));
    let app = App::new(arguments.installation(), stores, arguments.limits(), arguments.timeouts(), metrics);
    let serving = serve(app, admission_listener, tls_config(current), signals.stop.clone());
    tracing::info!(listen = %arguments.listen, version = env!("CARGO_PKG_VERSION"), "serving admission reviews");
    serving_check.pass();
    let leaving = async {
        signals.stop.cancelled().await;
        serving_check.fail("the process is stopping");
        signals.stop_now.cancelled().await;
    };
    tokio::select! {
        () = serving => {}
        () = leaving => {}
    }
    poll.abort();
    drop(watches);
    health_stop.cancel();
    let _ = health.await;
    Ok(())
}
