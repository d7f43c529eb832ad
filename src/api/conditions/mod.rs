//! Conditions: the one type for all four kinds, and the closed lists of condition types and reasons.
//!
//! Every type and reason is documented with what True, False and Unknown mean; the same words are available at run
//! time through `explain`, so that the command line can answer for them. How conditions are merged and compared is
//! the work of `status`.

mod contract;
mod database;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use contract::{
    ContractCondition, ContractReason, ViolationReason, ViolationRule, WorkloadFindingReason,
};
pub use database::{DatabaseCondition, DatabaseReason, InstanceReason, TenantReason};

/// The type of the aggregate condition that every kind has.
pub const READY: &str = "Ready";
/// Longest message of a condition or a finding in `status`, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1024;
/// Most conditions that the schema lets one object hold.
pub const MAX_CONDITIONS: u32 = 16;

/// What a condition says. Anything but True and False reads as Unknown.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[schemars(transform = without_descriptions)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It could not be decided.
    #[default]
    Unknown,
}

/// Words with descriptions of their own are listed by schemars as alternatives; a plain list is what the API server reads.
fn without_descriptions(schema: &mut schemars::Schema) {
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), serde_json::json!(["True", "False", "Unknown"]));
}

impl ConditionStatus {
    /// The word that stands in `status.conditions[].status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ConditionStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(deserializer)?.as_str() {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        })
    }
}

/// One observation about the object, in the form that all Kubernetes tools read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["lastTransitionTime", "message", "reason", "status", "type"]))]
pub struct Condition {
    /// What the condition is about, for example Ready. At most one condition of each type.
    #[serde(rename = "type", default)]
    #[schemars(length(min = 1, max = 63))]
    pub type_: String,
    /// True, False, or Unknown when it could not be decided. Only a condition of the current generation counts.
    #[serde(default)]
    pub status: ConditionStatus,
    /// The generation of the object that this condition was judged for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When the status last changed. A new reason or message does not move it.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// One word from a closed list that says why, for tools. `covenant explain` describes each.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub reason: String,
    /// What a person should know, with the next step where there is one. At most 1 KiB.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1024))]
    pub message: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_of_a_later_version_still_parses() {
        let read: Condition = serde_json::from_value(json!({
            "type": "Novel", "status": "Perhaps", "reason": "Unheard", "extra": {"a": 1}
        }))
        .unwrap();
        assert_eq!(read.status, ConditionStatus::Unknown);
        assert_eq!(read.reason, "Unheard");
        assert_eq!(read.message, "");
    }

    #[test]
    fn every_word_is_spelled_once_and_explained() {
        for reason in ContractReason::ALL {
            assert_eq!(ContractReason::from_word(reason.as_str()), Some(*reason));
            assert!(reason.explain().trim().len() > 20, "{reason} is not explained");
            assert!(reason.as_str().len() <= 64);
        }
        assert_eq!(ViolationRule::NonEmpty.as_str(), "nonEmpty");
        assert_eq!(ContractReason::from_word("Nonsense"), None);
    }
}
