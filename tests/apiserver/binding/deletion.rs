//! D: a Tenant is deleted, at any moment of a binding and in any manner.

use std::sync::Arc;

use covenant::api::names;
use kube::api::{DeleteParams, PropagationPolicy};
use serde_json::json;

use super::crashes::just_before;
use super::lab::{DATABASE, Lab, TENANT, ready, uid, with_orders};
use crate::fault::{Fault, point};
use crate::support::eventually;

/// The controllers are killed at a write of the binding of `shop` to a new database; the Tenant is deleted; they come back.
fn deleted_after(id: &str, at: &'static str, after: bool) -> Arc<Lab> {
    let lab = Arc::new(Lab::running(id));
    lab.rig.on(1, lab.kill_at(after), move |write| point(write) == at);
    lab.tenant("shop");
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    lab.delete(TENANT, "shop");
    lab.start();
    lab.until_gone(TENANT, "shop");
    lab.check();
    lab
}

#[test]
fn d01_before_w0() {
    let lab = deleted_after("d01", "W0", false);
    assert!(lab.all(DATABASE).is_empty());
}

#[test]
fn d02_after_w0() {
    let lab = deleted_after("d02", "W0", true);
    assert!(lab.all(DATABASE).is_empty());
}

#[test]
fn d03_after_w1() {
    let lab = deleted_after("d03", "W1", true);
    assert!(lab.all(DATABASE).is_empty());
}

#[test]
fn d04_after_w2_of_a_new_one() {
    let lab = deleted_after("d04-new", "W2", true);
    eventually("the Database that was never used is gone", || lab.all(DATABASE).is_empty().then_some(()));
    assert!(lab.claims().is_empty(), "and its claims with it");
}

#[test]
fn d04_after_w2_of_an_existing_one() {
    let lab = with_orders("d04-existing");
    lab.rig.on(1, lab.kill_at(true), |write| point(write) == "W2");
    let shop = lab.claimant("shop", "orders");
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    lab.delete(TENANT, "shop");
    lab.start();
    lab.until_gone(TENANT, "shop");
    let database = lab.until_reason(DATABASE, "orders", "Released");
    assert_eq!(database["spec"]["tenantRef"]["uid"], uid(&shop));
    lab.check();
}

#[test]
fn d05_between_judgement_and_w2() {
    let lab = with_orders("d05");
    let delete = just_before(&lab, |lab| lab.delete(TENANT, "shop"));
    lab.rig.on(1, delete, |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    lab.until_gone(TENANT, "shop");
    let database = lab.until_reason(DATABASE, "orders", "Released");
    assert_eq!(database["status"]["release"]["completed"], false, "it was never on record at the Tenant");
    lab.check();
}

#[test]
fn d06_bound_and_kept() {
    let lab = with_orders("d06");
    lab.claimant("shop", "orders");
    let shop = lab.until_bound("shop");
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    let database = lab.until_reason(DATABASE, "orders", "Released");
    assert_eq!(database["status"]["phase"], "Released");
    let release = &database["status"]["release"];
    assert_eq!((&release["policy"], &release["completed"]), (&json!("Retain"), &json!(true)));
    assert_eq!(release["tenantRef"]["uid"], uid(&shop));
    lab.check();
    let steps = lab.steps();
    let at = |step: &str| steps.iter().position(|found| found == step).unwrap();
    assert!(at("X3") < at("X4"), "the record is there before the Tenant may go: {steps:?}");
}

#[test]
fn d07_bound_and_to_be_deleted() {
    let lab = with_orders("d07");
    lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}})).unwrap();
    lab.until_reason(DATABASE, "orders", "Available");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until_gone(DATABASE, "orders");
    lab.check();
}

/// The controllers are killed right after a write of the release.
fn released_over_a_kill(id: &str, at: &'static str) {
    let lab = with_orders(id);
    lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}})).unwrap();
    lab.until_reason(DATABASE, "orders", "Available");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.quiet();
    lab.rig.on(1, lab.kill_at(true), move |write| point(write) == at);
    lab.delete(TENANT, "shop");
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    lab.start();
    lab.until_gone(TENANT, "shop");
    lab.until_gone(DATABASE, "orders");
    lab.check();
    assert!(lab.steps().contains(&"X3".to_owned()), "never without the record: {:?}", lab.steps());
}

