//! A case: a contract, the facts around it, and what everything that judges it must say.
//!
//! A file says what is so at `facts.now`. Whoever runs a case at another time gets all its times moved alike: see
//! [`expand`].

mod expand;
mod outcome;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

pub use outcome::{Fault, Finding, Outcome, Said, Violation, differ};

/// The namespace in which contracts are judged where there is no cluster.
pub const NAMESPACE: &str = "corpus";

/// A place that judges contracts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// The controller on a real API server, without the webhook.
    Controller,
    /// The webhook over HTTPS.
    Webhook,
    /// `covenant check`.
    CommandLine,
}

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    /// Where the case is not run, each with the reason why it cannot be. The rules alone judge every case.
    #[serde(default)]
    pub except: BTreeMap<Place, String>,
    /// Whether an API server with the definition alone, no webhook, stores the object. If not, it must refuse it with
    /// the faults of the rules that the schema holds.
    #[serde(default = "yes")]
    #[allow(dead_code, reason = "only an API server stores")]
    pub stored: bool,
    /// The contract.
    pub object: Value,
    /// The stored contract that it replaces.
    pub old: Option<Value>,
    /// What is so around it.
    #[serde(default)]
    pub facts: Facts,
    /// What must be said.
    pub expect: Expected,
    /// Rules that this case shows kept: identifiers of rules, fields of key rules, reasons of workload findings. None of
    /// them may be found broken.
    #[serde(default)]
    pub keeps: Vec<String>,
}

const fn yes() -> bool {
    true
}

/// What is so around a contract. Whatever is not given does not exist.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Facts {
    /// The time at which the contract is judged.
    pub now: Timestamp,
    /// The Secret as a manifest, or why it cannot be read.
    pub secret: Option<Given>,
    /// The ExternalSecret as a manifest, or why it cannot be read.
    pub external_secret: Option<Given>,
    /// The workloads as manifests, or why they cannot be read.
    pub workloads: Vec<Given>,
}

impl Default for Facts {
    fn default() -> Self {
        let now = "2026-10-10T08:30:00Z".parse().unwrap();
        Self { now, secret: None, external_secret: None, workloads: Vec::new() }
    }
}

/// An object, or why it cannot be read.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// Why it cannot be read.
    Unreadable(Unreadable),
    /// The manifest.
    Manifest(Value),
}

impl Given {
    /// The manifest, if it is one.
    pub fn manifest(&self) -> Option<&Value> {
        match self {
            Self::Manifest(manifest) => Some(manifest),
            Self::Unreadable(_) => None,
        }
    }
}

/// Why an object cannot be read.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unreadable {
    /// The reader has no right to.
    Forbidden,
    /// The API server does not answer.
    Failed,
    /// The API server does not serve its kind.
    NotServed,
}

/// What must be said.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// The faults of the object, in order, after what the old object excuses.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// The conditions.
    pub conditions: Conditions,
    /// Conditions that files alone, in which what is absent may still exist elsewhere, must give otherwise.
    #[serde(default)]
    pub offline: BTreeMap<String, Said>,
    #[serde(default)]
    pub missing_keys: Vec<String>,
    #[serde(default)]
    pub violations: Vec<Violation>,
    #[serde(default)]
    pub workload_findings: Vec<Finding>,
}

/// The conditions of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Conditions {
    /// Nothing is evaluated: `InvalidSpec` or `NotSupported`.
    Nothing(String),
    /// By type. Those left out: the Secret is found, and nothing optional is configured.
    Each(BTreeMap<String, Said>),
}

impl Case {
    /// Every case, with its times moved to `now`; without one it is the time that the case says.
    pub fn all(now: Option<Timestamp>) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/secret-contract");
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names.into_iter().map(|name| Self::read(&folder, name, now)).collect()
    }

    fn read(folder: &Path, name: String, now: Option<Timestamp>) -> Self {
        let text = std::fs::read_to_string(folder.join(&name).join("case.yaml")).unwrap();
        let comment = text.lines().take_while(|line| line.starts_with('#')).count();
        assert_eq!(comment, 1, "{name}: begins with one line of comment that says what it shows");
        let value: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written = value["facts"]["now"].as_str().map(|now| now.parse().unwrap());
        let now = now.or(written).unwrap_or(Facts::default().now);
        let expanded = expand::expand(value, now);
        let mut case: Self =
            serde_json::from_value(expanded).unwrap_or_else(|error| panic!("{name}: {error}"));
        case.facts.now = now;
        case.name = name;
        case
    }

    /// Whether the case is run in this place.
    pub fn is_for(&self, place: Place) -> bool {
        !self.except.contains_key(&place)
    }

    /// What must be said where what is not given does not exist, or, `offline`, where nothing is known of it.
    pub fn expected(&self, offline: bool) -> Outcome {
        let mut conditions = self.expect.conditions.all(&self.name);
        if offline {
            conditions.extend(self.expect.offline.clone());
        }
        Outcome {
            faults: self.expect.faults.clone(),
            conditions,
            missing_keys: self.expect.missing_keys.clone(),
            violations: self.expect.violations.clone(),
            workload_findings: self.expect.workload_findings.clone(),
        }
    }

    /// Values of the Secret that are long enough to be recognised where they may not be.
    pub fn recognisable_values(&self) -> Vec<String> {
        let secret = self.facts.secret.as_ref().and_then(Given::manifest);
        let texts = secret.and_then(|secret| secret["stringData"].as_object());
        let values = texts.into_iter().flat_map(|texts| texts.values()).filter_map(Value::as_str);
        values.filter(|value| value.len() >= 12).map(|value| value.chars().take(40).collect()).collect()
    }
}

impl Conditions {
    fn all(&self, case: &str) -> BTreeMap<String, Said> {
        let said = |text: &str| Said { is: text.to_owned(), says: Vec::new() };
        let types = [
            "SecretExists",
            "KeysValid",
            "ExternalSecretReady",
            "WorkloadsConfigured",
            "RotationPolicySatisfied",
            "Ready",
        ];
        match self {
            Self::Nothing(reason) => {
                let ready = if reason == "InvalidSpec" { "False" } else { "Unknown" };
                let status = |type_: &str| if type_ == "Ready" { ready } else { "Unknown" };
                types.map(|type_| (type_.to_owned(), said(&format!("{} {reason}", status(type_))))).into()
            }
            Self::Each(given) => {
                assert!(
                    given.contains_key("KeysValid") && given.contains_key("Ready"),
                    "{case}: KeysValid, Ready"
                );
                let mut all: BTreeMap<_, _> =
                    types.map(|type_| (type_.to_owned(), said("True NotConfigured"))).into();
                all.insert("SecretExists".to_owned(), said("True SecretFound"));
                all.extend(given.clone());
                assert_eq!(all.len(), types.len(), "{case}: an unknown condition");
                all
            }
        }
    }
}
