//! A watch of a kind that the API server need not serve, in whichever of several versions it does. Its absence is a
//! state of the cluster and no fault, so it holds up nobody.

use std::fmt::Debug;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::watch::{Doubling, Failure};
use crate::process::health::Check;

/// From how many failures in a row one that usually passes by itself is told.
const LASTING: u32 = 5;

/// What such a watch tells.
#[derive(Clone, Debug)]
pub enum Sighting<K> {
    /// An event of the version that is served.
    Event(Event<K>),
    /// What was served before is no longer, in any of the versions.
    Gone,
}

/// The events of the kind that `versions` lead to, each named (`external-secrets.io/v1`), for ever. `what` names the
/// kind in log and readiness (`externalsecrets`); `namespace` is where it is looked for, none being everywhere.
///
/// The versions are tried in their order and the first that is served is followed, until it is no longer. Then, or
/// where none is, they are all tried again, after at most 8 s.
///
/// `check` passes with the first answer that settles something: a complete list, "not served", or "not permitted".
/// Whoever depends on an object of the kind learns the latter two when it reads it, and a process that would not be
/// ready for the lack of an optional part would never be. Any other failure of a list fails the check. The log tells each
/// change once.
pub fn events<K>(
    versions: Vec<(String, Api<K>)>,
    what: &'static str,
    namespace: Option<String>,
    check: Check,
) -> impl Stream<Item = Sighting<K>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    follow(versions, Reporter::new(what, namespace, check), Doubling::default())
}

fn follow<K, P>(
    versions: Vec<(String, Api<K>)>,
    reporter: Reporter,
    pauses: P,
) -> impl Stream<Item = Sighting<K>> + Send
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    P: Backoff,
{
    let optional =
        Optional { versions, tried: 0, current: None, listed: false, served: false, pauses, reporter };
    stream::unfold(optional, |mut optional| async move {
        let sighting = optional.next().await;
        Some((sighting, optional))
    })
}

struct Optional<K, P> {
    versions: Vec<(String, Api<K>)>,
    /// How many versions in a row are not served; the next one to try.
    tried: usize,
    /// The watch of that version.
    current: Option<BoxStream<'static, watcher::Result<Event<K>>>>,
    /// Whether it has brought a complete list.
    listed: bool,
    /// Whether any watch has, and nothing has said since that the kind is gone.
    served: bool,
    pauses: P,
    reporter: Reporter,
}

impl<K, P> Optional<K, P>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    P: Backoff,
{
    async fn next(&mut self) -> Sighting<K> {
        loop {
            let Some((version, api)) = self.versions.get(self.tried) else {
                self.tried = 0;
                self.reporter.not_served(&self.versions);
                if std::mem::take(&mut self.served) {
                    return Sighting::Gone;
                }
                self.pause().await;
                continue;
            };
            let current = self
                .current
                .get_or_insert_with(|| watcher::watcher(api.clone(), watcher::Config::default()).boxed());
            match current.next().await {
                Some(Ok(event)) => {
                    if matches!(event, Event::InitDone) {
                        (self.listed, self.served) = (true, true);
                    }
                    // Init only says that a list is about to be tried.
                    if self.listed && !matches!(event, Event::Init) {
                        self.reporter.watching(version);
                    }
                    return Sighting::Event(event);
                }
                Some(Err(error)) => {
                    let failure = Failure::of(&error);
                    if failure.starting && failure.code == Some(404) {
                        self.current = None;
                        if std::mem::take(&mut self.listed) {
                            // It was served until now; one that was tried before it may be served instead.
                            self.tried = 0;
                            self.pause().await;
                        } else {
                            self.tried += 1;
                        }
                    } else {
                        self.reporter.failed(version, &failure);
                        self.pause().await;
                    }
                }
                // A watch does not end by itself; if one did, it would be begun again.
                None => {
                    (self.current, self.listed) = (None, false);
                    self.pause().await;
                }
            }
        }
    }

    async fn pause(&mut self) {
        self.pauses.reset();
        if let Some(pause) = self.pauses.next() {
            tokio::time::sleep(pause).await;
        }
    }
}

