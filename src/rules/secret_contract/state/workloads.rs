//! `WorkloadsConfigured`: whether the declared workloads consume the Secret, as the kubelet would build their pods.
//!
//! Judged on pod templates alone: whether pods run is not asked. Objects that the contract does not name are never read;
//! where one of them could change the answer, it is a note and no finding.

mod container;
mod cost;
mod environment;
mod files;
mod message;
mod selection;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use self::message::{Group, Subject};
use super::{Verdict, WorkloadFinding};
use crate::api::conditions::{ContractReason, MAX_MESSAGE_BYTES, WorkloadFindingReason};
use crate::api::secret_contract::EffectiveContract;
use crate::api::secret_contract::effective::{EffectiveWorkload, WorkloadKind};
use crate::rules::facts::{Lookup, ReadFailure, WorkloadFacts};
use crate::rules::text::{counted, cut};

/// How many findings are kept: more than anybody reads, and few enough to hold in memory whatever the templates are.
const KEPT: usize = 1 << 16;

/// The verdict with what it rests on.
pub(super) struct Workloads {
    pub(super) verdict: Verdict,
    /// The findings; of more than [`KEPT`] the first in their order.
    pub(super) findings: Vec<WorkloadFinding>,
    /// How many findings there are.
    pub(super) finding_count: usize,
    /// Declared keys of the Secret that stand in the final environment of a selected container of a declared workload.
    pub(super) environment_keys: BTreeSet<String>,
}

/// How a required key arrives in a container; the better, the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    /// Nothing brings it.
    Never,
    /// Something brings it, and something later takes its place.
    Overwritten,
    /// It arrives if it is there, and the container starts without it.
    Optional,
    /// It arrives, or the container does not start.
    Surely,
}

/// What the contract says about the Secret's keys.
struct Declared<'a> {
    secret: &'a str,
    keys: HashMap<&'a str, bool>,
}

impl<'a> Declared<'a> {
    fn of_contract(contract: &EffectiveContract<'a>) -> Self {
        let keys = contract.keys.iter().filter_map(|key| Some((key.name?, key.required))).collect();
        Self { secret: contract.secret_name.unwrap_or_default(), keys }
    }

    /// Whether a key is required; none for a key that no rule names.
    fn required(&self, key: &str) -> Option<bool> {
        self.keys.get(key).copied()
    }
}

/// Judges the declared workloads; `workloads` has one lookup to each reference, in the same order.
pub(super) fn judge(contract: &EffectiveContract<'_>, workloads: &[Lookup<WorkloadFacts>]) -> Workloads {
    if contract.workloads.is_empty() {
        let verdict = Verdict::yes(ContractReason::NotConfigured, "The contract declares no workloads.");
        return Workloads {
            verdict,
            findings: Vec::new(),
            finding_count: 0,
            environment_keys: BTreeSet::new(),
        };
    }
    let declared = Declared::of_contract(contract);
    let mut outcome = Outcome::default();
    for (index, reference) in contract.workloads.iter().enumerate() {
        outcome.add(contract, &declared, reference, workloads.get(index).unwrap_or(&Lookup::NotInInput));
    }
    outcome.finish(contract, &declared)
}

/// What all workloads come to. Everything in it is sorted, so that the order of the references says nothing.
#[derive(Default)]
struct Outcome {
    findings: BTreeSet<WorkloadFinding>,
    /// Findings that are counted but not kept.
    more_findings: usize,
    missing: BTreeSet<String>,
    terminating: BTreeSet<String>,
    failed: BTreeSet<String>,
    too_costly: BTreeSet<String>,
    forbidden: BTreeSet<String>,
    not_in_input: BTreeSet<String>,
    notes: BTreeSet<String>,
    environment_keys: BTreeSet<String>,
}

impl Outcome {
    fn add(
        &mut self,
        contract: &EffectiveContract<'_>,
        declared: &Declared<'_>,
        reference: &EffectiveWorkload<'_>,
        lookup: &Lookup<WorkloadFacts>,
    ) {
        let workload = name(reference);
        match lookup {
            Lookup::Found(facts) => self.found(contract, declared, reference, facts, &workload),
            Lookup::Absent => {
                self.missing
                    .insert(format!("{workload} does not exist; create it or correct spec.workloadRefs."));
            }
            Lookup::Forbidden => {
                self.forbidden.insert(format!(
                    "Covenant may not read {workload} in this namespace; an administrator can bind the ClusterRole \
                     covenant-controller-secrets here."
                ));
            }
            Lookup::Failed(failure) => self.failed(&workload, *failure),
            Lookup::NotServed => {
                self.failed.insert(format!(
                    "{workload} could not be read: the API server does not serve its kind. It is tried again."
                ));
            }
            Lookup::NotInInput => {
                self.not_in_input
                    .insert(format!("{workload} is not part of the input, so nothing is known of it."));
            }
        }
    }

    fn failed(&mut self, workload: &str, failure: ReadFailure) {
        self.failed.insert(format!("{workload} could not be read: {failure}. It is tried again."));
    }

