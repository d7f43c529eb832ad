//! The protocol that binds a PostgreSQLTenant to a PostgreSQLDatabase: what a pass has read goes in, exactly one step comes
//! out. No I/O, no clock, no log, no memory; whatever happened before is in the objects.
//!
//! A pass reads a world ([`TenantWorld`], [`DatabaseWorld`], [`InstanceWorld`]), asks for the step, does it with the
//! preconditions that the step carries, and comes back. Any crash, lost reply, second replica or foreign edit between two
//! steps is just another world. Two rules stand above all others: an unknown read never counts as "gone", and losing a
//! status never gives more rights.
//!
//! Who writes what. A Tenant's pass: W0 finalizer, W1 phase Binding, W2 or W2' the Database's `spec.tenantRef`, claims, W4
//! `status.databaseRef`, X2 to X4. A Database's pass: its finalizer, W3, claims, Released, re-open, X3 for a Tenant that is
//! gone, X5. Of a claim both may take what is free; of the record of release (X3) too, as it says the same.
//!
//! What the design leaves open is decided here so:
//!
//! - The Tenant is read before the Databases in its own pass, and after the Database in that one's pass. So W4 rests on a
//!   Database that is newer than the Tenant it writes; and a record of release that names a live Tenant is known to be
//!   false, and is removed.
//! - A Database that is deleted between W2 and W4 is let go of only once its Tenant has written down that it noticed
//!   (reason DatabaseDeleting, or back in Pending). A W4 that is under way fails from then on, and the Tenant begins anew with
//!   W1, so no Tenant ends up Lost for a Database that it never had.
//! - A Tenant in conflict and without a Database on record is Pending, whatever the cause; so the above cannot wait for
//!   ever, and the spec can be put right. Rights come from `spec.tenantRef` alone, so nothing is lost by it.
//! - A Tenant that loses a claim deletes the Database made for it, and shows the conflict as soon as that one is going, in
//!   one write.
//! - With several Databases for one Tenant, or a record that names another one, a release captures Retain and counts as
//!   complete: nothing is deleted that was not clearly this Tenant's.
//! - A Tenant that goes does not release a Database that is on record as somebody else's: that one stays in Conflict.
//! - A Database that is re-opened keeps `status.instanceUID`, so that a new Instance of the same name is still noticed.
//! - A live Tenant and a Database that name each other outweigh a Database's status that says otherwise: it is put right.
//! - Every Instance gets our finalizer at first sight.

mod claims;
mod database;
mod instance;
mod observed;
mod outcome;
mod read;
mod report;
mod step;
mod tenant;
#[cfg(test)]
mod tests;
mod texts;

pub use claims::{Claim, ClaimKind, ClaimNames, Claims};
pub use database::plan as plan_database;
pub use instance::plan as plan_instance;
pub use observed::{
    Database, DatabaseWorld, DeliveredObject, Instance, InstanceObservation, InstanceWorld, Listing, Lookup,
    Metadata, Namespace, Observation, ObservedDatabase, Referrer, ReferringTenant, Target, Tenant,
    TenantWorld, tenant_database,
};
pub use outcome::{Answer, Outcome, Tried};
pub use step::{Event, EventReason, ObjectVersion, Operation, Status, Step, StepName, Write};
pub use tenant::plan as plan_tenant;
