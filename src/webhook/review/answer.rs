//! Builds the answer: a complete v1 `AdmissionReview`, with a status that the API server hands to the user unchanged.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::rules::finding::{Fault, Finding, Findings, Shown};
use crate::rules::id::RuleId;

/// How many causes an answer holds before the rest is only counted.
const CAUSES: usize = 100;

/// How long the message and the causes together may be, in bytes, before the rest is only counted.
const TEXT: usize = 16 * 1024;

/// How many warnings an answer holds.
const WARNINGS: usize = 10;

/// How long a warning may be, in characters: Kubernetes asks for at most 120 and cuts at 256.
const WARNING: usize = 120;

/// An answer to one admission request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    uid: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<&'static str, String>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the field names of metav1.Status")]
struct Status {
    status: &'static str,
    code: u16,
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
}

#[derive(Debug, Serialize)]
struct Details {
    group: String,
    kind: String,
    name: String,
    causes: Vec<Cause>,
}

#[derive(Debug, Serialize)]
struct Cause {
    reason: &'static str,
    message: String,
    field: String,
}

/// The object an answer speaks of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The API group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The name, or `generateName` where the object has no name yet.
    pub name: &'a str,
}

impl Answer {
    fn new(uid: &str, allowed: bool, status: Option<Status>) -> Self {
        let response = Response {
            uid: uid.to_owned(),
            allowed,
            status,
            warnings: Vec::new(),
            audit_annotations: BTreeMap::new(),
        };
        Self { api_version: "admission.k8s.io/v1", kind: "AdmissionReview", response }
    }

    /// Lets the request pass.
    pub fn allowed(uid: &str) -> Self {
        Self::new(uid, true, None)
    }

    /// Refuses an object for its errors, in the form of the built-in kinds: 422, `Invalid`, one cause a fault, and a
    /// message that is complete in itself (several objects in one `kubectl` run show only the message).
    pub fn invalid(uid: &str, subject: Subject<'_>, findings: &Findings) -> Self {
        let mut causes = Vec::new();
        let mut lines = Vec::new();
        let mut length = 0;
        let mut left_out = 0_usize;
        for finding in findings.errors() {
            let line = finding.line();
            if causes.len() >= CAUSES || length + line.len() > TEXT / 2 {
                left_out += 1;
                continue;
            }
            length += line.len();
            lines.push(line);
            causes.push(Cause {
                reason: finding.fault.cause(),
                message: finding.body(),
                field: finding.field.to_string(),
            });
        }
        if left_out > 0 {
            let noun = if left_out == 1 { "violation" } else { "violations" };
            let message = format!("{left_out} more {noun} not shown");
            lines.push(format!("(policy): {message}"));
            causes.push(Cause { reason: "FieldValueInvalid", message, field: "(policy)".to_owned() });
        }
        let list = match lines.as_slice() {
            [only] => only.clone(),
            _ => format!("[{}]", lines.join(", ")),
        };
        let Subject { group, kind, name } = subject;
        let message = format!("{kind}.{group} \"{name}\" is invalid: {list}");
        let details =
            Details { group: group.to_owned(), kind: kind.to_owned(), name: name.to_owned(), causes };
        let status =
            Status { status: "Failure", code: 422, reason: "Invalid", message, details: Some(details) };
        Self::new(uid, false, Some(status))
    }

    /// Refuses a request that cannot be judged: `code` and `reason` as in `metav1.Status`.
    pub fn failed(uid: &str, code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let status = Status { status: "Failure", code, reason, message: message.into(), details: None };
        Self::new(uid, false, Some(status))
    }

    /// Adds the warnings of `findings`: at most ten, each one line of at most 120 characters, none repeated.
    #[must_use]
    pub fn with_warnings(mut self, findings: &Findings) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for finding in findings.warnings() {
            let line = warning(finding);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if lines.len() > WARNINGS {
            let left_out = lines.len() - (WARNINGS - 1);
            lines.truncate(WARNINGS - 1);
            lines.push(format!("{left_out} more warnings not shown"));
        }
        self.response.warnings = lines;
        self
    }

