//! `ExternalSecretReady`: whether the producer that the contract declares is ready and makes this very Secret.
//!
//! The report of the External Secrets Operator is taken at its word only where it is up to date. Its free texts are
//! neither read nor repeated.

mod freshness;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use super::Verdict;
use super::secret::unreadable;
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::format::name::dns_subdomain;
use crate::rules::facts::{ContractFacts, ExternalSecretFacts, Lookup, SecretFacts};

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
    let Some(reference) = contract.external_secret else {
        return Verdict::yes(ContractReason::NotConfigured, "The contract declares no ExternalSecret.")
            .into();
    };
    let name = reference.name.unwrap_or_default();
    let external_secret = match &facts.external_secret {
        Some(Lookup::Found(external_secret)) => external_secret,
        other => return not_read(name, other.as_ref()).into(),
    };
    let subject = Subject {
        name,
        secret_name: contract.secret_name.unwrap_or_default(),
        external_secret,
        secret: &facts.secret,
    };
    match subject.fault() {
        Some(verdict) => verdict.into(),
        None => subject.success(now),
    }
}

/// What there is to say without the object.
fn not_read(name: &str, lookup: Option<&Lookup<ExternalSecretFacts>>) -> Verdict {
    match lookup {
        Some(Lookup::Absent) => Verdict::no(
            ContractReason::ExternalSecretNotFound,
            format!(
                "ExternalSecret \"{name}\" does not exist; create it or correct spec.externalSecretRef.name."
            ),
        ),
        Some(Lookup::Forbidden) => Verdict::unknown(
            ContractReason::AccessDenied,
            format!(
                "Covenant may not read ExternalSecret \"{name}\" in this namespace; an administrator can bind the \
                 ClusterRole covenant-controller-secrets here."
            ),
        ),
        Some(Lookup::Failed(failure)) => Verdict::unknown(
            ContractReason::APIError,
            format!("ExternalSecret \"{name}\" could not be read: {failure}. It is tried again."),
        ),
        Some(Lookup::NotServed) => Verdict::unknown(
            ContractReason::APINotServed,
            format!(
                "ExternalSecret \"{name}\" cannot be read: the API server serves ExternalSecrets in no version that \
                 this installation lists. Install the External Secrets Operator, or remove spec.externalSecretRef."
            ),
        ),
        Some(Lookup::NotInInput | Lookup::Found(_)) | None => Verdict::unknown(
            ContractReason::NotInInput,
            format!(
                "ExternalSecret \"{name}\" is not part of the input, in any version of the installation's list, so \
                 nothing is known of it; add it."
            ),
        ),
    }
}

/// An ExternalSecret and the Secret that it is to produce.
struct Subject<'a> {
    name: &'a str,
    secret_name: &'a str,
    external_secret: &'a ExternalSecretFacts,
    secret: &'a Lookup<SecretFacts>,
}

