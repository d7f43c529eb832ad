//! The whole process: start, election, the controllers, and the end.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use kube::Client;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::binding::{Process as BindingProcess, Unobserved};
use super::contract_triggers::{self, Watched};
use super::contracts::Contracts;
use super::engine::Engine;
use super::flags::{Certificates, Flags};
use super::metrics::Metrics;
use crate::api::{Kind, names};
use crate::cluster::client;
use crate::cluster::events::Events;
use crate::cluster::fence::Fence;
use crate::cluster::lease::{self, Attempt, Election};
use crate::process::exit::StartError;
use crate::process::health::{self, Check, Readiness};
use crate::process::metrics::Metrics as Exposition;
use crate::process::{listener, signals, telemetry};
use crate::rules::Installation;
use crate::rules::secret_contract::state::Evaluator;

/// How long the passes under way may take to end after the signal to stop.
const DRAIN: Duration = Duration::from_secs(20);

/// Runs the controller until it is told to stop. An error with exit code 2 means that nothing was begun.
pub async fn run(flags: Flags) -> Result<(), StartError> {
    if flags.certificates == Certificates::SelfManaged {
        let what = "--certificates self-managed: this version does not make certificates";
        return Err(StartError::configuration(
            what,
            "use external and mount a certificate, as webhook-certs/ says",
        ));
    }
    let kubeconfig = flags.shared.kubeconfig.as_deref();
    let elector = client::connect(kubeconfig, names::CONTROLLER).await?;
    let fence = if flags.leader_elect { Fence::closed() } else { Fence::open() };
    let client = client::fenced(kubeconfig, names::CONTROLLER, &fence).await?;
    let listener = listener::bind("--metrics-listen", flags.shared.metrics_listen).await?;
    telemetry::start(flags.shared.log_level, flags.shared.log_format);
    let signals = signals::termination()?;

    let mut metrics = None;
    let exposition = Exposition::build(|registry| metrics = Some(Metrics::register(registry)));
    let Some(metrics) = metrics else { return Err(StartError::Stopped("no metrics were made".to_owned())) };
    let readiness = Readiness::new();
    let closed = CancellationToken::new();
    let served = tokio::spawn(listener::serve(
        listener,
        health::router(readiness.clone(), exposition),
        closed.clone(),
    ));

    let identity = identity();
    tracing::info!("covenant-controller {} starts as {identity}", env!("CARGO_PKG_VERSION"));
    let process = Process { flags, elector, fence, client, metrics, readiness, identity };
    let outcome = tokio::select! {
        outcome = process.lead(&signals.stop) => outcome,
        () = signals.stop_now.cancelled() => Err(StartError::Stopped("stopped at once by a second signal".to_owned())),
    };
    closed.cancel();
    let _ = served.await;
    outcome
}

/// A name that no other process has: the host's, which is the pod's, and a random part.
fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| names::CONTROLLER.to_owned());
    format!("{host}_{:016x}", RandomState::new().hash_one(std::process::id()))
}

struct Process {
    flags: Flags,
    /// For the election alone: nothing else may be written by whoever does not lead.
    elector: Client,
    fence: Fence,
    client: Client,
    metrics: Metrics,
    readiness: Readiness,
    identity: String,
}

