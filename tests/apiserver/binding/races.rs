//! R: two parties want one Database.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::crashes::just_before;
use super::lab::{DATABASE, INSTANCE, Lab, TENANT, message, ready, uid, with_orders};
use crate::fault::{Fault, point};
use crate::support::eventually;

/// The Ready reasons of some Tenants, once all of them are settled, as told.
fn until_reasons(lab: &Lab, tenants: &[&str], expected: &[&str]) -> Vec<String> {
    eventually(&format!("{tenants:?} are {expected:?}"), || {
        let found: Option<Vec<String>> =
            tenants.iter().map(|name| ready(&lab.find(TENANT, name)?).map(|(_, reason)| reason)).collect();
        let found = found?;
        let mut sorted = found.clone();
        sorted.sort();
        (sorted == expected).then_some(found)
    })
}

/// Two Tenants, in two namespaces, have both judged `orders` free before either writes. Gives the winner and the loser.
fn race(lab: &Arc<Lab>, first: &str, second: &str) -> (String, String) {
    lab.rig.on(2, Fault::Delay(Duration::from_millis(1200)), |write| point(write) == "W2");
    let other = format!("{}-b", lab.namespace);
    lab.another_namespace(&other);
    let second = format!("{other}/{second}");
    lab.claimant(first, "orders");
    lab.claimant(&second, "orders");
    let reasons = until_reasons(lab, &[first, &second], &["BindingComplete", "Conflict"]);
    let first_wins = reasons[0] == "BindingComplete";
    if first_wins { (first.to_owned(), second) } else { (second, first.to_owned()) }
}

#[track_caller]
fn holds_nothing(tenant: &Value) {
    assert!(tenant["status"]["databaseRef"].is_null());
    assert_eq!(tenant["status"]["phase"], "Pending", "its target can be edited");
}

#[test]
fn r01_r15_one_wins_and_the_other_is_told() {
    let lab = with_orders("r01");
    let (winner, loser) = race(&lab, "shop", "store");
    lab.until_bound(&winner);
    let loser_now = lab.get(TENANT, &loser);
    holds_nothing(&loser_now);
    let text = message(&loser_now);
    assert!(text.starts_with("PostgreSQLDatabase \"orders\" cannot be bound now: "), "{text}");
    assert!(!text.contains(winner.rsplit('/').next().unwrap()), "it names nobody: {text}");
    lab.check();
}

#[test]
fn r02_the_loser_goes_and_the_database_stays() {
    let lab = with_orders("r02");
    let (winner, loser) = race(&lab, "shop", "store");
    lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}})).unwrap();
    lab.delete(TENANT, &loser);
    lab.until_gone(TENANT, &loser);
    lab.until_bound(&winner);
    lab.check();
    assert!(lab.get(DATABASE, "orders")["metadata"]["deletionTimestamp"].is_null());
}

#[test]
fn r03_r04_the_loser_gets_it_only_once_it_is_opened_again() {
    let lab = with_orders("r03");
    let (winner, loser) = race(&lab, "shop", "store");
    let first = uid(&lab.get(TENANT, &winner));
    lab.delete(TENANT, &winner);
    lab.until_gone(TENANT, &winner);
    lab.until_reason(DATABASE, "orders", "Released");
    let waiting = lab.until_reason(TENANT, &loser, "NotAvailable");
    holds_nothing(&waiting);
    lab.check();
    lab.reopen("orders", &first).unwrap();
    lab.until_bound(&loser);
    let database = lab.get(DATABASE, "orders");
    assert_eq!(database["status"]["lastRelease"]["tenantRef"]["uid"], first);
    assert!(database["status"]["release"].is_null());
    lab.check();
}

#[test]
fn r05_the_winner_goes_with_the_database() {
    let lab = with_orders("r05");
    let (winner, loser) = race(&lab, "shop", "store");
    lab.patch(DATABASE, "orders", &json!({"spec": {"reclaimPolicy": "Delete"}})).unwrap();
    lab.delete(TENANT, &winner);
    lab.until_gone(DATABASE, "orders");
    let waiting = lab.until_reason(TENANT, &loser, "NotAvailable");
    holds_nothing(&waiting);
    lab.check();
    assert!(lab.all(DATABASE).is_empty(), "nothing is made anew");
}

#[test]
fn r06_a_name_alone_is_no_identity() {
    let lab = with_orders("r06");
    let (winner, loser) = race(&lab, "shop", "shop");
    lab.until_bound(&winner);
    holds_nothing(&lab.get(TENANT, &loser));
    lab.check();
}

#[test]
fn r07_two_replicas_work_on_one_tenant() {
    let lab = Arc::new(Lab::running("r07"));
    let second = lab.second();
    for number in 0..5 {
        lab.tenant(&format!("shop{number}"));
    }
    for number in 0..5 {
        lab.until_bound(&format!("shop{number}"));
    }
    lab.check();
    assert_eq!(lab.all(DATABASE).len(), 5);
    let events = lab.events();
    assert!(
        !events.iter().any(|event| event["reason"] == "Conflict"),
        "nobody is in conflict with himself: {events:?}"
    );
    second.stop();
}

