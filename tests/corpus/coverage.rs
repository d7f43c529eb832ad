//! Whether the corpus shows everything that can be said of a contract.

use std::collections::BTreeSet;

use covenant::api::Kind;
use covenant::api::conditions::{ContractCondition, ContractReason, ViolationRule, WorkloadFindingReason};
use covenant::rules::id::RuleId;

use crate::case::{Case, Place};

/// Rules that no file can break, each with the reason.
const UNBREAKABLE: [(RuleId, &str); 1] =
    [(RuleId::FieldPattern, "the schema of a contract has no patterns: texts are the webhook's to judge")];

/// Every rule that can judge a contract.
fn rules() -> BTreeSet<String> {
    let of_contracts = RuleId::ALL.iter().filter(|rule| {
        let id = rule.as_str();
        (id.starts_with("contract/") || id.starts_with("*/"))
            && !UNBREAKABLE.iter().any(|(known, _)| known == *rule)
    });
    of_contracts.map(|rule| rule.identifier(Kind::SecretContract)).collect()
}

fn words<T: ToString>(all: &[T]) -> BTreeSet<String> {
    all.iter().map(ToString::to_string).collect()
}

/// What a case shows broken: rules, fields of key rules, reasons of workload findings.
fn broken(case: &Case) -> BTreeSet<String> {
    let expect = &case.expect;
    let faults = expect.faults.iter().map(|fault| fault.rule.clone());
    let violations = expect.violations.iter().map(|violation| violation.rule.clone());
    let findings = expect.workload_findings.iter().map(|finding| finding.reason.clone());
    faults.chain(violations).chain(findings).collect()
}

#[test]
fn every_rule_is_shown_broken_and_kept() {
    let cases = Case::all(None);
    let known: BTreeSet<String> = [rules(), words(ViolationRule::ALL), words(WorkloadFindingReason::ALL)]
        .into_iter()
        .flatten()
        .collect();
    let shown: BTreeSet<String> = cases.iter().flat_map(broken).collect();
    let kept: BTreeSet<String> = cases.iter().flat_map(|case| case.keeps.clone()).collect();
    for case in &cases {
        let both: Vec<_> = case.keeps.iter().filter(|word| broken(case).contains(*word)).collect();
        assert!(both.is_empty(), "{} keeps and breaks {both:?}", case.name);
    }
    let unknown: Vec<_> = shown.union(&kept).filter(|word| !known.contains(*word)).collect();
    assert!(unknown.is_empty(), "no rule has these names: {unknown:?}");
    let unbroken: Vec<_> = known.difference(&shown).collect();
    assert!(unbroken.is_empty(), "no case shows these broken: {unbroken:?}");
    let unkept: Vec<_> = known.difference(&kept).collect();
    assert!(unkept.is_empty(), "no case shows these kept: {unkept:?}");
}

#[test]
fn every_reason_and_every_status_of_every_condition_is_shown() {
    let cases = Case::all(None);
    let mut shown = BTreeSet::new();
    for case in &cases {
        for outcome in [case.expected(false), case.expected(true)] {
            shown.extend(outcome.conditions.into_iter().map(|(type_, said)| format!("{type_} {}", said.is)));
        }
    }
    let reasons: BTreeSet<&str> = shown.iter().filter_map(|said| said.rsplit(' ').next()).collect();
    let missing: Vec<_> = ContractReason::ALL
        .iter()
        .map(|reason| reason.as_str())
        .filter(|reason| !reasons.contains(reason))
        .collect();
    assert!(missing.is_empty(), "no case has these reasons: {missing:?}");
    for condition in ContractCondition::ALL {
        for status in ["True", "False", "Unknown"] {
            let start = format!("{condition} {status} ");
            assert!(shown.iter().any(|said| said.starts_with(&start)), "no case has {start}");
        }
    }
}

#[test]
fn there_are_many_cases_and_few_exceptions() {
    let cases = Case::all(None);
    assert!(cases.len() >= 150, "{} cases", cases.len());
    for place in [Place::Controller, Place::Webhook, Place::CommandLine] {
        let left_out = cases.iter().filter(|case| !case.is_for(place)).count();
        assert!(left_out * 10 < cases.len(), "{left_out} cases are not for {place:?}");
    }
    for case in &cases {
        assert!(case.except.values().all(|reason| reason.len() > 20), "{}: why?", case.name);
    }
}
