//! `RotationPolicySatisfied`: how old the Secret says that its content is. Only the declared time counts.

use jiff::{SignedDuration, Timestamp};

use super::secret::content;
use super::{Settings, Verdict};
use crate::api::conditions::ContractReason;
use crate::api::secret_contract::EffectiveContract;
use crate::format::rfc3339;
use crate::go::duration;
use crate::rules::facts::{Lookup, SecretFacts};

/// The verdict, and when it changes by itself.
pub(super) struct Rotation {
    pub(super) verdict: Verdict,
    pub(super) next_change: Option<Timestamp>,
}

impl From<Verdict> for Rotation {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, next_change: None }
    }
}

/// Judges the declared rotation time.
pub(super) fn judge(
    contract: &EffectiveContract<'_>,
    secret: &Lookup<SecretFacts>,
    settings: &Settings,
    now: Timestamp,
) -> Rotation {
    let Some(text) = contract.max_age else {
        return Verdict::yes(ContractReason::NotConfigured, "The contract sets no spec.rotation.maxAge.")
            .into();
    };
    let Ok(max_age) = duration::parse(text) else {
        // SHAPE has read it before.
        return Verdict::unknown(ContractReason::InvalidSpec, "spec.rotation.maxAge is no duration.").into();
    };
    let secret = match content(contract, secret) {
        Ok(secret) => secret,
        Err(verdict) => return verdict.into(),
    };
    let annotation = contract.rotated_at();
    let Some(declared) = secret.annotations.get(annotation) else {
        let message = format!(
            "The Secret declares no rotation time: annotate it with {annotation}, an RFC 3339 time such as \
             2026-10-10T08:30:00Z."
        );
        return Verdict::no(ContractReason::RotationTimeMissing, message).into();
    };
    let rotated = std::str::from_utf8(declared.expose()).ok().and_then(rfc3339::parse);
    let Some(rotated) = rotated else {
        let message = format!(
            "The rotation time declared in the annotation {annotation} is no RFC 3339 time such as \
             2026-10-10T08:30:00Z."
        );
        return Verdict::no(ContractReason::RotationTimeInvalid, message).into();
    };
    by_age(rotated, SignedDuration::from_nanos(max_age.nanoseconds()), text, annotation, settings, now)
}

fn by_age(
    rotated: Timestamp,
    max_age: SignedDuration,
    max_age_text: &str,
    annotation: &str,
    settings: &Settings,
    now: Timestamp,
) -> Rotation {
    let age = now.duration_since(rotated);
    if age < -settings.clock_skew {
        let message = format!(
            "The rotation time declared in the annotation {annotation} lies in the future, beyond the clock skew that \
             this installation allows."
        );
        let verdict = Verdict::no(ContractReason::RotationTimeInFuture, message);
        return Rotation { verdict, next_change: rotated.checked_sub(settings.clock_skew).ok() };
    }
    if age > max_age {
        let message = format!(
            "The Secret was last rotated, as declared in the annotation {annotation}, longer ago than \
             spec.rotation.maxAge ({max_age_text}); rotate it and declare the new time."
        );
        return Verdict::no(ContractReason::MaxAgeExceeded, message).into();
    }
    let message = format!(
        "The rotation time declared in the annotation {annotation} is within spec.rotation.maxAge ({max_age_text})."
    );
    // An age of exactly maxAge is still within it.
    let too_old = max_age.saturating_add(SignedDuration::from_nanos(1));
    let verdict = Verdict::yes(ContractReason::WithinMaxAge, message);
    Rotation { verdict, next_change: rotated.checked_add(too_old).ok() }
}
