//! The scenarios that a Database's plan alone decides.

use super::build::*;
use crate::api::names;
use crate::binding::{
    Claims, Database, DatabaseWorld, Listing, Lookup, Observation, ObservedDatabase, Operation, Status, Step,
    Tenant, plan_database,
};

macro_rules! scenarios {
    ($($name:ident: $world:expr => $step:expr;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(shown(&plan_database(&$world, now())), $step);
        })+
    };
}

/// The world of one Database that holds its claims, and of its Tenant.
fn seen(seen: ObservedDatabase, tenant: Lookup<Tenant>) -> DatabaseWorld {
    let uid = seen.database.metadata.uid.clone();
    let names = claim_names();
    DatabaseWorld {
        database: Lookup::Found(seen),
        tenant,
        siblings: Listing::Complete(vec![]),
        instance: Lookup::Found(instance()),
        claims: held_by(&uid),
        owned_claims: Listing::Complete(vec![names.database, names.role]),
        observation: Observation::NotObserved,
    }
}

fn with(database: Database, tenant: Tenant) -> DatabaseWorld {
    seen(database.seen(), Lookup::Found(tenant))
}

fn alone(database: Database) -> DatabaseWorld {
    seen(database.seen(), Lookup::Absent)
}

fn unclaimed(world: DatabaseWorld) -> DatabaseWorld {
    DatabaseWorld { claims: free(), owned_claims: Listing::Complete(vec![]), ..world }
}

fn taken(world: DatabaseWorld) -> DatabaseWorld {
    DatabaseWorld { owned_claims: Listing::Complete(vec![]), claims: held_by("d5"), ..world }
}

fn observed(world: DatabaseWorld) -> DatabaseWorld {
    DatabaseWorld { observation: verified(), ..world }
}

fn complete() -> Tenant {
    tenant().bound_to("tenant-t1", "d1")
}

fn unbound(database: Database) -> Database {
    Database { tenant_ref: None, ..database }
}

fn another() -> Tenant {
    let mut tenant = tenant();
    tenant.metadata.uid = "t2".to_owned();
    tenant
}

