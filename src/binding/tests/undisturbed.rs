//! Without faults: the writes that a binding takes, one after the other, and many parties at once.

use super::build::{legacy, tenant, tenant_for_legacy};
use super::model::{Server, delete};
use super::simulation::{Simulation, Weather};

fn quiet(verified: bool) -> Simulation {
    let weather = Weather { faults: 0, interruptions: 0, tampering: false, verified };
    let mut simulation = Simulation::new(1, weather);
    settle(&mut simulation);
    simulation
}

/// Rounds until nothing is written; what was written to Tenants and Databases, in order.
fn settle(simulation: &mut Simulation) -> Vec<String> {
    simulation.log.clear();
    let mut rounds = 0;
    while simulation.round() {
        rounds += 1;
        assert!(rounds < 100, "it does not come to rest: {:?}", simulation.log);
    }
    let step = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
    simulation.log.iter().map(step).filter(|step| !step.ends_with("Claim")).collect()
}

#[test]
fn a_new_database_takes_five_writes() {
    let mut simulation = quiet(false);
    simulation.server.create_tenant(tenant());
    let writes = settle(&mut simulation);
    assert_eq!(writes.len(), 5, "{writes:?}");
    for step in ["AddTenantFinalizer", "BeginBinding", "CreateDatabase", "RecordBinding", "CompleteBinding"] {
        assert!(writes.iter().any(|write| write == step), "{step} is not among {writes:?}");
    }
    assert_eq!(simulation.server.leases.len(), 2);
}

#[test]
fn an_available_database_takes_five_writes_and_a_release_three() {
    let mut simulation = quiet(true);
    simulation.server.create_database(legacy());
    settle(&mut simulation);
    simulation.server.create_tenant(tenant_for_legacy());
    let writes = settle(&mut simulation);
    assert_eq!(writes.len(), 5, "{writes:?}");
    simulation.server.edit_tenant("team/orders", |tenant| delete(&mut tenant.metadata));
    assert_eq!(settle(&mut simulation), ["RecordRelease", "RemoveTenantFinalizer", "ReportStatus"]);
    assert!(simulation.server.tenants.is_empty());
    assert_eq!(simulation.server.databases["legacy"].status.phase.as_deref(), Some("Released"));
}

#[test]
fn d04_a_half_made_database_leaves_nothing_behind() {
    let mut simulation = quiet(false);
    simulation.server.create_tenant(tenant());
    while simulation.server.databases.is_empty() {
        simulation.pass_tenant("team/orders");
    }
    simulation.server.edit_tenant("team/orders", |tenant| delete(&mut tenant.metadata));
    settle(&mut simulation);
    let Server { tenants, databases, leases, .. } = &simulation.server;
    assert!(tenants.is_empty() && databases.is_empty() && leases.is_empty());
}

#[test]
fn r03_r04_a_loser_binds_once_the_database_is_free_again() {
    let mut simulation = quiet(true);
    simulation.server.create_database(legacy());
    settle(&mut simulation);
    simulation.server.create_tenant(tenant_for_legacy());
    settle(&mut simulation);
    let mut second = tenant_for_legacy();
    second.metadata.name = "second".to_owned();
    simulation.server.create_tenant(second);
    assert_eq!(settle(&mut simulation), ["ReportStatus"]);
    simulation.server.edit_tenant("team/orders", |tenant| delete(&mut tenant.metadata));
    settle(&mut simulation);
    let reason = |simulation: &Simulation| {
        simulation.server.tenants["team/second"].status.conditions[0].reason.clone()
    };
    assert_eq!(reason(&simulation), "NotAvailable");
    simulation.server.edit_database("legacy", |database| {
        database.tenant_ref = None;
        database.metadata.generation += 1;
    });
    settle(&mut simulation);
    assert_eq!(reason(&simulation), "BindingComplete");
}

#[test]
fn r18_fifty_tenants_for_one_database() {
    let mut simulation = quiet(true);
    simulation.server.create_database(legacy());
    settle(&mut simulation);
    for number in 0..50 {
        let mut tenant = tenant_for_legacy();
        tenant.metadata.name = format!("tenant{number}");
        simulation.server.create_tenant(tenant);
    }
    let writes = settle(&mut simulation);
    let count = |reason: &str| {
        let tenants = simulation.server.tenants.values();
        tenants.filter(|tenant| tenant.status.conditions[0].reason == reason).count()
    };
    assert_eq!((count("BindingComplete"), count("Conflict")), (1, 49));
    assert!(writes.len() <= 3 * 50 + 5, "{} writes", writes.len());
}

#[test]
fn r16_two_tenants_for_one_name_on_the_server() {
    let mut simulation = quiet(false);
    let mut second = tenant();
    second.metadata.namespace = Some("other".to_owned());
    simulation.server.create_tenant(tenant());
    simulation.server.create_tenant(second);
    // Both judge before either has claimed.
    for _ in 0..3 {
        simulation.pass_tenant("team/orders");
        simulation.pass_tenant("other/orders");
    }
    assert_eq!(simulation.server.databases.len(), 2);
    settle(&mut simulation);
    let reasons: Vec<&str> = simulation
        .server
        .tenants
        .values()
        .map(|tenant| tenant.status.conditions[0].reason.as_str())
        .collect();
    assert!(
        matches!(reasons[..], ["BindingComplete", "Conflict"] | ["Conflict", "BindingComplete"]),
        "{reasons:?}"
    );
    assert_eq!(simulation.server.databases.len(), 1, "the loser's is gone");
}
