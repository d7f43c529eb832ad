//! STATE: a contract and the facts around it become verdicts. Pure: `now` is an argument, facts are given.
//!
//! Each check has a file of its own. Texts are made from fixed words, the names of keys, rules and objects, and the
//! bounds that the contract sets; never from anything that was read out of a Secret.

mod external_secret;
mod keys;
mod ready;
mod rotation;
mod secret;
#[cfg(test)]
mod tests;
mod workloads;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
pub use ready::counts;

use crate::api::conditions::{
    ConditionStatus, ContractCondition, ContractReason, MAX_MESSAGE_BYTES, ViolationRule,
    WorkloadFindingReason,
};
use crate::api::secret_contract::EffectiveContract;
use crate::go::regexp::{CACHE_BYTES, Cache, Program, STEPS_PER_SECRET};
use crate::rules::facts::{ContractFacts, Lookup, SecretFacts};
use crate::rules::finding::{Fault, Finding, Findings};
use crate::rules::id::RuleId;
use crate::rules::text;

/// What an installation sets for the evaluation of contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How far in the future a declared rotation time may lie, for clocks that differ.
    pub clock_skew: SignedDuration,
    /// The steps that the patterns of one Secret may cost together; at most [`STEPS_PER_SECRET`].
    pub evaluation_steps: u64,
    /// Types of Secrets whose content is not evaluated.
    pub denied_types: Vec<String>,
}

impl Settings {
    /// The types that are not evaluated where the installation names none: credentials of the cluster itself, and
    /// records of a tool that no workload consumes.
    pub const DENIED_TYPES: [&'static str; 3] =
        ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token", "helm.sh/release.v1"];
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clock_skew: SignedDuration::from_mins(5),
            evaluation_steps: STEPS_PER_SECRET,
            denied_types: Self::DENIED_TYPES.map(str::to_owned).to_vec(),
        }
    }
}

/// Judges contracts by one installation's settings, with the programs of their patterns at hand.
#[derive(Debug)]
pub struct Evaluator {
    settings: Settings,
    programs: Mutex<Cache>,
}

impl Evaluator {
    /// An evaluator that holds up to [`CACHE_BYTES`] of programs.
    pub fn new(settings: Settings) -> Self {
        Self { settings, programs: Mutex::new(Cache::new(CACHE_BYTES)) }
    }

    /// The program of a pattern; `None` for one that does not compile, which SHAPE has refused before.
    fn program(&self, pattern: &str) -> Option<Arc<Program>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).program(pattern).ok()
    }

    /// Judges a contract without errors of SHAPE.
    pub fn judge(&self, contract: &EffectiveContract<'_>, facts: &ContractFacts, now: Timestamp) -> Report {
        let mut report = Report::empty();
        let exists = secret::exists(contract, &facts.secret);
        let external_secret = external_secret::judge(contract, facts, now);
        let workloads = workloads::judge(contract, &facts.workloads);
        let keys = keys::judge(contract, facts, &workloads.environment_keys, self);
        let rotation = rotation::judge(contract, &facts.secret, &self.settings, now);
        let checks = [
            (ContractCondition::SecretExists, exists),
            (ContractCondition::KeysValid, keys.verdict),
            (ContractCondition::ExternalSecretReady, external_secret.verdict),
            (ContractCondition::WorkloadsConfigured, workloads.verdict),
            (ContractCondition::RotationPolicySatisfied, rotation.verdict),
        ];
        let ready = ready::judge(contract.policy, &checks);
        report.conditions.extend(checks);
        report.conditions.push((ContractCondition::Ready, ready));
        report.observed_secret = observed(&facts.secret);
        report.missing_keys = keys.missing;
        report.violations = keys.violations;
        report.workload_findings = workloads.findings;
        report.workload_finding_count = workloads.finding_count;
        report.next_change = [rotation.next_change, external_secret.next_change].into_iter().flatten().min();
        report
    }
}

/// What one condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// True, False or Unknown.
    pub status: ConditionStatus,
    /// One word from the closed list.
    pub reason: ContractReason,
    /// For a person; never empty, at most 1 KiB.
    pub message: String,
}

impl Verdict {
    fn new(status: ConditionStatus, reason: ContractReason, message: impl Into<String>) -> Self {
        Self { status, reason, message: text::cut(message.into(), MAX_MESSAGE_BYTES) }
    }

    fn yes(reason: ContractReason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::True, reason, message)
    }

    fn no(reason: ContractReason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::False, reason, message)
    }

    fn unknown(reason: ContractReason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::Unknown, reason, message)
    }
}

