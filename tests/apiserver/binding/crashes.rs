//! P and C: the process ends, or an answer is lost, at any write of a binding.

use std::sync::Arc;

use covenant::api::names;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::lab::{DATABASE, GROUP, INSTANCE, Lab, TENANT, message, ready, uid};
use crate::fault::{Fault, point};
use crate::support::eventually;

/// Which Database the Tenant asks for.
#[derive(Clone, Copy)]
enum Asks {
    New,
    Existing,
}

/// A lab with everything there but the Tenant `shop`, and no controller yet if `later`.
fn lab(id: &str, asks: Asks) -> Arc<Lab> {
    let lab = Arc::new(Lab::running(id));
    if matches!(asks, Asks::Existing) {
        lab.verified();
        lab.database("orders");
        lab.until_reason(DATABASE, "orders", "Available");
    }
    lab
}

fn ask(lab: &Lab, asks: Asks) {
    match asks {
        Asks::New => lab.tenant("shop"),
        Asks::Existing => lab.claimant("shop", "orders"),
    };
}

/// A fault at one write; then, after a restart where it killed, the Tenant is bound all the same and nothing is done twice.
fn survives(id: &str, asks: Asks, at: &'static str, fault: impl Fn(&Arc<Lab>) -> Fault) {
    let lab = lab(id, asks);
    let fault = fault(&lab);
    let kills = matches!(fault, Fault::KillBefore(_) | Fault::KillAfter(_));
    let rule = lab.rig.on(1, fault, move |write| point(write) == at);
    ask(&lab, asks);
    eventually("the fault is met", || (lab.rig.hits(rule) == 1).then_some(()));
    if kills {
        eventually("it is killed", || (!lab.is_running()).then_some(()));
        lab.start();
    }
    let tenant = lab.until_bound("shop");
    lab.check();
    let finalizers = tenant["metadata"]["finalizers"].as_array().unwrap();
    assert_eq!(finalizers.iter().filter(|one| *one == names::TENANT_FINALIZER).count(), 1);
    assert_eq!(lab.all(DATABASE).len(), 1, "one Database");
    assert_eq!(lab.claims().len(), 2, "two claims");
    let before = lab.steps().len();
    lab.restart();
    lab.check();
    assert_eq!(lab.steps().len(), before, "a restart writes nothing: {:?}", lab.steps());
}

/// One test for each row, all of the same form.
macro_rules! survives {
    ($($name:ident: $asks:ident, $at:literal, $fault:expr;)+) => {
        $(#[test]
        fn $name() {
            survives(&stringify!($name).replace('_', "-"), Asks::$asks, $at, $fault);
        })+
    };
}

survives! {
    p01_killed_before_w0: New, "W0", |lab| lab.kill_at(false);
    p02_killed_after_w0: New, "W0", |lab| lab.kill_at(true);
    p03_killed_after_w1: New, "W1", |lab| lab.kill_at(true);
    p03_killed_after_w1_of_an_existing_one: Existing, "W1", |lab| lab.kill_at(true);
    p05_killed_after_w2: Existing, "W2", |lab| lab.kill_at(true);
    p05_killed_after_w2_of_a_new_one: New, "W2", |lab| lab.kill_at(true);
    p06_the_answer_to_w2_is_lost: Existing, "W2", |_| Fault::LoseReply;
    p07_w2_never_arrives: Existing, "W2", |_| Fault::FailBefore;
    p08_killed_after_w3: New, "W3", |lab| lab.kill_at(true);
    p09_killed_after_w4: New, "W4", |lab| lab.kill_at(true);
    p13_the_answer_to_the_creation_is_lost: New, "W2", |_| Fault::LoseReply;
    w2_is_answered_with_429: New, "W2", |_| Fault::Answer(429);
    w4_is_answered_with_500: New, "W4", |_| Fault::Answer(500);
    c01_killed_before_the_first_claim: New, "claim-database", |lab| lab.kill_at(false);
    c02_killed_between_the_claims: New, "claim-database", |lab| lab.kill_at(true);
    c02_the_answer_to_the_first_claim_is_lost: New, "claim-database", |_| Fault::LoseReply;
    c03_killed_after_the_claims: New, "claim-role", |lab| lab.kill_at(true);
}

