//! Any interleaving of two controllers' steps, of faults and of users' edits keeps the invariants, and comes to rest.
//!
//! A failure names its seed and prints what happened.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::simulation::{Simulation, Weather};
use crate::binding::{Step, StepName};

/// Runs schedules; a failure in one is shown with its history.
fn run(weather: Weather, seeds: u64, things: u64) -> BTreeSet<StepName> {
    let mut steps = BTreeSet::new();
    for seed in 1..=seeds {
        let mut simulation = Simulation::new(seed, weather);
        let result = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..things {
                simulation.anything();
            }
            comes_to_rest(&mut simulation);
        }));
        steps.extend(simulation.steps.iter().copied());
        if result.is_err() {
            let start = simulation.log.len().saturating_sub(40);
            panic!("seed {seed}:\n{}", simulation.log[start..].join("\n"));
        }
    }
    steps
}

/// Without further faults and edits everything settles, in few writes, and a plan after the plans' own effects is Idle.
fn comes_to_rest(simulation: &mut Simulation) {
    simulation.weather.faults = 0;
    simulation.weather.interruptions = 0;
    let before = simulation.writes;
    let mut rounds = 0;
    while simulation.round() {
        rounds += 1;
        assert!(rounds < 40, "it does not come to rest");
    }
    let objects = simulation.server.tenants.len() + simulation.server.databases.len();
    let spent = simulation.writes - before;
    assert!(spent <= 20 + 14 * objects as u64, "{spent} writes to settle {objects} objects");
    for key in simulation.server.tenants.keys().cloned().collect::<Vec<_>>() {
        assert_eq!(simulation.pass_tenant(&key), Step::Idle, "{key}");
    }
    for name in simulation.server.databases.keys().cloned().collect::<Vec<_>>() {
        assert_eq!(simulation.pass_database(&name), Step::Idle, "{name}");
    }
    assert_end(simulation);
}

/// What must be true at rest.
fn assert_end(simulation: &Simulation) {
    let server = &simulation.server;
    for (key, tenant) in &server.tenants {
        assert!(!tenant.metadata.is_deleting, "{key} does not go");
        let status = &tenant.status;
        let reason = status.conditions[0].reason.as_str();
        match status.phase.as_deref() {
            Some("Pending") => assert!(!matches!(reason, "Binding" | "BindingComplete"), "{key}: {reason}"),
            Some("Binding") => {
                let waits =
                    matches!(reason, "DatabaseDeleting" | "InstanceNotFound" | "InstanceIdentityChanged");
                assert!(waits, "{key}: {reason}");
            }
            Some("Bound" | "Lost") => assert!(status.database_ref.is_some(), "{key}"),
            other => panic!("{key}: {other:?}"),
        }
        if reason == "BindingComplete" {
            let record = status.database_ref.as_ref().unwrap();
            let database = &server.databases[&record.name];
            assert_eq!(database.metadata.uid, record.uid);
            assert_eq!(database.tenant_ref.as_ref().unwrap().uid, tenant.metadata.uid);
            assert_eq!(database.status.phase.as_deref(), Some("Bound"));
        }
    }
    for (name, database) in &server.databases {
        let status = &database.status;
        let reason = status.conditions[0].reason.as_str();
        let bound = database.tenant_ref.as_ref();
        let lives =
            bound.is_some_and(|bound| server.tenants.values().any(|tenant| tenant.metadata.uid == bound.uid));
        if database.metadata.is_deleting {
            assert_eq!(reason, "DeletionBlocked", "{name} does not go");
        } else if bound.is_some() && !lives {
            assert!(matches!(reason, "Released" | "Conflict"), "{name}: {reason}");
        } else if bound.is_none() {
            assert!(matches!(status.phase.as_deref(), Some("Pending" | "Available")) || reason == "Conflict");
        }
    }
}

const CALM: Weather = Weather { faults: 0, interruptions: 20, tampering: false, verified: true };

#[test]
fn interleavings_keep_the_invariants() {
    let steps = run(CALM, 400, 60);
    for step in [
        StepName::AddTenantFinalizer,
        StepName::BeginBinding,
        StepName::BindDatabase,
        StepName::CreateDatabase,
        StepName::AddDatabaseFinalizer,
        StepName::TakeClaim,
        StepName::DropStaleClaim,
        StepName::RecordBinding,
        StepName::CompleteBinding,
        StepName::BackToPending,
        StepName::RecordRelease,
        StepName::RemoveTenantFinalizer,
        StepName::DeleteDatabase,
        StepName::ArchiveRelease,
        StepName::RemoveDatabaseFinalizer,
    ] {
        assert!(steps.contains(&step), "{step} was never taken");
    }
}

#[test]
fn faults_and_lost_replies_keep_the_invariants() {
    run(Weather { faults: 6, ..CALM }, 400, 60);
    run(Weather { faults: 6, verified: false, ..CALM }, 150, 60);
}

#[test]
fn tampering_keeps_the_invariants_of_our_writes() {
    run(Weather { faults: 3, tampering: true, ..CALM }, 400, 60);
}
