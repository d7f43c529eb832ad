//! From objects to the report: every object of our kinds is judged by the rules that webhook and controller run.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::claims::Claims;
use super::facts;
use super::report::{Entry, Finding, Report, Verdict};
use super::state::Contracts;
use crate::api::Kind;
use crate::cli::input::object::{Item, Object, Place};
use crate::cli::input::source::Unusable;
use crate::cli::input::yaml::{Node, Step};
use crate::rules::finding::{Findings, Severity};
use crate::rules::{self, Installation};

/// Reason of a document, or file, that cannot be read.
pub const UNREADABLE: &str = "InputUnreadable";
/// Reason of an object that is given twice.
pub const DUPLICATE: &str = "DuplicateObject";

/// What identifies an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    namespace: Option<String>,
    name: String,
}

/// Former versions of objects, for the TRANSITION rules.
#[derive(Default)]
pub struct Former(HashMap<Key, Value>);

/// Collects what is given and judges it.
pub struct Judge {
    installation: Installation,
    /// Namespace of objects that name none.
    namespace: String,
    former: Former,
    entries: Vec<Option<Entry>>,
    /// Where the entry of an object stands, and where the object stood.
    seen: HashMap<Key, (usize, Place)>,
    contracts: Contracts,
    /// What is given of the PostgreSQL kinds, and the entries that wait to be judged beside it.
    claims: Claims,
    skipped: usize,
    unreadable: usize,
}

impl Judge {
    /// A judge for an installation; objects without a namespace are in `namespace`.
    pub fn new(installation: Installation, namespace: String, former: Former) -> Self {
        Self {
            installation,
            namespace,
            former,
            entries: Vec::new(),
            seen: HashMap::new(),
            contracts: Contracts::default(),
            claims: Claims::default(),
            skipped: 0,
            unreadable: 0,
        }
    }

    /// Takes what one document holds.
    pub fn take(&mut self, item: Item) {
        match item {
            Item::Other => self.skipped += 1,
            Item::Broken { place, problem } => self.broken(Entry::at(&place), &problem),
            Item::Object(object) => match Ours::of(&object) {
                Ours::Not if facts::is_fact(&object) => self.fact(&object),
                Ours::Not => self.skipped += 1,
                Ours::Kind(kind) => self.judge(kind, object),
                Ours::Almost(finding) => self.almost(&object, finding),
            },
        }
    }

    /// Takes a file that cannot be read, after the person has been told.
    pub fn unusable(&mut self, unusable: &Unusable) {
        let (file, line) = (unusable.name.clone(), unusable.line);
        let entry = Entry { file, document: 1, line, told: true, ..Entry::default() };
        self.broken(entry, &unusable.problem);
    }

    fn broken(&mut self, mut entry: Entry, problem: &str) {
        self.unreadable += 1;
        let line = entry.line;
        let finding = Finding::whole(Severity::Error, UNREADABLE, problem, "");
        entry.findings.push(Finding { line: Some(line), ..finding });
        self.entries.push(Some(entry));
    }

    fn judge(&mut self, kind: Kind, object: Object) {
        let mut entry = self.entry(&object, kind.namespaced());
        let key = key(kind, &object, &self.namespace);
        let Object { place, node, .. } = object;
        let value = node.to_value();
        let shape = self.faults(kind, &value);
        let findings = match key.as_ref().and_then(|key| self.former.0.get(key)) {
            Some(former) => shape.clone().ratcheted(&self.faults(kind, former)),
            None => shape.clone(),
        };
        if kind == Kind::SecretContract {
            // Its own faults count for Ready, whether admission lets old ones pass or not.
            self.contracts.add(
                self.entries.len(),
                entry.namespace.clone().unwrap_or_default(),
                value,
                &shape,
            );
        } else {
            let old = key.as_ref().and_then(|key| self.former.0.get(key)).cloned();
            let namespace = entry.namespace.clone().unwrap_or_default();
            self.claims.add(self.entries.len(), kind, &namespace, value, old, node.clone());
        }
        entry.verdict = Some(if findings.has_errors() { Verdict::Invalid } else { Verdict::Valid });
        entry.findings = described(&findings, &node);
        self.push(key, place, entry);
    }

    /// What admission would say of the object alone: SHAPE, and what the API server holds of `metadata` before that.
    fn faults(&self, kind: Kind, object: &Value) -> Findings {
        rules::metadata::check(kind, object)
            .into_iter()
            .chain(rules::shape(kind, object, &self.installation))
            .collect()
    }

    fn fact(&mut self, object: &Object) {
        let place = &object.place;
        let mut entry = self.entry(object, true);
        let namespace = entry.namespace.clone().unwrap_or_default();
        if let Some(before) = self.contracts.remember(object, &namespace) {
            entry.findings.push(given_twice(&before));
            self.entries.push(Some(entry));
            entry = self.entry(object, true);
        }
        if facts::is_secret(object)
            && let Err(problem) = self.contracts.add_secret(object, &namespace)
        {
            entry.line = place.line;
            self.broken(entry, problem);
        }
        self.contracts.add_fact(object, &namespace);
    }

    /// An object of our group that no cluster would know: skipping it would look like approval.
    fn almost(&mut self, object: &Object, finding: Finding) {
        let mut entry = self.entry(object, true);
        entry.verdict = Some(Verdict::Invalid);
        entry.findings.push(finding);
        self.entries.push(Some(entry));
    }

