//! A Tenant whose status names a Database: do both sides still agree? `status.databaseRef` is never changed here; where
//! it was written by somebody else, the way out is to delete the Tenant.

use super::bind::{bound_fields, trusted_instance};
use super::{Pass, UNKNOWN, differences, names_of};
use crate::api::conditions::TenantReason;
use crate::api::phases::TenantPhase;
use crate::binding::observed::{Database, Lookup, ObservedDatabase};
use crate::binding::report::Ready;
use crate::binding::step::{Step, StepName};
use crate::binding::texts;

pub(super) fn plan(pass: &Pass<'_>, recorded: &str, carried: &[&ObservedDatabase]) -> Step {
    let uid = pass.tenant.status.database_ref.as_ref().map(|record| record.uid.as_str());
    let is_on_record = |seen: &&&ObservedDatabase| Some(seen.database.metadata.uid.as_str()) == uid;
    match (carried.iter().find(is_on_record), carried) {
        (Some(seen), [_]) => agreed(pass, &seen.database).unwrap_or_else(|instead| instead),
        (Some(_), several) => conflict(pass, texts::several_databases(names_of(several))),
        (None, _) => match the_recorded(pass, recorded) {
            Lookup::Unknown => UNKNOWN,
            Lookup::Found(seen) if Some(seen.database.metadata.uid.as_str()) == uid => {
                conflict(pass, texts::not_agreed(recorded))
            }
            // Another UID at the name is another Database.
            Lookup::Found(_) | Lookup::Absent => lost(pass, recorded),
        },
    }
}

/// The read of the Database on record.
fn the_recorded<'a>(pass: &Pass<'a>, recorded: &str) -> &'a Lookup<ObservedDatabase> {
    let is_named = pass.tenant.named_database().as_deref() == Some(recorded);
    if is_named { &pass.world.named } else { &pass.world.recorded }
}

fn conflict(pass: &Pass<'_>, message: String) -> Step {
    pass.stay(TenantPhase::Bound, TenantReason::Conflict, message)
}

/// Terminal: a UID does not come back.
fn lost(pass: &Pass<'_>, recorded: &str) -> Step {
    pass.stay(TenantPhase::Lost, TenantReason::DatabaseLost, texts::lost(recorded))
}

/// Both sides name each other.
fn agreed(pass: &Pass<'_>, database: &Database) -> Result<Step, Step> {
    let name = &database.metadata.name;
    let fields = differences(pass.tenant, database);
    if !fields.is_empty() {
        // Only where the target was not frozen for a while. Pending lets it be put back; the record stays.
        let message = texts::asks_otherwise(name, &fields);
        return Err(pass.stay(TenantPhase::Pending, TenantReason::Conflict, message));
    }
    if database.metadata.is_deleting {
        let message = texts::database_deleting(name);
        return Err(pass.stay(TenantPhase::Bound, TenantReason::DatabaseDeleting, message));
    }
    pass.protected()?;
    trusted_instance(pass, database, TenantPhase::Bound)?;
    let ready = Ready::no(TenantReason::BindingComplete, texts::binding_complete(name));
    Ok(pass.report(StepName::ReportStatus, TenantPhase::Bound, bound_fields(pass, database), ready))
}
