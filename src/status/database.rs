//! The first status of the three PostgreSQL kinds: phase Pending and a Ready that says what stands in the way.
//!
//! A status whose phase is beyond Pending was written by a version that does more, and is left alone.

use jiff::Timestamp;
use serde_json::Value;

use super::stored;
use crate::api::conditions::{
    Condition, ConditionStatus, DatabaseReason, InstanceReason, READY, TenantReason,
};
use crate::api::postgresql_database::PostgreSQLDatabaseStatus;
use crate::api::postgresql_database::effective::EffectiveDatabase;
use crate::api::postgresql_instance::PostgreSQLInstanceStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::postgresql_tenant::effective::{EffectiveTenant, TenantSource};
use crate::rules::conditions::{Wanted, merged, same_ignoring_time};
use crate::rules::finding::{Finding, Findings};
use crate::rules::id::RuleId;

/// The phase of an object that waits.
pub const PENDING: &str = "Pending";

/// What is known of the Instance that an object names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceSeen {
    /// It exists.
    Present,
    /// It exists and is being deleted.
    Deleting,
    /// It does not exist.
    Absent,
}

/// Why Ready is False, and the text for a person.
struct Obstacle<R> {
    reason: R,
    message: String,
}

/// The errors among the findings of SHAPE, if there are any: nothing else is looked at then.
fn invalid<R>(findings: &Findings, reason: R) -> Option<Obstacle<R>> {
    findings.has_errors().then(|| Obstacle {
        reason,
        message: findings.errors().map(Finding::line).collect::<Vec<_>>().join("; "),
    })
}

/// What a stored status says of its object.
struct Before<'a> {
    phase: Option<&'a String>,
    generation: Option<i64>,
    conditions: &'a [Condition],
}

/// The conditions of an object that waits, or `None` when nothing is to be written: the stored status says the same, or
/// belongs to a later version that already manages the object.
fn waiting(
    reason: &str,
    message: String,
    before: &Before<'_>,
    generation: i64,
    now: Timestamp,
) -> Option<Vec<Condition>> {
    if before.phase.is_some_and(|phase| phase != PENDING) {
        return None;
    }
    let ready = Wanted { type_: READY, status: ConditionStatus::False, reason, message };
    let conditions = merged(before.conditions, [ready], generation, now);
    let same = before.phase.is_some()
        && before.generation == Some(generation)
        && same_ignoring_time(before.conditions, &conditions);
    (!same).then_some(conditions)
}

/// The status to write for an Instance; `None` when the stored one already says so.
pub fn instance(
    object: &Value,
    findings: &Findings,
    generation: i64,
    now: Timestamp,
) -> Option<PostgreSQLInstanceStatus> {
    let before: PostgreSQLInstanceStatus = stored(object);
    let obstacle = invalid(findings, InstanceReason::InvalidSpec).unwrap_or_else(|| Obstacle {
        reason: InstanceReason::ServerNotObserved,
        message: format!(
            "The server has not been contacted: this version of Covenant registers Instances and does not connect to \
             servers yet.{}",
            insecure(findings)
        ),
    });
    let seen = Before {
        phase: before.phase.as_ref(),
        generation: before.observed_generation,
        conditions: &before.conditions,
    };
    let conditions = waiting(obstacle.reason.as_str(), obstacle.message, &seen, generation, now)?;
    let phase = Some(PENDING.to_owned());
    Some(PostgreSQLInstanceStatus { observed_generation: Some(generation), phase, conditions, ..before })
}

/// What has to be remembered about a server that is not verified.
fn insecure(findings: &Findings) -> String {
    let mut notes = findings.warnings().filter(|finding| finding.rule == RuleId::InstanceInsecureTransport);
    notes.next().map(|finding| format!(" Note: {}.", finding.line())).unwrap_or_default()
}

