//! `ExternalSecretReady`: whether the producer that the contract declares is ready and makes this very Secret.

use super::Verdict;
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;

/// Judges the declared ExternalSecret.
pub(super) fn judge(contract: &EffectiveContract<'_>) -> Verdict {
    match &contract.external_secret {
        None => Verdict::yes(ContractReason::NotConfigured, "The contract declares no ExternalSecret."),
        Some(reference) => Verdict::unknown(
            ContractReason::Pending,
            format!(
                "ExternalSecret \"{}\" is not evaluated yet: this version of Covenant does not judge producers.",
                reference.name.unwrap_or_default()
            ),
        ),
    }
}