/// Something happens just before a write reaches the API server.
pub(super) fn just_before(lab: &Arc<Lab>, act: impl Fn(&Lab) + Send + Sync + 'static) -> Fault {
    let lab = Arc::downgrade(lab);
    Fault::First(Arc::new(move || {
        if let Some(lab) = lab.upgrade() {
            act(&lab);
        }
    }))
}

#[test]
fn p04_the_target_is_changed_before_w1() {
    let lab = lab("p04", Asks::New);
    let change = just_before(&lab, |lab| {
        lab.patch(TENANT, "shop", &json!({"spec": {"provision": {"database": "other"}}})).unwrap();
    });
    lab.rig.on(1, change, |write| point(write) == "W1");
    ask(&lab, Asks::New);
    let tenant = lab.until_bound("shop");
    assert_eq!(tenant["status"]["database"], "other");
    let name = tenant["status"]["databaseRef"]["name"].as_str().unwrap();
    assert_eq!(lab.get(DATABASE, name)["spec"]["database"], "other");
    lab.check();
}

#[test]
fn p10_the_tenant_is_labelled_before_w4() {
    let lab = lab("p10", Asks::New);
    let change = just_before(&lab, |lab| {
        lab.patch(TENANT, "shop", &json!({"metadata": {"labels": {"team": "a"}}})).unwrap();
    });
    lab.rig.on(1, change, |write| point(write) == "W4");
    ask(&lab, Asks::New);
    let tenant = lab.until_bound("shop");
    assert_eq!(tenant["metadata"]["labels"]["team"], "a");
    lab.check();
}

/// The Tenant goes by force just before W4; the Database learns of it.
fn vanishes_before_w4(id: &str, again: bool) -> (Arc<Lab>, String) {
    let lab = lab(id, Asks::Existing);
    let vanish = just_before(&lab, move |lab| {
        lab.patch(TENANT, "shop", &json!({"metadata": {"finalizers": null}})).unwrap();
        lab.delete(TENANT, "shop");
        if again {
            lab.claimant("shop", "orders");
        }
    });
    lab.rig.on(1, vanish, |write| point(write) == "W4");
    ask(&lab, Asks::Existing);
    let first = uid(&lab.until(TENANT, "shop", "exists", |_| true));
    lab.until(DATABASE, "orders", "Released", |database| database["status"]["phase"] == "Released");
    lab.check();
    (lab, first)
}

#[test]
fn p11_the_tenant_is_gone_before_w4() {
    let (lab, first) = vanishes_before_w4("p11", false);
    let database = lab.get(DATABASE, "orders");
    assert_eq!(database["spec"]["tenantRef"]["uid"], first);
    assert!(lab.find(TENANT, "shop").is_none());
}

#[test]
fn p12_the_tenant_is_another_one_before_w4() {
    let (lab, first) = vanishes_before_w4("p12", true);
    let second = lab.until_reason(TENANT, "shop", "NotAvailable");
    assert_ne!(uid(&second), first);
    assert!(second["status"]["databaseRef"].is_null());
    assert_eq!(lab.get(DATABASE, "orders")["spec"]["tenantRef"]["uid"], first);
}

#[test]
fn p14_somebody_has_made_a_database_of_that_name() {
    let lab = Arc::new(Lab::new("p14"));
    lab.instance("main");
    let tenant = lab.tenant("shop");
    let name = format!("tenant-{}", uid(&tenant));
    let mut spec = Lab::database_spec("squatted");
    spec["tenantRef"] = json!({"namespace": lab.namespace, "name": "shop", "uid": uid(&tenant)});
    lab.create(DATABASE, &name, &spec);
    lab.start();
    let tenant = lab.until_reason(TENANT, "shop", "Conflict");
    assert!(message(&tenant).contains("spec.database"), "{}", message(&tenant));
    lab.check();
    let squatter = lab.get(DATABASE, &name);
    assert_eq!(squatter["spec"]["database"], "squatted");
    assert!(squatter["metadata"]["deletionTimestamp"].is_null());
}

