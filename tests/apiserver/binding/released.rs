//! F: Released, opened again, restored, and another identity under a known name.

use std::sync::Arc;

use serde_json::{Value, json};

use super::lab::{DATABASE, INSTANCE, Lab, TENANT, message, ready, uid, with_orders};
use crate::support::eventually;

/// `orders` is Released; with the UID of the Tenant that had it.
fn released(id: &str) -> (Arc<Lab>, String) {
    let lab = with_orders(id);
    lab.claimant("shop", "orders");
    let first = uid(&lab.until_bound("shop"));
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until_reason(DATABASE, "orders", "Released");
    (lab, first)
}

fn refused(result: Result<impl std::fmt::Debug, kube::Error>, code: u16) -> String {
    match result {
        Err(kube::Error::Api(status)) if status.code == code => status.message.clone(),
        other => panic!("not refused with {code}: {other:?}"),
    }
}

#[test]
fn f01_who_asks_for_a_released_one_waits_quietly() {
    let (lab, _) = released("f01");
    lab.claimant("store", "orders");
    let store = lab.until_reason(TENANT, "store", "NotAvailable");
    assert!(!message(&store).contains("shop"), "{}", message(&store));
    lab.check();
}

#[test]
fn f02_it_is_verified_before_it_is_available_again() {
    let (lab, first) = released("f02");
    let printed = message(&lab.get(DATABASE, "orders"));
    assert!(
        printed.contains("/spec/tenantRef/uid") && printed.contains(&first),
        "the exact command: {printed}"
    );
    *lab.observer.verified_mut() = Vec::new();
    lab.reopen("orders", &first).unwrap();
    let database = lab.until_reason(DATABASE, "orders", "ServerNotObserved");
    assert_ne!(database["status"]["phase"], "Available");
    assert_eq!(database["status"]["lastRelease"]["tenantRef"]["uid"], first);
    lab.check();
    lab.verified();
    lab.patch(DATABASE, "orders", &json!({"metadata": {"annotations": {"look": "again"}}})).unwrap();
    lab.until_reason(DATABASE, "orders", "Available");
    lab.check();
}

#[test]
fn f03_f07_the_edit_quotes_the_identity() {
    let (lab, first) = released("f03");
    let text = refused(lab.reopen("orders", "another"), 422);
    assert!(text.contains("the server rejected our request"), "{text}");
    lab.reopen("orders", &first).unwrap();
    refused(lab.reopen("orders", &first), 422);
    lab.until_reason(DATABASE, "orders", "Available");
    lab.check();
}

#[test]
fn f04_a_live_tenant_keeps_it_whatever_was_edited() {
    // The webhook, which refuses this, is away here.
    let lab = with_orders("f04");
    lab.claimant("shop", "orders");
    let shop = lab.until_bound("shop");
    lab.reopen("orders", &uid(&shop)).unwrap();
    lab.until_reason(DATABASE, "orders", "Conflict");
    lab.until_reason(TENANT, "shop", "Conflict");
    lab.check();
    assert!(lab.get(DATABASE, "orders")["status"]["lastRelease"].is_null());
}

#[test]
fn f06_only_who_has_the_verb_opens_it() {
    let (lab, first) = released("f06");
    let edit = json!([
        {"op": "test", "path": "/spec/tenantRef/uid", "value": first},
        {"op": "remove", "path": "/spec/tenantRef"},
    ]);
    let text =
        refused(lab.json_patch_as("editor", "covenant-database-repair", DATABASE, "orders", &edit), 403);
    assert!(text.contains("covenant-database-reopen"), "{text}");
    lab.json_patch_as("admin", "covenant-resource-admin", DATABASE, "orders", &edit).unwrap();
    lab.until_reason(DATABASE, "orders", "Available");
    lab.check();
}

#[test]
fn f08_what_is_wrong_by_now_stays_unavailable() {
    let (lab, first) = released("f08");
    *lab.observer.verified_mut() = vec!["another instance".to_owned()];
    lab.reopen("orders", &first).unwrap();
    lab.until(DATABASE, "orders", "told", |database| {
        ready(database).is_some_and(|(status, reason)| status == "False" && reason != "Released")
    });
    lab.check();
    assert_ne!(lab.get(DATABASE, "orders")["status"]["phase"], "Available");
}

/// The object as a backup tool puts it back: everything but what the API server gives.
fn backup(object: &Value) -> Value {
    object["spec"].clone()
}

