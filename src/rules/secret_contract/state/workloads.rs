//! `WorkloadsConfigured`: whether the declared workloads consume the Secret, as the kubelet would build their pods.

use super::Verdict;
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::rules::text::counted;

/// Judges the declared workloads.
pub(super) fn judge(contract: &EffectiveContract<'_>) -> Verdict {
    if contract.workloads.is_empty() {
        return Verdict::yes(ContractReason::NotConfigured, "The contract declares no workloads.");
    }
    Verdict::unknown(
        ContractReason::Pending,
        format!(
            "{} declared but not evaluated yet: this version of Covenant does not judge workloads.",
            counted(contract.workloads.len(), "workload")
        ),
    )
}
