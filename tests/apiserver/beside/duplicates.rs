//! What two claims may not have at once, in the words that people read.

use serde_json::{Value, json};

use super::{Cluster, cluster, database, dynamic, existing, instance, invalid, refused, tenant};
use crate::support::{Finished as _, eventually};

const DATABASE: &str = "is taken on this Instance by another claim; choose another name";
const ROLE: &str = "is taken on this Instance by another claim; choose another role";

fn with_secret(mut tenant: Value, name: &str) -> Value {
    tenant["spec"]["secretName"] = json!(name);
    tenant
}

fn import(name: &str, path: &str) -> Value {
    let mut database = database(name, "main", name, name);
    database["spec"]["source"] = json!("Import");
    database["spec"]["credentialRef"] = json!({"mount": "kv", "path": path});
    database
}

/// Every object is refused with exactly these lines.
fn all_are_refused(cluster: &Cluster, cases: &[(Value, &[&str])]) {
    for (object, lines) in cases {
        let printed = refused(&object.to_string(), || cluster.rehearse(object));
        assert_eq!(printed, invalid(object, lines));
    }
}

#[test]
fn names_on_a_server_are_taken_once() {
    let cluster = cluster();
    let (shop, other) = (cluster.namespace("taken-shop"), cluster.namespace("taken-other"));
    for object in [
        instance("main"),
        instance("second"),
        dynamic(&shop, "orders", "main"),
        database("legacy", "main", "old", "owner"),
    ] {
        cluster.create(&object).success();
    }
    let spec =
        json!({"provision": {"instanceRef": {"name": "main"}, "database": "old", "loginRole": "orders"}});
    let of_database = format!("spec.database: Duplicate value: \"orders\": {DATABASE}");
    let of_role = format!("spec.loginRole: Duplicate value: \"owner\": {ROLE}");
    let of_provision = [
        format!("spec.provision.database: Duplicate value: \"old\": {DATABASE}"),
        format!("spec.provision.loginRole: Duplicate value: \"orders\": {ROLE}"),
    ];
    let of_default = [
        format!("spec.provision.database: Duplicate value: \"orders\": {DATABASE}"),
        format!("spec.provision.loginRole: Duplicate value: \"orders\": {ROLE}"),
    ];
    all_are_refused(
        &cluster,
        &[
            (tenant(&other, "billing", &spec), &[&of_provision[0], &of_provision[1]]),
            (dynamic(&other, "orders", "main"), &[&of_default[0], &of_default[1]]),
            (database("new", "main", "orders", "free"), &[&of_database]),
            (database("new", "main", "free", "owner"), &[&of_role]),
        ],
    );
    for free in [dynamic(&other, "orders", "second"), database("new", "second", "old", "owner")] {
        let output = cluster.rehearse(&free);
        assert!(output.is_success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn what_is_delivered_has_one_owner_and_a_credential_one_database() {
    let cluster = cluster();
    let shop = cluster.namespace("delivered");
    let named =
        json!({"provision": {"instanceRef": {"name": "main"}, "database": "a_b", "loginRole": "a_b"}});
    for object in [
        instance("main"),
        instance("main-a"),
        with_secret(dynamic(&shop, "one", "main"), "login"),
        tenant(&shop, "a-b", &named),
        database("legacy", "main", "old", "owner"),
        existing(&shop, "legacy", "legacy"),
        import("imported", "team/imported"),
    ] {
        cluster.create(&object).success();
    }
    let secret = "is delivered to another Tenant in this namespace; set another secretName";
    let delivery = "is taken in this namespace by another Tenant; rename this one";
    let declared = format!("spec.secretName: Duplicate value: \"login\": {secret}");
    let derived = format!("spec.secretName: Duplicate value: \"main-a-b-postgresql\": {secret}");
    let of_existing = format!("spec.secretName: Duplicate value: \"main-legacy-postgresql\": {secret}");
    let same_name =
        format!("spec.provision.instanceRef.name: Duplicate value: \"main-a-b-postgresql\": {delivery}");
    let place = "spec.credentialRef.path: Duplicate value: \"team/imported\": is the place of another \
                 Database's credential; each needs its own";
    all_are_refused(
        &cluster,
        &[
            (with_secret(dynamic(&shop, "two", "main"), "login"), &[&declared]),
            (with_secret(dynamic(&shop, "two", "main"), "main-a-b-postgresql"), &[&derived]),
            (with_secret(dynamic(&shop, "two", "main"), "main-legacy-postgresql"), &[&of_existing]),
            (dynamic(&shop, "b", "main-a"), &[&same_name]),
            (import("again", "team/imported"), &[place]),
        ],
    );
    let elsewhere = cluster.namespace("delivered-elsewhere");
    cluster.rehearse(&with_secret(dynamic(&elsewhere, "two", "main"), "login")).success();
    cluster.rehearse(&import("again", "team/other")).success();
}

#[test]
fn the_database_of_an_instance_is_no_claims_whichever_comes_first() {
    let cluster = cluster();
    let shop = cluster.namespace("own-database");
    let connecting = |name: &str, database: &str| {
        let mut instance = instance(name);
        instance["spec"]["endpoint"]["database"] = json!(database);
        instance
    };
    cluster.create(&connecting("main", "admin")).success();
    let first = database("first", "main", "admin", "free");
    let own = "spec.database: Invalid value: \"admin\": must not be the database that the Instance itself connects to (its \
               endpoint.database)";
    all_are_refused(&cluster, &[(first, &[own])]);
    for claim in [database("legacy", "main", "old", "owner"), dynamic(&shop, "orders", "main")] {
        cluster.create(&claim).success();
    }
    for taken in ["old", "orders"] {
        let to = connecting("main", taken);
        let printed = refused(taken, || {
            cluster.patch(&to, &json!({"spec": {"endpoint": {"database": taken}}}), &["--dry-run=server"])
        });
        let line = format!(
            "spec.endpoint.database: Duplicate value: \"{taken}\": is the database of a claim on \
             this Instance; connect to another one"
        );
        assert_eq!(printed, invalid(&to, &[&line]));
    }
    cluster.patch(&instance("main"), &json!({"spec": {"endpoint": {"database": "other"}}}), &[]).success();
}

/// Each holder leaves in its own way; the newcomer passes and is told so, whole, in one short line for each name.
#[test]
fn against_a_holder_that_is_leaving_there_is_only_a_warning() {
    let cluster = cluster();
    let shop = cluster.namespace("leaving");
    cluster.create(&instance("main")).success();
    for (way, status) in [
        ("releasing", json!({"phase": "Releasing"})),
        ("released", json!({"phase": "Released"})),
        ("deleting", Value::Null),
    ] {
        let mut holder = database(way, "main", way, way);
        holder["metadata"]["finalizers"] = json!(["covenant.test/hold"]);
        cluster.create(&holder).success();
        let newcomer = dynamic(&shop, way, "main");
        refused(way, || cluster.rehearse(&newcomer));
        if status.is_null() {
            cluster.kubectl(&["delete", "postgresqldatabase", way, "--wait=false"]).success();
        } else {
            cluster.set_status(&holder, &status);
        }
        let warned = eventually("the newcomer passes", || {
            let output = cluster.rehearse(&newcomer);
            output.is_success().then_some(output.stderr)
        });
        let line = |field: &str, text: &str| {
            let line = format!("spec.provision.{field}: Duplicate value: \"{way}\": {text}");
            assert!(line.len() <= 120, "{line}");
            format!("Warning: {line}\n")
        };
        assert_eq!(warned, line("database", DATABASE) + &line("loginRole", ROLE));
    }
}

/// GitOps applies in any order: what is not there yet is a warning, and nothing more.
#[test]
fn a_tenant_comes_before_its_database_and_that_before_its_instance() {
    let cluster = cluster();
    let shop = cluster.namespace("order");
    let missing = "Not found: \"main\"";
    for (object, warning) in [
        (
            existing(&shop, "legacy", "legacy"),
            "PostgreSQLDatabase \"legacy\" cannot be bound now: it does not exist, is not verified, or is not free"
                .to_owned(),
        ),
        (dynamic(&shop, "orders", "main"), format!("spec.provision.instanceRef.name: {missing}")),
        (database("legacy", "main", "old", "owner"), format!("spec.instanceRef.name: {missing}")),
    ] {
        let output = cluster.create(&object);
        assert!(output.is_success(), "{output:?}");
        assert_eq!(output.stderr, format!("Warning: {warning}\n"));
    }
    let output = cluster.create(&instance("main"));
    assert!(output.is_success() && output.stderr.is_empty(), "{output:?}");
}
