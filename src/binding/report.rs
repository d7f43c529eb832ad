//! From what a plan wants a status to say to the write of it, or to nothing where the stored one says so already.

use jiff::Timestamp;

use super::observed::{Database, Instance, Tenant};
use super::step::{ObjectVersion, Operation, Status, Step, StepName};
use crate::api::Kind;
use crate::api::conditions::{
    Condition, ConditionStatus, DatabaseReason, InstanceReason, READY, TenantReason,
};
use crate::api::phases::{DatabasePhase, InstancePhase, TenantPhase};
use crate::api::postgresql_database::PostgreSQLDatabaseStatus;
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::rules::conditions::{Wanted, merged, same_ignoring_time};

/// What Ready shall say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ready<R> {
    pub(super) status: ConditionStatus,
    pub(super) reason: R,
    pub(super) message: String,
}

impl<R> Ready<R> {
    pub(super) fn no(reason: R, message: impl Into<String>) -> Self {
        Self { status: ConditionStatus::False, reason, message: message.into() }
    }

    pub(super) fn yes(reason: R, message: impl Into<String>) -> Self {
        Self { status: ConditionStatus::True, reason, message: message.into() }
    }
}

fn conditions(
    stored: &[Condition],
    status: ConditionStatus,
    reason: &str,
    message: String,
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    merged(stored, [Wanted { type_: READY, status, reason, message }], generation, now)
}

/// The reason of the stored Ready, whatever it says.
fn stored_reason(conditions: &[Condition]) -> Option<&str> {
    conditions.iter().find(|condition| condition.type_ == READY).map(|ready| ready.reason.as_str())
}

impl Tenant {
    /// The phase on record, if it is one of this version.
    pub(super) fn phase(&self) -> Option<TenantPhase> {
        TenantPhase::from_word(self.status.phase.as_deref()?)
    }

    /// Whether binding has begun, so that the API server holds the target: every phase but none and Pending.
    pub(super) fn is_frozen(&self) -> bool {
        !matches!(self.status.phase.as_deref(), None | Some("" | "Pending"))
    }

    /// The reason of the stored Ready.
    pub(super) fn reason(&self) -> Option<TenantReason> {
        TenantReason::from_word(stored_reason(&self.status.conditions)?)
    }

    /// The write that makes the status say this; `fields` holds all but the generation and the conditions.
    pub(super) fn report(
        &self,
        step: StepName,
        phase: TenantPhase,
        fields: PostgreSQLTenantStatus,
        ready: Ready<TenantReason>,
        now: Timestamp,
    ) -> Option<Step> {
        let (stored, generation) = (&self.status, self.metadata.generation);
        let reason = ready.reason.as_str();
        let status = PostgreSQLTenantStatus {
            observed_generation: Some(generation),
            phase: Some(phase.as_str().to_owned()),
            conditions: conditions(&stored.conditions, ready.status, reason, ready.message, generation, now),
            ..fields
        };
        let timeless = |status: &PostgreSQLTenantStatus| PostgreSQLTenantStatus {
            conditions: Vec::new(),
            ..status.clone()
        };
        let same = same_ignoring_time(&stored.conditions, &status.conditions)
            && timeless(stored) == timeless(&status);
        (!same).then(|| {
            let object = ObjectVersion::of(Kind::PostgreSQLTenant, &self.metadata);
            Step::write(step, Operation::ReplaceStatus { object, status: Status::Tenant(Box::new(status)) })
        })
    }
}

impl Database {
    /// The phase on record, if it is one of this version.
    pub(super) fn phase(&self) -> Option<DatabasePhase> {
        DatabasePhase::from_word(self.status.phase.as_deref()?)
    }

    /// The reason of the stored Ready.
    pub(super) fn reason(&self) -> Option<DatabaseReason> {
        DatabaseReason::from_word(stored_reason(&self.status.conditions)?)
    }

    /// The write that makes the status say this; `fields` holds all but the generation and the conditions.
    pub(super) fn report(
        &self,
        step: StepName,
        phase: DatabasePhase,
        fields: PostgreSQLDatabaseStatus,
        ready: Ready<DatabaseReason>,
        now: Timestamp,
    ) -> Option<Step> {
        let (stored, generation) = (&self.status, self.metadata.generation);
        let reason = ready.reason.as_str();
        let status = PostgreSQLDatabaseStatus {
            observed_generation: Some(generation),
            phase: Some(phase.as_str().to_owned()),
            conditions: conditions(&stored.conditions, ready.status, reason, ready.message, generation, now),
            ..fields
        };
        let timeless = |status: &PostgreSQLDatabaseStatus| PostgreSQLDatabaseStatus {
            conditions: Vec::new(),
            ..status.clone()
        };
        let same = same_ignoring_time(&stored.conditions, &status.conditions)
            && timeless(stored) == timeless(&status);
        (!same).then(|| {
            let object = ObjectVersion::of(Kind::PostgreSQLDatabase, &self.metadata);
            Step::write(step, Operation::ReplaceStatus { object, status: Status::Database(Box::new(status)) })
        })
    }
}

impl Instance {
    /// The reason of the stored Ready.
    pub(super) fn reason(&self) -> Option<InstanceReason> {
        InstanceReason::from_word(stored_reason(&self.status.conditions)?)
    }

    /// The write that makes the status say this; `fields` holds all but the generation and the conditions.
    pub(super) fn report(
        &self,
        phase: InstancePhase,
        fields: PostgreSQLInstanceStatus,
        ready: Ready<InstanceReason>,
        now: Timestamp,
    ) -> Option<Step> {
        let (stored, generation) = (&self.status, self.metadata.generation);
        let reason = ready.reason.as_str();
        let status = PostgreSQLInstanceStatus {
            observed_generation: Some(generation),
            phase: Some(phase.as_str().to_owned()),
            conditions: conditions(&stored.conditions, ready.status, reason, ready.message, generation, now),
            ..fields
        };
        let timeless = |status: &PostgreSQLInstanceStatus| PostgreSQLInstanceStatus {
            conditions: Vec::new(),
            ..status.clone()
        };
        let same = same_ignoring_time(&stored.conditions, &status.conditions)
            && timeless(stored) == timeless(&status);
        (!same).then(|| {
            let object = ObjectVersion::of(Kind::PostgreSQLInstance, &self.metadata);
            let status = Status::Instance(Box::new(status));
            Step::write(StepName::ReportStatus, Operation::ReplaceStatus { object, status })
        })
    }
}
