//! E: a Database or an Instance is deleted, or lost.

use std::sync::Arc;

use serde_json::json;

use super::lab::{DATABASE, INSTANCE, Lab, TENANT, message, ready, uid, with_orders};
use crate::fault::point;
use crate::support::eventually;

fn bound(id: &str) -> Arc<Lab> {
    let lab = with_orders(id);
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab
}

#[test]
fn e02_a_bound_database_is_deleted_past_the_webhook() {
    let lab = bound("e02");
    lab.delete(DATABASE, "orders");
    let database = lab.until_reason(DATABASE, "orders", "DeletionBlocked");
    assert!(!database["metadata"]["deletionTimestamp"].is_null());
    let tenant = lab.until_reason(TENANT, "shop", "DatabaseDeleting");
    assert_eq!(tenant["status"]["databaseRef"]["name"], "orders");
    lab.check();
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until_gone(DATABASE, "orders");
    lab.check();
}

#[test]
fn e03_e04_a_database_that_is_lost_is_lost() {
    let lab = bound("e03");
    lab.kill();
    lab.patch(DATABASE, "orders", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(DATABASE, "orders");
    lab.start();
    let lost = lab.until_reason(TENANT, "shop", "DatabaseLost");
    assert_eq!(lost["status"]["phase"], "Lost");
    assert_eq!(lost["status"]["databaseRef"]["name"], "orders", "the record stays");
    lab.check();
    assert!(lab.all(DATABASE).is_empty(), "nothing is made anew");
    lab.database("orders");
    lab.until_reason(DATABASE, "orders", "Available");
    lab.check();
    let still = lab.get(TENANT, "shop");
    assert_eq!(ready(&still).unwrap().1, "DatabaseLost", "a name is no identity");
    assert!(lab.get(DATABASE, "orders")["spec"]["tenantRef"].is_null());
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.check();
}

#[test]
fn e05_the_database_is_another_one_before_w4() {
    let lab = with_orders("e05");
    lab.rig.on(1, lab.kill_at(true), |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    let first = uid(&lab.get(DATABASE, "orders"));
    lab.patch(DATABASE, "orders", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(DATABASE, "orders");
    lab.database("orders");
    lab.start();
    let tenant = lab.until_bound("shop");
    assert_ne!(tenant["status"]["databaseRef"]["uid"], first, "judged afresh");
    lab.check();
}

#[test]
fn e06_the_binding_is_taken_off_past_the_webhook() {
    let lab = bound("e06");
    let whole = lab.get(DATABASE, "orders")["spec"]["tenantRef"].clone();
    lab.patch(DATABASE, "orders", &json!({"spec": {"tenantRef": null}})).unwrap();
    lab.until_reason(TENANT, "shop", "Conflict");
    lab.until_reason(DATABASE, "orders", "Conflict");
    lab.claimant("thief", "orders");
    lab.until(TENANT, "thief", "told", |tenant| ready(tenant).is_some());
    lab.check();
    assert!(lab.get(DATABASE, "orders")["spec"]["tenantRef"].is_null(), "nobody else gets it");
    lab.patch(DATABASE, "orders", &json!({"spec": {"tenantRef": whole}})).unwrap();
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn e07_the_binding_cannot_be_given_to_another() {
    let lab = bound("e07");
    let other = json!({"spec": {"tenantRef": {"namespace": "a", "name": "b", "uid": "c"}}});
    let Err(kube::Error::Api(status)) = lab.patch(DATABASE, "orders", &other) else { panic!("it is taken") };
    assert_eq!(status.code, 422);
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn e08_e09_a_database_that_nobody_uses_may_go() {
    let lab = with_orders("e08");
    lab.delete(DATABASE, "orders");
    lab.until_gone(DATABASE, "orders");
    lab.database("goods");
    lab.until_reason(DATABASE, "goods", "Available");
    lab.claimant("shop", "goods");
    lab.until_bound("shop");
    lab.delete(TENANT, "shop");
    lab.until_reason(DATABASE, "goods", "Released");
    lab.delete(DATABASE, "goods");
    lab.until_gone(DATABASE, "goods");
    lab.check();
    eventually("their claims go with them", || lab.claims().is_empty().then_some(()));
}

#[test]
fn e13_what_a_store_believes_is_asked_again() {
    let lab = bound("e13");
    lab.rig.hold("postgresqltenants");
    lab.delete(DATABASE, "orders");
    lab.until_reason(DATABASE, "orders", "DeletionBlocked");
    lab.delete(TENANT, "shop");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(lab.find(DATABASE, "orders").is_some(), "the Tenant still lives, whatever the store shows");
    lab.rig.release("postgresqltenants");
    lab.until_gone(TENANT, "shop");
    lab.until_gone(DATABASE, "orders");
    lab.check();
}

#[test]
fn e14_e15_an_instance_stays_while_it_is_referred_to() {
    let lab = bound("e14");
    lab.claimant("lost", "orders");
    lab.tenant("waits");
    lab.until_bound("waits");
    lab.delete(INSTANCE, "main");
    let instance = lab.until_reason(INSTANCE, "main", "DeletionBlocked");
    assert!(!message(&instance).is_empty());
    lab.tenant("late");
    lab.until_reason(TENANT, "late", "InstanceDeleting");
    for tenant in ["shop", "lost", "waits"] {
        lab.delete(TENANT, tenant);
        lab.until_gone(TENANT, tenant);
    }
    lab.check();
    assert!(lab.find(INSTANCE, "main").is_some(), "Released Databases and the waiting Tenant still hold it");
    for database in lab.all(DATABASE) {
        lab.delete(DATABASE, database["metadata"]["name"].as_str().unwrap());
    }
    eventually("the Databases are gone", || lab.all(DATABASE).is_empty().then_some(()));
    lab.check();
    assert!(lab.find(INSTANCE, "main").is_some(), "the waiting Tenant holds it alone");
    lab.delete(TENANT, "late");
    lab.until_gone(INSTANCE, "main");
    lab.check();
}

#[test]
fn e16_a_tenant_that_lost_its_database_holds_no_instance() {
    let lab = Arc::new(Lab::running("e16"));
    lab.tenant("shop");
    let shop = lab.until_bound("shop");
    let name = shop["status"]["databaseRef"]["name"].as_str().unwrap().to_owned();
    lab.kill();
    lab.patch(DATABASE, &name, &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(DATABASE, &name);
    lab.start();
    lab.until_reason(TENANT, "shop", "DatabaseLost");
    lab.delete(INSTANCE, "main");
    lab.until_gone(INSTANCE, "main");
    lab.check();
}
