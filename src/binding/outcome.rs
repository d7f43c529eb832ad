//! What became of a request that was not done, as far as the protocol tells answers apart.

use super::step::StepName;

/// What the API server said, or that it said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The HTTP status; none where no answer came.
    pub code: Option<u16>,
    /// `message` of the Status object.
    pub message: &'a str,
    /// Each of `details.causes`: its reason and its field.
    pub causes: &'a [(&'a str, &'a str)],
}

/// What follows from an answer that was not success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A dry run passed: the real thing may be tried.
    Admitted,
    /// The object is not the one that was judged any more (404, 409, a finalizer on an object that is being deleted): all
    /// is read and judged again, and nobody hears of it.
    Changed,
    /// Admission said no, definitely.
    Refused {
        /// The server's text.
        message: String,
    },
    /// The webhook has not seen the Tenant yet: not an answer, the store of the webhook lags behind live reads.
    NotSeenYet {
        /// How many times in a row that was said, this time counted.
        times: u32,
    },
    /// Nobody answered, or only that it cannot be answered now: the write may or may not have been done.
    Unavailable,
}

/// A step that was tried in this very pass, and what became of it. The world was read anew since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The step.
    pub step: StepName,
    /// What became of it.
    pub outcome: Outcome,
}

impl Outcome {
    /// Reads an answer that was not success. `times` is how often in a row the webhook has already said to this object
    /// that it has not seen the Tenant.
    pub fn of(answer: &Answer<'_>, times: u32) -> Self {
        let has = |reason: &str, field: &str| {
            answer
                .causes
                .iter()
                .any(|(found, at)| *found == reason && (field.is_empty() || at.starts_with(field)))
        };
        match answer.code {
            Some(404 | 409) => Self::Changed,
            Some(422) if has("FieldValueForbidden", "metadata.finalizers") => Self::Changed,
            Some(422) if has("FieldValueNotFound", "spec.tenantRef.uid") => {
                Self::NotSeenYet { times: times + 1 }
            }
            // A namespace that ends refuses every creation; its Tenants end with it.
            Some(403) if has("NamespaceTerminating", "") => Self::Changed,
            Some(400 | 403 | 405 | 413 | 422) => Self::Refused { message: answer.message.to_owned() },
            _ => Self::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_about_the_object_is_a_refusal() {
        let of = |code, causes: &[(&str, &str)]| Outcome::of(&Answer { code, message: "no", causes }, 1);
        let refused = Outcome::Refused { message: "no".into() };
        assert_eq!(of(Some(403), &[]), refused);
        assert_eq!(of(Some(422), &[("FieldValueInvalid", "spec.database")]), refused);
        assert_eq!(of(Some(403), &[("NamespaceTerminating", "metadata.namespace")]), Outcome::Changed);
        for code in [Some(401), Some(429), Some(500), Some(503), Some(504), None] {
            assert_eq!(of(code, &[]), Outcome::Unavailable, "{code:?}");
        }
        assert_eq!(of(Some(409), &[]), Outcome::Changed);
        assert_eq!(of(Some(404), &[]), Outcome::Changed);
    }

    #[test]
    fn p23_a_finalizer_on_a_deleting_object_is_read_again() {
        let causes = [("FieldValueForbidden", "metadata.finalizers")];
        let answer = Answer { code: Some(422), message: "no new finalizers can be added", causes: &causes };
        assert_eq!(Outcome::of(&answer, 0), Outcome::Changed);
    }

    #[test]
    fn p24_a_webhook_that_lags_is_not_a_refusal() {
        let causes = [("FieldValueNotFound", "spec.tenantRef.uid")];
        let answer = Answer { code: Some(422), message: "not found", causes: &causes };
        assert_eq!(Outcome::of(&answer, 2), Outcome::NotSeenYet { times: 3 });
    }
}