/// A present key that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The key.
    pub key: String,
    /// The rule that it breaks.
    pub rule: ViolationRule,
    /// For a person.
    pub message: String,
}

/// A container that does not consume the Secret as the contract asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkloadFinding {
    /// The workload's kind.
    pub kind: String,
    /// The workload's name.
    pub name: String,
    /// The container.
    pub container: String,
    /// The key; none where the finding is about the container as such.
    pub key: Option<String>,
    /// Why.
    pub reason: WorkloadFindingReason,
    /// For a person.
    pub message: String,
}

/// Which Secret the verdicts are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedSecret {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its resourceVersion at the one read.
    pub resource_version: String,
}

/// Everything that one evaluation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The five checks and Ready, in the order of [`ContractCondition`].
    pub conditions: Vec<(ContractCondition, Verdict)>,
    /// The Secret that was read, if one was.
    pub observed_secret: Option<ObservedSecret>,
    /// Required keys that the Secret lacks, in no order.
    pub missing_keys: Vec<String>,
    /// Rules that present keys break, in no order.
    pub violations: Vec<Violation>,
    /// What is wrong with the declared workloads; of very many the first in their order.
    pub workload_findings: Vec<WorkloadFinding>,
    /// How many findings about workloads there are, also beyond those listed.
    pub workload_finding_count: usize,
    /// The next instant at which a verdict changes although nothing else does.
    pub next_change: Option<Timestamp>,
}

impl Report {
    /// The verdict on one condition.
    pub fn verdict(&self, condition: ContractCondition) -> Option<&Verdict> {
        self.conditions.iter().find(|(known, _)| *known == condition).map(|(_, verdict)| verdict)
    }

    /// Whether a verdict is only unknown because something could not be read, and which reason says so: then it is
    /// worth trying again before long.
    pub fn unreadable(&self) -> Option<ContractReason> {
        [ContractReason::APIError, ContractReason::AccessDenied]
            .into_iter()
            .find(|reason| self.conditions.iter().any(|(_, verdict)| verdict.reason == *reason))
    }

    /// The report on a spec with errors among its SHAPE `findings`; `None` when there is none. Nothing is evaluated.
    ///
    /// A word that this version does not know, and no other fault, is not wrong but not supported.
    pub fn of_invalid_spec(findings: &Findings) -> Option<Self> {
        let errors: Vec<&Finding> = findings.errors().collect();
        if errors.is_empty() {
            return None;
        }
        let faults = errors.iter().map(|finding| finding.line()).collect::<Vec<_>>().join("; ");
        let later = errors.iter().all(|finding| is_of_a_later_version(finding));
        let (reason, ready) = if later {
            let reason = ContractReason::NotSupported;
            (reason, Verdict::unknown(reason, faults))
        } else {
            let reason = ContractReason::InvalidSpec;
            (reason, Verdict::no(reason, faults))
        };
        let rest = if later {
            "Not evaluated: this version does not support all of the spec; see Ready."
        } else {
            "Not evaluated: the spec is invalid; see Ready."
        };
        let mut conditions: Vec<_> =
            ContractCondition::CHECKS.iter().map(|check| (*check, Verdict::unknown(reason, rest))).collect();
        conditions.push((ContractCondition::Ready, ready));
        Some(Self { conditions, ..Self::empty() })
    }

    /// Judges one contract without errors of SHAPE; whoever judges many keeps an [`Evaluator`].
    pub fn judge(
        contract: &EffectiveContract<'_>,
        facts: &ContractFacts,
        settings: &Settings,
        now: Timestamp,
    ) -> Self {
        Evaluator::new(settings.clone()).judge(contract, facts, now)
    }

    const fn empty() -> Self {
        Self {
            conditions: Vec::new(),
            observed_secret: None,
            missing_keys: Vec::new(),
            violations: Vec::new(),
            workload_findings: Vec::new(),
            workload_finding_count: 0,
            next_change: None,
        }
    }
}

fn observed(secret: &Lookup<SecretFacts>) -> Option<ObservedSecret> {
    match secret {
        Lookup::Found(secret) => Some(ObservedSecret {
            name: secret.name.clone(),
            uid: secret.uid.clone(),
            resource_version: secret.resource_version.clone(),
        }),
        _ => None,
    }
}

/// A closed set of words may grow; a word of a later version is no fault of the author.
fn is_of_a_later_version(finding: &Finding) -> bool {
    let word = finding.rule == RuleId::FieldEnum && finding.fault == Fault::NotSupported;
    word || finding.rule == RuleId::ContractInjectionMode
}