/// Says what has changed, once.
struct Reporter {
    what: &'static str,
    namespace: Option<String>,
    check: Check,
    /// The state that was told last: a version, nothing for "not served", or why it failed.
    last: Option<String>,
    /// Failures in a row of the kind that passes.
    passing: u32,
}

impl Reporter {
    fn new(what: &'static str, namespace: Option<String>, check: Check) -> Self {
        Self { what, namespace, check, last: None, passing: 0 }
    }

    fn watching(&mut self, version: &str) {
        self.passing = 0;
        if self.news(version) {
            self.check.pass();
            let (what, namespace) = (self.what, self.namespace.as_deref());
            tracing::info!(namespace, "watching {what} of {version}");
        }
    }

    fn not_served<K>(&mut self, versions: &[(String, Api<K>)]) {
        self.check.pass();
        self.passing = 0;
        if self.news("") {
            let names = versions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            let (what, namespace) = (self.what, self.namespace.as_deref());
            tracing::info!(
                namespace,
                "the API server does not serve {what} ({names}); they are found without a restart once it does"
            );
        }
    }

    fn failed(&mut self, version: &str, failure: &Failure) {
        // After a change of the definition the server first wants time (429), or has forgotten where the watch was to go
        // on (410), and it lists anew. That is worth a word only if it does not end.
        if matches!(failure.code, Some(410 | 429)) {
            self.passing = self.passing.saturating_add(1);
            if self.passing < LASTING {
                return;
            }
        }
        if failure.code == Some(403) {
            self.check.pass();
        } else if failure.listing {
            self.check.fail(format!("cannot list {} of {version}: {}", self.what, failure.reason));
        }
        if self.news(&failure.reason) {
            let (what, namespace) = (self.what, self.namespace.as_deref());
            tracing::warn!(
                namespace,
                error = failure.reason,
                "cannot watch {what} of {version}, trying again"
            );
        }
    }

