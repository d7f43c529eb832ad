//! The conditions of truth of spec.tenantRef hold for everybody, here for the cluster's administrator; and targets stay.

use serde_json::{Value, json};

use super::{cluster, database, dynamic, existing, instance, invalid, refused, tenant_ref};
use crate::fault::Rig;
use crate::support::{Finished as _, eventually};

fn bind(tenant: &Value, uid: &str) -> Value {
    json!({"spec": {"tenantRef": tenant_ref(tenant, uid)}})
}

#[test]
fn a_database_is_bound_only_to_a_tenant_that_lives_and_asks_for_it() {
    let cluster = cluster();
    let shop = cluster.namespace("truth");
    cluster.create(&instance("main")).success();
    let legacy = database("truth-legacy", "main", "old", "owner");
    cluster.create(&legacy).success();
    let asks = existing(&shop, "asks", "truth-legacy");
    let uid = cluster.created(&asks);
    let other = existing(&shop, "other", "something-else");
    let other_uid = cluster.created(&other);
    let gone = "00000000-0000-4000-8000-000000000000";
    for (tenant, uid) in
        [(&asks, gone), (&other, other_uid.as_str()), (&existing(&shop, "nobody", "x"), uid.as_str())]
    {
        let printed = cluster.patch(&legacy, &bind(tenant, uid), &[]).failure();
        assert_eq!(printed, invalid(&legacy, &[&format!("spec.tenantRef.uid: Not found: \"{uid}\"")]));
    }
    // The whole answer, as a program gets it.
    let answer = cluster.patch(&legacy, &bind(&asks, gone), &["-v=8"]).failure();
    assert!(answer.contains("FieldValueNotFound") && answer.contains("422"), "{answer}");
    let waits: Vec<f64> = cluster
        .webhook_log()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["name"] == "truth-legacy" && line["operation"] == "update")
        .map(|line| line["seconds"].as_f64().unwrap())
        .collect();
    assert!(
        waits.len() == 4 && waits.iter().all(|wait| *wait >= 1.0),
        "the Tenant was waited for: {waits:?}"
    );

    cluster.patch(&legacy, &bind(&asks, &uid), &[]).success();
    let stays = "may be set where there is none and removed as a whole, but never changed";
    let printed = cluster.patch(&legacy, &bind(&other, &other_uid), &[]).failure();
    assert!(printed.contains("spec.tenantRef") && printed.contains(stays), "{printed}");
}

#[test]
fn a_database_is_reopened_only_with_a_record_of_its_release_and_when_its_tenant_is_gone() {
    let cluster = cluster();
    let shop = cluster.namespace("reopen");
    cluster.create(&instance("main")).success();
    let legacy = database("legacy", "main", "old", "owner");
    cluster.create(&legacy).success();
    let asks = existing(&shop, "asks", "legacy");
    let uid = cluster.created(&asks);
    cluster.patch(&legacy, &bind(&asks, &uid), &[]).success();
    let reopen = || cluster.patch(&legacy, &json!({"spec": {"tenantRef": null}}), &[]);
    let expected = |text: &str| invalid(&legacy, &[&format!("spec.tenantRef: Forbidden: {text}")]);
    assert_eq!(
        reopen().failure(),
        expected(
            "cannot be removed before the release of the database is on record; delete the tenant first and wait for phase \
             Released"
        )
    );
    let release = json!({"policy": "Retain", "tenantRef": tenant_ref(&asks, &uid), "releasedAt": "2026-01-01T00:00:00Z"});
    cluster.set_status(&legacy, &json!({"phase": "Released", "release": release}));
    let live = expected("cannot be removed while the tenant still exists; wait until it is gone");
    assert_eq!(reopen().failure(), live);
    cluster.kubectl(&["-n", &shop, "delete", "postgresqltenant", "asks"]).success();
    let more = json!({"spec": {"tenantRef": null, "reclaimPolicy": "Delete"}});
    cluster.patch(&legacy, &more, &[]).failure();
    eventually("the database is re-opened", || reopen().is_success().then_some(()));
}

#[test]
fn targets_are_frozen_from_phase_binding_on() {
    let cluster = cluster();
    let shop = cluster.namespace("frozen");
    cluster.create(&instance("main")).success();
    let orders = dynamic(&shop, "orders", "main");
    cluster.create(&orders).success();
    let edits = [
        (
            json!({"spec": {"provision": {"database": "other"}}}),
            "spec.provision: Forbidden: cannot be changed once binding has begun: a Tenant never moves to another database; \
             make a new Tenant instead",
        ),
        (
            json!({"spec": {"secretName": "other"}}),
            "spec.secretName: Forbidden: cannot be changed once binding has begun: workloads would lose the Secret; make a new \
             Tenant instead",
        ),
    ];
    let edit = |patch: &Value| cluster.patch(&orders, patch, &["--dry-run=server"]);
    for phase in ["", "Pending"] {
        cluster.set_status(&orders, &json!({"phase": phase}));
        for (patch, _) in &edits {
            edit(patch).success();
        }
    }
    for phase in ["Binding", "Bound"] {
        cluster.set_status(&orders, &json!({"phase": phase}));
        for (patch, line) in &edits {
            let printed = edit(patch).failure();
            // The definition answers first; it has no "Forbidden" of its own, the words are the same.
            let (field, words) = line.split_once(": Forbidden: ").unwrap();
            assert!(printed.contains(field) && printed.contains(words), "{phase}: {printed}");
        }
    }
    // Its status is lost, but a Database carries its UID: the definition cannot know, the webhook does.
    let legacy = database("legacy", "main", "old", "owner");
    cluster.create(&legacy).success();
    let asks = existing(&shop, "asks", "legacy");
    let uid = cluster.created(&asks);
    cluster.patch(&legacy, &bind(&asks, &uid), &[]).success();
    let frozen = &edits[1];
    let printed = refused("the edit", || cluster.patch(&asks, &frozen.0, &["--dry-run=server"]));
    assert_eq!(printed, invalid(&asks, &[frozen.1]));
    cluster.kubectl(&["-n", &shop, "label", "postgresqltenant", "asks", "a=b"]).success();
}

/// The API server has told the writer of a Tenant before it has told the webhook.
#[test]
fn a_tenant_that_the_store_does_not_show_yet_is_waited_for() {
    let cluster = cluster();
    let shop = cluster.namespace("behind");
    cluster.create(&instance("main")).success();
    let legacy = database("behind-legacy", "main", "old", "owner");
    cluster.create(&legacy).success();
    let rig = Rig::start(&cluster.covenant.plane, "covenant-webhook", "behind");
    let _other = cluster.with_webhook_of(&rig.kubeconfig);
    cluster.ready();
    rig.hold("postgresqltenants");
    let asks = existing(&shop, "asks", "behind-legacy");
    let uid = cluster.created(&asks);
    let printed = cluster.patch(&legacy, &bind(&asks, &uid), &[]).failure();
    assert_eq!(printed, invalid(&legacy, &[&format!("spec.tenantRef.uid: Not found: \"{uid}\"")]));
    std::thread::scope(|scope| {
        let bound = scope.spawn(|| cluster.patch(&legacy, &bind(&asks, &uid), &[]));
        // The fault of this test is a delay: the event comes in the middle of the second that a review waits.
        std::thread::sleep(std::time::Duration::from_millis(500));
        rig.release("postgresqltenants");
        bound.join().unwrap().success();
    });
    let reviews = cluster.reviews("PostgreSQLDatabase", "behind-legacy");
    assert_eq!(reviews, ["create allowed", "update refused", "update allowed"]);
}
