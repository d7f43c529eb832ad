//! `SecretExists`, and what every check of the Secret's content says when there is no content.

use super::Verdict;
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::rules::facts::{Lookup, SecretFacts};

/// Whether the Secret of the contract exists.
pub(super) fn exists(contract: &EffectiveContract<'_>, secret: &Lookup<SecretFacts>) -> Verdict {
    let name = contract.secret_name.unwrap_or_default();
    match secret {
        Lookup::Found(secret) if secret.terminating => Verdict::yes(
            ContractReason::SecretTerminating,
            format!("Secret \"{name}\" is being deleted; its content is judged until it is gone."),
        ),
        Lookup::Found(_) => Verdict::yes(ContractReason::SecretFound, format!("Secret \"{name}\" exists.")),
        Lookup::Absent => Verdict::no(
            ContractReason::SecretNotFound,
            format!("Secret \"{name}\" does not exist; create it or correct spec.secretRef.name."),
        ),
        other => unreadable(name, other),
    }
}

/// The Secret, or what a check of its content has to say without it.
pub(super) fn content<'a>(
    contract: &EffectiveContract<'_>,
    secret: &'a Lookup<SecretFacts>,
) -> Result<&'a SecretFacts, Verdict> {
    let name = contract.secret_name.unwrap_or_default();
    match secret {
        Lookup::Found(secret) => Ok(secret),
        Lookup::Absent => Err(Verdict::unknown(
            ContractReason::SecretNotFound,
            format!("There is nothing to evaluate: Secret \"{name}\" does not exist."),
        )),
        other => Err(unreadable(name, other)),
    }
}

/// It is not known whether the Secret exists.
pub(super) fn unreadable(name: &str, secret: &Lookup<SecretFacts>) -> Verdict {
    match secret {
        Lookup::Forbidden => Verdict::unknown(
            ContractReason::AccessDenied,
            format!(
                "Covenant may not read Secret \"{name}\" in this namespace; an administrator can bind the ClusterRole \
                 covenant-controller-secrets here."
            ),
        ),
        Lookup::Failed(failure) => Verdict::unknown(
            ContractReason::APIError,
            format!("Secret \"{name}\" could not be read: {failure}. It is tried again."),
        ),
        _ => Verdict::unknown(
            ContractReason::NotInInput,
            format!("Secret \"{name}\" is not part of the input, so nothing is known of it."),
        ),
    }
}
