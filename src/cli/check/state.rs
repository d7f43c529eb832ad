//! STATE for contracts: their facts are looked up over the whole input, so they are judged when all of it is read.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use serde_json::Value;

use super::facts;
use super::report::{Condition, Entry, Finding, Violation, WorkloadFinding};
use crate::api::conditions::{ConditionStatus, ContractCondition};
use crate::api::secret_contract::EffectiveContract;
use crate::api::secret_contract::effective::EffectiveWorkload;
use crate::cli::input::object::{Object, Place};
use crate::rules::Installation;
use crate::rules::facts::{ContractFacts, ExternalSecretFacts, Lookup, SecretFacts, WorkloadFacts};
use crate::rules::finding::{Findings, Severity};
use crate::rules::secret_contract::state::{self, Report, Settings};

/// The contracts of the input and the facts that they may refer to.
#[derive(Default)]
pub struct Contracts {
    waiting: Vec<Contract>,
    /// By namespace and name. None: given, but unreadable, so nothing is known of it.
    secrets: HashMap<(String, String), Option<SecretFacts>>,
    /// The keys of SealedSecrets, by namespace and name.
    sealed: HashMap<(String, String), BTreeSet<String>>,
    /// By namespace and name, each with the apiVersion that it is given in.
    external_secrets: HashMap<(String, String), (String, ExternalSecretFacts)>,
    /// By kind, namespace and name.
    workloads: HashMap<(String, String, String), WorkloadFacts>,
    /// Where each fact was given last, by kind, namespace and name.
    places: HashMap<(String, String, String), Place>,
}

/// A contract that waits for its facts.
struct Contract {
    /// Which entry of the report is about it.
    entry: usize,
    namespace: String,
    object: Value,
    /// What there is to say without facts: the spec is invalid.
    invalid: Option<Report>,
}

impl Contracts {
    /// Takes a contract with its SHAPE findings; `entry` is the place of its entry in the report.
    pub fn add(&mut self, entry: usize, namespace: String, object: Value, shape: &Findings) {
        let invalid = Report::of_invalid_spec(shape);
        self.waiting.push(Contract { entry, namespace, object, invalid });
    }

    /// Notes where a fact is given, and gives the place where it was given before.
    pub fn remember(&mut self, object: &Object, namespace: &str) -> Option<Place> {
        let key = (object.kind.clone(), namespace.to_owned(), object.name()?.to_owned());
        self.places.insert(key, object.place.clone())
    }

    /// Takes a Secret; of several with one name the last counts. What is wrong with it comes back as a sentence without
    /// a word of its content.
    pub fn add_secret(&mut self, object: &Object, namespace: &str) -> Result<(), &'static str> {
        let Some(name) = object.name() else { return Err("a Secret without a name; give it one") };
        let read = facts::secret(object);
        let problem = read.as_ref().err().copied();
        self.secrets.insert((namespace.to_owned(), name.to_owned()), read.ok());
        problem.map_or(Ok(()), Err)
    }

    /// Takes an ExternalSecret, a workload or a SealedSecret; of several with one name the last counts.
    pub fn add_fact(&mut self, object: &Object, namespace: &str) {
        let Some(name) = object.name() else { return };
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let value = object.node.to_value();
        match object.kind.as_str() {
            "ExternalSecret" => {
                let facts = (object.api_version.clone(), ExternalSecretFacts::of_object(&value));
                self.external_secrets.insert((namespace, name), facts);
            }
            "Deployment" | "StatefulSet" | "DaemonSet" => {
                let key = (object.kind.clone(), namespace, name);
                self.workloads.insert(key, WorkloadFacts::of_object(&value));
            }
            "SealedSecret" => match facts::sealed_keys(&value) {
                Some(keys) => drop(self.sealed.insert((namespace, name), keys)),
                None => drop(self.sealed.remove(&(namespace, name))),
            },
            _ => {}
        }
    }

    /// Judges every contract and writes the verdicts into its entry. With `strict`, a Ready that is Unknown is an error.
    pub fn judge(
        &mut self,
        entries: &mut [Option<Entry>],
        installation: &Installation,
        now: Timestamp,
        strict: bool,
    ) {
        let settings = Settings::default();
        for contract in &self.waiting {
            // An entry that is gone belonged to an earlier version of the same object.
            let Some(Some(entry)) = entries.get_mut(contract.entry) else { continue };
            if let Some(invalid) = &contract.invalid {
                describe(entry, invalid);
                entry.findings.extend(unknown(invalid).filter(|_| strict));
                continue;
            }
            let effective = EffectiveContract::of_object(&contract.object);
            let name = effective.secret_name.unwrap_or_default().to_owned();
            let mut facts = ContractFacts::of_secret(Lookup::NotInInput);
            facts.external_secret = self.external_secret(contract, &effective, installation);
            facts.workloads = self.workloads(contract, &effective);
            let key = (contract.namespace.clone(), name);
            let slot = self.secrets.get_mut(&key);
            if slot.is_none() {
                facts.sealed_keys = self.sealed.get(&key).cloned();
            }
            let report = judge(&effective, facts, slot, &settings, now);
            describe(entry, &report);
            entry.findings.extend(failures(&effective, &report));
            entry.findings.extend(unknown(&report).filter(|_| strict));
        }
    }
}