#[test]
fn p16_admission_denies_the_creation() {
    let lab = lab("p16", Asks::New);
    lab.rig.on(usize::MAX, Fault::Answer(403), |write| matches!(point(write), "W2" | "W2-dry"));
    ask(&lab, Asks::New);
    let tenant = lab.until_reason(TENANT, "shop", "AdmissionDenied");
    assert_eq!(tenant["status"]["phase"], "Pending", "the target can be put right");
    lab.patch(TENANT, "shop", &json!({"spec": {"provision": {"loginRole": "shopkeeper"}}})).unwrap();
    lab.rig.clear();
    let tenant = lab.until_bound("shop");
    assert_eq!(tenant["status"]["loginRole"], "shopkeeper");
    assert!(lab.steps().contains(&"W2-dry".to_owned()), "tried without a trace first: {:?}", lab.steps());
    lab.check();
}

#[test]
fn p17_the_database_is_deleted_before_w4() {
    let lab = lab("p17", Asks::New);
    lab.rig.on(1, lab.kill_at(false), |write| point(write) == "W4");
    ask(&lab, Asks::New);
    eventually("it is killed", || (!lab.is_running()).then_some(()));
    let name = lab.all(DATABASE)[0]["metadata"]["name"].as_str().unwrap().to_owned();
    let first = uid(&lab.get(DATABASE, &name));
    lab.delete(DATABASE, &name);
    lab.start();
    lab.until_bound("shop");
    assert_ne!(
        uid(&lab.get(DATABASE, &name)),
        first,
        "it was never bound to the first one, so it gets another"
    );
    lab.check();
}

#[test]
fn p18_the_status_of_the_database_cannot_be_written() {
    let lab = lab("p18", Asks::New);
    lab.rig.on(usize::MAX, Fault::Answer(403), |write| point(write) == "W3");
    ask(&lab, Asks::New);
    lab.until_bound("shop");
    lab.check();
}

#[test]
fn p21_a_restart_over_many_bound_pairs_writes_nothing() {
    let lab = lab("p21", Asks::New);
    for number in 0..50 {
        lab.tenant(&format!("shop{number}"));
    }
    for number in 0..50 {
        lab.until_bound(&format!("shop{number}"));
    }
    lab.check();
    let before = lab.steps();
    let writes = |at: &str| before.iter().filter(|step| *step == at).count();
    for at in ["W0", "W1", "W2", "W3", "W4", "claim-database", "claim-role"] {
        assert_eq!(writes(at), 50, "{at}");
    }
    lab.restart();
    lab.check();
    assert_eq!(lab.steps(), before);
}

#[test]
fn p22_a_binding_made_by_hand_gets_all_that_it_lacks() {
    let lab = Arc::new(Lab::new("p22"));
    lab.instance("main");
    let tenant = lab.claimant("shop", "orders");
    let mut spec = Lab::database_spec("orders");
    spec["tenantRef"] = json!({"namespace": lab.namespace, "name": "shop", "uid": uid(&tenant)});
    lab.create(DATABASE, "orders", &spec);
    lab.start();
    let tenant = lab.until_bound("shop");
    assert_eq!(tenant["metadata"]["finalizers"], json!([names::TENANT_FINALIZER]));
    let database = lab.get(DATABASE, "orders");
    assert_eq!(database["metadata"]["finalizers"], json!([names::DATABASE_FINALIZER]));
    assert_eq!(lab.claims().len(), 2);
    lab.check();
}