scenarios! {
    w3_follows_w2: with(made(), tenant().binding()) => "RecordBinding Bound/ServerNotObserved";
    w3_does_not_depend_on_w4: with(made(), complete()) => "RecordBinding Bound/ServerNotObserved";
    bound_and_verified: observed(with(made(), complete())) => "RecordBinding Bound/Bound";
    p11_tenant_gone: alone(made()) => "RecordRelease Releasing/Releasing";
    p12_tenant_made_anew: with(made(), another()) => "RecordRelease Releasing/Releasing";
    p22_first_the_finalizer: with(legacy().carrying("t1"), tenant_for_legacy()) => "AddDatabaseFinalizer";
    p22_then_the_claims: unclaimed(with(made(), tenant())) => "TakeClaim";
    c02_between_the_claims: DatabaseWorld {
        claims: Claims { role: Lookup::Absent, ..held_by("d1") }, ..with(made(), complete())
    } => "TakeClaim";
    c04_loser: taken(with(made(), tenant().binding())) => "RecordBinding Bound/Conflict";
    c05_lease_removed_by_hand: unclaimed(with(made().on_record("t1"), complete())) => "TakeClaim";
    c05_taken_meanwhile: taken(with(made().on_record("t1"), complete())) => "RecordBinding Bound/Conflict";
    c06_holder_gone: DatabaseWorld {
        claims: Claims { database: claim("x", "d0", Lookup::Found("d2".to_owned())), ..free() },
        ..unclaimed(with(made(), complete()))
    } => "DropStaleClaim";

    d05_orphan: alone(made()) => "RecordRelease Releasing/Releasing";
    d06_released: alone(made().released("Retain", true)) => "ReportStatus Released/Released";
    d07_deleted_as_captured: alone(made().released("Delete", true)) => "DeleteDatabase";
    d04_half_bound_and_made_for_it: alone(made().released("Retain", false)) => "DeleteDatabase";
    d04_half_bound_existing: alone(legacy().carrying("t1").released("Retain", false)) => "AddDatabaseFinalizer";
    d04_half_bound_with_work_begun: alone(made().attempted().released("Retain", false))
        => "ReportStatus Released/Released";
    d06_waits_for_a_foreign_finalizer: with(
        made().released("Delete", true), complete().deleting()
    ) => "ReportStatus Releasing/Releasing";
    d09_forced: alone(made().on_record("t1")) => "RecordRelease Releasing/Releasing";
    d09_while_a_foreign_finalizer_holds: with(made().on_record("t1"), {
        let mut tenant = complete().deleting();
        tenant.metadata.finalizers = vec!["foreign/one".to_owned()];
        tenant
    }) => "Idle";
    d11_a_later_policy_does_not_act: alone(Database {
        reclaim_policy: "Delete".to_owned(), ..made().released("Retain", true)
    }) => "ReportStatus Released/Released";
    d17_no_server_is_asked: DatabaseWorld { instance: Lookup::Absent, ..alone(made().released("Retain", true)) }
        => "ReportStatus Released/Released";

    e02_deleted_while_bound: seen(made().deleting().seen_with(&["t1"]), Lookup::Found(complete()))
        => "ReportStatus Deleting/DeletionBlocked";
    e02_its_tenant_goes: with(made().deleting().released("Retain", true), complete().deleting())
        => "ReportStatus Deleting/Releasing";
    e02_its_tenant_is_gone: alone(made().deleting().released("Retain", true)) => "RemoveDatabaseFinalizer";
    e06_tenant_ref_removed: with(unbound(made().on_record("t1")), complete()) => "ReportStatus Bound/Conflict";
    e06_also_once_its_tenant_is_gone: alone(unbound(made().on_record("t1"))) => "ReportStatus Bound/Conflict";
    e06_a_phase_that_says_bound_is_enough: alone(unbound(made().phase("Released", "Released")))
        => "ReportStatus Released/Conflict";
    e06_deleted_while_its_tenant_lives: seen(
        unbound(made().on_record("t1")).deleting().seen_with(&["t1"]), Lookup::Found(complete())
    ) => "ReportStatus Deleting/DeletionBlocked";
    e07_tenant_ref_replaced: with(made().on_record("t2"), tenant()) => "ReportStatus Bound/Conflict";
    e07_replaced_and_the_record_lost: seen(made().seen_with(&["t2"]), Lookup::Found(tenant()))
        => "ReportStatus Bound/Conflict";
    e08_unbound: alone(legacy().deleting()) => "Idle";
    e08_available: DatabaseWorld { instance: Lookup::Unknown, ..alone(available().deleting()) }
        => "RemoveDatabaseFinalizer";
    e09_released: alone(made().released("Retain", true).phase("Released", "Released").deleting())
        => "RemoveDatabaseFinalizer";
    e10_delete_without_work_begun: alone(made().released("Delete", true).deleting()) => "RemoveDatabaseFinalizer";
    e11_delete_with_work_begun: alone(made().attempted().released("Delete", true).deleting())
        => "ReportStatus Deleting/ConflictOnDelete";
    e11_retain_with_work_begun: alone(made().attempted().released("Retain", true).deleting())
        => "RemoveDatabaseFinalizer";
    e11_work_begun_and_the_tenant_gone: alone(made().attempted().on_record("t1").deleting())
        => "RecordRelease Deleting/Releasing";
    e13_a_failed_read_is_not_gone: seen(made().deleting().seen(), Lookup::Unknown) => "Wait";
    p17_r14_let_go_once_its_tenant_has_noticed: with(
        made().deleting(), tenant().binding().phase("Binding", "DatabaseDeleting")
    ) => "RemoveDatabaseFinalizer";
    p17_r14_but_not_before: with(made().deleting(), tenant().binding()) => "Idle";
    r16_let_go_for_the_loser: with(made().deleting(), tenant().phase("Pending", "Conflict"))
        => "RemoveDatabaseFinalizer";
    r17_two_for_one_tenant: DatabaseWorld {
        siblings: Listing::Complete(vec!["legacy".to_owned()]), ..with(made(), complete())
    } => "RecordBinding Bound/Conflict";

    f02_reopened: alone(unbound(made().released("Retain", true))) => "ArchiveRelease Pending/ServerNotObserved";
    f04_too_early: with(unbound(made().released("Retain", true)), complete()) => "ReportStatus Releasing/Conflict";
    f04_while_it_goes: with(unbound(made().released("Retain", true)), complete().deleting())
        => "ReportStatus Releasing/Conflict";
    f04_not_known: seen(unbound(made().released("Retain", true)).seen(), Lookup::Unknown) => "Wait";
    f07_reopened_twice: alone(unbound(made())) => "ReportStatus Pending/ServerNotObserved";
    f08_verification_fails: DatabaseWorld {
        observation: Observation::Failed { message: "owner is \u{1b}[31mother".to_owned() }, ..alone(unbound(made()))
    } => "ReportStatus Pending/ServerNotObserved";
    f09_restored_first_the_finalizer: alone(legacy().carrying("t1")) => "AddDatabaseFinalizer";
    f09_restored_then_the_claims: unclaimed(alone(made())) => "TakeClaim";
    f11_instance_made_anew: {
        let mut database = made().on_record("t1");
        database.status.instance_uid = Some("i0".to_owned());
        with(database, complete())
    } => "RecordBinding Bound/InstanceIdentityChanged";
    f11_and_the_record_lost: DatabaseWorld {
        owned_claims: Listing::Complete(vec!["covenant-claim-elsewhere".to_owned()]), ..with(made(), complete())
    } => "RecordBinding Bound/InstanceIdentityChanged";
    f14_released_rests: {
        let world = alone(made().released("Retain", true));
        done(world.clone(), &plan_database(&world, now()))
    } => "Idle";
    f17_the_loser_keeps_its_phase: taken(alone(made().released("Retain", true))) => "ReportStatus Released/Conflict";

    h03_forged_available: alone(available()) => "ReportStatus Pending/ServerNotObserved";
    h03_forged_over_a_record: {
        let mut database = unbound(made().on_record("t1"));
        database.status.phase = Some("Available".to_owned());
        observed(alone(database))
    } => "ReportStatus Bound/Conflict";
    h03_forged_record_over_an_agreement: with(made().on_record("t9"), complete())
        => "RecordBinding Bound/ServerNotObserved";
    h03_forged_release: with(made().released("Delete", true), complete()) => "RecordBinding Bound/ServerNotObserved";
    n9_status_lost: alone(unbound(made())) => "ReportStatus Pending/ServerNotObserved";
    n9_status_and_tenant_ref_lost: observed(seen(unbound(made()).seen_with(&["t1"]), Lookup::Absent))
        => "ReportStatus Pending/Conflict";
    n9_released_and_status_lost: alone(made()) => "RecordRelease Releasing/Releasing";

    new_and_unobserved: unclaimed(alone(legacy())) => "ReportStatus Pending/ServerNotObserved";
    verified_first_the_finalizer: observed(unclaimed(alone(legacy()))) => "AddDatabaseFinalizer";
    verified_then_the_claims: observed(unclaimed(alone(unbound(made())))) => "TakeClaim";
    verified_and_taken: observed(taken(alone(unbound(made())))) => "ReportStatus Pending/Conflict";
    verified_and_free: observed(alone(unbound(made()))) => "ReportStatus Available/Available";
    p21_restart_before_anything_was_observed: DatabaseWorld {
        observation: Observation::NotYet, ..alone(available())
    } => "Idle";
    instance_missing: DatabaseWorld { instance: Lookup::Absent, ..alone(legacy()) }
        => "ReportStatus Pending/InstanceNotFound";
    invalid_spec: alone(Database { fault: Some("spec.database: bad".to_owned()), ..legacy() })
        => "ReportStatus Pending/InvalidSpec";
    invalid_spec_is_released_all_the_same: alone(Database { fault: Some("bad".to_owned()), ..made() })
        => "RecordRelease Releasing/Releasing";
    half_a_tenant_ref: {
        let mut database = made();
        database.tenant_ref.as_mut().unwrap().uid = String::new();
        alone(database)
    } => "ReportStatus Bound/Conflict";
}

