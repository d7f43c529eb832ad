//! The status of a `SecretContract`.

use jiff::{SignedDuration, Timestamp};

use crate::api::conditions::ConditionStatus;
use crate::api::conditions::READY;
use crate::api::secret_contract::{ObservedSecret, SecretContractStatus, Violation, WorkloadFinding, limits};
use crate::rules::conditions::{Wanted, merged, same_ignoring_time, time};
use crate::rules::secret_contract::state::{self, Report};

/// The status that says what `report` found for this generation. `stored` is the status that the object has: it gives
/// the times of conditions that did not change, and conditions that are not ours.
pub fn of_report(
    report: &Report,
    stored: &SecretContractStatus,
    generation: i64,
    now: Timestamp,
) -> SecretContractStatus {
    let wanted = report.conditions.iter().map(|(condition, verdict)| Wanted {
        type_: condition.as_str(),
        status: verdict.status,
        reason: verdict.reason.as_str(),
        message: verdict.message.clone(),
    });
    let mut missing_keys = report.missing_keys.clone();
    missing_keys.sort_unstable();
    let (missing_keys, missing_cut) = first(missing_keys);
    let (violations, violations_cut) = first(violations(&report.violations));
    let (workload_findings, findings_cut) = first(workload_findings(&report.workload_findings));
    SecretContractStatus {
        observed_generation: Some(generation),
        observed_secret: report.observed_secret.as_ref().map(|secret| ObservedSecret {
            name: secret.name.clone(),
            uid: secret.uid.clone(),
            resource_version: secret.resource_version.clone(),
        }),
        last_checked_time: Some(time(now)),
        missing_keys,
        missing_key_count: count(report.missing_keys.len()),
        violations,
        violation_count: count(report.violations.len()),
        workload_findings,
        workload_finding_count: count(report.workload_finding_count),
        truncated: missing_cut || violations_cut || findings_cut,
        conditions: merged(&stored.conditions, wanted, generation, now),
    }
}

/// The entries that the status shows, and whether it leaves some out.
fn first<T>(mut entries: Vec<T>) -> (Vec<T>, bool) {
    let cut = entries.len() > limits::STATUS_FINDINGS;
    entries.truncate(limits::STATUS_FINDINGS);
    (entries, cut)
}

fn count(entries: usize) -> i64 {
    i64::try_from(entries).unwrap_or(i64::MAX)
}

fn violations(found: &[state::Violation]) -> Vec<Violation> {
    let mut violations: Vec<Violation> = found
        .iter()
        .map(|violation| Violation {
            key: violation.key.clone(),
            rule: violation.rule.as_str().to_owned(),
            reason: violation.rule.reason().as_str().to_owned(),
            message: violation.message.clone(),
        })
        .collect();
    violations.sort_by(|left, right| (&left.key, &left.rule).cmp(&(&right.key, &right.rule)));
    violations
}

fn workload_findings(found: &[state::WorkloadFinding]) -> Vec<WorkloadFinding> {
    let mut findings: Vec<WorkloadFinding> = found
        .iter()
        .map(|finding| WorkloadFinding {
            kind: finding.kind.clone(),
            name: finding.name.clone(),
            container: finding.container.clone(),
            key: finding.key.clone(),
            reason: finding.reason.as_str().to_owned(),
            message: finding.message.clone(),
        })
        .collect();
    findings.sort_by(|left, right| order(left).cmp(&order(right)));
    findings
}

/// A finding without a key comes before those of its container with one.
fn order(finding: &WorkloadFinding) -> (&str, &str, &str, Option<&str>, &str) {
    (&finding.kind, &finding.name, &finding.container, finding.key.as_deref(), &finding.reason)
}

/// Whether two statuses say the same, whatever their times and the order of their conditions.
pub fn same(left: &SecretContractStatus, right: &SecretContractStatus) -> bool {
    let timeless = |status: &SecretContractStatus| SecretContractStatus {
        last_checked_time: None,
        conditions: Vec::new(),
        ..status.clone()
    };
    same_ignoring_time(&left.conditions, &right.conditions) && timeless(left) == timeless(right)
}

