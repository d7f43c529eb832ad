//! Liveness and readiness, answered as Kubernetes' own components answer: a set of named checks.
//!
//! `/livez` says that the process runs. `/readyz` passes while every named check passes; `/readyz/<name>` asks one of
//! them; `?verbose` lists them all. Unlike in the API server the reason of a failure is shown: it is for the person who
//! installs, and a check never puts anything of a Secret into it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::metrics::{self, Metrics};

/// The named checks of a process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<RwLock<BTreeMap<String, Result<(), String>>>>);

/// One named check, held by what it is about.
#[derive(Clone, Debug)]
pub struct Check {
    name: String,
    readiness: Readiness,
}

impl Readiness {
    /// No checks yet: ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the check `name` (lower case, words joined by `-`), failing for `reason` until it says otherwise.
    pub fn register(&self, name: impl Into<String>, reason: impl Into<String>) -> Check {
        let check = Check { name: name.into(), readiness: self.clone() };
        check.fail(reason);
        check
    }

    /// Whether every check passes.
    pub fn is_ready(&self) -> bool {
        self.read(|checks| checks.values().all(Result::is_ok))
    }

    /// Why the check `name` fails; `Ok(())` when it passes, `None` when there is no such check.
    pub fn state(&self, name: &str) -> Option<Result<(), String>> {
        self.read(|checks| checks.get(name).cloned())
    }

    fn read<T>(&self, look: impl FnOnce(&BTreeMap<String, Result<(), String>>) -> T) -> T {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, name: &str, state: Result<(), String>) -> bool {
        let mut checks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if checks.get(name) == Some(&state) {
            return false;
        }
        checks.insert(name.to_owned(), state);
        true
    }

    /// One line for each check, as Kubernetes' components write them, and the verdict.
    fn report(&self, endpoint: &str) -> (bool, String) {
        self.read(|checks| {
            let mut text = String::new();
            for (name, state) in checks {
                let _ = match state {
                    Ok(()) => writeln!(text, "[+]{name} ok"),
                    Err(reason) => writeln!(text, "[-]{name} failed: {reason}"),
                };
            }
            let ready = checks.values().all(Result::is_ok);
            let _ = writeln!(text, "{endpoint} check {}", if ready { "passed" } else { "failed" });
            (ready, text)
        })
    }
}

impl Check {
    /// The check passes from now on.
    pub fn pass(&self) {
        if self.readiness.write(&self.name, Ok(())) {
            tracing::info!("readiness check {} passes", self.name);
        }
    }

    /// The check fails from now on, for `reason`.
    pub fn fail(&self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.readiness.write(&self.name, Err(reason.clone())) {
            tracing::debug!(error = reason, "readiness check {} fails", self.name);
        }
    }
}

#[derive(Clone)]
struct Shared {
    readiness: Readiness,
    metrics: Metrics,
}

/// The endpoints `/livez`, `/readyz`, `/readyz/<name>` and `/metrics`.
pub fn router(readiness: Readiness, metrics: Metrics) -> Router {
    Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/readyz/{name}", get(one_check))
        .route("/metrics", get(metrics_text))
        .with_state(Shared { readiness, metrics })
}

async fn livez() -> &'static str {
    "ok"
}

async fn readyz(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let verbose =
        query.is_some_and(|query| query.split('&').any(|part| part.split('=').next() == Some("verbose")));
    match shared.readiness.report("readyz") {
        (true, text) if verbose => text.into_response(),
        (true, _) => "ok".into_response(),
        (false, text) => (StatusCode::SERVICE_UNAVAILABLE, text).into_response(),
    }
}

async fn one_check(State(shared): State<Shared>, Path(name): Path<String>) -> Response {
    match shared.readiness.state(&name) {
        Some(Ok(())) => "ok".into_response(),
        Some(Err(reason)) => (StatusCode::SERVICE_UNAVAILABLE, reason).into_response(),
        None => (StatusCode::NOT_FOUND, "no such check; /readyz?verbose lists them").into_response(),
    }
}

async fn metrics_text(State(shared): State<Shared>) -> Response {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], shared.metrics.text()).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::StreamExt as _;
    use http::Request;
    use tower::ServiceExt as _;

    use super::*;

    async fn ask(readiness: &Readiness, path: &str) -> (u16, String) {
        let app = router(readiness.clone(), Metrics::build(|_| ()));
        let answer = app.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let mut body = Vec::new();
        let mut frames = answer.into_body().into_data_stream();
        while let Some(frame) = frames.next().await {
            body.extend_from_slice(&frame.unwrap());
        }
        (status, String::from_utf8(body).unwrap())
    }

    #[tokio::test]
    async fn readiness_names_what_is_missing() {
        let readiness = Readiness::new();
        assert_eq!(ask(&readiness, "/readyz").await, (200, "ok".to_owned()));
        let contracts = readiness.register("contracts", "not listed yet");
        let leader = readiness.register("leader", "not elected yet");
        leader.pass();
        let failed = "[-]contracts failed: not listed yet\n[+]leader ok\nreadyz check failed\n".to_owned();
        assert_eq!(ask(&readiness, "/readyz").await, (503, failed));
        assert_eq!(ask(&readiness, "/readyz/leader").await, (200, "ok".to_owned()));
        assert_eq!(ask(&readiness, "/readyz/contracts").await, (503, "not listed yet".to_owned()));
        assert_eq!(ask(&readiness, "/readyz/other").await.0, 404);
        contracts.pass();
        assert_eq!(ask(&readiness, "/readyz").await, (200, "ok".to_owned()));
        let verbose = "[+]contracts ok\n[+]leader ok\nreadyz check passed\n".to_owned();
        assert_eq!(ask(&readiness, "/readyz?verbose").await, (200, verbose));
        assert!(readiness.is_ready());
    }

    #[tokio::test]
    async fn liveness_and_metrics_do_not_depend_on_readiness() {
        let readiness = Readiness::new();
        readiness.register("contracts", "not listed yet");
        assert_eq!(ask(&readiness, "/livez").await, (200, "ok".to_owned()));
        assert_eq!(ask(&readiness, "/metrics").await, (200, "# EOF\n".to_owned()));
    }
}
