//! What `covenant check` answers, in the form that other tools read. The field names and their order are fixed.

use serde::Serialize;

use crate::cli::input::object::Place;
use crate::rules::finding::Severity;

/// The whole answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of this form.
    pub api_version: &'static str,
    /// One entry for every object of our kinds, every broken document and every fact given twice.
    pub results: Vec<Entry>,
    /// The counts.
    pub summary: Summary,
}

/// One object, or one thing that could not be read.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// File as it was named; `-` is standard input.
    pub file: String,
    /// Document in the file, from 1.
    pub document: u32,
    /// Line in the file, from 1.
    pub line: u32,
    /// `apiVersion` of the object.
    pub api_version: Option<String>,
    /// `kind` of the object.
    pub kind: Option<String>,
    /// Its namespace; none for cluster-scoped kinds.
    pub namespace: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What admission would answer: SHAPE and TRANSITION.
    pub verdict: Option<Verdict>,
    /// The status of Ready, where files are enough to tell.
    pub ready: Option<&'static str>,
    /// Every condition of a contract.
    pub conditions: Vec<Condition>,
    /// Required keys that the Secret does not have.
    pub missing_keys: Vec<String>,
    /// Rules that a value breaks.
    pub violations: Vec<Violation>,
    /// What keeps workloads from getting the Secret's keys.
    pub workload_findings: Vec<WorkloadFinding>,
    /// Every finding of every chain.
    pub findings: Vec<Finding>,
    /// Whether a person has been told already, on standard error.
    #[serde(skip)]
    pub told: bool,
}

/// What admission would answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Admitted.
    Valid,
    /// Refused.
    Invalid,
}

/// One condition, as a cluster would show it.
#[derive(Debug, Serialize)]
pub struct Condition {
    /// `SecretExists`, `KeysValid`, ….
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A word of the closed list.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// A rule that a value breaks.
#[derive(Debug, Serialize)]
pub struct Violation {
    /// Key of the Secret.
    pub key: String,
    /// The field of the rule that is broken, or `representation`.
    pub rule: String,
    /// A word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// What keeps a workload from getting a key.
#[derive(Debug, Serialize)]
pub struct WorkloadFinding {
    /// Kind of the workload.
    pub kind: String,
    /// Name of the workload.
    pub name: String,
    /// The container.
    pub container: String,
    /// The key; none where no key is concerned.
    pub key: Option<String>,
    /// A word of the closed list.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// `error`, `warning` or `note`.
    #[serde(serialize_with = "severity")]
    pub severity: Severity,
    /// A word for programs.
    pub reason: &'static str,
    /// Where in the object.
    pub field: Option<String>,
    /// Which key of the Secret.
    pub key: Option<String>,
    /// What is wrong and what is right.
    pub message: String,
    /// Line of the field, for people.
    #[serde(skip)]
    pub line: Option<u32>,
    /// How much of `message`, in bytes, says what is wrong; the rest says what is right.
    #[serde(skip)]
    pub fault: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn severity<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.as_str())
}

/// The counts over everything that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Objects of our kinds.
    pub objects: usize,
    /// Those that admission would take.
    pub valid: usize,
    /// Those that it would refuse.
    pub invalid: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Contracts whose Ready is Unknown.
    pub unknown: usize,
    /// Objects that are neither ours nor facts.
    pub skipped: usize,
    /// Documents and files that cannot be read.
    pub unreadable: usize,
}

/// Version of the form.
pub const API_VERSION: &str = "covenant/v1";

impl Report {
    /// The answer with its counts; `skipped` and `unreadable` cannot be told from the entries.
    pub fn new(results: Vec<Entry>, skipped: usize, unreadable: usize) -> Self {
        let mut summary = Summary { skipped, unreadable, ..Summary::default() };
        for entry in &results {
            match entry.verdict {
                Some(Verdict::Valid) => summary.valid += 1,
                Some(Verdict::Invalid) => summary.invalid += 1,
                None => {}
            }
            summary.unknown += usize::from(entry.ready == Some("Unknown"));
            for finding in &entry.findings {
                match finding.severity {
                    Severity::Error => summary.errors += 1,
                    Severity::Warning => summary.warnings += 1,
                    Severity::Note => {}
                }
            }
        }
        summary.objects = summary.valid + summary.invalid;
        Self { api_version: API_VERSION, results, summary }
    }
}

impl Entry {
    /// An entry for what stands at `place`, with nothing said about it yet.
    pub fn at(place: &Place) -> Self {
        Self { file: place.file.to_string(), document: place.document, line: place.line, ..Self::default() }
    }
}

impl Finding {
    /// A finding about the whole object: `fault` says what is wrong, `remedy` what to do.
    pub fn whole(severity: Severity, reason: &'static str, fault: &str, remedy: &str) -> Self {
        let message = if remedy.is_empty() { fault.to_owned() } else { format!("{fault}; {remedy}") };
        Self { severity, reason, field: None, key: None, message, line: None, fault: fault.len() }
    }
}