fn status(step: &Step) -> crate::api::postgresql_database::PostgreSQLDatabaseStatus {
    let Operation::ReplaceStatus { status, .. } = &write(step).operation else { panic!("{step:?}") };
    let Status::Database(status) = status else { panic!("{step:?}") };
    status.as_ref().clone()
}

fn done(mut world: DatabaseWorld, step: &Step) -> DatabaseWorld {
    if let Lookup::Found(seen) = &mut world.database {
        seen.database.status = status(step);
    }
    world
}

#[test]
fn w3_records_the_whole_identity() {
    let step = plan_database(&with(made(), tenant().binding()), now());
    let status = status(&step);
    assert_eq!(status.instance_uid.as_deref(), Some("i1"));
    assert_eq!(status.tenant.as_deref(), Some("team/orders"));
    assert_eq!(status.tenant_ref.unwrap().uid, "t1");
}

#[test]
fn x3_by_the_tenant_is_what_the_database_would_show() {
    let world = with(made().on_record("t1"), complete().deleting());
    let tenants = super::build::world(complete().deleting(), vec![made().on_record("t1").seen()]);
    let step = crate::binding::plan_tenant(&tenants, now());
    assert_eq!(plan_database(&done(world, &step), now()), Step::Idle);
}

#[test]
fn d22_nothing_is_dropped_where_two_name_one_tenant() {
    let mut database = made();
    database.reclaim_policy = "Delete".to_owned();
    let captured = |siblings| {
        let world = DatabaseWorld { siblings, ..alone(database.clone()) };
        let step = plan_database(&world, now());
        step.as_write().map(|_| status(&step).release.unwrap().policy.unwrap())
    };
    assert_eq!(captured(Listing::Complete(vec![])).as_deref(), Some("Delete"));
    assert_eq!(captured(Listing::Complete(vec!["legacy".to_owned()])).as_deref(), Some("Retain"));
    assert_eq!(captured(Listing::Unknown), None, "it waits");
}

