//! `KeysValid`: every rule of every key against the decoded bytes.

use std::collections::BTreeSet;

use super::secret::content;
use super::{Evaluator, Verdict, Violation};
use crate::api::conditions::{ContractReason, ViolationRule};
use crate::api::secret_contract::EffectiveContract;
use crate::api::secret_contract::effective::{EffectiveKey, Format};
use crate::format;
use crate::go::regexp::Budget;
use crate::rules::facts::{ContractFacts, SecretFacts};
use crate::rules::limits;
use crate::rules::text::{counted, listed};

/// How many names a message lists before it counts the rest; `status` lists more.
const NAMES_IN_MESSAGE: usize = 5;

/// The verdict with what it rests on.
pub(super) struct Keys {
    pub(super) verdict: Verdict,
    pub(super) missing: Vec<String>,
    pub(super) violations: Vec<Violation>,
}

impl Keys {
    fn without_findings(verdict: Verdict) -> Self {
        Self { verdict, missing: Vec::new(), violations: Vec::new() }
    }

    /// Of a sealed Secret only its keys are known: a required key that is not among them will be missing, whatever the
    /// values turn out to be; otherwise the verdict is `unknown`.
    fn of_sealed(contract: &EffectiveContract<'_>, sealed: &BTreeSet<String>, unknown: Verdict) -> Self {
        let required = contract.keys.iter().filter(|key| key.required).filter_map(|key| key.name);
        let missing: Vec<String> =
            required.filter(|name| !sealed.contains(*name)).map(str::to_owned).collect();
        if missing.is_empty() {
            return Self::without_findings(unknown);
        }
        let message = format!("{}, in the sealed Secret.", missing_keys(&missing));
        Self { verdict: Verdict::no(ContractReason::KeysInvalid, message), missing, violations: Vec::new() }
    }
}

/// `2 required keys are missing: "a", "b"`.
fn missing_keys(missing: &[String]) -> String {
    let mut names: Vec<&str> = missing.iter().map(String::as_str).collect();
    names.sort_unstable();
    let keys = listed(names.into_iter(), NAMES_IN_MESSAGE);
    let verb = if missing.len() == 1 { "is" } else { "are" };
    format!("{} {verb} missing: {keys}", counted(missing.len(), "required key"))
}

/// Judges the keys of the Secret. `environment_keys` are those that stand in the final environment of a selected
/// container of a declared workload.
pub(super) fn judge(
    contract: &EffectiveContract<'_>,
    facts: &ContractFacts,
    environment_keys: &BTreeSet<String>,
    evaluator: &Evaluator,
) -> Keys {
    let secret = match (content(contract, &facts.secret), &facts.sealed_keys) {
        (Ok(secret), _) => secret,
        (Err(verdict), Some(sealed)) => return Keys::of_sealed(contract, sealed, verdict),
        (Err(verdict), None) => return Keys::without_findings(verdict),
    };
    if evaluator.settings.denied_types.contains(&secret.type_) {
        return Keys::without_findings(Verdict::unknown(
            ContractReason::TypeNotPermitted,
            format!(
                "Secrets of type {} are not evaluated by this installation; name a Secret of another type.",
                secret.type_
            ),
        ));
    }
    if contract.keys.is_empty() {
        return Keys::without_findings(Verdict::yes(
            ContractReason::NoRules,
            "The contract declares no key rules; only the Secret's existence is asked for.",
        ));
    }
    let mut evaluation = Evaluation::new(evaluator);
    for key in &contract.keys {
        evaluation.key(key, secret);
    }
    for key in environment_keys {
        evaluation.representation(key, secret);
    }
    evaluation.finish()
}

/// One pass over the keys of one Secret.
struct Evaluation<'a> {
    evaluator: &'a Evaluator,
    budget: Budget,
    missing: Vec<String>,
    violations: Vec<Violation>,
    /// Keys with a rule that was given up.
    exceeded: Vec<String>,
}

impl<'a> Evaluation<'a> {
    fn new(evaluator: &'a Evaluator) -> Self {
        Self {
            evaluator,
            budget: Budget::new(evaluator.settings.evaluation_steps),
            missing: Vec::new(),
            violations: Vec::new(),
            exceeded: Vec::new(),
        }
    }

