//! Keeps the newest good certificate in use while the process runs.
//!
//! The files are read every ten seconds. What cannot be read, does not match or would be refused by an API server never
//! replaces a pair that works.

use std::sync::Arc;
use std::time::Duration;

use super::certificate::{CertificateError, Current, Files, Pair};
use super::metrics::{Metrics, ResultLabels};
use crate::process::clock;
use crate::process::exit::StartError;
use crate::process::health::Check;

/// How often the files are read again.
const POLL: Duration = Duration::from_secs(10);

/// The certificate in use and where it comes from.
pub(super) struct Reload {
    files: Files,
    service_name: String,
    current: Arc<Current>,
    metrics: Metrics,
    /// What was last logged about the files, so that one fault is one line.
    complaint: Option<String>,
}

impl Reload {
    /// Loads the first pair. One that cannot be served at all is an error of the start. One that API servers would
    /// refuse (another name, expired) is served all the same, while the process says that it is not ready.
    pub(super) fn start(files: Files, service_name: String, metrics: Metrics) -> Result<Self, StartError> {
        let pair = files.load().map_err(|error| {
            StartError::configuration(
                error,
                "give --tls-cert-file and --tls-key-file a PEM pair that belongs together",
            )
        })?;
        let reload = Self { files, service_name, current: Arc::default(), metrics, complaint: None };
        reload.take(pair);
        Ok(reload)
    }

    /// The pair in use, for the handshakes.
    pub(super) fn current(&self) -> Arc<Current> {
        self.current.clone()
    }

    /// Polls until it is dropped; `ready` says whether API servers accept the pair in use.
    pub(super) async fn run(mut self, ready: Check) {
        let mut refused = None;
        loop {
            match self.in_use() {
                Ok(()) => {
                    refused = None;
                    ready.pass();
                }
                Err(error) => {
                    let reason = error.to_string();
                    if refused.as_ref() != Some(&reason) {
                        tracing::error!(error = %reason, "API servers refuse the certificate in use");
                        refused = Some(reason.clone());
                    }
                    ready.fail(reason);
                }
            }
            tokio::time::sleep(POLL).await;
            let files = self.files.clone();
            if let Ok(loaded) = tokio::task::spawn_blocking(move || files.load()).await {
                self.consider(loaded);
            }
        }
    }

    fn in_use(&self) -> Result<(), CertificateError> {
        match self.current.get() {
            Some(pair) => self.files.check(&pair, &self.service_name, clock::now()),
            None => Ok(()),
        }
    }

    /// Takes a new pair that is good, or at least no worse than the one in use.
    fn consider(&mut self, loaded: Result<Pair, CertificateError>) {
        let checked = loaded.and_then(|pair| {
            if self.current.get().is_some_and(|current| current.is_same(&pair)) {
                return Ok(None);
            }
            match self.files.check(&pair, &self.service_name, clock::now()) {
                Ok(()) => Ok(Some(pair)),
                Err(error) if error.is_servable() && self.in_use().is_err() => Ok(Some(pair)),
                Err(error) => Err(error),
            }
        });
        match checked {
            Ok(None) => self.complaint = None,
            Ok(Some(pair)) => {
                tracing::info!(not_after = %pair.not_after, "serving a new certificate");
                self.complaint = None;
                self.count("ok");
                self.take(pair);
            }
            Err(error) => {
                let complaint = error.to_string();
                if self.complaint.as_ref() != Some(&complaint) {
                    tracing::warn!(error = %complaint, "keeping the certificate in use");
                    self.count("failed");
                    self.complaint = Some(complaint);
                }
            }
        }
    }

    fn take(&self, pair: Pair) {
        self.metrics.certificate_expiry.set(pair.not_after.as_second());
        self.current.set(pair);
    }

    fn count(&self, result: &'static str) {
        self.metrics.certificate_reloads.get_or_create(&ResultLabels { result }).inc();
    }
}
