//! All that a chain found: order, ratcheting, counts.

use std::collections::{HashMap, HashSet};

use super::{Finding, Severity};

/// Every finding of a chain, in the document order of the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Finding>) {
        self.0.extend(other);
    }

    /// Puts them in document order (see [`FieldPath::document_position`]) and drops repetitions of one text at one
    /// field, as the API server does.
    #[must_use]
    pub fn in_document_order(self, order: &[&str]) -> Self {
        let mut keyed: Vec<_> =
            self.0.into_iter().map(|finding| (finding.field.document_position(order), finding)).collect();
        keyed.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut seen = HashSet::new();
        Self(
            keyed
                .into_iter()
                .map(|(_, finding)| finding)
                .filter(|finding| seen.insert(finding.line()))
                .collect(),
        )
    }

    /// Turns every error that `old` (the findings of the stored object) already has, no better, into a warning:
    /// admission must not stand between an object and an edit that did not make it worse.
    #[must_use]
    pub fn ratcheted(self, old: &Self) -> Self {
        let mut stored: HashMap<_, Vec<&Finding>> = HashMap::new();
        for finding in old {
            stored.entry(finding.identity()).or_default().push(finding);
        }
        let is_old = |finding: &Finding| {
            stored
                .get(&finding.identity())
                .is_some_and(|before| before.iter().any(|old| finding.is_no_worse_than(old)))
        };
        Self(
            self.0
                .into_iter()
                .map(|finding| if is_old(&finding) { finding.as_warning() } else { finding })
                .collect(),
        )
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    /// Those of severity error.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Those of severity warning.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Warning)
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        Self(findings.into_iter().collect())
    }
}
