//! The figures of the controller. Labels are closed sets; nothing in them names an object.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::api::Kind;
use crate::api::conditions::ConditionStatus;
use crate::binding::StepName;
use crate::cluster::error::FailureClass;

/// From a pass that only looks to one that meets the limits of evaluation, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    kind: &'static str,
    class: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StepLabels {
    step: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabel {
    phase: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadyLabel {
    ready: &'static str,
}

/// The phase of each object, by kind, namespace and name.
type Phases = HashMap<(Kind, String, String), String>;

/// All figures of the controller. Clones share them.
#[derive(Clone)]
pub(super) struct Metrics {
    seconds: Family<KindLabel, Histogram, fn() -> Histogram>,
    errors: Family<ErrorLabels, Counter>,
    writes: Family<KindLabel, Counter>,
    contracts: Family<ReadyLabel, Gauge>,
    leader: Gauge,
    steps: Family<StepLabels, Counter>,
    claim_conflicts: Counter,
    tenants: Family<PhaseLabel, Gauge>,
    databases: Family<PhaseLabel, Gauge>,
    /// The phase that each Tenant and Database was counted in.
    phases: Arc<Mutex<Phases>>,
    /// What each contract was counted as, by namespace and name.
    counted: Arc<Mutex<HashMap<(String, String), ConditionStatus>>>,
}

impl Metrics {
    /// The figures, registered.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let metrics = Self {
            seconds: Family::new_with_constructor(histogram),
            errors: Family::default(),
            writes: Family::default(),
            contracts: Family::default(),
            leader: Gauge::default(),
            steps: Family::default(),
            claim_conflicts: Counter::default(),
            tenants: Family::default(),
            databases: Family::default(),
            phases: Arc::default(),
            counted: Arc::default(),
        };
        registry.register(
            "covenant_reconcile_seconds",
            "Time of one pass over one object",
            metrics.seconds.clone(),
        );
        registry.register(
            "covenant_reconcile_errors",
            "Passes that failed, by class",
            metrics.errors.clone(),
        );
        registry.register("covenant_status_writes", "Statuses written", metrics.writes.clone());
        registry.register("covenant_contracts", "SecretContracts by their Ready", metrics.contracts.clone());
        registry.register(
            "covenant_binding_steps",
            "Writes of the binding protocol, by what became of them",
            metrics.steps.clone(),
        );
        registry.register(
            "covenant_claim_conflicts",
            "Claims that somebody else was faster to take",
            metrics.claim_conflicts.clone(),
        );
        registry.register("covenant_tenants", "PostgreSQLTenants by their phase", metrics.tenants.clone());
        registry.register(
            "covenant_databases",
            "PostgreSQLDatabases by their phase",
            metrics.databases.clone(),
        );
        registry.register("covenant_leader", "1 while this process leads", metrics.leader.clone());
        for status in [ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown] {
            metrics.contracts.get_or_create(&ReadyLabel { ready: status.as_str() }).set(0);
        }
        metrics
    }

    /// One pass over an object of `kind` took so long.
    pub(super) fn pass(&self, kind: Kind, time: Duration) {
        self.seconds.get_or_create(&KindLabel { kind: kind.as_str() }).observe(time.as_secs_f64());
    }

    /// One pass over an object of `kind` failed.
    pub(super) fn failed(&self, kind: Kind, class: FailureClass) {
        self.errors.get_or_create(&ErrorLabels { kind: kind.as_str(), class: class.as_str() }).inc();
    }

    /// One status of an object of `kind` was written.
    pub(super) fn wrote(&self, kind: Kind) {
        self.writes.get_or_create(&KindLabel { kind: kind.as_str() }).inc();
    }

    /// A write of the binding protocol was done, or was not.
    pub(super) fn step(&self, step: StepName, result: &'static str) {
        self.steps.get_or_create(&StepLabels { step: step.as_str(), result }).inc();
        if step == StepName::TakeClaim && result == "overtaken" {
            self.claim_conflicts.inc();
        }
    }

    /// The Tenant or Database at `place` is in this phase, empty for none yet; `None` when it is gone.
    pub(super) fn phase(&self, kind: Kind, place: &(String, String), phase: Option<String>) {
        let family = if kind == Kind::PostgreSQLTenant { &self.tenants } else { &self.databases };
        // A status is anybody's to write, and every label value is kept for ever.
        let known = |phase: String| match phase.as_str() {
            "Pending" | "Binding" | "Bound" | "Provisioning" | "Ready" | "Releasing" | "Lost"
            | "Validating" | "Available" | "Released" | "Deleting" => phase,
            _ => "Pending".to_owned(),
        };
        let phase = phase.map(known);
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, place.0.clone(), place.1.clone());
        let before = match phase.clone() {
            Some(phase) => phases.insert(key, phase),
            None => phases.remove(&key),
        };
        if let Some(phase) = before {
            family.get_or_create(&PhaseLabel { phase }).dec();
        }
        if let Some(phase) = phase {
            family.get_or_create(&PhaseLabel { phase }).inc();
        }
    }

    /// Whether this process leads.
    pub(super) fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// The contract `namespace/name` is ready, not ready, or unknown; `None` when it is gone.
    pub(super) fn contract(&self, namespace: &str, name: &str, ready: Option<ConditionStatus>) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), name.to_owned());
        let before = match ready {
            Some(ready) => counted.insert(key, ready),
            None => counted.remove(&key),
        };
        let gauge = |status: ConditionStatus| {
            self.contracts.get_or_create(&ReadyLabel { ready: status.as_str() }).clone()
        };
        if let Some(before) = before {
            gauge(before).dec();
        }
        if let Some(ready) = ready {
            gauge(ready).inc();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::metrics::Metrics as Text;

    #[test]
    fn names_are_those_of_the_documentation() {
        let mut made = None;
        let text = Text::build(|registry| made = Some(Metrics::register(registry)));
        let metrics = made.unwrap();
        metrics.pass(Kind::SecretContract, Duration::from_millis(3));
        metrics.failed(Kind::SecretContract, FailureClass::AccessDenied);
        metrics.wrote(Kind::PostgreSQLTenant);
        metrics.leads(true);
        metrics.contract("team", "a", Some(ConditionStatus::True));
        metrics.contract("team", "b", Some(ConditionStatus::True));
        metrics.contract("team", "a", Some(ConditionStatus::False));
        metrics.contract("team", "b", None);
        metrics.step(StepName::TakeClaim, "overtaken");
        let place = ("team".to_owned(), "shop".to_owned());
        metrics.phase(Kind::PostgreSQLTenant, &place, Some("Binding".to_owned()));
        metrics.phase(Kind::PostgreSQLTenant, &place, Some("Bound".to_owned()));
        metrics.phase(Kind::PostgreSQLDatabase, &place, Some("written by anybody".to_owned()));
        let text = text.text();
        for line in [
            "covenant_reconcile_seconds_count{kind=\"SecretContract\"} 1",
            "covenant_reconcile_errors_total{kind=\"SecretContract\",class=\"access-denied\"} 1",
            "covenant_status_writes_total{kind=\"PostgreSQLTenant\"} 1",
            "covenant_contracts{ready=\"True\"} 0",
            "covenant_contracts{ready=\"False\"} 1",
            "covenant_leader 1",
            "covenant_binding_steps_total{step=\"TakeClaim\",result=\"overtaken\"} 1",
            "covenant_claim_conflicts_total 1",
            "covenant_tenants{phase=\"Binding\"} 0",
            "covenant_tenants{phase=\"Bound\"} 1",
            "covenant_databases{phase=\"Pending\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