impl Process {
    /// Waits to be the leader, then works until told to stop or until the Lease is lost.
    async fn lead(&self, stop: &CancellationToken) -> Result<(), StartError> {
        let mut election = None;
        if self.flags.leader_elect {
            let check = self.readiness.register("election", "the Lease has not been read yet");
            let namespace = &self.flags.shared.namespace;
            let mut candidate = Election::new(
                self.elector.clone(),
                namespace,
                names::ELECTION_LEASE,
                &self.identity,
                self.fence.clone(),
            );
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = acquire(&mut candidate, &check) => {}
            }
            election = Some(candidate);
        }
        self.metrics.leads(true);
        tracing::info!("this process leads");
        let ending = CancellationToken::new();
        let tasks = self.start(&ending);
        let lost = self.work(election.as_mut(), stop, &ending, &tasks).await;
        self.metrics.leads(false);
        match (lost, election) {
            (Some(reason), _) => Err(StartError::Stopped(format!("leadership is lost: {reason}"))),
            (None, Some(mut election)) => {
                election.release().await;
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Holds the Lease while the controllers work and end; `Some` is why it was lost.
    async fn work(
        &self,
        election: Option<&mut Election>,
        stop: &CancellationToken,
        ending: &CancellationToken,
        tasks: &TaskTracker,
    ) -> Option<String> {
        let ended = async {
            stop.cancelled().await;
            ending.cancel();
            // A watch that never came up does not notice the end by itself.
            if tokio::time::timeout(DRAIN, tasks.wait()).await.is_err() {
                tracing::warn!("some passes did not end within {} s", DRAIN.as_secs());
            }
        };
        match election {
            None => {
                ended.await;
                None
            }
            Some(election) => tokio::select! {
                () = ended => None,
                lost = election.hold() => Some(lost),
            },
        }
    }

    /// Starts every controller.
    fn start(&self, ending: &CancellationToken) -> TaskTracker {
        let tasks = TaskTracker::new();
        let installation = Arc::new(self.flags.installation());
        let evaluator = Arc::new(Evaluator::new(self.flags.settings()));
        let events = Events::new(self.client.clone(), names::CONTROLLER, &self.identity);
        // A namespace that is given twice is still one.
        let namespaces: BTreeSet<&String> = self.flags.watch_namespaces.iter().collect();
        let scopes: Vec<Option<String>> = match namespaces.len() {
            0 => vec![None],
            _ => namespaces.into_iter().cloned().map(Some).collect(),
        };
        for scope in &scopes {
            self.contracts(&tasks, scope.as_ref(), &installation, &evaluator, &events, ending);
        }
        let binding = BindingProcess {
            client: self.client.clone(),
            installation: installation.clone(),
            namespace: self.flags.shared.namespace.clone(),
            scopes,
            readiness: self.readiness.clone(),
            metrics: self.metrics.clone(),
            events,
            // This version has no data plane.
            observer: Arc::new(Unobserved),
        };
        binding.start(&tasks, ending);
        tasks.close();
        tasks
    }

    fn engine(&self, kind: Kind, scope: Option<&String>, ending: &CancellationToken) -> Engine {
        Engine {
            client: self.client.clone(),
            kind,
            namespace: scope.cloned(),
            check: self.check(kind.plural(), scope),
            metrics: self.metrics.clone(),
            stop: ending.clone(),
        }
    }

    fn check(&self, what: &str, scope: Option<&String>) -> Check {
        let name = scope.map_or_else(|| what.to_owned(), |namespace| format!("{what}-{namespace}"));
        self.readiness.register(name, "not listed yet")
    }

    fn contracts(
        &self,
        tasks: &TaskTracker,
        scope: Option<&String>,
        installation: &Arc<Installation>,
        evaluator: &Arc<Evaluator>,
        events: &Events,
        ending: &CancellationToken,
    ) {
        let reconciler = Arc::new(Contracts::new(
            self.client.clone(),
            installation.clone(),
            evaluator.clone(),
            self.flags.recheck_interval,
            events.clone(),
            self.metrics.clone(),
        ));
        let built_in = Watched::BUILT_IN.map(|watched| {
            let check = self.check(watched.plural, scope);
            let namespace = scope.map(String::as_str);
            contract_triggers::built_in(
                watched,
                &self.client,
                namespace,
                check,
                reconciler.references.clone(),
            )
        });
        let external_secrets = contract_triggers::external_secrets(
            &installation.external_secret_api_versions,
            &self.client,
            scope.map(String::as_str),
            self.check("externalsecrets", scope),
            reconciler.references.clone(),
        );
        let triggers = stream::select_all(built_in.into_iter().chain([external_secrets]));
        let engine = self.engine(Kind::SecretContract, scope, ending);
        tasks.spawn(engine.run(reconciler, move |_| triggers.boxed()));
    }
}

/// Tries until the Lease is ours. Whoever waits is ready: there is nothing else for it to do.
async fn acquire(election: &mut Election, check: &Check) {
    let mut told = String::new();
    loop {
        match election.attempt().await {
            Ok(Attempt::Acquired) => {
                check.pass();
                return;
            }
            Ok(Attempt::HeldBy(holder)) => {
                check.pass();
                if told != holder {
                    tracing::info!("waiting for the Lease, which {holder:?} holds");
                    told = holder;
                }
            }
            Err(error) => {
                let text = error.to_string();
                check.fail(text.clone());
                if told != text {
                    tracing::warn!(error = text, "the Lease cannot be taken, trying again");
                    told = text;
                }
            }
        }
        tokio::time::sleep(lease::RETRY).await;
    }
}