#[test]
fn d08_killed_after_x3() {
    released_over_a_kill("d08-x3", "X3");
}

#[test]
fn d08_killed_after_x4() {
    released_over_a_kill("d08-x4", "X4");
}

#[test]
fn d08_killed_after_x5() {
    released_over_a_kill("d08-x5", "X5");
}

#[test]
fn d09_d16_by_force() {
    let lab = with_orders("d09");
    lab.claimant("shop", "orders");
    let shop = lab.until_bound("shop");
    lab.patch(TENANT, "shop", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.kill();
    lab.patch(TENANT, "shop", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.start();
    let database = lab.until_reason(DATABASE, "orders", "Released");
    assert_eq!(database["status"]["release"]["tenantRef"]["uid"], uid(&shop));
    lab.check();
}

#[test]
fn d10_made_again_with_the_same_name() {
    let lab = with_orders("d10");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.tenant("store");
    let store = lab.until_bound("store");
    for name in ["shop", "store"] {
        lab.delete(TENANT, name);
        lab.until_gone(TENANT, name);
    }
    lab.until_reason(DATABASE, "orders", "Released");
    lab.claimant("shop", "orders");
    lab.until_reason(TENANT, "shop", "NotAvailable");
    lab.tenant("store");
    lab.until_reason(TENANT, "store", "Conflict");
    lab.check();
    let kept = store["status"]["databaseRef"]["name"].as_str().unwrap();
    assert_eq!(lab.get(DATABASE, kept)["spec"]["tenantRef"]["uid"], uid(&store), "no rebinding");
    assert_eq!(lab.all(DATABASE).len(), 2, "the name on the server is still taken");
}

#[test]
fn d11_the_policy_is_fixed_once_the_release_is_on_record() {
    let lab = with_orders("d11");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.delete(TENANT, "shop");
    lab.until_reason(DATABASE, "orders", "Released");
    let change = lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}}));
    let Err(kube::Error::Api(status)) = change else { panic!("{change:?}") };
    assert!(matches!(status.code, 403 | 422), "{}", status.message);
    assert!(status.message.contains("reclaimPolicy"), "{}", status.message);
    lab.check();
    assert_eq!(lab.get(DATABASE, "orders")["status"]["release"]["policy"], "Retain");
}

#[test]
fn d12_the_last_policy_before_the_record_counts() {
    let lab = with_orders("d12");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    let change = just_before(&lab, |lab| {
        lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}})).unwrap();
    });
    lab.rig.on(1, change, |write| point(write) == "X3");
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until_gone(DATABASE, "orders");
    lab.check();
}

#[test]
fn d13_a_namespace_goes_with_all_its_tenants() {
    let lab = Arc::new(Lab::running("d13"));
    lab.another_namespace("d13-going");
    for number in 0..5 {
        lab.tenant(&format!("d13-going/shop{number}"));
    }
    for number in 0..5 {
        lab.until_bound(&format!("d13-going/shop{number}"));
    }
    lab.delete_namespace("d13-going");
    lab.until_namespace_gone("d13-going");
    eventually("every Database is released", || {
        let databases = lab.all(DATABASE);
        databases.iter().all(|database| database["status"]["phase"] == "Released").then_some(())
    });
    assert_eq!(lab.all(DATABASE).len(), 5);
    lab.check();
}

#[test]
fn d14_d21_a_namespace_goes_while_nobody_looks() {
    let lab = Arc::new(Lab::running("d14"));
    lab.another_namespace("d14-going");
    lab.tenant("d14-going/bound");
    lab.until_bound("d14-going/bound");
    lab.kill();
    lab.tenant("d14-going/new");
    lab.delete_namespace("d14-going");
    lab.start();
    lab.until_namespace_gone("d14-going");
    lab.check();
    let databases = lab.all(DATABASE);
    assert_eq!(databases.len(), 1, "nothing is begun in a namespace that goes: {:?}", lab.steps());
    assert!(!lab.events_in("d14-going").iter().any(|event| event["type"] == "Warning"));
}