#[test]
fn r08_r09_what_was_judged_has_changed() {
    let lab = with_orders("r08");
    let label = just_before(&lab, |lab| {
        lab.patch(DATABASE, "orders", &json!({"metadata": {"labels": {"a": "b"}}})).unwrap();
    });
    lab.rig.on(1, label, |write| point(write) == "W2");
    let status = just_before(&lab, |lab| {
        lab.patch_status(DATABASE, "orders", &json!({"tenant": "forged/one"}));
    });
    lab.rig.on(1, status, |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    lab.until_bound("shop");
    lab.check();
    let database = lab.get(DATABASE, "orders");
    assert_eq!(database["metadata"]["labels"]["a"], "b");
    assert_eq!(database["status"]["tenant"], format!("{}/shop", lab.namespace));
}

#[test]
fn r08_it_is_not_bound_when_it_fits_no_longer() {
    let lab = with_orders("r08-unfit");
    let change = just_before(&lab, |lab| {
        *lab.observer.verified_mut() = Vec::new();
        lab.patch_status(DATABASE, "orders", &json!({"phase": "Pending"}));
    });
    lab.rig.on(1, change, |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    lab.until_reason(TENANT, "shop", "NotAvailable");
    assert!(lab.get(DATABASE, "orders")["spec"]["tenantRef"].is_null());
    lab.check();
}

#[test]
fn r10_the_instance_is_another_one_of_that_name() {
    let lab = with_orders("r10");
    let renew = just_before(&lab, |lab| {
        lab.patch(INSTANCE, "main", &json!({"metadata": {"finalizers": null}})).unwrap();
        lab.delete(INSTANCE, "main");
        lab.patch_if_there(INSTANCE, "main", &json!({"metadata": {"finalizers": null}}));
        lab.instance("main");
    });
    lab.rig.on(1, renew, |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    lab.until_reason(DATABASE, "orders", "InstanceIdentityChanged");
    lab.check();
    let tenant = lab.get(TENANT, "shop");
    assert!(ready(&tenant).is_some_and(|(status, _)| status == "False"));
}

#[test]
fn r11_a_decision_rests_on_live_reads() {
    let lab = with_orders("r11");
    lab.rig.hold("postgresqldatabases");
    let stranger = json!({"spec": {"tenantRef": {"namespace": "other", "name": "store", "uid": "0000"}}});
    lab.patch(DATABASE, "orders", &stranger).unwrap();
    lab.claimant("shop", "orders");
    lab.until_reason(TENANT, "shop", "Conflict");
    assert!(!lab.steps().contains(&"W2".to_owned()), "{:?}", lab.steps());
    lab.rig.release("postgresqldatabases");
    lab.check();
}

#[test]
fn r13_a_database_made_for_another_is_bound_from_its_first_moment() {
    let lab = Arc::new(Lab::running("r13"));
    lab.rig.on(1, Fault::Delay(Duration::from_secs(2)), |write| point(write) == "W4");
    let shop = lab.tenant("shop");
    let name = format!("tenant-{}", uid(&shop));
    lab.until(DATABASE, &name, "exists", |_| true);
    lab.claimant("thief", &name);
    lab.until_reason(TENANT, "thief", "Conflict");
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn r14_the_database_is_deleted_before_it_is_bound() {
    let lab = with_orders("r14");
    let delete = just_before(&lab, |lab| lab.delete(DATABASE, "orders"));
    lab.rig.on(1, delete, |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    lab.until_gone(DATABASE, "orders");
    let tenant = lab.until_reason(TENANT, "shop", "NotAvailable");
    holds_nothing(&tenant);
    lab.check();
}

#[test]
fn r14_the_database_is_deleted_before_the_tenant_records_it() {
    let lab = with_orders("r14-bound");
    lab.rig.on(1, lab.kill_at(true), |write| point(write) == "W2");
    lab.claimant("shop", "orders");
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    lab.delete(DATABASE, "orders");
    lab.start();
    lab.until_gone(DATABASE, "orders");
    let tenant = lab.until_reason(TENANT, "shop", "NotAvailable");
    holds_nothing(&tenant);
    lab.check();
    assert!(!lab.steps().contains(&"W4".to_owned()), "{:?}", lab.steps());
}

#[test]
fn r17_two_databases_name_one_tenant() {
    let lab = Arc::new(Lab::new("r17"));
    lab.instance("main");
    let shop = lab.claimant("shop", "orders");
    for name in ["orders", "goods"] {
        let mut spec = Lab::database_spec(name);
        spec["tenantRef"] = json!({"namespace": lab.namespace, "name": "shop", "uid": uid(&shop)});
        lab.create(DATABASE, name, &spec);
    }
    lab.start();
    let tenant = lab.until_reason(TENANT, "shop", "Conflict");
    assert!(
        message(&tenant).contains("orders") && message(&tenant).contains("goods"),
        "{}",
        message(&tenant)
    );
    for name in ["orders", "goods"] {
        let database = lab.until_reason(DATABASE, name, "Conflict");
        assert!(database["metadata"]["deletionTimestamp"].is_null());
        assert_eq!(database["spec"]["tenantRef"]["uid"], uid(&shop));
    }
    lab.check();
}

#[test]
fn r18_fifty_want_one() {
    let lab = with_orders("r18");
    let names: Vec<String> = (0..50).map(|number| format!("shop{number}")).collect();
    for name in &names {
        lab.claimant(name, "orders");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut expected = vec!["BindingComplete"];
    expected.extend(["Conflict"; 49]);
    until_reasons(&lab, &names, &expected);
    lab.check();
    let steps = lab.steps();
    assert!(steps.len() <= 4 * 50, "{} writes", steps.len());
    assert_eq!(steps.iter().filter(|step| *step == "W4").count(), 1);
}