    fn entry(&self, object: &Object, namespaced: bool) -> Entry {
        let namespace = object.namespace().unwrap_or(&self.namespace);
        Entry {
            api_version: Some(object.api_version.clone()),
            kind: Some(object.kind.clone()),
            namespace: namespaced.then(|| namespace.to_owned()),
            name: object.name().map(str::to_owned),
            ..Entry::at(&object.place)
        }
    }

    /// Adds an entry. Of an object that is given twice the last one counts.
    fn push(&mut self, key: Option<Key>, place: Place, mut entry: Entry) {
        let at = self.entries.len();
        if let Some(key) = key
            && let Some((former, before)) = self.seen.insert(key, (at, place))
        {
            entry.findings.push(given_twice(&before));
            if let Some(former) = self.entries.get_mut(former) {
                *former = None;
            }
        }
        self.entries.push(Some(entry));
    }

    /// The report over everything that was taken, as of `now`. With `strict`, what cannot be told is an error.
    pub fn report(mut self, now: Timestamp, strict: bool) -> Report {
        self.claims.judge(&mut self.entries);
        self.contracts.judge(&mut self.entries, &self.installation, now, strict);
        Report::new(self.entries.into_iter().flatten().collect(), self.skipped, self.unreadable)
    }
}

impl Former {
    /// Keeps a former version of an object.
    pub fn take(&mut self, object: Object, namespace: &str) {
        if let Ours::Kind(kind) = Ours::of(&object)
            && let Some(key) = key(kind, &object, namespace)
        {
            self.0.insert(key, object.node.into_value());
        }
    }
}

fn given_twice(before: &Place) -> Finding {
    let Place { file, document, line } = before;
    let fault = format!("is given twice, before in {file} on line {line} (document {document})");
    Finding::whole(Severity::Warning, DUPLICATE, &fault, "this one, the last, counts; remove the other")
}

/// What identifies an object; none when it has no name.
fn key(kind: Kind, object: &Object, namespace: &str) -> Option<Key> {
    let namespace = kind.namespaced().then(|| object.namespace().unwrap_or(namespace).to_owned());
    Some(Key { kind, namespace, name: object.name()?.to_owned() })
}

/// Whether an object is for us to judge.
enum Ours {
    Kind(Kind),
    /// Of one of our groups, but in a version, or of a kind, that does not exist.
    Almost(Finding),
    Not,
}

impl Ours {
    fn of(object: &Object) -> Self {
        if let Some(kind) = Kind::of(&object.api_version, &object.kind) {
            return Self::Kind(kind);
        }
        if object.api_version.is_empty()
            && let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == object.kind)
        {
            return Self::Almost(required(
                "apiVersion",
                &format!("must be {}", kind.api_version()),
                &object.node,
            ));
        }
        let group = object.api_version.split('/').next().unwrap_or_default();
        let of_group: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.group() == group).collect();
        let Some(first) = of_group.first() else { return Self::Not };
        let (field, text, supported) = if Kind::find(group, &object.kind).is_some() {
            ("apiVersion", &object.api_version, vec![first.api_version()])
        } else {
            let names = of_group.iter().map(|kind| kind.as_str().to_owned()).collect();
            ("kind", &object.kind, names)
        };
        Self::Almost(unsupported(field, text, &supported, &object.node))
    }
}

fn required(field: &'static str, detail: &str, node: &Node) -> Finding {
    use crate::rules::field::FieldPath;
    use crate::rules::finding::Finding as Found;
    use crate::rules::id::RuleId;

    describe(&Found::required(RuleId::FieldRequired, FieldPath::root(field), detail), node)
}

fn unsupported(field: &'static str, text: &str, supported: &[String], node: &Node) -> Finding {
    use crate::rules::field::FieldPath;
    use crate::rules::finding::{Finding as Found, Shown};
    use crate::rules::id::RuleId;

    let path = FieldPath::root(field);
    let found = Found::not_supported(RuleId::FieldEnum, path, Shown::text(text), supported);
    describe(&found, node)
}

pub(super) fn described(findings: &Findings, node: &Node) -> Vec<Finding> {
    findings.iter().map(|finding| describe(finding, node)).collect()
}

fn describe(finding: &crate::rules::finding::Finding, node: &Node) -> Finding {
    let field = finding.field.to_string();
    let line = node.line_of(&steps(&field));
    let message = finding.body();
    let remedy = if finding.detail.is_empty() { 0 } else { finding.detail.len() + ": ".len() };
    let fault = message.len().saturating_sub(remedy);
    Finding {
        severity: finding.severity,
        reason: finding.fault.cause(),
        field: Some(field),
        key: None,
        message,
        line: Some(line),
        fault,
    }
}

/// The steps of a path as it is printed: `spec.requiredKeys[2].envName`, `metadata.labels[a/b]`.
fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = inside.split_once(']').unwrap_or((inside, ""));
            steps.push(step.parse().map_or(Step::Key(step), Step::Index));
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (step, after) = name.split_at(end);
            steps.push(Step::Key(step));
            rest = after;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_lines() {
        assert_eq!(
            steps("spec.requiredKeys[2].envName"),
            [Step::Key("spec"), Step::Key("requiredKeys"), Step::Index(2), Step::Key("envName")]
        );
        assert_eq!(
            steps("metadata.labels[a.b/c].x"),
            [Step::Key("metadata"), Step::Key("labels"), Step::Key("a.b/c"), Step::Key("x")]
        );
        for odd in ["", ".", "[", "[]", "a..b", "a[1", "a]"] {
            assert!(steps(odd).len() < 4, "{odd}");
        }
    }
}
