//! What the writes of a Tenant's plan carry, and that each is made once.

use super::build::*;
use super::tenants::{after, alone, bound, claimed, other, refused, role_taken, wanting_legacy, with};
use crate::api::refs::DatabaseIdentity;
use crate::api::{Kind, names};
use crate::binding::{
    Database, DeliveredObject, Listing, Lookup, Operation, Status, Step, StepName, TenantWorld, plan_tenant,
};
use crate::rules::Installation;

/// The status that the step writes, put into the Tenant of the world.
fn done(mut world: TenantWorld, step: &Step) -> TenantWorld {
    let Operation::ReplaceStatus { status, .. } = &write(step).operation else { panic!("{step:?}") };
    let Status::Tenant(status) = status else { panic!("{step:?}") };
    if let Lookup::Found(tenant) = &mut world.tenant {
        tenant.status = status.as_ref().clone();
    }
    world
}

#[test]
fn p02_the_finalizer_is_in_the_list_once_and_others_stay() {
    let mut tenant = tenant();
    tenant.metadata.finalizers.push("foreign/one".to_owned());
    let step = plan_tenant(&alone(tenant), now());
    let Operation::ReplaceFinalizers { object, finalizers } = &write(&step).operation else { panic!() };
    assert_eq!(*finalizers, ["foreign/one", names::TENANT_FINALIZER]);
    assert_eq!((object.uid.as_str(), object.resource_version.as_str()), ("t1", "7"));
}

#[test]
fn p04_the_names_that_are_fixed_are_those_of_the_spec_that_was_read() {
    let mut tenant = tenant().binding();
    tenant.status.database = Some("before".to_owned());
    let world = alone(tenant);
    let step = plan_tenant(&world, now());
    assert_eq!(shown(&step), "BeginBinding Binding/Binding");
    let Lookup::Found(tenant) = done(world, &step).tenant else { panic!() };
    assert_eq!(tenant.status.database.as_deref(), Some("orders"));
}

#[test]
fn p09_p21_after_w4_nothing_more_is_written() {
    let world = claimed(with(tenant().binding(), made()));
    let step = plan_tenant(&world, now());
    let event = write(&step).event.as_ref().unwrap();
    assert_eq!((event.reason.as_str(), event.is_warning), ("Bound", false));
    let world = done(world, &step);
    assert_eq!(tenant_step(&world), "Idle");
    let later = "2027-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(plan_tenant(&world, later), Step::Idle, "time alone writes nothing");
    let Lookup::Found(tenant) = world.tenant else { panic!() };
    let record = DatabaseIdentity { name: "tenant-t1".to_owned(), uid: "d1".to_owned() };
    assert_eq!(tenant.status.database_ref, Some(record));
}

#[test]
fn p10_after_a_409_the_newer_version_is_written() {
    let mut tenant = tenant().binding();
    tenant.metadata.resource_version = "8".to_owned();
    let step = plan_tenant(&claimed(with(tenant, made())), now());
    let Operation::ReplaceStatus { object, .. } = &write(&step).operation else { panic!() };
    assert_eq!((object.uid.as_str(), object.resource_version.as_str()), ("t1", "8"));
}

#[test]
fn p14_the_text_names_the_fields_and_nothing_is_written_to_the_squatter() {
    let squatter = Database { login_role: "x".to_owned(), tenant_ref: None, ..made() };
    let text = message(&plan_tenant(&with(tenant(), squatter), now()));
    assert!(text.contains("differs in spec.tenantRef, spec.loginRole"), "{text}");
}

#[test]
fn p16_a_refusal_that_was_said_is_not_written_again() {
    let world = after(StepName::CreateDatabase, refused(), alone(tenant().binding()));
    let step = plan_tenant(&world, now());
    assert!(message(&step).contains("exceeded quota"));
    let world = done(world, &step);
    let Lookup::Found(pending) = &world.tenant else { panic!() };
    assert_eq!(pending.status.database, None, "the names are free again");
    assert_eq!(tenant_step(&world), "Wait");
}

#[test]
fn r08_r09_w2_is_guarded_by_the_version_that_was_judged() {
    let step = plan_tenant(&wanting_legacy(tenant_for_legacy().binding(), available()), now());
    let Operation::Bind { object, tenant_ref: bound, finalizers } = &write(&step).operation else { panic!() };
    assert_eq!((object.uid.as_str(), object.resource_version.as_str()), ("d9", "7"));
    assert_eq!(*bound, tenant_ref("t1"));
    assert_eq!(*finalizers, [names::DATABASE_FINALIZER]);
}

#[test]
fn w2_for_a_new_database_carries_everything_in_its_first_write() {
    let step = plan_tenant(&alone(tenant().binding()), now());
    let Operation::CreateDatabase { body } = &write(&step).operation else { panic!() };
    assert_eq!(body["metadata"]["name"], "tenant-t1");
    assert_eq!(body["metadata"]["finalizers"][0], names::DATABASE_FINALIZER);
    assert_eq!(body["metadata"].get("ownerReferences"), None);
    assert_eq!(body["metadata"]["labels"][names::TENANT_UID_LABEL], "t1");
    assert_eq!(
        body["spec"]["tenantRef"],
        serde_json::json!({"namespace": "team", "name": "orders", "uid": "t1"})
    );
    assert_eq!(body["spec"]["source"], "Provision");
    assert_eq!(body["spec"]["reclaimPolicy"], "Retain");
    let findings = crate::rules::shape(Kind::PostgreSQLDatabase, body, &Installation::default());
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn r16_the_conflict_is_said_once_and_names_nobody() {
    let world = role_taken(with(tenant().binding(), made().deleting()), Lookup::Absent);
    let step = plan_tenant(&world, now());
    let text = message(&step);
    for part in ["Target: ", "Step: ", "Sure: ", "Not sure: ", "To check: "] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("d5") && text.contains("spec.provision.loginRole"), "{text}");
    let Lookup::Found(pending) = done(world, &step).tenant else { panic!() };
    assert_eq!(tenant_step(&role_taken(alone(pending), Lookup::Absent)), "Idle", "once the Database is gone");
}

