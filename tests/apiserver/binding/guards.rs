//! G and H: outages, replicas and noise; careless and hostile writers.

use std::sync::Arc;

use serde_json::json;

use super::lab::{DATABASE, INSTANCE, Lab, TENANT, message, ready, uid};
use crate::fault::{Fault, point};
use crate::support::eventually;

#[test]
fn g02_two_replicas_without_an_election_bind_and_release_once() {
    let lab = Arc::new(Lab::running("g02"));
    let second = lab.second();
    let shop = lab.tenant("shop");
    lab.until_bound("shop");
    lab.patch(DATABASE, &format!("tenant-{}", uid(&shop)), &json!({"spec": {"reclaimPolicy": "Delete"}}))
        .unwrap();
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    eventually("the Database is gone", || lab.all(DATABASE).is_empty().then_some(()));
    lab.check();
    second.stop();
}

#[test]
fn g03_admission_is_away_while_binding() {
    let lab = Arc::new(Lab::running("g03"));
    let rule = lab.rig.on(usize::MAX, Fault::Answer(500), |write| point(write) == "W2");
    lab.tenant("shop");
    let tenant = lab.until_reason(TENANT, "shop", "AdmissionUnavailable");
    assert_eq!(tenant["status"]["phase"], "Binding", "whether it was done is not known");
    let before = lab.rig.hits(rule);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(lab.rig.hits(rule) - before <= 3, "no busy loop");
    lab.rig.clear();
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn g04_admission_denies_the_binding_of_an_existing_one() {
    let lab = Arc::new(Lab::running("g04"));
    lab.verified();
    lab.database("orders");
    lab.until_reason(DATABASE, "orders", "Available");
    let rule = lab.rig.on(usize::MAX, Fault::Answer(403), |write| matches!(point(write), "W2" | "W2-dry"));
    lab.claimant("shop", "orders");
    let tenant = lab.until_reason(TENANT, "shop", "AdmissionDenied");
    assert!(message(&tenant).contains("the fault rig answers 403"), "{}", message(&tenant));
    let before = lab.rig.hits(rule);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(lab.rig.hits(rule) - before <= 3, "no hot loop");
    lab.check();
    lab.rig.clear();
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn g09_what_an_administrator_reads_does_not_change_by_itself() {
    let lab = Arc::new(Lab::running("g09"));
    lab.tenant("shop");
    lab.until_bound("shop");
    lab.claimant("waits", "nothing");
    lab.until_reason(TENANT, "waits", "NotAvailable");
    lab.quiet();
    let before = lab.rig.writes().len();
    std::thread::sleep(std::time::Duration::from_secs(10));
    assert_eq!(lab.rig.writes().len(), before, "{:?}", lab.rig.writes());
    lab.check();
}

#[test]
fn h01_nobody_but_the_controller_makes_a_bound_database() {
    let lab = Arc::new(Lab::running("h01"));
    let mut spec = Lab::database_spec("orders");
    spec["tenantRef"] = json!({"namespace": "a", "name": "b", "uid": "c"});
    let refused =
        lab.try_create_as("admin-of-databases", "covenant-resource-admin", DATABASE, "orders", &spec);
    let Err(kube::Error::Api(status)) = refused else { panic!("{refused:?}") };
    assert_eq!(status.code, 403);
    assert!(status.message.contains("covenant-database-bind"), "{}", status.message);
    lab.check();
}

#[test]
fn h02_a_forged_record_of_a_tenant_grants_nothing() {
    let lab = Arc::new(Lab::running("h02"));
    lab.tenant("shop");
    let bound = lab.until_bound("shop");
    let record = bound["status"]["databaseRef"].clone();
    lab.claimant("thief", record["name"].as_str().unwrap());
    lab.until_reason(TENANT, "thief", "Conflict");
    lab.quiet();
    // What the test forges is no fault of the controllers'.
    lab.pardon();
    lab.patch_status(TENANT, "thief", &json!({"phase": "Bound", "databaseRef": record}));
    let thief = lab.until_reason(TENANT, "thief", "Conflict");
    assert_eq!(ready(&thief).unwrap().0, "False");
    lab.quiet();
    assert_eq!(lab.get(DATABASE, record["name"].as_str().unwrap())["spec"]["tenantRef"]["uid"], uid(&bound));
    assert_eq!(ready(&lab.get(TENANT, "shop")).unwrap().1, "BindingComplete");
}

#[test]
fn h03_a_forged_status_of_a_database_makes_it_no_more_available() {
    let lab = Arc::new(Lab::running("h03"));
    lab.database("orders");
    lab.until_reason(DATABASE, "orders", "ServerNotObserved");
    let instance = uid(&lab.get(INSTANCE, "main"));
    let generation = lab.get(DATABASE, "orders")["metadata"]["generation"].clone();
    lab.patch_status(
        DATABASE,
        "orders",
        &json!({"phase": "Available", "instanceUID": instance, "observedGeneration": generation}),
    );
    lab.claimant("shop", "orders");
    lab.until_reason(TENANT, "shop", "NotAvailable");
    lab.until(DATABASE, "orders", "its true phase", |database| database["status"]["phase"] != "Available");
    assert!(lab.get(DATABASE, "orders")["spec"]["tenantRef"].is_null());
    lab.check();
}

#[test]
fn h05_names_cannot_be_probed() {
    let lab = Arc::new(Lab::running("h05"));
    lab.verified();
    for name in ["taken", "spare"] {
        lab.database(name);
        lab.until_reason(DATABASE, name, "Available");
    }
    lab.claimant("owner", "taken");
    let owner = lab.until_bound("owner");
    lab.claimant("former", "spare");
    lab.until_bound("former");
    lab.delete(TENANT, "former");
    lab.until_reason(DATABASE, "spare", "Released");
    let texts: Vec<String> = [("a", "taken"), ("b", "spare"), ("c", "absent")]
        .into_iter()
        .map(|(tenant, database)| {
            lab.claimant(tenant, database);
            let found = lab.until(TENANT, tenant, "told", |tenant| ready(tenant).is_some());
            let text = message(&found);
            assert!(!text.contains(&uid(&owner)) && !text.contains("owner"), "{text}");
            text.replace(database, "x")
        })
        .collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
    lab.check();
}

#[test]
fn h06_the_administrator_is_told_who_the_other_is() {
    let lab = Arc::new(Lab::running("h06"));
    lab.tenant("shop");
    let bound = lab.until_bound("shop");
    let name = bound["status"]["databaseRef"]["name"].as_str().unwrap();
    let column = format!("{}/shop", lab.namespace);
    lab.until(DATABASE, name, "told", |database| database["status"]["tenant"] == column.as_str());
    lab.check();
}

#[test]
fn h08_a_spec_beyond_its_bounds_is_refused_by_the_definition() {
    let lab = Arc::new(Lab::running("h08"));
    let many: Vec<String> = (0..1000).map(|number| format!("extension_{number}")).collect();
    let spec = json!({"provision": {"instanceRef": {"name": "main"}}, "extensions": many});
    let Err(kube::Error::Api(status)) = lab.try_create(TENANT, "shop", &spec) else { panic!("it is taken") };
    assert_eq!(status.code, 422);
    lab.check();
}

#[test]
fn h10_a_role_of_another_database_is_not_given_twice() {
    let lab = Arc::new(Lab::running("h10"));
    lab.tenant("shop");
    lab.until_bound("shop");
    let spec =
        json!({"provision": {"instanceRef": {"name": "main"}, "database": "other", "loginRole": "shop"}});
    lab.create(TENANT, "thief", &spec);
    let thief = lab.until_reason(TENANT, "thief", "Conflict");
    assert_eq!(thief["status"]["phase"], "Pending");
    assert!(message(&thief).contains("role"), "{}", message(&thief));
    lab.check();
    assert_eq!(lab.all(DATABASE).len(), 1, "nothing was written for it");
}