#[test]
fn d17_a_server_that_is_down_holds_up_nobody() {
    // The Instance's address leads nowhere in all of these; here it is gone as well.
    let lab = with_orders("d17");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    *lab.observer.verified_mut() = Vec::new();
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    lab.until_reason(DATABASE, "orders", "Released");
    lab.check();
}

#[test]
fn d19_a_tenant_in_conflict_never_owned_anything() {
    let lab = with_orders("d19");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.claimant("store", "orders");
    lab.until_reason(TENANT, "store", "Conflict");
    lab.quiet();
    let before = lab.get(DATABASE, "orders")["metadata"]["resourceVersion"].clone();
    lab.delete(TENANT, "store");
    lab.until_gone(TENANT, "store");
    lab.check();
    assert_eq!(lab.get(DATABASE, "orders")["metadata"]["resourceVersion"], before);
}

#[test]
fn d20_d23_any_propagation_is_the_same() {
    for policy in [PropagationPolicy::Foreground, PropagationPolicy::Orphan] {
        let lab =
            with_orders(if policy == PropagationPolicy::Orphan { "d20-orphan" } else { "d20-foreground" });
        lab.claimant("shop", "orders");
        lab.until_bound("shop");
        lab.delete_with(
            TENANT,
            "shop",
            &DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() },
        );
        lab.until_gone(TENANT, "shop");
        lab.until_reason(DATABASE, "orders", "Released");
        lab.check();
    }
}

#[test]
fn d22_two_databases_name_a_tenant_that_goes() {
    let lab = Arc::new(Lab::new("d22"));
    lab.instance("main");
    let shop = lab.claimant("shop", "orders");
    for name in ["orders", "goods"] {
        let mut spec = Lab::database_spec(name);
        spec["reclaimPolicy"] = json!("Delete");
        spec["tenantRef"] = json!({"namespace": lab.namespace, "name": "shop", "uid": uid(&shop)});
        lab.create(DATABASE, name, &spec);
    }
    lab.start();
    lab.until_reason(TENANT, "shop", "Conflict");
    lab.delete(TENANT, "shop");
    lab.until_gone(TENANT, "shop");
    for name in ["orders", "goods"] {
        let database = lab.until_reason(DATABASE, name, "Released");
        assert_eq!(
            database["status"]["release"]["policy"], "Retain",
            "nothing that is not clearly its own is deleted"
        );
    }
    lab.check();
}

#[test]
fn a_foreign_finalizer_keeps_the_database_releasing() {
    let lab = with_orders("x4-foreign");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    let both = json!({"metadata": {"finalizers": [names::TENANT_FINALIZER, "example.com/hold"]}});
    lab.patch(TENANT, "shop", &both).unwrap();
    lab.delete(TENANT, "shop");
    lab.until(TENANT, "shop", "held by the other alone", |tenant| {
        tenant["metadata"]["finalizers"] == json!(["example.com/hold"])
    });
    lab.until(DATABASE, "orders", "Releasing", |database| database["status"]["phase"] == "Releasing");
    lab.check();
    lab.patch(TENANT, "shop", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.until_gone(TENANT, "shop");
    lab.until_reason(DATABASE, "orders", "Released");
    lab.check();
}

#[test]
fn x3_that_is_refused_keeps_the_tenant() {
    let lab = with_orders("x3-refused");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.rig.on(usize::MAX, Fault::Answer(500), |write| point(write) == "X3");
    lab.delete(TENANT, "shop");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let tenant = lab.get(TENANT, "shop");
    assert_eq!(tenant["metadata"]["finalizers"], json!([names::TENANT_FINALIZER]));
    assert!(ready(&tenant).is_some());
    lab.rig.clear();
    lab.until_gone(TENANT, "shop");
    lab.until_reason(DATABASE, "orders", "Released");
    lab.check();
}