    /// Whether this is another state than the last one.
    fn news(&mut self, state: &str) -> bool {
        let new = self.last.as_deref() != Some(state);
        if new {
            self.last = Some(state.to_owned());
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use http::Response;
    use kube::Client;
    use kube::api::DynamicObject;
    use kube::client::Body;
    use kube::core::{ApiResource, GroupVersionKind};
    use tokio::sync::Notify;

    use super::*;
    use crate::process::health::Readiness;

    const LIST: &str =
        r#"{"apiVersion":"g/v1","kind":"ThingList","metadata":{"resourceVersion":"1"},"items":[]}"#;
    const NOT_FOUND: (u16, &str) = (404, "404 page not found\n");

    /// What the server answers to which request.
    type Step = (&'static str, (u16, &'static str));

    /// The answers in their order. The request after the last gets none, and is told.
    struct Script {
        steps: Mutex<VecDeque<Step>>,
        over: Notify,
    }

    struct NoPause;

    impl Iterator for NoPause {
        type Item = Duration;
        fn next(&mut self) -> Option<Duration> {
            Some(Duration::ZERO)
        }
    }

    impl Backoff for NoPause {
        fn reset(&mut self) {}
    }

    /// The kind in two versions, on a server that follows a script and takes no other request.
    fn watched(script: &Arc<Script>, check: Check) -> BoxStream<'static, Sighting<DynamicObject>> {
        let script = script.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let script = script.clone();
            async move {
                let step = script.steps.lock().unwrap().pop_front();
                let Some((expected, (code, body))) = step else {
                    script.over.notify_one();
                    return std::future::pending().await;
                };
                let watch = request.uri().query().unwrap_or_default().contains("watch=true");
                let asked = format!("{} {}", if watch { "watch" } else { "list" }, request.uri().path());
                assert_eq!(asked, expected.replace(' ', " /apis/g/") + "/things");
                let answer = Response::builder().status(code).body(Body::from(body.as_bytes().to_vec()));
                Ok::<_, Infallible>(answer.unwrap())
            }
        });
        let client = Client::new(service, "n");
        let api = |version: &str| {
            let gvk = GroupVersionKind::gvk("g", version, "Thing");
            let resource = ApiResource::from_gvk_with_plural(&gvk, "things");
            (format!("g/{version}"), Api::all_with(client.clone(), &resource))
        };
        let reporter = Reporter::new("things", None, check);
        follow(vec![api("v1"), api("v1beta1")], reporter, NoPause).boxed()
    }

    /// Runs a script to its end: what was told (`init` left out), and the check after it.
    async fn told(steps: &[Step]) -> (Vec<&'static str>, Result<(), String>) {
        let script =
            Arc::new(Script { steps: Mutex::new(steps.iter().copied().collect()), over: Notify::new() });
        let readiness = Readiness::new();
        let mut sightings = watched(&script, readiness.register("things", "not listed yet"));
        let mut told = Vec::new();
        loop {
            let sighting = tokio::select! {
                sighting = sightings.next() => sighting.unwrap(),
                () = script.over.notified() => break,
            };
            match sighting {
                Sighting::Event(Event::Init) => {}
                Sighting::Event(Event::InitDone) => told.push("listed"),
                Sighting::Event(_) => told.push("event"),
                Sighting::Gone => told.push("gone"),
            }
        }
        (told, readiness.state("things").unwrap())
    }

    #[tokio::test]
    async fn the_first_version_that_is_served_is_followed() {
        let rest = [("watch v1", (500, "")), ("watch v1", (500, ""))];
        let first = [("list v1", (200, LIST))];
        assert_eq!(told(&[&first[..], &rest].concat()).await, (vec!["listed"], Ok(())));
        let second = [("list v1", NOT_FOUND), ("list v1beta1", (200, LIST)), ("watch v1beta1", (500, ""))];
        assert_eq!(told(&second).await, (vec!["listed"], Ok(())));
    }

    #[tokio::test]
    async fn a_kind_that_is_not_served_is_no_fault_and_is_found_later() {
        let absent = [("list v1", NOT_FOUND), ("list v1beta1", NOT_FOUND)];
        let all = absent.repeat(5);
        assert_eq!(told(&all).await, (vec![], Ok(())));
        let later = [all.as_slice(), &[("list v1", (200, LIST))]].concat();
        assert_eq!(told(&later).await, (vec!["listed"], Ok(())));
    }

    #[tokio::test]
    async fn a_version_or_the_whole_kind_that_goes_is_noticed() {
        let served = [("list v1", NOT_FOUND), ("list v1beta1", (200, LIST)), ("watch v1beta1", NOT_FOUND)];
        let other = [&served[..], &[("list v1", (200, LIST))]].concat();
        assert_eq!(
            told(&other).await,
            (vec!["listed", "listed"], Ok(())),
            "the one before it is tried again"
        );
        let absent = [("list v1", NOT_FOUND), ("list v1beta1", NOT_FOUND)];
        let gone = [&served[..], &absent, &absent, &[("list v1", (200, LIST))]].concat();
        assert_eq!(told(&gone).await, (vec!["listed", "gone", "listed"], Ok(())));
    }

    #[tokio::test]
    async fn a_right_that_is_missing_holds_up_nobody_and_other_failures_do() {
        let denied = ("list v1", (403, ""));
        assert_eq!(told(&[denied, denied]).await, (vec![], Ok(())));
        assert_eq!(told(&[denied, denied, ("list v1", (200, LIST))]).await, (vec!["listed"], Ok(())));
        let (said, check) = told(&[("list v1", (500, ""))]).await;
        assert!(said.is_empty() && check.unwrap_err().starts_with("cannot list things of g/v1: "));
        assert_eq!(told(&[("list v1", (500, "")), ("list v1", (200, LIST))]).await, (vec!["listed"], Ok(())));
        assert_eq!(told(&[]).await, (vec![], Err("not listed yet".to_owned())));
        let busy = [("list v1", (429, ""))];
        assert_eq!(told(&busy.repeat(4)).await, (vec![], Err("not listed yet".to_owned())));
        let (said, check) = told(&busy.repeat(5)).await;
        assert!(said.is_empty() && check.unwrap_err().starts_with("cannot list things of g/v1: "));
    }
}