/// The status to write for a Database; `None` when the stored one already says so.
pub fn database(
    object: &Value,
    findings: &Findings,
    instance: InstanceSeen,
    generation: i64,
    now: Timestamp,
) -> Option<PostgreSQLDatabaseStatus> {
    let before: PostgreSQLDatabaseStatus = stored(object);
    let obstacle = invalid(findings, DatabaseReason::InvalidSpec)
        .unwrap_or_else(|| database_obstacle(&EffectiveDatabase::of_object(object), instance));
    let seen = Before {
        phase: before.phase.as_ref(),
        generation: before.observed_generation,
        conditions: &before.conditions,
    };
    let conditions = waiting(obstacle.reason.as_str(), obstacle.message, &seen, generation, now)?;
    let phase = Some(PENDING.to_owned());
    Some(PostgreSQLDatabaseStatus { observed_generation: Some(generation), phase, conditions, ..before })
}

fn database_obstacle(database: &EffectiveDatabase<'_>, instance: InstanceSeen) -> Obstacle<DatabaseReason> {
    let name = database.instance.unwrap_or_default();
    match instance {
        InstanceSeen::Absent => Obstacle {
            reason: DatabaseReason::InstanceNotFound,
            message: format!(
                "PostgreSQLInstance \"{name}\" does not exist. Create it; spec.instanceRef cannot be changed afterwards."
            ),
        },
        InstanceSeen::Present | InstanceSeen::Deleting => Obstacle {
            reason: DatabaseReason::ServerNotObserved,
            message:
                "The database has not been verified and cannot be bound: this version of Covenant registers \
                      Databases and does not connect to servers yet."
                    .to_owned(),
        },
    }
}

/// The status to write for a Tenant; `None` when the stored one already says so. `instance` is about
/// `spec.provision.instanceRef`.
pub fn tenant(
    object: &Value,
    findings: &Findings,
    instance: InstanceSeen,
    generation: i64,
    now: Timestamp,
) -> Option<PostgreSQLTenantStatus> {
    let before: PostgreSQLTenantStatus = stored(object);
    let obstacle = invalid(findings, TenantReason::InvalidSpec)
        .unwrap_or_else(|| tenant_obstacle(&EffectiveTenant::of_object(object), instance));
    let seen = Before {
        phase: before.phase.as_ref(),
        generation: before.observed_generation,
        conditions: &before.conditions,
    };
    let conditions = waiting(obstacle.reason.as_str(), obstacle.message, &seen, generation, now)?;
    let phase = Some(PENDING.to_owned());
    Some(PostgreSQLTenantStatus { observed_generation: Some(generation), phase, conditions, ..before })
}

fn tenant_obstacle(tenant: &EffectiveTenant<'_>, instance: InstanceSeen) -> Obstacle<TenantReason> {
    let name = tenant.source.provision().and_then(|provision| provision.instance).unwrap_or_default();
    match (tenant.source, instance) {
        // One sentence for a missing, an unverified and a taken Database, so that their names cannot be found out.
        (TenantSource::DatabaseRef(database), _) => Obstacle {
            reason: TenantReason::NotAvailable,
            message: format!(
                "PostgreSQLDatabase \"{}\" cannot be bound now: it does not exist, is not verified, or is not free. \
                 This version of Covenant records claims and does not bind them yet; the spec can still be changed.",
                database.unwrap_or_default()
            ),
        },
        (_, InstanceSeen::Absent) => Obstacle {
            reason: TenantReason::InstanceNotFound,
            message: format!(
                "PostgreSQLInstance \"{name}\" does not exist. Correct spec.provision.instanceRef.name, or ask the \
                 platform's administrators for the name of an Instance."
            ),
        },
        (_, InstanceSeen::Deleting) => Obstacle {
            reason: TenantReason::InstanceDeleting,
            message: format!("PostgreSQLInstance \"{name}\" is being deleted and takes no new claims; name another one."),
        },
        (_, InstanceSeen::Present) => Obstacle {
            reason: TenantReason::NotAvailable,
            message: "No database is available to this claim yet: this version of Covenant records claims and does not \
                      bind them. Nothing was created or reserved; the spec can still be changed."
                .to_owned(),
        },
    }
}

