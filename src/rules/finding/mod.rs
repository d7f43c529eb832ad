//! What a rule finds: one type for every chain, with the body text that Kubernetes' own validation would print.
//!
//! The texts follow apimachinery's `field.Error` word for word, so that a refusal by Covenant reads like one of a
//! built-in kind. Renderers (refusal, condition, command line) live elsewhere; they never change the words.

use std::fmt::Write as _;

use serde_json::Value;

mod list;
mod shown;

pub use list::Findings;
pub use shown::Shown;

use super::field::FieldPath;
use super::id::RuleId;
use crate::go::quote;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The object is refused, or its contract is not satisfied.
    Error,
    /// Legal, but suspicious; or an old fault that ratcheting lets through.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word of `covenant check`: `error`, `warning`, `note`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The type of a fault, as `field.ErrorType` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A required value is absent.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value has the wrong JSON type.
    TypeInvalid,
    /// The value may not be set here.
    Forbidden,
    /// The value stands twice where it must be unique.
    Duplicate,
    /// The value is none of an enumeration.
    NotSupported,
    /// The value names something that does not exist.
    NotFound,
    /// Longer than a limit.
    TooLong,
    /// Shorter than a limit.
    TooShort,
    /// More items than a limit.
    TooMany,
    /// Fewer items than a limit.
    TooFew,
}

impl Fault {
    /// The `reason` of a status cause (`metav1.CauseType`).
    pub const fn cause(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotSupported => "FieldValueNotSupported",
            Self::NotFound => "FieldValueNotFound",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
        }
    }

    /// The words that open the body.
    const fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::NotSupported => "Unsupported value",
            Self::NotFound => "Not found",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
        }
    }
}

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: RuleId,
    /// How much it weighs.
    pub severity: Severity,
    /// The type of the fault.
    pub fault: Fault,
    /// Where.
    pub field: FieldPath,
    /// The value, as the message shows it.
    pub shown: Shown,
    /// What is right, in lower case and without a full stop. May be empty.
    pub detail: String,
    /// By how much a count or a length is over its limit: an old fault stays the same one while this does not grow.
    pub excess: Option<u64>,
    /// The value itself, where the message shows only its type: another value is another fault.
    pub value: Option<Value>,
}

impl Finding {
    fn new(rule: RuleId, fault: Fault, field: FieldPath, shown: Shown, detail: impl Into<String>) -> Self {
        Self {
            rule,
            severity: Severity::Error,
            fault,
            field,
            shown,
            detail: detail.into(),
            excess: None,
            value: None,
        }
    }

    /// `Required value: detail`.
    pub fn required(rule: RuleId, field: FieldPath, detail: impl Into<String>) -> Self {
        Self::new(rule, Fault::Required, field, Shown::omitted(), detail)
    }

    /// `Invalid value: V: detail`.
    pub fn invalid(rule: RuleId, field: FieldPath, shown: Shown, detail: impl Into<String>) -> Self {
        Self::new(rule, Fault::Invalid, field, shown, detail)
    }

    /// `Invalid value: V: detail`, for a value of the wrong JSON type.
    pub fn type_invalid(rule: RuleId, field: FieldPath, shown: Shown, detail: impl Into<String>) -> Self {
        Self::new(rule, Fault::TypeInvalid, field, shown, detail)
    }

    /// `Forbidden: detail`.
    pub fn forbidden(rule: RuleId, field: FieldPath, detail: impl Into<String>) -> Self {
        Self::new(rule, Fault::Forbidden, field, Shown::omitted(), detail)
    }

    /// `Duplicate value: V`.
    pub fn duplicate(rule: RuleId, field: FieldPath, shown: Shown) -> Self {
        Self::new(rule, Fault::Duplicate, field, shown, "")
    }

    /// `Unsupported value: V: supported values: "a", "b"`.
    pub fn not_supported<S: AsRef<str>>(
        rule: RuleId,
        field: FieldPath,
        shown: Shown,
        supported: &[S],
    ) -> Self {
        let listed: Vec<String> = supported.iter().map(|value| quote::quote(value.as_ref())).collect();
        let detail = if listed.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", listed.join(", "))
        };
        Self::new(rule, Fault::NotSupported, field, shown, detail)
    }

    /// `Not found: V`.
    pub fn not_found(rule: RuleId, field: FieldPath, shown: Shown) -> Self {
        Self::new(rule, Fault::NotFound, field, shown, "")
    }

    /// `Too long: may not be more than N bytes` (`unit` is `byte` or `character`).
    pub fn too_long(rule: RuleId, field: FieldPath, actual: usize, limit: u64, unit: &str) -> Self {
        let detail = format!("may not be more than {limit} {}", plural(unit, limit));
        Self::new(rule, Fault::TooLong, field, Shown::omitted(), detail).over(actual, limit)
    }

    /// `Too short: must be at least N characters` (`unit` is `byte` or `character`).
    pub fn too_short(rule: RuleId, field: FieldPath, limit: u64, unit: &str) -> Self {
        let detail = format!("must be at least {limit} {}", plural(unit, limit));
        Self::new(rule, Fault::TooShort, field, Shown::omitted(), detail)
    }

    /// `Too many: V: must have at most N items`.
    pub fn too_many(rule: RuleId, field: FieldPath, actual: usize, limit: u64) -> Self {
        let detail = format!("must have at most {limit} {}", plural("item", limit));
        Self::new(rule, Fault::TooMany, field, Shown::plain(actual), detail).over(actual, limit)
    }

    /// `Too few: V: must have at least N items`.
    pub fn too_few(rule: RuleId, field: FieldPath, actual: usize, limit: u64) -> Self {
        let detail = format!("must have at least {limit} {}", plural("item", limit));
        Self::new(rule, Fault::TooFew, field, Shown::plain(actual), detail)
    }

    /// The same finding about this very value, which its message does not show.
    #[must_use]
    pub fn about(mut self, value: &Value) -> Self {
        self.value = Some(value.clone());
        self
    }

    fn over(mut self, actual: usize, limit: u64) -> Self {
        self.excess = Some(u64::try_from(actual).unwrap_or(u64::MAX).saturating_sub(limit));
        self
    }

    /// The same finding as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The text without the field: what a status cause holds in `message`.
    pub fn body(&self) -> String {
        let mut body = self.fault.words().to_owned();
        if let Some(value) = self.shown.render() {
            let _ = write!(body, ": {value}");
        }
        if !self.detail.is_empty() {
            let _ = write!(body, ": {}", self.detail);
        }
        body
    }

    /// `field: body`, one line.
    pub fn line(&self) -> String {
        format!("{}: {}", self.field, self.body())
    }

    /// What makes two findings be about the same fault of the same item.
    fn identity(&self) -> (RuleId, Fault, String) {
        (self.rule, self.fault, self.field.identity())
    }

    /// Whether `old`, with the same identity, is no better: the value is unchanged, or its excess has not grown.
    fn is_no_worse_than(&self, old: &Self) -> bool {
        match (self.excess, old.excess) {
            (Some(new), Some(old)) => new <= old,
            _ => self.shown == old.shown && self.detail == old.detail && self.value == old.value,
        }
    }
}

fn plural(unit: &str, count: u64) -> String {
    if count == 1 { unit.to_owned() } else { format!("{unit}s") }
}
