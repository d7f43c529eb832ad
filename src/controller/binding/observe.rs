//! The border to the data plane: what is known of servers.

use crate::binding::{Database, Instance, InstanceObservation, Observation};

/// Looks at servers. What it says is what this process has seen itself; a status is never proof.
pub trait Observe: Send + Sync + 'static {
    /// What is known of a database on its server.
    fn database(&self, database: &Database) -> Observation;

    /// What is known of an Instance's server.
    fn instance(&self, instance: &Instance) -> InstanceObservation;
}

/// Nothing looks at servers, and nothing pretends that it did.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observe for Unobserved {
    fn database(&self, _: &Database) -> Observation {
        Observation::NotObserved
    }

    fn instance(&self, _: &Instance) -> InstanceObservation {
        InstanceObservation::NotObserved
    }
}
