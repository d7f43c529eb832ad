//! The tests of the protocol: one row per scenario that a plan alone decides, and a property test over a model of an API
//! server.

mod build;
mod databases;
mod instances;
mod invariants;
mod model;
mod property;
mod simulation;
mod tenant_writes;
mod tenants;
mod undisturbed;
mod users;
