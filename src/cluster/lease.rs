//! Leader election on one Lease, after the manner of Kubernetes' own components.
//!
//! Whether another holder's Lease has expired is counted on this machine's monotonic clock, from the moment its record
//! was last seen to change: no two wall clocks are compared. A leader that cannot renew gives up well before others may
//! take over.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};

use super::error::{FailureClass, RequestError};
use super::fence::Fence;
use crate::api::names;
use crate::process::clock;

/// How long a record that does not change keeps others out.
pub const DURATION: Duration = Duration::from_secs(15);
/// How long a leader goes on without having renewed.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// The pause between two tries.
pub const RETRY: Duration = Duration::from_secs(2);
/// How long one request may take: two fit into the deadline.
const REQUEST: Duration = Duration::from_secs(4);

/// The longest duration that is believed of somebody else's record.
const LONGEST: Duration = Duration::from_mins(1);

/// One candidate for one Lease.
pub struct Election {
    leases: Api<Lease>,
    name: String,
    identity: String,
    observed: Option<Observed>,
    fence: Fence,
}

/// The Lease as it was last seen, and since when its record has been like that.
struct Observed {
    lease: Lease,
    since: Instant,
}

/// What one try to become leader came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The Lease is ours.
    Acquired,
    /// Somebody else holds it.
    HeldBy(String),
}

impl Election {
    /// The candidate `identity` for the Lease `namespace/name`. The identity must be unique to this process. `fence` is
    /// open while the Lease is held.
    pub fn new(client: Client, namespace: &str, name: &str, identity: &str, fence: Fence) -> Self {
        let leases = Api::namespaced(client, namespace);
        Self { leases, name: name.to_owned(), identity: identity.to_owned(), observed: None, fence }
    }