/// When the next scheduled check is due: one interval after the last. A status without a readable time, or with one that
/// lies in the future, was never checked.
pub fn next_check(stored: &SecretContractStatus, interval: SignedDuration, now: Timestamp) -> Timestamp {
    let last = stored.last_checked_time.as_ref().and_then(|last| last.parse::<Timestamp>().ok());
    match last {
        Some(last) if last <= now => last.checked_add(interval).unwrap_or(now),
        _ => now,
    }
}

/// The status of Ready in a stored status; Unknown when it has none.
pub fn ready(status: &SecretContractStatus) -> ConditionStatus {
    let ready = status.conditions.iter().find(|condition| condition.type_ == READY);
    ready.map(|condition| condition.status).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::conditions::{ContractCondition, ContractReason, ViolationRule, WorkloadFindingReason};
    use crate::rules::secret_contract::state::Verdict;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn report(status: ConditionStatus, reason: ContractReason) -> Report {
        let verdict = |message: &str| Verdict { status, reason, message: message.to_owned() };
        Report {
            conditions: ContractCondition::ALL
                .iter()
                .map(|condition| (*condition, verdict("Said.")))
                .collect(),
            observed_secret: None,
            missing_keys: Vec::new(),
            violations: Vec::new(),
            workload_findings: Vec::new(),
            workload_finding_count: 0,
            next_change: None,
        }
    }

    const FIRST: &str = "2026-10-10T08:30:00.75Z";
    const LATER: &str = "2026-10-10T09:00:00Z";

    #[test]
    fn the_first_write_has_everything_and_the_second_pass_writes_nothing() {
        let found = report(ConditionStatus::True, ContractReason::RulesSatisfied);
        let first = of_report(&found, &SecretContractStatus::default(), 3, at(FIRST));
        let json = serde_json::to_value(&first).unwrap();
        assert_eq!(json["observedGeneration"], 3);
        assert_eq!(json["lastCheckedTime"], "2026-10-10T08:30:00Z");
        for empty in ["missingKeys", "violations", "workloadFindings"] {
            assert_eq!(json[empty], json!([]), "{empty} is written even when empty");
        }
        for zero in ["missingKeyCount", "violationCount", "workloadFindingCount"] {
            assert_eq!(json[zero], 0, "{zero}");
        }
        assert_eq!(json["truncated"], false);
        assert_eq!(json["conditions"].as_array().unwrap().len(), 6);
        for condition in &first.conditions {
            assert_eq!(condition.observed_generation, Some(3));
            assert_eq!(condition.last_transition_time, "2026-10-10T08:30:00Z");
        }
        let second = of_report(&found, &first, 3, at(LATER));
        assert!(same(&first, &second));
        assert_eq!(ready(&second), ConditionStatus::True);
    }

    #[test]
    fn a_transition_time_moves_only_with_the_status() {
        let before = of_report(
            &report(ConditionStatus::False, ContractReason::SecretNotFound),
            &SecretContractStatus::default(),
            1,
            at(FIRST),
        );
        for (status, reason, generation, moved) in [
            (ConditionStatus::False, ContractReason::SecretNotFound, 1, false),
            (ConditionStatus::False, ContractReason::KeysInvalid, 1, false),
            (ConditionStatus::False, ContractReason::SecretNotFound, 2, false),
            (ConditionStatus::Unknown, ContractReason::SecretNotFound, 1, true),
            (ConditionStatus::True, ContractReason::RulesSatisfied, 2, true),
        ] {
            let after = of_report(&report(status, reason), &before, generation, at(LATER));
            let expected = if moved { "2026-10-10T09:00:00Z" } else { "2026-10-10T08:30:00Z" };
            assert_eq!(after.conditions[0].last_transition_time, expected, "{status} {reason} {generation}");
            let unchanged = reason == ContractReason::SecretNotFound && generation == 1 && !moved;
            assert_eq!(same(&before, &after), unchanged, "{status} {reason} {generation}");
        }
    }

    #[test]
    fn lists_are_sorted_counted_and_cut() {
        let mut found = report(ConditionStatus::False, ContractReason::KeysInvalid);
        found.missing_keys = (0..100).rev().map(|n| format!("k{n:03}")).collect();
        let violation = |key: &str, rule| state::Violation { key: key.into(), rule, message: "m".into() };
        found.violations = vec![
            violation("b", ViolationRule::Format),
            violation("a", ViolationRule::Pattern),
            violation("a", ViolationRule::MaxLength),
            violation("B", ViolationRule::NonEmpty),
        ];
        let finding = |container: &str, key: Option<&str>, reason| state::WorkloadFinding {
            kind: "Deployment".into(),
            name: "web".into(),
            container: container.into(),
            key: key.map(str::to_owned),
            reason,
            message: "m".into(),
        };
        found.workload_findings = vec![
            finding("b", Some("a"), WorkloadFindingReason::Shadowed),
            finding("b", None, WorkloadFindingReason::ContainerNotFound),
            finding("a", Some("z"), WorkloadFindingReason::ReferenceMissing),
        ];
        found.workload_finding_count = 70_000;
        let status = of_report(&found, &SecretContractStatus::default(), 1, at(FIRST));
        assert_eq!((status.missing_keys.len(), status.missing_key_count), (64, 100));
        assert_eq!(status.missing_keys[0], "k000");
        assert!(status.truncated);
        let order: Vec<_> = status.violations.iter().map(|v| (v.key.as_str(), v.rule.as_str())).collect();
        assert_eq!(order, [("B", "nonEmpty"), ("a", "maxLength"), ("a", "pattern"), ("b", "format")]);
        assert_eq!(status.violations[0].reason, "Empty");
        let order: Vec<_> =
            status.workload_findings.iter().map(|f| (f.container.as_str(), f.key.as_deref())).collect();
        assert_eq!(order, [("a", Some("z")), ("b", None), ("b", Some("a"))]);
        assert_eq!(status.workload_finding_count, 70_000, "those that are not kept are counted");
    }

    #[test]
    fn conditions_are_a_map_and_foreign_ones_stay() {
        let found = report(ConditionStatus::True, ContractReason::RulesSatisfied);
        let mut stored = of_report(&found, &SecretContractStatus::default(), 1, at(FIRST));
        stored.conditions.reverse();
        let mut foreign = stored.conditions[0].clone();
        foreign.type_ = "Foreign".into();
        stored.conditions.insert(0, foreign);
        let next = of_report(&found, &stored, 1, at(LATER));
        assert_eq!(next.conditions.len(), 7);
        assert!(same(&stored, &next), "the order of conditions says nothing");
    }

    #[test]
    fn a_stored_status_that_makes_no_sense_is_written_anew() {
        let stored: SecretContractStatus = crate::status::stored(&json!({"status": {"conditions": "none"}}));
        assert_eq!(stored, SecretContractStatus::default());
        let found = report(ConditionStatus::True, ContractReason::RulesSatisfied);
        assert!(!same(&stored, &of_report(&found, &stored, 1, at(FIRST))));
    }

    #[test]
    fn the_scheduled_check_is_due_one_interval_after_the_last() {
        let interval = SignedDuration::from_mins(5);
        let stored = |text: Option<&str>| SecretContractStatus {
            last_checked_time: text.map(str::to_owned),
            ..SecretContractStatus::default()
        };
        let next = |text| next_check(&stored(text), interval, at(LATER));
        assert_eq!(next(Some("2026-10-10T08:58:00Z")), at("2026-10-10T09:03:00Z"));
        assert_eq!(next(Some("2026-10-10T08:00:00Z")), at("2026-10-10T08:05:00Z"));
        for never in [None, Some("yesterday"), Some("2027-01-01T00:00:00Z")] {
            assert_eq!(next(never), at(LATER));
        }
    }
}
