//! `WorkloadsConfigured`: whether the declared workloads consume the Secret, as the kubelet would build their pods.

use std::collections::BTreeSet;

use super::{Verdict, WorkloadFinding};
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::rules::facts::{Lookup, WorkloadFacts};
use crate::rules::text::counted;

/// The verdict with what it rests on.
pub(super) struct Workloads {
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<WorkloadFinding>,
    /// Keys of the Secret that stand in the final environment of a selected container of a declared workload.
    pub(super) environment_keys: BTreeSet<String>,
}

impl From<Verdict> for Workloads {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, findings: Vec::new(), environment_keys: BTreeSet::new() }
    }
}

/// Judges the declared workloads.
pub(super) fn judge(contract: &EffectiveContract<'_>, workloads: &[Lookup<WorkloadFacts>]) -> Workloads {
    let _ = workloads;
    if contract.workloads.is_empty() {
        return Verdict::yes(ContractReason::NotConfigured, "The contract declares no workloads.").into();
    }
    Verdict::unknown(
        ContractReason::Pending,
        format!(
            "{} declared but not evaluated yet: this version of Covenant does not judge workloads.",
            counted(contract.workloads.len(), "workload")
        ),
    )
    .into()
}