#[test]
fn p23_the_tenant_is_deleted_before_w0() {
    let lab = lab("p23", Asks::New);
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let go = just_before(&lab, move |lab| {
        lab.patch(TENANT, "shop", &hold).unwrap();
        lab.delete(TENANT, "shop");
    });
    // The API server then answers 422 to a new finalizer.
    lab.rig.on(1, go, |write| point(write) == "W0");
    ask(&lab, Asks::New);
    lab.until(TENANT, "shop", "deleting", |tenant| !tenant["metadata"]["deletionTimestamp"].is_null());
    lab.check();
    assert!(lab.all(DATABASE).is_empty());
    let off = json!({"metadata": {"finalizers": null}});
    lab.patch(TENANT, "shop", &off).unwrap();
    lab.until_gone(TENANT, "shop");
}

#[test]
fn c04_two_tenants_race_for_one_name() {
    let lab = lab("c04", Asks::New);
    // Both have judged the name free before either has taken it.
    lab.rig.on(2, Fault::Delay(std::time::Duration::from_millis(1500)), |write| {
        point(write) == "claim-database"
    });
    for name in ["shop", "store"] {
        lab.create(
            TENANT,
            name,
            &json!({"provision": {"instanceRef": {"name": "main"}, "database": "goods", "loginRole": name}}),
        );
    }
    let outcome = |name: &str| ready(&lab.get(TENANT, name)).map(|(_, reason)| reason);
    let reasons = eventually("one wins and one loses", || {
        let mut reasons = vec![outcome("shop")?, outcome("store")?];
        reasons.sort();
        (reasons == ["BindingComplete", "Conflict"]).then_some(reasons)
    });
    assert_eq!(reasons.len(), 2);
    lab.check();
    assert_eq!(lab.all(DATABASE).len(), 1, "the loser's Database is gone");
    let loser = if outcome("shop").as_deref() == Some("Conflict") { "shop" } else { "store" };
    let tenant = lab.get(TENANT, loser);
    assert_eq!(tenant["status"]["phase"], "Pending");
    assert!(
        !message(&tenant).contains(if loser == "shop" { "store" } else { "shop" }),
        "{}",
        message(&tenant)
    );
}

#[test]
fn c05_a_claim_that_is_removed_by_hand_comes_back() {
    let lab = lab("c05", Asks::New);
    ask(&lab, Asks::New);
    lab.until_bound("shop");
    let lease = lab.claims()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    lab.wait(lab.leases().delete(&lease, &DeleteParams::default())).unwrap();
    eventually("it is back", || (lab.claims().len() == 2).then_some(()));
    lab.check();
    assert_eq!(ready(&lab.get(TENANT, "shop")).unwrap().1, "BindingComplete");
}

#[test]
fn c06_a_claim_whose_holder_is_gone_is_taken_over() {
    let lab = lab("c06", Asks::New);
    ask(&lab, Asks::New);
    lab.until_bound("shop");
    // Nobody collects it: it belongs to nobody any more but in its annotation.
    for claim in lab.claims() {
        let name = claim["metadata"]["name"].as_str().unwrap();
        let orphan = json!({"metadata": {"ownerReferences": null}});
        lab.wait(async {
            lab.leases().patch(name, &PatchParams::default(), &Patch::Merge(&orphan)).await.unwrap();
        });
    }
    let database = lab.all(DATABASE)[0]["metadata"]["name"].as_str().unwrap().to_owned();
    lab.kill();
    lab.patch(TENANT, "shop", &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(TENANT, "shop");
    lab.patch(DATABASE, &database, &json!({"metadata": {"finalizers": null}})).unwrap();
    lab.delete(DATABASE, &database);
    lab.start();
    lab.create(
        TENANT,
        "store",
        &json!({"provision": {"instanceRef": {"name": "main"}, "database": "shop", "loginRole": "shop"}}),
    );
    let store = lab.until_bound("store");
    lab.check();
    let holder = &store["status"]["databaseRef"]["uid"];
    assert!(lab.claims().iter().all(|claim| claim["spec"]["holderIdentity"] == *holder));
    assert_eq!(
        lab.get(INSTANCE, "main")["metadata"]["finalizers"],
        json!([format!("{GROUP}/instance-protection")])
    );
}