    fn key(&mut self, key: &EffectiveKey<'_>, secret: &SecretFacts) {
        let Some(name) = key.name else { return };
        let Some(value) = secret.value(name) else {
            if key.required {
                self.missing.push(name.to_owned());
            }
            return;
        };
        if value.is_empty() && key.non_empty {
            self.violation(
                name,
                ViolationRule::NonEmpty,
                "is empty; give it a value, or set nonEmpty to false",
            );
            return;
        }
        self.lengths(name, key, value);
        self.content(name, key, value);
    }

    /// A variable cannot hold a zero byte, so the kubelet could not start a container with this one.
    fn representation(&mut self, name: &str, secret: &SecretFacts) {
        if secret.value(name).is_some_and(|value| value.contains(&0)) {
            let wrong = "holds a zero byte, so it cannot be an environment variable; consume it as a file of a volume";
            self.violation(name, ViolationRule::Representation, wrong);
        }
    }

    fn lengths(&mut self, name: &str, key: &EffectiveKey<'_>, value: &[u8]) {
        let length = i64::try_from(value.len()).unwrap_or(i64::MAX);
        if let Some(least) = key.min_length
            && length < least
        {
            self.violation(name, ViolationRule::MinLength, &format!("has fewer than {least} bytes"));
        }
        if let Some(most) = key.max_length
            && length > most
        {
            self.violation(name, ViolationRule::MaxLength, &format!("has more than {most} bytes"));
        }
    }

    /// The rules that have to read the value.
    fn content(&mut self, name: &str, key: &EffectiveKey<'_>, value: &[u8]) {
        if key.pattern.is_none() && key.format == Format::None {
            return;
        }
        if value.len() > limits::VALUE_BYTES {
            self.exceeded.push(name.to_owned());
            return;
        }
        if let Some(pattern) = key.pattern {
            match self.matches(pattern, value) {
                Some(true) => {}
                Some(false) => {
                    self.violation(name, ViolationRule::Pattern, "does not match the rule's pattern");
                }
                None => self.exceeded.push(name.to_owned()),
            }
        }
        let (valid, wrong) = match key.format {
            Format::None | Format::Unknown(_) => (true, ""),
            Format::Json => (format::json::is_valid(value), "is not valid JSON"),
            Format::Uri => (format::uri::is_valid(value), "is not an absolute URI"),
            Format::Pem => (format::pem::is_valid(value), "is not one or more PEM blocks and nothing else"),
        };
        if !valid {
            self.violation(name, ViolationRule::Format, wrong);
        }
    }

    /// Whether the pattern matches; `None` when that could not be found out within the budget.
    fn matches(&mut self, pattern: &str, value: &[u8]) -> Option<bool> {
        self.evaluator.program(pattern)?.is_match(value, &mut self.budget).ok()
    }

    fn violation(&mut self, key: &str, rule: ViolationRule, message: &str) {
        let message = format!("\"{key}\" {message}");
        self.violations.push(Violation { key: key.to_owned(), rule, message });
    }

    fn finish(self) -> Keys {
        let verdict = if !self.missing.is_empty() || !self.violations.is_empty() {
            Verdict::no(ContractReason::KeysInvalid, self.faults())
        } else if !self.exceeded.is_empty() {
            let keys = listed(self.exceeded.iter().map(String::as_str), NAMES_IN_MESSAGE);
            let message = format!(
                "The rules of {keys} could not be evaluated within the limits: 1 MiB a value, and the steps that \
                 patterns may cost; simplify the patterns or shorten the values."
            );
            Verdict::unknown(ContractReason::EvaluationLimitExceeded, message)
        } else {
            Verdict::yes(ContractReason::RulesSatisfied, "All declared key rules are satisfied.")
        };
        Keys { verdict, missing: self.missing, violations: self.violations }
    }

    /// What is missing and what is broken, each with its number and the first names.
    fn faults(&self) -> String {
        let mut sentences = Vec::new();
        if !self.missing.is_empty() {
            sentences.push(missing_keys(&self.missing));
        }
        if !self.violations.is_empty() {
            let mut violations: Vec<&Violation> = self.violations.iter().collect();
            violations.sort_unstable();
            let first: Vec<&str> = violations
                .iter()
                .take(NAMES_IN_MESSAGE)
                .map(|violation| violation.message.as_str())
                .collect();
            let rest = violations.len().saturating_sub(NAMES_IN_MESSAGE);
            let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
            let verb = if violations.len() == 1 { "is" } else { "are" };
            sentences.push(format!(
                "{} {verb} broken: {}{more}",
                counted(violations.len(), "rule"),
                first.join(", ")
            ));
        }
        format!("{}.", sentences.join("; "))
    }
}
