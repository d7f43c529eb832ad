//! The world of one pass: read once, then kept up with the pass's own writes where that is sound, and read again where not.

use jiff::Timestamp;
use serde_json::Value;

use super::index::Place;
use super::read::{Reader, claim_of};
use crate::api::Kind;
use crate::binding::{
    Database, DatabaseWorld, InstanceWorld, Listing, Lookup, ObservedDatabase, Operation, Outcome, Step,
    StepName, TenantWorld, Tried, Write, plan_database, plan_instance, plan_tenant,
};

/// What one pass has read.
pub(super) enum World {
    Tenant(Box<TenantWorld>),
    Database(Box<DatabaseWorld>),
    Instance(Box<InstanceWorld>),
}

impl World {
    /// Reads everything.
    pub(super) async fn read(kind: Kind, place: &Place, reader: &mut Reader<'_>) -> Self {
        match kind {
            Kind::PostgreSQLTenant => Self::Tenant(Box::new(reader.tenant_world(place).await)),
            Kind::PostgreSQLDatabase => Self::Database(Box::new(reader.database_world(place).await)),
            Kind::PostgreSQLInstance | Kind::SecretContract => {
                Self::Instance(Box::new(reader.instance_world(place).await))
            }
        }
    }

    /// The step of this pass.
    pub(super) fn plan(&self, now: Timestamp) -> Step {
        match self {
            Self::Tenant(world) => plan_tenant(world, now),
            Self::Database(world) => plan_database(world, now),
            Self::Instance(world) => plan_instance(world, now),
        }
    }

    /// Notes what became of a step that was tried; false where this kind has no use for it.
    pub(super) fn note(&mut self, step: StepName, outcome: Outcome) -> bool {
        let Self::Tenant(world) = self else { return false };
        world.tried = Some(Tried { step, outcome });
        true
    }

    /// Takes in what a write has stored. False where it must all be read again.
    ///
    /// A Tenant's pass may go on with the answers to its own writes: each is guarded by the version that was judged, and a
    /// Database that it has written is newer than the Tenant it goes with. A Database's pass has to see its Tenant after
    /// itself, so that one is read again.
    pub(super) async fn absorb(&mut self, write: &Write, stored: &Value, reader: &mut Reader<'_>) -> bool {
        match (self, &write.operation) {
            (Self::Tenant(world), Operation::CreateLease { .. }) => {
                let names = world.claim_names();
                let claim = claim_of(stored);
                let Some((names, claim)) = names.zip(claim) else { return false };
                if claim.name == names.database {
                    world.claims.database = Lookup::Found(claim);
                } else if claim.name == names.role {
                    world.claims.role = Lookup::Found(claim);
                } else {
                    return false;
                }
                true
            }
            (Self::Database(world), Operation::CreateLease { .. }) => {
                let names = world.claim_names();
                let claim = claim_of(stored);
                let Some((names, claim)) = names.zip(claim) else { return false };
                if claim.name == names.database {
                    world.claims.database = Lookup::Found(claim);
                } else if claim.name == names.role {
                    world.claims.role = Lookup::Found(claim);
                } else {
                    return false;
                }
                true
            }
            (Self::Tenant(world), operation) => absorb_into_tenant(world, operation, stored, reader),
            (Self::Database(world), Operation::ReplaceStatus { .. }) => {
                let Lookup::Found(seen) = &mut world.database else { return false };
                let Some(database) = reader.keep::<Database>(place(stored), stored.clone()) else {
                    return false;
                };
                seen.database = database;
                world.tenant = reader.tenant_of(&seen.database).await;
                true
            }
            (Self::Database(_) | Self::Instance(_), _) => false,
        }
    }
}

fn place(stored: &Value) -> Place {
    let text = |pointer| stored.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("/metadata/namespace"), text("/metadata/name"))
}

fn absorb_into_tenant(
    world: &mut TenantWorld,
    operation: &Operation,
    stored: &Value,
    reader: &mut Reader<'_>,
) -> bool {
    match operation {
        Operation::ReplaceFinalizers { object, .. } | Operation::ReplaceStatus { object, .. }
            if object.kind == Kind::PostgreSQLTenant =>
        {
            // Only while it binds: whoever goes, or has changed its target, is read afresh.
            let Some(tenant) = reader.keep::<crate::binding::Tenant>(place(stored), stored.clone()) else {
                return false;
            };
            let same_target = world.tenant.found().is_some_and(|before| before.target == tenant.target);
            if tenant.metadata.is_deleting || !same_target {
                return false;
            }
            world.tenant = Lookup::Found(tenant);
            true
        }
        Operation::CreateDatabase { .. } | Operation::Bind { .. } | Operation::ReplaceFinalizers { .. } => {
            let Some(database) = reader.keep::<Database>(place(stored), stored.clone()) else { return false };
            let named = world.tenant.found().and_then(crate::binding::Tenant::named_database);
            if named.as_deref() != Some(database.metadata.name.as_str()) {
                return false;
            }
            let before = std::mem::take(&mut world.named);
            let referrers = match before {
                Lookup::Found(seen) if seen.database.metadata.uid == database.metadata.uid => seen.referrers,
                // Nobody can have on record what did not exist before.
                _ => Listing::Complete(Vec::new()),
            };
            world.named = Lookup::Found(ObservedDatabase { database, referrers });
            true
        }
        _ => false,
    }
}
