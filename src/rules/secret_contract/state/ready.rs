//! `Ready`: the conditions that count, in one.

use super::Verdict;
use crate::api::conditions::{ConditionStatus, ContractCondition, ContractReason};
use crate::api::secret_contract::effective::EffectivePolicy;
use crate::rules::text::counted;

/// Whether a check counts in Ready under a contract's policy.
pub fn counts(check: ContractCondition, policy: EffectivePolicy) -> bool {
    match check {
        ContractCondition::SecretExists | ContractCondition::KeysValid => true,
        ContractCondition::ExternalSecretReady => policy.require_external_secret_ready,
        ContractCondition::WorkloadsConfigured => policy.require_workload_reference,
        ContractCondition::RotationPolicySatisfied => policy.require_rotation_policy,
        ContractCondition::Ready => false,
    }
}

/// False when a check that counts is False, else Unknown when one is Unknown, else True. The reason is that of the
/// first such check in the order of `checks`; the message names all of them.
pub(super) fn judge(policy: EffectivePolicy, checks: &[(ContractCondition, Verdict)]) -> Verdict {
    let counted_checks = || checks.iter().filter(|(check, _)| counts(*check, policy));
    let with = |status| counted_checks().filter(move |(_, verdict)| verdict.status == status);
    let unconfigured =
        checks.iter().filter(|(_, verdict)| verdict.reason == ContractReason::NotConfigured).count();
    let rest = match unconfigured {
        0 => String::new(),
        1 => " 1 optional check is not configured.".to_owned(),
        more => format!(" {more} optional checks are not configured."),
    };
    for status in [ConditionStatus::False, ConditionStatus::Unknown] {
        if let Some((_, first)) = with(status).next() {
            let failing: Vec<String> = with(status).map(|(check, verdict)| told(*check, verdict)).collect();
            return Verdict::new(status, first.reason, format!("{}{rest}", failing.join(" ")));
        }
    }
    let all = counted(counted_checks().count(), "check");
    Verdict::yes(ContractReason::ContractSatisfied, format!("The contract is satisfied: {all} passed.{rest}"))
}

fn told(check: ContractCondition, verdict: &Verdict) -> String {
    format!("{check} is {} ({}): {}", verdict.status, verdict.reason, verdict.message)
}