    /// Adds an annotation to the API server's audit event; `key` is short and constant, `value` holds no user's data.
    #[must_use]
    pub fn with_audit_annotation(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.response.audit_annotations.insert(key, value.into());
        self
    }

    /// Whether the request passes.
    pub fn is_allowed(&self) -> bool {
        self.response.allowed
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and booleans under string keys cannot fail to serialise.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A warning is dropped by the API server when it holds a control character, and cut when it is long: neither may
/// happen to ours. One that is too long goes without the value, which stands in the object; the text about a Database that
/// cannot be bound names it, and goes without the field too.
fn warning(finding: &Finding) -> String {
    let fits = |line: &String| line.chars().count() <= WARNING;
    let mut forms = vec![finding.line()];
    // What other objects have is known by the detail alone; the value of any other fault is what a person looks for.
    let is_about_others = finding.fault == Fault::Duplicate && !finding.detail.is_empty();
    if is_about_others {
        forms.push(Finding { shown: Shown::omitted(), ..finding.clone() }.line());
    }
    if finding.rule == RuleId::TenantReferenceExists && !finding.detail.is_empty() {
        forms.push(finding.detail.clone());
    }
    let line =
        forms.iter().find(|line| fits(line)).cloned().unwrap_or_else(|| match finding.detail.as_str() {
            detail if is_about_others => format!("{}: {detail}", finding.field),
            _ => finding.line(),
        });
    let line: String = line.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if fits(&line) {
        return line;
    }
    format!("{}…", line.chars().take(WARNING - 1).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::texts;
    use crate::rules::field::FieldPath;

    fn duplicate(field: &'static str, value: &str, text: &str) -> Finding {
        let mut finding =
            Finding::duplicate(RuleId::TenantDuplicate, FieldPath::dotted(field), Shown::text(value));
        text.clone_into(&mut finding.detail);
        finding
    }

    #[test]
    fn a_warning_that_is_too_long_loses_the_value_before_it_loses_words() {
        assert_eq!(
            warning(&duplicate("spec.a", "b", "is taken")),
            "spec.a: Duplicate value: \"b\": is taken"
        );
        let text = "c".repeat(60);
        let long = warning(&duplicate("spec.a", &"b".repeat(60), &text));
        assert_eq!(long, format!("spec.a: Duplicate value: {text}"));
        let cut = warning(&duplicate("spec.a", "b", &"c".repeat(200)));
        assert!(cut.starts_with("spec.a: ccc") && cut.ends_with("c…"), "{cut}");
        assert_eq!(cut.chars().count(), WARNING);
        assert_eq!(
            warning(&duplicate("spec.a", "b", "two\nlines")),
            "spec.a: Duplicate value: \"b\": two lines"
        );
    }

    /// With the longest names that fit into a server, and with the longest name of an object.
    #[test]
    fn the_warnings_about_other_objects_say_what_matters_within_the_limit() {
        let name = "n".repeat(63);
        for (field, text) in [
            ("spec.provision.database", texts::DATABASE_IS_TAKEN),
            ("spec.provision.loginRole", texts::ROLE_IS_TAKEN),
            ("spec.credentialRef.path", texts::CREDENTIAL_IS_TAKEN),
            ("spec.secretName", texts::SECRET_IS_TAKEN),
            ("spec.provision.instanceRef.name", texts::DELIVERY_IS_TAKEN),
            ("spec.endpoint.database", texts::OWN_DATABASE_IS_TAKEN),
        ] {
            let line = warning(&duplicate(field, &name, text));
            assert!(
                line.ends_with(text) && line.starts_with(field) && line.chars().count() <= WARNING,
                "{line}"
            );
        }
        let rule = RuleId::TenantReferenceExists;
        let of = |name: &str| {
            let field = FieldPath::dotted("spec.databaseRef.name");
            warning(&Finding::invalid(rule, field, Shown::omitted(), texts::cannot_be_bound(name)))
        };
        assert_eq!(of("legacy"), texts::cannot_be_bound("legacy"), "whole, and without the field");
        assert!(of(&"n".repeat(40)).contains("cannot be bound now"));
    }
}
