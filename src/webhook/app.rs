//! The HTTP application: one review in, one answer out. It has no socket; tests call the router.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::admit::{self, Decision};
use super::config::{Limits, Timeouts};
use super::metrics::{Metrics, ReviewLabels, ShedLabels};
use super::review::{Answer, Operation, Review, find_uid};
use super::stores::Stores;
use crate::rules::Installation;
use crate::rules::world::World;

/// How much earlier than the API server's own deadline a review is given up, so that the answer still arrives.
const MARGIN: Duration = Duration::from_millis(500);

/// Bodies up to this size, in bytes, are judged at once: what fits into them takes milliseconds at most.
const INLINE: usize = 16 * 1024;

/// How long a review may wait for the stores to show what it speaks of.
const SEEN: Duration = Duration::from_secs(1);

/// How a review becomes a decision.
type Judge = fn(&Review<'_>, &Installation, &dyn World) -> Decision;

/// Judges reviews within limits.
pub struct App {
    installation: Installation,
    stores: Arc<Stores>,
    limits: Limits,
    timeouts: Timeouts,
    metrics: Metrics,
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    bytes: AtomicUsize,
    draining: AtomicBool,
}

/// Why a request gets an HTTP error instead of a review.
enum Refusal {
    /// The body did not come in time, or broke off.
    Incomplete,
    /// Over the limit; the first bytes are kept to find the uid in.
    TooLarge(Vec<u8>),
    /// The bytes of all bodies together are at their limit.
    Overloaded,
}

/// Counts down what a review has taken when it ends, however it ends.
struct Held<'a>(&'a AtomicUsize, usize);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl App {
    /// An application that judges by the lists of `installation` and the objects of `stores`.
    pub fn new(
        installation: Installation,
        stores: Arc<Stores>,
        limits: Limits,
        timeouts: Timeouts,
        metrics: Metrics,
    ) -> Arc<Self> {
        let slots = Arc::new(Semaphore::new(limits.concurrent_reviews));
        let (waiting, bytes, draining) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { installation, stores, limits, timeouts, metrics, slots, waiting, bytes, draining })
    }

    /// The routes: `/validate` and `/protect`.
    pub fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/validate", post(validate))
            .route("/protect", post(protect))
            .with_state(self.clone())
    }

    /// From now on every answer asks its connection to close, so that callers move to other endpoints.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// The limits of serving.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The time limits.
    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The figures.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    async fn answer(self: &Arc<Self>, request: Request, judge: Judge) -> Response {
        let started = Instant::now();
        let deadline = started + self.patience(&request);
        let mut held = Held(&self.bytes, 0);
        let response = match self.body(request, &mut held).await {
            Ok(body) => match self.turn_when_seen(&body, deadline).await {
                Ok(slot) => self.review_within(body, slot, deadline, judge, started).await,
                Err(response) => response,
            },
            Err(Refusal::Overloaded) => self.shed("bytes"),
            Err(Refusal::Incomplete) => {
                plain(StatusCode::REQUEST_TIMEOUT, "the request body did not arrive in time")
            }
            Err(Refusal::TooLarge(start)) => self.too_large(&start),
        };
        self.metrics.review_seconds.observe(started.elapsed().as_secs_f64());
        if self.draining.load(Ordering::Relaxed) { closing(response) } else { response }
    }

    /// How long this review may take: what the API server says in `?timeout=`, less a margin, and never longer than
    /// our own limit.
    fn patience(&self, request: &Request) -> Duration {
        let asked = request.uri().query().into_iter().flat_map(|query| query.split('&')).find_map(|pair| {
            let seconds = pair.strip_prefix("timeout=")?.strip_suffix('s')?.parse::<u64>().ok()?;
            Some(Duration::from_secs(seconds))
        });
        match asked {
            Some(asked) => asked.saturating_sub(MARGIN).min(self.timeouts.review),
            None => self.timeouts.review,
        }
    }

    async fn body(&self, request: Request, held: &mut Held<'_>) -> Result<Vec<u8>, Refusal> {
        let read = async {
            let mut body = request.into_body();
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Refusal::Incomplete)?;
                let Ok(data) = frame.into_data() else { continue };
                held.1 += data.len();
                let total = self.bytes.fetch_add(data.len(), Ordering::Relaxed) + data.len();
                if total > self.limits.queued_bytes {
                    return Err(Refusal::Overloaded);
                }
                bytes.extend_from_slice(&data);
                if bytes.len() > self.limits.body_bytes {
                    bytes.truncate(4096);
                    return Err(Refusal::TooLarge(bytes));
                }
            }
            Ok(bytes)
        };
        match tokio::time::timeout(self.timeouts.body, read).await {
            Ok(result) => result,
            Err(_) => Err(Refusal::Incomplete),
        }
    }

    /// Waits for a free place. A binding may speak of a Tenant that the API server has told its writer of before it has
    /// told us: such a review gives its place back and waits a moment for the stores first.
    async fn turn_when_seen(&self, body: &[u8], deadline: Instant) -> Result<OwnedSemaphorePermit, Response> {
        let until = deadline.min(Instant::now() + SEEN);
        let is_ahead = || {
            body.len() <= INLINE
                && Review::read(body)
                    .is_ok_and(|review| self.stores.look(|world| admit::is_ahead(&review, world)))
        };
        let mut changes = self.stores.changes();
        loop {
            let slot = self.turn(deadline).await?;
            if Instant::now() >= until || !catch_unwind(AssertUnwindSafe(is_ahead)).unwrap_or(false) {
                return Ok(slot);
            }
            drop(slot);
            let _ = tokio::time::timeout_at(until.into(), changes.changed()).await;
        }
    }

    /// Waits for a free place; turns the request away when too many wait already.
    async fn turn(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Response> {
        if let Ok(slot) = self.slots.clone().try_acquire_owned() {
            return Ok(slot);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.limits.queued_reviews {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(self.shed("reviews"));
        }
        let _waiting = Held(&self.waiting, 1);
        self.metrics.queued.inc();
        let slot = tokio::time::timeout_at(deadline.into(), self.slots.clone().acquire_owned()).await;
        self.metrics.queued.dec();
        match slot {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(self.shed("reviews")),
        }
    }

    /// Judges a large review where it holds up nobody, and gives up waiting at the deadline: an answer that comes too
    /// late helps nobody. The place stays taken until the work has really ended.
    async fn review_within(
        self: &Arc<Self>,
        body: Vec<u8>,
        slot: OwnedSemaphorePermit,
        deadline: Instant,
        judge: Judge,
        started: Instant,
    ) -> Response {
        if body.len() <= INLINE {
            return self.review(&body, deadline, judge, started);
        }
        let uid = find_uid(&body).or_else(|| Review::read(&body).ok().map(|review| review.uid.into_owned()));
        let app = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            app.review(&body, deadline, judge, started)
        });
        match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(Ok(response)) => response,
            _ => match uid {
                Some(uid) => json(&late(&uid)),
                None => plain(StatusCode::GATEWAY_TIMEOUT, "the time for this review is over; try again"),
            },
        }
    }

    fn review(&self, body: &[u8], deadline: Instant, judge: Judge, started: Instant) -> Response {
        #[expect(clippy::cast_precision_loss, reason = "a body is far below 2^52 bytes")]
        self.metrics.body_bytes.observe(body.len() as f64);
        self.metrics.in_flight.inc();
        let response = match Review::read(body) {
            Ok(review) => self.judge(&review, deadline, judge, started),
            Err(error) => {
                tracing::warn!(error = %error, "cannot read a review");
                self.count("other", Operation::Other, "failed", false);
                match find_uid(body) {
                    Some(uid) => json(&Answer::failed(&uid, 400, "BadRequest", error.to_string())),
                    None => plain(StatusCode::BAD_REQUEST, &error.to_string()),
                }
            }
        };
        self.metrics.in_flight.dec();
        response
    }

    fn judge(&self, review: &Review<'_>, deadline: Instant, judge: Judge, started: Instant) -> Response {
        if Instant::now() >= deadline {
            self.count("other", review.operation, "failed", review.dry_run);
            return json(&Answer::failed(
                &review.uid,
                504,
                "Timeout",
                "the time for this review is over; try again",
            ));
        }
        // A defect in a rule must cost one review, not the process.
        let Ok(decision) = catch_unwind(AssertUnwindSafe(|| {
            self.stores.look(|world| judge(review, &self.installation, world))
        })) else {
            self.metrics.panics.inc();
            tracing::error!(uid = %review.uid, kind = %review.kind, "judging a review panicked");
            self.count("other", review.operation, "failed", review.dry_run);
            let message =
                "Covenant met an internal error while judging this object; see the log of covenant-webhook";
            return json(&Answer::failed(&review.uid, 500, "InternalError", message));
        };
        let kind = decision.kind.map_or("other", |kind| kind.as_str());
        let verdict = if decision.answer.is_allowed() { "allowed" } else { "refused" };
        self.count(kind, review.operation, verdict, review.dry_run);
        let rules = decision.kind.map(|kind| admit::rule_ids(kind, &decision.findings)).unwrap_or_default();
        tracing::info!(
            uid = %review.uid, kind = %review.kind, namespace = %review.namespace, name = %review.name,
            operation = review.operation.as_str(), verdict, rules, seconds = started.elapsed().as_secs_f64(),
            "review"
        );
        json(&decision.answer)
    }

    fn count(&self, kind: &'static str, operation: Operation, verdict: &'static str, dry_run: bool) {
        let dry_run = if dry_run { "true" } else { "false" };
        let labels = ReviewLabels { kind, operation: operation.as_str(), verdict, dry_run };
        self.metrics.reviews.get_or_create(&labels).inc();
    }

    /// Turns a request away so that the API server itself tries again inside the user's request.
    fn shed(&self, reason: &'static str) -> Response {
        self.metrics.shed.get_or_create(&ShedLabels { reason }).inc();
        let mut response =
            plain(StatusCode::TOO_MANY_REQUESTS, "too many reviews at once; try again in a second");
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        response
    }

    /// The rest of the body is not read: the connection ends with the answer.
    fn too_large(&self, head: &[u8]) -> Response {
        let limit = self.limits.body_bytes;
        let message = format!("the review is larger than {limit} bytes (--max-body-bytes)");
        self.count("other", Operation::Other, "failed", false);
        closing(match find_uid(head) {
            Some(uid) => json(&Answer::failed(&uid, 413, "RequestEntityTooLarge", message)),
            None => plain(StatusCode::PAYLOAD_TOO_LARGE, &message),
        })
    }
}

async fn validate(State(app): State<Arc<App>>, request: Request) -> Response {
    app.answer(request, admit::validate).await
}

async fn protect(State(app): State<Arc<App>>, request: Request) -> Response {
    app.answer(request, admit::protect).await
}

fn late(uid: &str) -> Answer {
    Answer::failed(uid, 504, "Timeout", "the time for this review is over; try again")
}

fn json(answer: &Answer) -> Response {
    let mut response = Response::new(Body::from(answer.to_json()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn plain(status: StatusCode, message: &str) -> Response {
    let mut response = Response::new(Body::from(message.to_owned()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