impl Contracts {
    /// The ExternalSecret of a contract; one that is given in a version outside the list is not known.
    fn external_secret(
        &self,
        contract: &Contract,
        effective: &EffectiveContract<'_>,
        installation: &Installation,
    ) -> Option<Lookup<ExternalSecretFacts>> {
        let name = effective.external_secret?.name.unwrap_or_default().to_owned();
        let given = self.external_secrets.get(&(contract.namespace.clone(), name));
        let listed = given.filter(|(version, _)| installation.external_secret_api_versions.contains(version));
        Some(listed.map_or(Lookup::NotInInput, |(_, facts)| Lookup::Found(facts.clone())))
    }

    fn workloads(
        &self,
        contract: &Contract,
        effective: &EffectiveContract<'_>,
    ) -> Vec<Lookup<WorkloadFacts>> {
        let find = |reference: &EffectiveWorkload<'_>| {
            let kind = reference.kind?.as_str().to_owned();
            let key = (kind, contract.namespace.clone(), reference.name?.to_owned());
            self.workloads.get(&key).cloned()
        };
        let references = effective.workloads.iter();
        references.map(|reference| find(reference).map_or(Lookup::NotInInput, Lookup::Found)).collect()
    }
}

/// Judges one contract. The Secret is lent to the facts for that time: what holds secret bytes is not copied.
fn judge(
    contract: &EffectiveContract<'_>,
    mut facts: ContractFacts,
    mut slot: Option<&mut Option<SecretFacts>>,
    settings: &Settings,
    now: Timestamp,
) -> Report {
    facts.secret = slot.as_mut().and_then(|slot| slot.take()).map_or(Lookup::NotInInput, Lookup::Found);
    let report = Report::judge(contract, &facts, settings, now);
    if let (Some(slot), Lookup::Found(secret)) = (slot, facts.secret) {
        *slot = Some(secret);
    }
    report
}

/// Writes what a report says into an entry, lists whole and sorted.
fn describe(entry: &mut Entry, report: &Report) {
    entry.ready = report.verdict(ContractCondition::Ready).map(|ready| ready.status.as_str());
    entry.conditions = report
        .conditions
        .iter()
        .map(|(condition, verdict)| Condition {
            type_: condition.as_str().to_owned(),
            status: verdict.status.as_str().to_owned(),
            reason: verdict.reason.as_str().to_owned(),
            message: verdict.message.clone(),
        })
        .collect();
    entry.missing_keys.clone_from(&report.missing_keys);
    entry.missing_keys.sort_unstable();
    entry.violations = report.violations.iter().map(violation).collect();
    entry.violations.sort_by(|left, right| (&left.key, &left.rule).cmp(&(&right.key, &right.rule)));
    entry.workload_findings = report.workload_findings.iter().map(workload_finding).collect();
    entry.workload_findings.sort_by(|left, right| order(left).cmp(&order(right)));
}

fn violation(found: &state::Violation) -> Violation {
    Violation {
        key: found.key.clone(),
        rule: found.rule.as_str().to_owned(),
        reason: found.rule.reason().as_str().to_owned(),
        message: found.message.clone(),
    }
}

fn workload_finding(found: &state::WorkloadFinding) -> WorkloadFinding {
    WorkloadFinding {
        kind: found.kind.clone(),
        name: found.name.clone(),
        container: found.container.clone(),
        key: found.key.clone(),
        reason: found.reason.as_str().to_owned(),
        message: found.message.clone(),
    }
}

fn order(finding: &WorkloadFinding) -> (&str, &str, &str, Option<&str>, &str) {
    (&finding.kind, &finding.name, &finding.container, finding.key.as_deref(), &finding.reason)
}

/// A Ready that cannot be told, as an error.
fn unknown(report: &Report) -> Option<Finding> {
    let ready = report.verdict(ContractCondition::Ready)?;
    let unknown = ready.status == ConditionStatus::Unknown;
    unknown.then(|| Finding::whole(Severity::Error, ready.reason.as_str(), &ready.message, ""))
}

/// A check that is False is an error where it counts in Ready, else a warning.
fn failures(contract: &EffectiveContract<'_>, report: &Report) -> Vec<Finding> {
    let failed = report.conditions.iter().filter(|(condition, verdict)| {
        *condition != ContractCondition::Ready && verdict.status == ConditionStatus::False
    });
    failed
        .map(|(condition, verdict)| {
            let counts = state::counts(*condition, contract.policy);
            let severity = if counts { Severity::Error } else { Severity::Warning };
            Finding::whole(severity, verdict.reason.as_str(), &verdict.message, "")
        })
        .collect()
}