/// The name of the Instance that an object of `spec` names: a Database's, or a Tenant's that asks for a new database.
pub fn instance_of(object: &Value) -> Option<&str> {
    let own = EffectiveDatabase::of_object(object).instance;
    own.or_else(|| {
        EffectiveTenant::of_object(object).source.provision().and_then(|provision| provision.instance)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::Kind;
    use crate::rules::field::FieldPath;
    use crate::rules::{Installation, shape};

    fn now() -> Timestamp {
        "2026-10-10T08:30:00.5Z".parse().unwrap()
    }

    fn tenant_of(spec: &Value, status: &Value) -> Value {
        json!({"apiVersion": Kind::PostgreSQLTenant.api_version(), "kind": "PostgreSQLTenant",
            "metadata": {"name": "orders", "namespace": "team"}, "spec": spec, "status": status})
    }

    fn judged(object: &Value, seen: InstanceSeen) -> Option<PostgreSQLTenantStatus> {
        let findings = shape(Kind::PostgreSQLTenant, object, &Installation::default());
        tenant(object, &findings, seen, 3, now())
    }

    #[test]
    fn a_tenant_says_what_it_waits_for_and_says_it_once() {
        let provision = json!({"provision": {"instanceRef": {"name": "main"}}});
        for (spec, seen, reason) in [
            (&provision, InstanceSeen::Absent, "InstanceNotFound"),
            (&provision, InstanceSeen::Deleting, "InstanceDeleting"),
            (&provision, InstanceSeen::Present, "NotAvailable"),
            (&json!({"databaseRef": {"name": "old"}}), InstanceSeen::Absent, "NotAvailable"),
        ] {
            let status = judged(&tenant_of(spec, &json!(null)), seen).unwrap();
            assert_eq!(status.phase.as_deref(), Some("Pending"));
            assert_eq!(status.observed_generation, Some(3));
            let ready = &status.conditions[0];
            assert_eq!(
                (ready.type_.as_str(), ready.status, ready.reason.as_str()),
                ("Ready", ConditionStatus::False, reason)
            );
            assert_eq!(ready.last_transition_time, "2026-10-10T08:30:00Z");
            assert_eq!(ready.observed_generation, Some(3));
            let again = serde_json::to_value(&status).unwrap();
            assert_eq!(judged(&tenant_of(spec, &again), seen), None, "a second pass writes nothing");
        }
    }

    #[test]
    fn faults_of_the_spec_come_before_everything_else() {
        let object = tenant_of(&json!({}), &json!(null));
        let field = FieldPath::dotted("spec.secretName");
        let faults: Findings = [
            Finding::forbidden(RuleId::FieldUnknown, field.clone(), "one"),
            Finding::required(RuleId::FieldRequired, field, "two"),
        ]
        .into_iter()
        .collect();
        let status = tenant(&object, &faults, InstanceSeen::Absent, 1, now()).unwrap();
        assert_eq!(status.conditions[0].reason, "InvalidSpec");
        assert_eq!(
            status.conditions[0].message,
            "spec.secretName: Forbidden: one; spec.secretName: Required value: two"
        );
    }

    #[test]
    fn a_later_versions_status_is_left_alone() {
        let object = tenant_of(&json!({}), &json!({"phase": "Bound", "conditions": []}));
        assert_eq!(judged(&object, InstanceSeen::Absent), None);
    }

    #[test]
    fn a_new_reason_does_not_move_the_transition_time() {
        let status = json!({"phase": "Pending", "observedGeneration": 2, "conditions": [
            {"type": "Ready", "status": "False", "reason": "InstanceNotFound", "message": "x",
             "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 2},
            {"type": "Foreign", "status": "True", "reason": "Y", "message": "y",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]});
        let object = tenant_of(&json!({"provision": {"instanceRef": {"name": "main"}}}), &status);
        let after = judged(&object, InstanceSeen::Present).unwrap();
        assert_eq!(after.conditions[0].last_transition_time, "2026-01-01T00:00:00Z");
        assert_eq!(after.conditions[0].reason, "NotAvailable");
        assert_eq!(after.conditions[1].type_, "Foreign");
    }
}