    /// Tries once. An error means that nothing is known; try again after [`RETRY`].
    pub async fn attempt(&mut self) -> Result<Attempt, RequestError> {
        let Some(lease) = self.read().await? else {
            return self.create().await;
        };
        let now = Instant::now();
        self.observe(lease, now);
        let Some(observed) = &self.observed else { return Ok(Attempt::HeldBy(String::new())) };
        let holder = holder(&observed.lease);
        if holder != self.identity && !holder.is_empty() && !observed.is_expired(now) {
            return Ok(Attempt::HeldBy(holder.to_owned()));
        }
        let taken = taken(&observed.lease, &self.identity, clock::now());
        match self.write(taken).await {
            Ok(()) => {
                self.fence.open_until(now + DEADLINE);
                Ok(Attempt::Acquired)
            }
            Err(error) if error.class == FailureClass::Conflict => {
                Ok(Attempt::HeldBy("another candidate".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps the Lease renewed; returns only when it is lost, with the reason.
    pub async fn hold(&mut self) -> String {
        let lost = self.renew_always().await;
        self.fence.close();
        lost
    }

    async fn renew_always(&mut self) -> String {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RETRY).await;
            let begun = Instant::now();
            let left = DEADLINE.saturating_sub(renewed.elapsed());
            match tokio::time::timeout(left, self.renew()).await {
                Ok(Ok(())) => {
                    renewed = begun;
                    self.fence.open_until(begun + DEADLINE);
                }
                Ok(Err(Some(holder))) => return format!("the Lease is now held by {holder:?}"),
                Ok(Err(None)) => {}
                Err(_) => return format!("the Lease could not be renewed for {} s", DEADLINE.as_secs()),
            }
        }
    }

    /// One renewal: `Err(Some(holder))` when the Lease is somebody else's, `Err(None)` when it is not known.
    async fn renew(&mut self) -> Result<(), Option<String>> {
        let Some(observed) = &self.observed else { return Err(None) };
        let renewed = taken(&observed.lease, &self.identity, clock::now());
        let error = match self.write(renewed).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        tracing::warn!(error = %error, "lease not renewed");
        if matches!(error.class, FailureClass::Conflict | FailureClass::NotFound) {
            // Somebody wrote it. If it was taken, we have lost; a foreign edit of a Lease that is still ours has not.
            match self.read().await {
                Ok(Some(lease)) if holder(&lease) == self.identity => self.observe(lease, Instant::now()),
                Ok(Some(lease)) => return Err(Some(holder(&lease).to_owned())),
                Ok(None) => return Err(Some("nobody: it was deleted".to_owned())),
                Err(_) => {}
            }
        }
        Err(None)
    }

    /// Gives the Lease up, so that the next leader need not wait for it to expire. Only a leader may call this.
    pub async fn release(&mut self) {
        self.fence.close();
        let Some(observed) = &self.observed else { return };
        if holder(&observed.lease) != self.identity {
            return;
        }
        let mut lease = observed.lease.clone();
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            spec.renew_time = Some(MicroTime(clock::now()));
        }
        if let Err(error) = self.write(lease).await {
            tracing::debug!(error = %error, "lease not given up");
        }
    }

    async fn read(&self) -> Result<Option<Lease>, RequestError> {
        limited(&self.name, "read", self.leases.get_opt(&self.name)).await
    }

    async fn create(&mut self) -> Result<Attempt, RequestError> {
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            labels: Some([(names::MANAGED_BY_LABEL.to_owned(), names::MANAGED_BY.to_owned())].into()),
            ..ObjectMeta::default()
        };
        let empty = Lease { metadata, ..Lease::default() };
        let lease = taken(&empty, &self.identity, clock::now());
        let begun = Instant::now();
        match limited(&self.name, "create", self.leases.create(&parameters(), &lease)).await {
            Ok(lease) => {
                self.observe(lease, Instant::now());
                self.fence.open_until(begun + DEADLINE);
                Ok(Attempt::Acquired)
            }
            Err(error) if error.class == FailureClass::Conflict => {
                Ok(Attempt::HeldBy("another candidate".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    async fn write(&mut self, lease: Lease) -> Result<(), RequestError> {
        let written =
            limited(&self.name, "write", self.leases.replace(&self.name, &parameters(), &lease)).await?;
        self.observe(written, Instant::now());
        Ok(())
    }

    fn observe(&mut self, lease: Lease, now: Instant) {
        let since = match &self.observed {
            Some(observed) if observed.lease.spec == lease.spec => observed.since,
            _ => now,
        };
        self.observed = Some(Observed { lease, since });
    }
}

impl Observed {
    fn is_expired(&self, now: Instant) -> bool {
        let seconds = self.lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
        let stated = seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
        now.saturating_duration_since(self.since) >= stated.unwrap_or(DURATION).min(LONGEST)
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

/// `lease`, renewed by `identity`, and taken over by it if it was somebody else's.
fn taken(lease: &Lease, identity: &str, now: Timestamp) -> Lease {
    let mut lease = lease.clone();
    let ours = holder(&lease) == identity;
    let new = lease.spec.is_none();
    let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
    if !ours {
        spec.acquire_time = Some(MicroTime(now));
        let transitions = spec.lease_transitions.unwrap_or(0);
        spec.lease_transitions = Some(if new { 0 } else { transitions.saturating_add(1) });
    }
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = Some(i32::try_from(DURATION.as_secs()).unwrap_or(i32::MAX));
    spec.renew_time = Some(MicroTime(now));
    lease
}

fn parameters() -> PostParams {
    PostParams { field_manager: Some(names::CONTROLLER.to_owned()), ..PostParams::default() }
}

async fn limited<T>(
    name: &str,
    verb: &str,
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, RequestError> {
    let action = format!("{verb} Lease {name:?}");
    match tokio::time::timeout(REQUEST, request).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(RequestError::new(action, &error)),
        Err(_) => Err(RequestError::timeout(action)),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Method, Response};
    use http_body_util::BodyExt as _;
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::*;

    /// An API server with one Lease that counts versions and refuses old ones.
    #[derive(Clone, Default)]
    struct Server(Arc<Mutex<State>>);
    #[derive(Default)]
    struct State {
        lease: Option<Value>,
        version: u64,
        broken: bool,
    }

    impl Server {
        fn client(&self) -> Client {
            let server = self.clone();
            let service = tower::service_fn(move |request: http::Request<Body>| {
                let server = server.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.unwrap().to_bytes();
                    let (code, answer) = server.answer(&head.method, serde_json::from_slice(&body).ok());
                    let body = Body::from(serde_json::to_vec(&answer).unwrap());
                    Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
                }
            });
            Client::new(service, "n")
        }

        fn answer(&self, method: &Method, body: Option<Value>) -> (u16, Value) {
            let mut state = self.0.lock().unwrap();
            let refuse = |code: u16| {
                (
                    code,
                    json!({"kind": "Status", "code": code, "message": "no", "reason": if code == 404 { "NotFound" } else { "Other" }}),
                )
            };
            if state.broken {
                return refuse(500);
            }
            let stored = state.lease.as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone());
            match (method, &stored) {
                (&Method::GET, None) => return refuse(404),
                (&Method::GET, Some(_)) => return (200, state.lease.clone().unwrap()),
                (&Method::POST, Some(_)) => return refuse(409),
                (&Method::POST, None) => {}
                (_, stored) => {
                    if stored.as_ref() != Some(&body.as_ref().unwrap()["metadata"]["resourceVersion"]) {
                        return refuse(409);
                    }
                }
            }
            state.version += 1;
            let mut lease = body.unwrap();
            lease["metadata"]["resourceVersion"] = json!(state.version.to_string());
            state.lease = Some(lease.clone());
            (200, lease)
        }

        fn candidate(&self, identity: &str) -> Election {
            Election::new(self.client(), "n", "covenant-controller", identity, Fence::closed())
        }
    }

    fn age(election: &mut Election, seconds: u64) {
        let observed = election.observed.as_mut().unwrap();
        observed.since = observed.since.checked_sub(Duration::from_secs(seconds)).unwrap();
    }

    #[tokio::test]
    async fn one_leads_until_its_record_has_stood_still_long_enough() {
        let server = Server::default();
        let (mut first, mut second) = (server.candidate("first"), server.candidate("second"));
        assert_eq!(first.attempt().await.unwrap(), Attempt::Acquired);
        assert_eq!(second.attempt().await.unwrap(), Attempt::HeldBy("first".into()));
        age(&mut second, 14);
        assert_eq!(second.attempt().await.unwrap(), Attempt::HeldBy("first".into()));
        age(&mut second, 14);
        // A renewal starts the count again, whatever the two wall clocks say.
        first.renew().await.unwrap();
        assert_eq!(second.attempt().await.unwrap(), Attempt::HeldBy("first".into()));
        age(&mut second, 16);
        assert_eq!(second.attempt().await.unwrap(), Attempt::Acquired);
        assert_eq!(first.renew().await, Err(Some("second".into())));
        let spec = second.observed.as_ref().unwrap().lease.spec.clone().unwrap();
        assert_eq!((spec.lease_transitions, spec.lease_duration_seconds), (Some(1), Some(15)));
    }

    #[tokio::test]
    async fn a_lease_that_was_given_up_is_free_at_once() {
        let server = Server::default();
        let (mut first, mut second) = (server.candidate("first"), server.candidate("second"));
        first.attempt().await.unwrap();
        second.attempt().await.unwrap();
        first.release().await;
        assert_eq!(second.attempt().await.unwrap(), Attempt::Acquired);
        // Who has lost it leaves it alone.
        first.release().await;
        assert_eq!(first.attempt().await.unwrap(), Attempt::HeldBy("second".into()));
    }

    #[tokio::test]
    async fn a_failed_request_decides_nothing_and_a_foreign_edit_is_survived() {
        let server = Server::default();
        let mut first = server.candidate("first");
        first.attempt().await.unwrap();
        server.0.lock().unwrap().broken = true;
        assert_eq!(first.renew().await, Err(None));
        assert!(first.attempt().await.is_err());
        server.0.lock().unwrap().broken = false;
        // Somebody labels the Lease: one renewal meets a conflict, the next one passes.
        server.0.lock().unwrap().lease.as_mut().unwrap()["metadata"]["resourceVersion"] = json!("99");
        assert_eq!(first.renew().await, Err(None));
        assert_eq!(first.renew().await, Ok(()));
        server.0.lock().unwrap().lease = None;
        assert!(first.renew().await.unwrap_err().is_some());
    }
}