impl Subject<'_> {
    /// The first fault other than a report out of date, in the order of what to mend first.
    fn fault(&self) -> Option<Verdict> {
        self.terminating()
            .or_else(|| self.other_target())
            .or_else(|| self.not_ready())
            .or_else(|| self.no_secret())
            .or_else(|| self.not_owned())
    }

    /// Everything is as it should be, if the report is up to date.
    fn success(&self, now: Timestamp) -> Producer {
        match freshness::judge(self.external_secret, now) {
            Ok(next_change) => {
                let message = format!(
                    "ExternalSecret \"{}\" is ready and produces Secret \"{}\".",
                    self.name, self.secret_name
                );
                Producer { verdict: Verdict::yes(ContractReason::ExternalSecretReady, message), next_change }
            }
            Err(stale) => {
                let message = stale.message(self.name);
                Verdict::unknown(ContractReason::ExternalSecretStale, message).into()
            }
        }
    }

    fn terminating(&self) -> Option<Verdict> {
        self.external_secret.terminating.then(|| {
            let message = format!(
                "ExternalSecret \"{}\" is being deleted; create it anew or correct spec.externalSecretRef.name.",
                self.name
            );
            Verdict::no(ContractReason::ExternalSecretTerminating, message)
        })
    }

    /// It is set to produce something else, or nothing.
    fn other_target(&self) -> Option<Verdict> {
        let (name, secret_name) = (self.name, self.secret_name);
        let facts = self.external_secret;
        let message = if facts.creation_policy.as_deref() == Some("None") {
            format!(
                "ExternalSecret \"{name}\" produces no Secret: its spec.target.creationPolicy is None. Set it to Owner, \
                 Orphan or Merge, or correct spec.externalSecretRef.name."
            )
        } else if facts.target_manifest {
            format!(
                "ExternalSecret \"{name}\" produces an object by its spec.target.manifest and no Secret. Remove that \
                 field, or correct spec.externalSecretRef.name."
            )
        } else {
            let target = facts.bound_name.as_deref().or(facts.target_name.as_deref()).unwrap_or(name);
            if target == secret_name {
                return None;
            }
            // What stands in a status may be anything; only a name is repeated.
            let other = if dns_subdomain(target).is_empty() {
                format!("Secret \"{target}\"")
            } else {
                "another Secret".to_owned()
            };
            format!(
                "ExternalSecret \"{name}\" produces {other}, not Secret \"{secret_name}\". Correct spec.secretRef.name or \
                 spec.externalSecretRef.name, or the spec.target.name of the ExternalSecret."
            )
        };
        Some(Verdict::no(ContractReason::TargetMismatch, message))
    }

    fn not_ready(&self) -> Option<Verdict> {
        let name = self.name;
        let status = self.external_secret.ready.as_ref().and_then(|ready| ready.status.as_deref());
        match status {
            Some("True") => None,
            Some("False") => {
                let message = format!(
                    "ExternalSecret \"{name}\" reports that it is not ready; its own conditions and Events say why."
                );
                Some(Verdict::no(ContractReason::ExternalSecretNotReady, message))
            }
            _ => {
                let message = format!(
                    "ExternalSecret \"{name}\" does not say yet whether it is ready: its status has no condition Ready \
                     that is True or False. The External Secrets Operator writes it: check that it is running. A manifest has \
                     none."
                );
                Some(Verdict::unknown(ContractReason::Pending, message))
            }
        }
    }

    /// It reports success, but the Secret is not there.
    fn no_secret(&self) -> Option<Verdict> {
        let (name, secret_name) = (self.name, self.secret_name);
        let reason = self.external_secret.ready.as_ref().and_then(|ready| ready.reason.as_deref());
        let message = match (reason, self.secret) {
            (Some("SecretDeleted"), _) => format!(
                "ExternalSecret \"{name}\" has deleted Secret \"{secret_name}\", because what it was made from is gone \
                 (deletionPolicy Delete); restore the source."
            ),
            (Some("SecretMissing"), _) => format!(
                "ExternalSecret \"{name}\" has found no Secret \"{secret_name}\" to merge into (creationPolicy Merge); \
                 create the Secret, or set creationPolicy to Owner."
            ),
            (_, Lookup::Absent) => format!(
                "ExternalSecret \"{name}\" reports that it is ready, but Secret \"{secret_name}\" does not exist. Unless \
                 it was deleted this moment, check that the External Secrets Operator is running."
            ),
            _ => return None,
        };
        Some(Verdict::no(ContractReason::TargetMissing, message))
    }

    /// The Secret is not the one that it made, or nobody can tell.
    fn not_owned(&self) -> Option<Verdict> {
        let (name, secret_name) = (self.name, self.secret_name);
        let Lookup::Found(secret) = self.secret else {
            // Whether it is there, and whose it is, would decide.
            let unknown = unreadable(secret_name, self.secret);
            let message = format!(
                "ExternalSecret \"{name}\" reports that it is ready, but whether its Secret is there is not known. {}",
                unknown.message
            );
            return Some(Verdict::unknown(unknown.reason, message));
        };
        if !matches!(self.external_secret.creation_policy.as_deref(), None | Some("Owner")) {
            return None;
        }
        let mut owners = secret.owner_references.iter();
        let owned = match self.external_secret.uid.as_deref() {
            Some(uid) => owners.any(|owner| owner.uid == uid),
            // Without a UID, as in a manifest, the name can rule an owner out but not in.
            None => owners.any(|owner| owner.kind == "ExternalSecret" && owner.name == name),
        };
        match (owned, &self.external_secret.uid) {
            (true, Some(_)) => None,
            (true, None) => {
                let message = format!(
                    "Whether Secret \"{secret_name}\" belongs to ExternalSecret \"{name}\" is not known: the \
                     ExternalSecret in the input has no metadata.uid. Give both as the cluster has them."
                );
                Some(Verdict::unknown(ContractReason::NotInInput, message))
            }
            (false, _) => {
                let message = format!(
                    "Secret \"{secret_name}\" is not owned by ExternalSecret \"{name}\", whose creationPolicy is Owner: \
                     something else made it. Let the ExternalSecret produce it, or set the creationPolicy to Merge or \
                     Orphan."
                );
                Some(Verdict::no(ContractReason::NotOwned, message))
            }
        }
    }
}
