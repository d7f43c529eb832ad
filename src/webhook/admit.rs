//! From a review to an answer: which chain of rules judges it, and what the user is told.
//!
//! No rule lives here, and no network, file or clock: the same review gets the same answer every time.

use serde_json::Value;
use serde_json::value::RawValue;

use super::review::{Answer, Operation, Review, Subject};
use crate::api::kind::Kind;
use crate::rules::finding::{Fault, Findings};
use crate::rules::world::World;
use crate::rules::{self, Installation, protection, shape};

/// What was decided, for the answer, the log and the metrics.
#[derive(Debug)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// The kind, if it is one of ours.
    pub kind: Option<Kind>,
    /// What was found.
    pub findings: Findings,
}

/// Judges a review of CREATE or UPDATE. Everything that is not an object of ours passes: a webhook that is asked about
/// something it does not know must not stand in its way.
pub fn validate(review: &Review<'_>, installation: &Installation, world: &dyn World) -> Decision {
    let pass = |kind| Decision { answer: Answer::allowed(&review.uid), kind, findings: Findings::new() };
    let Some(kind) = Kind::find(&review.group, &review.kind) else { return pass(None) };
    if !review.subresource.is_empty() || !matches!(review.operation, Operation::Create | Operation::Update) {
        return pass(Some(kind));
    }
    let Some(object) = review.object else { return pass(Some(kind)) };
    let object = match parse(object) {
        Ok(object) => object,
        Err(message) => {
            let answer = Answer::failed(&review.uid, 400, "BadRequest", message);
            return Decision { answer, kind: Some(kind), findings: Findings::new() };
        }
    };
    let mut findings = shape(kind, &object, installation);
    let found = findings.errors().count();
    // An old object that cannot be read has no faults to let through.
    let old =
        review.old_object.filter(|_| review.operation == Operation::Update).and_then(|old| parse(old).ok());
    if let Some(old) = &old
        && found > 0
    {
        findings = findings.ratcheted(&shape(kind, old, installation));
    }
    let ratcheted = found - findings.errors().count();
    findings.extend(rules::beside(kind, &object, old.as_ref(), world));
    let findings = findings.in_document_order(rules::order(kind));
    let answer = answer(review, kind, &object, &findings, ratcheted);
    Decision { answer, kind: Some(kind), findings }
}

fn answer(review: &Review<'_>, kind: Kind, object: &Value, findings: &Findings, ratcheted: usize) -> Answer {
    let answer = if findings.has_errors() {
        let subject = Subject { group: kind.group(), kind: kind.as_str(), name: name(review, object) };
        Answer::invalid(&review.uid, subject, findings)
    } else {
        Answer::allowed(&review.uid)
    };
    let mut answer =
        answer.with_warnings(findings).with_audit_annotation("version", env!("CARGO_PKG_VERSION"));
    if !findings.is_empty() {
        answer = answer.with_audit_annotation("rule-ids", rule_ids(kind, findings));
    }
    if ratcheted > 0 {
        answer = answer.with_audit_annotation("ratcheted", ratcheted.to_string());
    }
    answer
}

/// The rules that found something, each once, in the order of the findings.
pub fn rule_ids(kind: Kind, findings: &Findings) -> String {
    let mut ids: Vec<String> = Vec::new();
    for finding in findings {
        let id = finding.rule.identifier(kind);
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.join(",")
}

/// The name to speak of: on CREATE with `generateName` there is no name yet.
fn name<'a>(review: &'a Review<'_>, object: &'a Value) -> &'a str {
    let metadata =
        |field| object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str);
    if review.name.is_empty() {
        metadata("name")
            .filter(|name| !name.is_empty())
            .or_else(|| metadata("generateName"))
            .unwrap_or_default()
    } else {
        &review.name
    }
}

/// Parses an object. What is wrong with it is said without a word of its content.
fn parse(raw: &RawValue) -> Result<Value, &'static str> {
    serde_json::from_str(raw.get())
        .map_err(|_| "the object cannot be read: it is no JSON, or nests too deeply")
}

/// Whether the review speaks of an object that `world` does not show yet: the caller may have read it a moment ago.
pub fn is_ahead(review: &Review<'_>, world: &dyn World) -> bool {
    let of_database = Kind::find(&review.group, &review.kind) == Some(Kind::PostgreSQLDatabase);
    if !of_database || review.operation != Operation::Update {
        return false;
    }
    let read = |raw: Option<&RawValue>| raw.and_then(|raw| parse(raw).ok());
    let (Some(object), Some(old)) = (read(review.object), read(review.old_object)) else { return false };
    let findings = rules::beside(Kind::PostgreSQLDatabase, &object, Some(&old), world);
    findings.errors().any(|finding| finding.fault == Fault::NotFound)
}

/// Judges a review of DELETE.
pub fn protect(review: &Review<'_>, _: &Installation, world: &dyn World) -> Decision {
    let kind = Kind::find(&review.group, &review.kind);
    let pass = Decision { answer: Answer::allowed(&review.uid), kind, findings: Findings::new() };
    if review.operation != Operation::Delete || !review.subresource.is_empty() {
        return pass;
    }
    let (Some(kind), Some(old)) = (kind, review.old_object.and_then(|old| parse(old).ok())) else {
        return pass;
    };
    let Some(refusal) = protection::protect(kind, &old, world) else { return pass };
    let answer = Answer::failed(&review.uid, 403, "Forbidden", refusal.message)
        .with_audit_annotation("version", env!("CARGO_PKG_VERSION"))
        .with_audit_annotation("rule-ids", refusal.rule.identifier(kind));
    Decision { answer, ..pass }
}
