//! `ExternalSecretReady`: whether the producer that the contract declares is ready and makes this very Secret.

use jiff::Timestamp;

use super::Verdict;
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::rules::facts::ContractFacts;

/// The verdict, and when it changes by itself.
pub(super) struct Producer {
    pub(super) verdict: Verdict,
    pub(super) next_change: Option<Timestamp>,
}

impl From<Verdict> for Producer {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, next_change: None }
    }
}

/// Judges the declared ExternalSecret.
pub(super) fn judge(contract: &EffectiveContract<'_>, facts: &ContractFacts, now: Timestamp) -> Producer {
    let _ = (facts, now);
    match &contract.external_secret {
        None => {
            Verdict::yes(ContractReason::NotConfigured, "The contract declares no ExternalSecret.").into()
        }
        Some(reference) => Verdict::unknown(
            ContractReason::Pending,
            format!(
                "ExternalSecret \"{}\" is not evaluated yet: this version of Covenant does not judge producers.",
                reference.name.unwrap_or_default()
            ),
        )
        .into(),
    }
}
