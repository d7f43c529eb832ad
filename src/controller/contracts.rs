//! One pass over one SecretContract: SHAPE, one read of all that it refers to, STATE, and the status written if it says
//! something new.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use kube::api::DynamicObject;
use kube::{Client, ResourceExt as _};
use serde_json::Value;

use super::contract_facts;
use super::echo::Echo;
use super::engine::{self, Key, Next, Reconciler, key, panicked, spec_of};
use super::metrics::Metrics;
use super::references::{References, Referent};
use super::retry::spread;
use crate::api::Kind;
use crate::api::conditions::{ConditionStatus, ContractCondition, ContractReason};
use crate::api::secret_contract::{EffectiveContract, SecretContractStatus};
use crate::cluster::error::{FailureClass, RequestError};
use crate::cluster::events::{Events, Importance};
use crate::cluster::status as write;
use crate::process::clock;
use crate::rules::facts::{ContractFacts, Lookup};
use crate::rules::secret_contract::state::{Evaluator, Report};
use crate::rules::{Installation, shape};
use crate::status::{contract, stored};

/// How many reads in a row may fail before a condition says so: one lost answer is no news.
const SILENT_FAILURES: u32 = 2;
/// When to look again for a right that is missing, and for an answer that did not come.
const DENIED: Duration = Duration::from_mins(2);
const UNANSWERED: Duration = Duration::from_secs(10);
/// By how much of its length a scheduled check is spread out.
const JITTER: f64 = 0.1;

/// Everything a pass works with.
pub(super) struct Contracts {
    pub(super) client: Client,
    pub(super) installation: Arc<Installation>,
    pub(super) evaluator: Arc<Evaluator>,
    pub(super) recheck: Duration,
    pub(super) events: Events,
    pub(super) metrics: Metrics,
    pub(super) references: Arc<References>,
    memory: Mutex<HashMap<Key, Memory>>,
}

/// What is remembered of a contract between passes. Losing it costs a pass, never a wrong verdict.
#[derive(Debug, Default)]
struct Memory {
    echo: Echo,
    /// Passes in a row in which something could not be read.
    failed_reads: u32,
}

impl Contracts {
    /// Contracts without any memory.
    pub(super) fn new(
        client: Client,
        installation: Arc<Installation>,
        evaluator: Arc<Evaluator>,
        recheck: Duration,
        events: Events,
        metrics: Metrics,
    ) -> Self {
        let (references, memory) = (Arc::default(), Mutex::default());
        Self { client, installation, evaluator, recheck, events, metrics, references, memory }
    }

    /// Looks into the memory of a contract. One that is gone meanwhile has none, and gets none again.
    fn remember<T>(&self, object: &DynamicObject, change: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        match memory.get_mut(&key(object.namespace().as_deref(), &object.name_any())) {
            Some(known) => change(known),
            None => change(&mut Memory::default()),
        }
    }

    /// Counts the contract by its Ready, unless it is gone meanwhile.
    fn count(&self, object: &DynamicObject, ready: ConditionStatus) {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        if memory.contains_key(&key(Some(&namespace), &name)) {
            self.metrics.contract(&namespace, &name, Some(ready));
        }
    }

    /// How long this pass has to wait: until our copy of the object shows our own last write, and so that writes are a
    /// second apart. A status computed from an older copy would be compared with the wrong one.
    fn too_early(&self, object: &DynamicObject) -> Option<Duration> {
        self.remember(object, |memory| memory.echo.wait(Instant::now()))
    }

    /// SHAPE and STATE, with one read of everything that the contract refers to between them.
    async fn judge(&self, object: &DynamicObject, now: Timestamp) -> Result<Judged, RequestError> {
        let value = Arc::new(spec_of(&serde_json::to_value(object).unwrap_or_default()));
        let (whole, installation) = (value.clone(), self.installation.clone());
        let shaped = tokio::task::spawn_blocking(move || {
            Report::of_invalid_spec(&shape(Kind::SecretContract, &whole, &installation))
        });
        if let Some(report) = shaped.await.map_err(|_| panicked(object))? {
            self.remember(object, |memory| memory.failed_reads = 0);
            return Ok(Judged { report, valid: false, immutable: false });
        }
        let facts = self.read(object, &value).await?;
        let immutable = matches!(&facts.secret, Lookup::Found(secret) if secret.immutable);
        let evaluator = self.evaluator.clone();
        // Patterns may cost a second of work: it is done where it holds up nobody.
        let judged = tokio::task::spawn_blocking(move || {
            evaluator.judge(&EffectiveContract::of_object(&value), &facts, now)
        });
        let report = judged.await.map_err(|_| panicked(object))?;
        Ok(Judged { report, valid: true, immutable })
    }

    async fn read(&self, object: &DynamicObject, value: &Value) -> Result<ContractFacts, RequestError> {
        let namespace = object.namespace().unwrap_or_default();
        let contract = EffectiveContract::of_object(value);
        let facts = contract_facts::read(&self.client, &namespace, &contract, &self.installation).await;
        let Some((what, failure)) = contract_facts::failure(&contract, &facts) else {
            self.remember(object, |memory| memory.failed_reads = 0);
            return Ok(facts);
        };
        let failures = self.remember(object, |memory| {
            memory.failed_reads = memory.failed_reads.saturating_add(1);
            memory.failed_reads
        });
        let before: SecretContractStatus = stored(&object.data);
        if failures > SILENT_FAILURES || before.observed_generation != object.metadata.generation {
            return Ok(facts);
        }
        let action = format!("read {what} in namespace {namespace:?}");
        Err(RequestError { action, class: FailureClass::Transport, reason: failure.to_string() })
    }

