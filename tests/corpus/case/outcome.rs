//! What was said, or must be said, of a case, and how the two differ.

use std::collections::BTreeMap;
use std::fmt::Debug;

use covenant::api::conditions::ViolationRule;
use serde::Deserialize;
use serde_json::Value;

/// The most entries of a list in a status.
const LISTED: usize = 64;

/// All that can be said of a contract.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub faults: Vec<Fault>,
    pub conditions: BTreeMap<String, Said>,
    pub missing_keys: Vec<String>,
    pub violations: Vec<Violation>,
    pub workload_findings: Vec<Finding>,
}

/// A fault of the object.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The identifier of its rule; empty where a place does not tell it.
    pub rule: String,
    pub field: String,
    pub message: String,
    /// `error`, or `warning` for what is let through.
    #[serde(default = "error")]
    pub severity: String,
}

fn error() -> String {
    "error".to_owned()
}

/// What a condition says.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Written")]
pub struct Said {
    /// Status and reason, with a blank between them.
    pub is: String,
    /// The message, or parts that it must have.
    pub says: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Short(String),

    Long { is: String, says: Vec<String> },
}

impl From<Written> for Said {
    fn from(written: Written) -> Self {
        match written {
            Written::Short(is) => Self { is, says: Vec::new() },
            Written::Long { is, says } => Self { is, says },
        }
    }
}

/// A rule that a present key breaks.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    pub key: String,
    pub rule: String,
}

/// What is wrong with a workload.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    pub kind: String,
    pub name: String,
    pub container: String,
    /// None where it is about the container as such.
    #[serde(default)]
    pub key: Option<String>,
    pub reason: String,
    /// The message, or parts that it must have.
    #[serde(default)]
    pub says: Vec<String>,
}

impl Finding {
    /// The same without its message.
    fn silent(&self) -> Self {
        Self { says: Vec::new(), ..self.clone() }
    }
}

impl Outcome {
    /// What a `status`, or an entry of the command line's report, says. Faults are not in it.
    pub fn of_status(status: &Value) -> Self {
        let items = |field: &str| status[field].as_array().cloned().unwrap_or_default();
        let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
        for item in items("violations").iter().chain(&items("workloadFindings")) {
            assert!((1..=1024).contains(&text(item, "message").len()), "{item}");
        }
        for item in items("violations") {
            let rule = ViolationRule::from_word(&text(&item, "rule")).expect("a rule of the closed list");
            assert_eq!(text(&item, "reason"), rule.reason().as_str());
        }
        Self {
            faults: Vec::new(),
            conditions: items("conditions")
                .iter()
                .map(|item| {
                    let is = format!("{} {}", text(item, "status"), text(item, "reason"));
                    (text(item, "type"), Said { is, says: vec![text(item, "message")] })
                })
                .collect(),
            missing_keys: items("missingKeys").iter().map(|key| key.as_str().unwrap().to_owned()).collect(),
            violations: items("violations")
                .iter()
                .map(|item| Violation { key: text(item, "key"), rule: text(item, "rule") })
                .collect(),
            workload_findings: items("workloadFindings")
                .iter()
                .map(|item| Finding {
                    kind: text(item, "kind"),
                    name: text(item, "name"),
                    container: text(item, "container"),
                    key: item["key"].as_str().map(str::to_owned),
                    reason: text(item, "reason"),
                    says: vec![text(item, "message")],
                })
                .collect(),
        }
    }

    /// What the verdicts differ in from what is expected; the faults are left out.
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        for (type_, wanted) in &expected.conditions {
            let Some(found) = self.conditions.get(type_) else {
                differences.push(format!("{type_} is not told"));
                continue;
            };
            let message = found.says.join(" ");
            if found.is != wanted.is {
                differences.push(format!("{type_} is {}, expected {}: {message}", found.is, wanted.is));
            } else if let Some(part) = wanted.says.iter().find(|part| !message.contains(part.as_str())) {
                differences.push(format!("{type_} does not say {part:?}: {message}"));
            }
            if message.is_empty() || message.len() > 1024 {
                differences.push(format!("{type_} has a message of {} bytes", message.len()));
            }
        }
        if self.conditions.len() != expected.conditions.len() {
            differences.push(format!("conditions: {:?}", self.conditions.keys()));
        }
        differ("missingKeys", &self.missing_keys, &expected.missing_keys, &mut differences);
        differ("violations", &self.violations, &expected.violations, &mut differences);
        let silent =
            |findings: &[Finding]| -> Vec<Finding> { findings.iter().map(Finding::silent).collect() };
        let (found, wanted) = (silent(&self.workload_findings), silent(&expected.workload_findings));
        differ("workloadFindings", &found, &wanted, &mut differences);
        for (found, wanted) in self.workload_findings.iter().zip(&expected.workload_findings) {
            let message = found.says.join(" ");
            if let Some(part) = wanted.says.iter().find(|part| !message.contains(part.as_str())) {
                differences.push(format!("a workload finding does not say {part:?}: {message}"));
            }
        }
        differences
    }

    /// The same as a status shows it: every list is cut.
    pub fn cut_as_in_a_status(mut self) -> Self {
        self.missing_keys.truncate(LISTED);
        self.violations.truncate(LISTED);
        self.workload_findings.truncate(LISTED);
        self
    }
}

/// Says that two lists differ, and in what.
pub fn differ<T: Debug + PartialEq>(what: &str, found: &[T], expected: &[T], differences: &mut Vec<String>) {
    if found != expected {
        differences.push(format!("{what}: found {found:#?}, expected {expected:#?}"));
    }
}