#[test]
fn f09_objects_come_back_from_a_backup() {
    let lab = with_orders("f09");
    lab.claimant("shop", "orders");
    let old = uid(&lab.until_bound("shop"));
    lab.tenant("store");
    let store = lab.until_bound("store");
    let made = store["status"]["databaseRef"]["name"].as_str().unwrap().to_owned();
    let kept: Vec<(String, Value)> =
        ["orders", &made].map(|name| (name.to_owned(), backup(&lab.get(DATABASE, name)))).to_vec();
    lab.kill();
    for (kind, name) in [(TENANT, "shop"), (TENANT, "store"), (DATABASE, "orders"), (DATABASE, &made)] {
        lab.patch(kind, name, &json!({"metadata": {"finalizers": null}})).unwrap();
        lab.delete(kind, name);
    }
    eventually("the claims are gone", || lab.claims().is_empty().then_some(()));
    for (name, spec) in &kept {
        lab.create(DATABASE, name, spec);
    }
    lab.start();
    for (name, _) in &kept {
        lab.until_reason(DATABASE, name, "Released");
    }
    lab.claimant("shop", "orders");
    lab.tenant("store");
    assert_eq!(lab.get(DATABASE, "orders")["spec"]["tenantRef"]["uid"], old);
    lab.until_reason(TENANT, "shop", "NotAvailable");
    lab.until_reason(TENANT, "store", "Conflict");
    lab.check();
    assert_eq!(lab.all(DATABASE).len(), 2);
}

#[test]
fn f10_a_restored_status_is_no_proof() {
    let lab = with_orders("f10");
    lab.kill();
    lab.claimant("shop", "orders");
    lab.pardon();
    lab.patch_status(
        TENANT,
        "shop",
        &json!({"phase": "Bound", "databaseRef": {"name": "orders", "uid": "of-another-life"}}),
    );
    lab.start();
    let shop = lab.until(TENANT, "shop", "told", |tenant| {
        ready(tenant).is_some_and(|(_, reason)| reason == "DatabaseLost" || reason == "Conflict")
    });
    assert_eq!(shop["status"]["databaseRef"]["uid"], "of-another-life", "never repaired");
    lab.quiet();
    assert!(lab.get(DATABASE, "orders")["spec"]["tenantRef"].is_null());
}

#[test]
fn f11_another_instance_of_that_name_is_not_trusted() {
    let lab = with_orders("f11");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.kill();
    lab.patch(INSTANCE, "main", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(INSTANCE, "main");
    lab.instance("main");
    lab.start();
    lab.until_reason(DATABASE, "orders", "InstanceIdentityChanged");
    lab.until_reason(TENANT, "shop", "InstanceIdentityChanged");
    lab.check();
}

#[test]
fn f14_released_ones_cost_nothing() {
    let (lab, _) = released("f14");
    lab.check();
    let before = lab.rig.writes().len();
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(lab.rig.writes().len(), before);
}

#[test]
fn f16_a_replace_without_the_binding_opens_it_too() {
    let (lab, first) = released("f16");
    lab.patch(DATABASE, "orders", &json!({"spec": {"tenantRef": null}})).unwrap();
    let database = lab.until_reason(DATABASE, "orders", "Available");
    assert_eq!(database["status"]["lastRelease"]["tenantRef"]["uid"], first);
    eventually("an Event says so", || {
        lab.events_in("default").iter().any(|event| event["reason"] == "Reopened").then_some(())
    });
    lab.check();
}

#[test]
fn f17_the_tenant_comes_back_before_the_database() {
    let lab = Arc::new(Lab::running("f17"));
    lab.tenant("shop");
    let first = lab.until_bound("shop");
    let name = first["status"]["databaseRef"]["name"].as_str().unwrap().to_owned();
    let spec = backup(&lab.get(DATABASE, &name));
    lab.kill();
    for (kind, name) in [(TENANT, "shop"), (DATABASE, name.as_str())] {
        lab.patch(kind, name, &json!({"metadata": {"finalizers": null}})).unwrap();
        lab.delete(kind, name);
    }
    eventually("the claims are gone", || lab.claims().is_empty().then_some(()));
    lab.tenant("shop");
    lab.start();
    lab.until_bound("shop");
    lab.create(DATABASE, &name, &spec);
    let restored = lab.until(DATABASE, &name, "told", |database| ready(database).is_some());
    lab.check();
    assert!(restored["metadata"]["deletionTimestamp"].is_null(), "nothing is dropped");
    let restored = lab.get(DATABASE, &name);
    assert!(ready(&restored).is_some_and(|(status, _)| status == "False"));
    lab.until_bound("shop");
}