    async fn write(&self, object: &DynamicObject, status: &SecretContractStatus) -> Result<(), RequestError> {
        let api = engine::api(&self.client, Kind::SecretContract, object.namespace().as_deref());
        let value = serde_json::to_value(status).unwrap_or_default();
        self.remember(object, |memory| memory.echo.begin());
        let written = write::replace(&api, object, &value).await;
        let version = written.as_ref().ok().cloned().flatten();
        self.remember(object, |memory| memory.echo.end(version, Instant::now()));
        written?;
        self.metrics.wrote(Kind::SecretContract);
        Ok(())
    }

    /// Tells about a Ready that changed, and about an immutable Secret that was replaced.
    fn announce(
        &self,
        object: &DynamicObject,
        before: &SecretContractStatus,
        after: &SecretContractStatus,
        judged: &Judged,
    ) {
        let (was, is) = (contract::ready(before), contract::ready(after));
        if let Some(verdict) = judged.report.verdict(ContractCondition::Ready) {
            tracing::info!(
                kind = Kind::SecretContract.as_str(),
                namespace = object.namespace(),
                name = object.name_any(),
                verdict = verdict.reason.as_str(),
                "Ready is {is}"
            );
            if !before.conditions.is_empty() && was != is {
                let importance =
                    if is == ConditionStatus::True { Importance::Normal } else { Importance::Warning };
                self.events.record(object, importance, verdict.reason.as_str(), &verdict.message);
            }
        }
        if let (Some(was), Some(is)) = (&before.observed_secret, &after.observed_secret)
            && judged.immutable
            && was.name == is.name
            && was.uid != is.uid
        {
            let note = format!(
                "The immutable Secret \"{}\" was replaced. Nodes that cached the old one may serve its content to pods \
                 until they are restarted.",
                is.name
            );
            self.events.record(object, Importance::Warning, "ImmutableSecretReplaced", &note);
        }
    }

    /// When to look again: when a verdict changes by itself, when the scheduled check is due, or when a read may work.
    fn next(
        &self,
        object: &DynamicObject,
        status: &SecretContractStatus,
        judged: &Judged,
        now: Timestamp,
    ) -> Next {
        let uid = object.uid().unwrap_or_default();
        if !judged.valid {
            // Nothing is read and, as a rule, nothing written: but a status that somebody else wrote is put right.
            return Next::After(spread(self.recheck, JITTER, &uid));
        }
        let until = |instant: Timestamp| Duration::try_from(instant.duration_since(now)).unwrap_or_default();
        let scheduled = until(contract::next_check(status, self.interval(), now));
        let mut next = scheduled + spread(self.recheck, JITTER, &uid).saturating_sub(self.recheck);
        if let Some(change) = judged.report.next_change {
            next = next.min(until(change));
        }
        match judged.report.unreadable() {
            Some(ContractReason::AccessDenied) => next = next.min(spread(DENIED, JITTER, &uid)),
            Some(_) => next = next.min(spread(UNANSWERED, JITTER, &uid)),
            None => {}
        }
        Next::After(next)
    }

    fn interval(&self) -> SignedDuration {
        super::flags::signed(self.recheck)
    }
}

/// What a pass found, apart from what it is written as.
struct Judged {
    report: Report,
    /// Whether the spec could be evaluated at all.
    valid: bool,
    /// Whether the Secret that was read is immutable.
    immutable: bool,
}

impl Reconciler for Contracts {
    async fn reconcile(&self, object: Arc<DynamicObject>) -> Result<Next, RequestError> {
        if let Some(wait) = self.too_early(&object) {
            return Ok(Next::After(wait));
        }
        let now = clock::now();
        let judged = self.judge(&object, now).await?;
        let before: SecretContractStatus = stored(&object.data);
        let generation = object.metadata.generation.unwrap_or_default();
        let after = contract::of_report(&judged.report, &before, generation, now);
        self.count(&object, contract::ready(&after));
        let differs = !contract::same(&before, &after);
        let due = judged.valid && contract::next_check(&before, self.interval(), now) <= now;
        if !differs && !due {
            return Ok(self.next(&object, &before, &judged, now));
        }
        self.write(&object, &after).await?;
        if differs {
            self.announce(&object, &before, &after, &judged);
        }
        Ok(self.next(&object, &after, &judged, now))
    }

    fn seen(&self, object: &DynamicObject) {
        let namespace = object.namespace().unwrap_or_default();
        let referents = Referent::all_of(&EffectiveContract::of_object(&object.data));
        self.references.set(&namespace, &object.name_any(), referents);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let known = memory.entry(key(Some(&namespace), &object.name_any())).or_default();
        if let Some(version) = object.resource_version() {
            known.echo.seen(version);
        }
    }

    fn gone(&self, namespace: Option<&str>, name: &str) {
        self.references.set(namespace.unwrap_or_default(), name, BTreeSet::new());
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.remove(&key(namespace, name));
        self.metrics.contract(namespace.unwrap_or_default(), name, None);
    }

    fn relisted(&self) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.values_mut().for_each(|memory| memory.echo.forget());
    }
}