/// The release that the step records: policy and whether the binding was complete.
fn release(step: &Step) -> (String, bool) {
    let Operation::ReplaceStatus { object, status } = &write(step).operation else { panic!("{step:?}") };
    let Status::Database(status) = status else { panic!("{step:?}") };
    assert_eq!(object.resource_version, "7");
    let release = status.release.clone().unwrap();
    assert_eq!(release.tenant_ref.unwrap().uid, "t1");
    assert_eq!(release.released_at.as_deref(), Some("2026-10-10T08:30:00Z"));
    (release.policy.unwrap(), release.completed.unwrap())
}

#[test]
fn d04_d06_d12_what_x3_captures() {
    let policy =
        |policy: &str, database: Database| Database { reclaim_policy: policy.to_owned(), ..database };
    let complete = tenant().bound_to("tenant-t1", "d1").deleting();
    let half = tenant().binding().deleting();
    for (tenant, database, expected) in [
        (&complete, policy("Delete", made().on_record("t1")), ("Delete", true)),
        (&complete, policy("Retain", made().on_record("t1")), ("Retain", true)),
        (&half, policy("Delete", made()), ("Delete", false)),
        // The record names another Database: nothing of this one was clearly the Tenant's.
        (&tenant().bound_to("tenant-t1", "d0").deleting(), policy("Delete", made()), ("Retain", true)),
    ] {
        let step = plan_tenant(&with(tenant.clone(), database), now());
        assert_eq!(release(&step), (expected.0.to_owned(), expected.1));
    }
}

#[test]
fn d22_only_the_database_on_record_is_ever_deleted() {
    let delete = |database: Database| Database { reclaim_policy: "Delete".to_owned(), ..database };
    let tenant = tenant().bound_to("tenant-t1", "d1").deleting();
    let (other, own) = (delete(legacy().carrying("t1")), delete(made()));
    let step = plan_tenant(&world(tenant.clone(), vec![own.clone().seen(), other.clone().seen()]), now());
    assert_eq!(release(&step), ("Retain".to_owned(), true), "legacy comes first by name");
    let other = other.released("Retain", true);
    let step = plan_tenant(&world(tenant.clone(), vec![own.clone().seen(), other.clone().seen()]), now());
    assert_eq!(release(&step), ("Delete".to_owned(), true));
    let own = own.released("Delete", true);
    assert_eq!(tenant_step(&world(tenant, vec![own.seen(), other.seen()])), "RemoveTenantFinalizer");
}

#[test]
fn d20_d23_other_finalizers_stay_in_the_list() {
    let mut tenant = tenant().binding().deleting();
    tenant.metadata.finalizers.push("foregroundDeletion".to_owned());
    let step = plan_tenant(&alone(tenant), now());
    let Operation::ReplaceFinalizers { finalizers, .. } = &write(&step).operation else { panic!() };
    assert_eq!(*finalizers, ["foregroundDeletion"]);
}

#[test]
fn x2_what_was_delivered_goes_before_the_release() {
    let object = DeliveredObject {
        api_version: "external-secrets.io/v1".to_owned(),
        kind: "ExternalSecret".to_owned(),
        name: "main-orders-postgresql".to_owned(),
        uid: "e1".to_owned(),
        resource_version: "9".to_owned(),
    };
    let mut world = with(tenant().bound_to("tenant-t1", "d1").deleting(), made().on_record("t1"));
    world.delivered = Listing::Complete(vec![object]);
    let step = plan_tenant(&world, now());
    assert_eq!(shown(&step), "ReportStatus Releasing/Releasing");
    assert_eq!(tenant_step(&done(world, &step)), "RemoveDelivery");
}

#[test]
fn f01_h05_h06_one_text_whatever_the_cause() {
    let text = |world: &TenantWorld| message(&plan_tenant(world, now()));
    let missing = text(&alone(tenant_for_legacy()));
    assert!(missing.starts_with(
        "PostgreSQLDatabase \"legacy\" cannot be bound now: it does not exist, is not verified, or is not free"
    ));
    for database in [legacy(), other(), other().phase("Released", "Released"), legacy().deleting()] {
        assert_eq!(text(&wanting_legacy(tenant_for_legacy(), database)), missing);
    }
    assert_eq!(text(&world(tenant_for_legacy(), vec![available().seen_with(&["t2"])])), missing);
}

#[test]
fn the_settled_states_are_idle() {
    for world in [
        alone(tenant_for_legacy()),
        wanting_legacy(tenant_for_legacy(), other()),
        alone(tenant().bound_to("tenant-t1", "d1")),
        with(tenant().bound_to("tenant-t1", "d1"), made().carrying("t2")),
        bound(),
    ] {
        let step = plan_tenant(&world, now());
        assert_eq!(tenant_step(&done(world, &step)), "Idle");
    }
}