    fn found(
        &mut self,
        contract: &EffectiveContract<'_>,
        declared: &Declared<'_>,
        reference: &EffectiveWorkload<'_>,
        facts: &WorkloadFacts,
        workload: &str,
    ) {
        let selection = selection::select(reference, &facts.pod);
        if cost::of_workload(&selection.containers, &facts.pod, contract.keys.len()) > cost::STEPS {
            self.too_costly.insert(format!(
                "The pod template of {workload} has more entries than are evaluated; select fewer containers or shorten it."
            ));
            return;
        }
        let mut findings = Vec::new();
        for (container, reason) in selection.faults {
            let message = if reason == WorkloadFindingReason::InitContainerNotIncluded {
                message::init_container(workload, container)
            } else {
                message::no_container(workload, container, &facts.pod, reference.include_init_containers)
            };
            findings.push((container, None, reason, message));
        }
        let mut notes = Vec::new();
        for container in selection.containers {
            let subject = Subject { workload, container: &container.name, secret: declared.secret };
            let judged = container::judge(
                container,
                &facts.pod,
                declared,
                &contract.keys,
                reference.consumption,
                subject,
            );
            let found = judged.findings.into_iter();
            findings.extend(
                found.map(|(key, reason, message)| (container.name.as_str(), Some(key), reason, message)),
            );
            notes.extend(judged.notes);
            self.environment_keys.extend(judged.environment_keys);
        }
        if facts.terminating {
            // It is going: nobody has to mend it. Its containers may still start, so what they hold counts.
            self.terminating.insert(format!(
                "{workload} is being deleted; create it again when it is gone, or correct spec.workloadRefs."
            ));
            return;
        }
        self.notes.extend(notes);
        for (container, key, reason, message) in findings {
            self.findings.insert(WorkloadFinding {
                kind: reference.kind.map_or("", WorkloadKind::as_str).to_owned(),
                name: reference.name.unwrap_or_default().to_owned(),
                container: container.to_owned(),
                key,
                reason,
                message: cut(message, MAX_MESSAGE_BYTES),
            });
            if self.findings.len() > KEPT {
                self.findings.pop_last();
                self.more_findings += 1;
            }
        }
    }

    fn finish(self, contract: &EffectiveContract<'_>, declared: &Declared<'_>) -> Workloads {
        let findings: Vec<WorkloadFinding> = self.findings.into_iter().collect();
        let finding_count = findings.len() + self.more_findings;
        let told = findings.iter().take(message::SENTENCES).map(|finding| finding.message.clone()).collect();
        // The first that has something to say gives the reason.
        let faults = [
            (ContractReason::ReferenceMissing, Group { noun: "finding", first: told, total: finding_count }),
            (ContractReason::WorkloadNotFound, Group::of("missing workload", self.missing)),
            (ContractReason::WorkloadTerminating, Group::of("terminating workload", self.terminating)),
        ];
        let doubts = [
            (ContractReason::APIError, Group::of("unread workload", self.failed)),
            (ContractReason::AccessDenied, Group::of("forbidden workload", self.forbidden)),
            (ContractReason::EvaluationLimitExceeded, Group::of("large workload", self.too_costly)),
            (ContractReason::NotInInput, Group::of("unknown workload", self.not_in_input)),
        ];
        let first = |groups: &[(ContractReason, Group)]| {
            groups.iter().find(|(_, group)| group.total > 0).map(|(reason, _)| *reason)
        };
        let (fault, doubt) = (first(&faults), first(&doubts));
        let mut groups: Vec<Group> = faults.into_iter().chain(doubts).map(|(_, group)| group).collect();
        if fault.is_none() && doubt.is_none() {
            groups.push(Group::of("", BTreeSet::from([configured(contract, declared)])));
        }
        groups.push(Group::of("note", self.notes.into_iter().map(|note| format!("Note: {note}")).collect()));
        let message = message::joined(&groups);
        let verdict = match (fault, doubt) {
            (Some(reason), _) => Verdict::no(reason, message),
            (None, Some(reason)) => Verdict::unknown(reason, message),
            (None, None) => Verdict::yes(ContractReason::WorkloadsReferenceSecret, message),
        };
        Workloads { verdict, findings, finding_count, environment_keys: self.environment_keys }
    }
}

/// What is said when nothing is wrong.
fn configured(contract: &EffectiveContract<'_>, declared: &Declared<'_>) -> String {
    let secret = declared.secret;
    let required = declared.keys.values().any(|required| *required);
    match (contract.workloads.as_slice(), required) {
        ([only], true) => {
            format!(
                "{} references every required key of Secret \"{secret}\" in each selected container.",
                name(only)
            )
        }
        (several, true) => format!(
            "{} reference every required key of Secret \"{secret}\" in each selected container.",
            counted(several.len(), "workload")
        ),
        (all, false) => format!(
            "The contract requires no key of Secret \"{secret}\", so nothing is asked of its {}.",
            counted(all.len(), "workload")
        ),
    }
}

/// `Deployment "web"`.
fn name(reference: &EffectiveWorkload<'_>) -> String {
    let kind = reference.kind.map_or("workload", WorkloadKind::as_str);
    format!("{kind} \"{}\"", reference.name.unwrap_or_default())
}