#[test]
fn f02_the_record_is_archived_and_the_instance_remembered() {
    let world = alone(unbound(made().released("Retain", true)));
    let step = plan_database(&world, now());
    assert_eq!(write(&step).event.as_ref().unwrap().reason.as_str(), "Reopened");
    let status = status(&step);
    assert_eq!(status.release, None);
    assert_eq!(status.last_release.unwrap().tenant_ref.unwrap().uid, "t1");
    assert_eq!((status.tenant_ref, status.tenant), (None, None));
    assert_eq!(status.instance_uid.as_deref(), Some("i1"));
}

#[test]
fn the_released_text_prints_the_command_and_fits() {
    let mut database = made().released("Retain", true);
    database.metadata.name = format!("tenant-{}", "0".repeat(36));
    let step = plan_database(&alone(database), now());
    assert_eq!(write(&step).event.as_ref().unwrap().reason.as_str(), "Released");
    let text = message(&step);
    assert!(text.contains(r#"'[{"op":"test","path":"/spec/tenantRef/uid","value":"t1"},{"op":"remove","path":"/spec/tenantRef"}]'"#));
    assert!(text.contains("the server rejected our request") && text.len() < 1024);
}

#[test]
fn h09_text_from_a_server_is_plain() {
    let world = DatabaseWorld {
        observation: Observation::Failed { message: format!("a\u{1b}[31m\nb{}", "x".repeat(3000)) },
        ..alone(unbound(made()))
    };
    let text = message(&plan_database(&world, now()));
    assert!(!text.contains(char::is_control) && text.len() <= 1024, "{text}");
}

#[test]
fn e09_an_import_that_goes_is_said_to_be_kept() {
    let step = plan_database(&alone(available().deleting()), now());
    assert_eq!(write(&step).event.as_ref().unwrap().reason.as_str(), "DatabaseRetained");
    let step = plan_database(&alone(unbound(made()).deleting()), now());
    assert_eq!(write(&step).event, None, "nothing outside exists");
}

#[test]
fn a_claim_belongs_to_the_database_and_goes_with_it() {
    let step = plan_database(&unclaimed(with(made(), complete())), now());
    let Operation::CreateLease { body } = &write(&step).operation else { panic!() };
    let metadata = &body["metadata"];
    assert_eq!(metadata["name"], claim_names().database);
    assert_eq!(metadata["labels"][names::CLAIM_LABEL], "database");
    assert_eq!(metadata["annotations"][names::DATABASE_NAME_ANNOTATION], "tenant-t1");
    assert_eq!(metadata["ownerReferences"][0]["uid"], "d1");
    assert_eq!(metadata["ownerReferences"][0]["kind"], "PostgreSQLDatabase");
    assert_eq!(body["spec"]["holderIdentity"], "d1");
}

#[test]
fn unknown_reads_change_nothing_n6() {
    let known = with(made(), complete());
    for world in [
        DatabaseWorld { database: Lookup::Unknown, ..known.clone() },
        DatabaseWorld { tenant: Lookup::Unknown, ..known.clone() },
        DatabaseWorld { siblings: Listing::Unknown, ..known.clone() },
        DatabaseWorld { instance: Lookup::Unknown, ..known.clone() },
        DatabaseWorld { claims: Claims::default(), ..known.clone() },
        DatabaseWorld { owned_claims: Listing::Unknown, ..known.clone() },
        DatabaseWorld {
            database: Lookup::Found(ObservedDatabase { database: made(), referrers: Listing::Unknown }),
            tenant: Lookup::Found(tenant()),
            ..known
        },
    ] {
        assert_eq!(plan_database(&world, now()), Step::Wait);
    }
}
