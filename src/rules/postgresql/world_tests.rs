//! Tests of the rules that need other objects or the stored one.

use serde_json::{Value, json};

use crate::api::Kind;
use crate::rules::beside;
use crate::rules::finding::Severity;
use crate::rules::protection::protect;
use crate::rules::world::Objects;

const INSTANCE: Kind = Kind::PostgreSQLInstance;
const DATABASE: Kind = Kind::PostgreSQLDatabase;
const TENANT: Kind = Kind::PostgreSQLTenant;

fn instance(database: &str) -> Value {
    json!({"kind": "PostgreSQLInstance", "metadata": {"name": "main", "uid": "i"},
        "spec": {"endpoint": {"database": database}}})
}

fn database(name: &str, database: &str, role: &str) -> Value {
    json!({"kind": "PostgreSQLDatabase", "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {"instanceRef": {"name": "main"}, "database": database, "loginRole": role, "source": "Provision"}})
}

fn tenant(name: &str, spec: Value) -> Value {
    json!({"kind": "PostgreSQLTenant",
        "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}")}, "spec": spec})
}

fn dynamic(name: &str) -> Value {
    tenant(name, json!({"provision": {"instanceRef": {"name": "main"}}}))
}

fn existing(name: &str, database: &str) -> Value {
    tenant(name, json!({"databaseRef": {"name": database}}))
}

fn with(mut object: Value, changes: Value) -> Value {
    fn merge(object: &mut Value, changes: Value) {
        match (object, changes) {
            (Value::Object(object), Value::Object(changes)) => {
                for (key, change) in changes {
                    merge(object.entry(key).or_insert(Value::Null), change);
                }
            }
            (object, change) => *object = change,
        }
    }
    merge(&mut object, changes);
    object
}

fn bound_to(object: Value, tenant: &str) -> Value {
    with(
        object,
        json!({"spec": {"tenantRef": {"namespace": "shop", "name": tenant, "uid": format!("uid-{tenant}")}}}),
    )
}

fn world(objects: &[Value]) -> Objects {
    let mut world = Objects::new();
    world.set_complete(true);
    for object in objects {
        let kind = Kind::ALL.into_iter().find(|kind| object["kind"] == kind.as_str()).unwrap();
        world.insert(kind, object.clone());
    }
    world
}

/// The findings as `severity field: words`, the words up to the first colon.
fn found(kind: Kind, object: &Value, old: Option<&Value>, objects: &[Value]) -> Vec<String> {
    let findings = beside(kind, object, old, &world(objects));
    let short = |body: String| body.split(':').next().unwrap_or_default().to_owned();
    findings.iter().map(|f| format!("{} {}: {}", f.severity.as_str(), f.field, short(f.body()))).collect()
}

#[test]
fn names_on_a_server_are_taken_once() {
    let others = [instance("postgres"), dynamic("orders"), database("legacy", "old", "old_owner")];
    assert!(found(TENANT, &dynamic("billing"), None, &others).is_empty());
    let same = with(
        dynamic("other"),
        json!({"spec": {"provision": {"database": "orders", "loginRole": "old_owner"}}}),
    );
    assert_eq!(
        found(TENANT, &same, None, &others),
        ["error spec.provision.database: Duplicate value", "error spec.provision.loginRole: Duplicate value"],
        "the effective names of an unbound Tenant count"
    );
    let elsewhere = with(same.clone(), json!({"spec": {"provision": {"instanceRef": {"name": "second"}}}}));
    assert_eq!(
        found(TENANT, &elsewhere, None, &others),
        ["warning spec.provision.instanceRef.name: Not found"]
    );
    assert_eq!(
        found(DATABASE, &database("new", "orders", "free"), None, &others),
        ["error spec.database: Duplicate value"]
    );
    let update = with(same.clone(), json!({"spec": {"secretName": "x"}}));
    let ratcheted = found(TENANT, &update, Some(&same), &others);
    assert!(ratcheted.iter().all(|line| line.starts_with("warning")), "{ratcheted:?}");
    let findings = beside(TENANT, &same, None, &world(&others));
    assert!(findings.iter().all(|finding| !finding.body().contains("legacy")), "no other object is named");
}

#[test]
fn a_holder_that_is_leaving_only_warns_and_a_restored_binding_is_never_refused() {
    let holder = database("tenant-uid-gone", "orders", "orders");
    for leaving in [
        json!({"metadata": {"deletionTimestamp": "set"}}),
        json!({"status": {"phase": "Released"}}),
        json!({"status": {"phase": "Releasing", "release": {"policy": "Retain"}}}),
    ] {
        let others = [instance("postgres"), with(holder.clone(), leaving)];
        let lines = found(TENANT, &dynamic("orders"), None, &others);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("warning")), "{lines:?}");
    }
    let others = [instance("postgres"), dynamic("orders"), holder.clone()];
    let restored = bound_to(database("restored", "orders", "orders"), "dead");
    let lines = found(DATABASE, &restored, None, &others);
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("warning")), "{lines:?}");
    let own = bound_to(database("tenant-uid-orders", "orders", "orders"), "orders");
    assert!(found(DATABASE, &own, None, &[instance("postgres"), dynamic("orders")]).is_empty());
    assert!(found(TENANT, &dynamic("orders"), None, &[instance("postgres"), own]).is_empty());
}

#[test]
fn an_instance_does_not_connect_to_the_database_of_a_claim() {
    let others = [dynamic("orders"), database("legacy", "old", "old")];
    for (name, expected) in [("postgres", 0), ("free", 0), ("orders", 1), ("old", 1)] {
        let lines = found(INSTANCE, &instance(name), None, &others);
        assert_eq!(lines, vec!["error spec.endpoint.database: Duplicate value"; expected], "{name}");
        let update = found(INSTANCE, &instance(name), Some(&instance("free")), &others);
        assert_eq!(update, lines, "an update is judged like a creation");
    }
    let unchanged = found(INSTANCE, &instance("old"), Some(&instance("old")), &others);
    assert_eq!(unchanged, ["warning spec.endpoint.database: Duplicate value"]);
    let released = with(database("legacy", "old", "old"), json!({"status": {"phase": "Released"}}));
    assert_eq!(
        found(INSTANCE, &instance("old"), None, &[released]),
        ["warning spec.endpoint.database: Duplicate value"]
    );
    let bound = with(dynamic("orders"), json!({"status": {"databaseRef": {"uid": "d"}}}));
    assert!(found(INSTANCE, &instance("orders"), None, &[bound]).is_empty(), "its Database speaks for it");
}

#[test]
fn a_delivered_name_clashes_wherever_it_is_taken_apart() {
    let on =
        |name: &str, instance: &str| tenant(name, json!({"provision": {"instanceRef": {"name": instance}}}));
    let clash = ["error spec.provision.instanceRef.name: Duplicate value"];
    let mut objects = vec![on("a-b-c", "main"), instance("postgres")];
    for (name, instance) in [("b-c", "main-a"), ("c", "main-a-b")] {
        objects.push(with(self::instance("postgres"), json!({"metadata": {"name": instance}})));
        assert_eq!(found(TENANT, &on(name, instance), None, &objects), clash, "{name}");
    }
    let legacy = with(database("legacy", "x", "x"), json!({"spec": {"instanceRef": {"name": "main-a"}}}));
    objects.push(with(legacy, json!({"status": {"phase": "Available"}})));
    assert_eq!(
        found(TENANT, &existing("b-c", "legacy"), None, &objects),
        ["error spec.databaseRef.name: Duplicate value"]
    );
}

#[test]
fn places_and_delivered_names_are_taken_once() {
    let import = |name: &str, path: &str| {
        let spec = json!({"source": "Import", "credentialRef": {"mount": "kv", "path": path}});
        with(database(name, name, name), json!({"spec": spec}))
    };
    let others = [instance("admin"), import("one", "a/b")];
    assert!(found(DATABASE, &import("two", "a/c"), None, &others).is_empty());
    let same = found(DATABASE, &import("two", "a/b"), None, &others);
    assert_eq!(same, ["error spec.credentialRef.path: Duplicate value"]);
    assert_eq!(
        found(DATABASE, &database("two", "admin", "two"), None, &others),
        ["error spec.database: Invalid value"],
        "the Instance's own database"
    );
    let named = |name: &str, secret: &str| with(dynamic(name), json!({"spec": {"secretName": secret}}));
    let others = [instance("postgres"), named("one", "db")];
    assert_eq!(found(TENANT, &named("two", "db"), None, &others), ["error spec.secretName: Duplicate value"]);
    let away = with(named("two", "db"), json!({"metadata": {"namespace": "other"}}));
    assert!(found(TENANT, &away, None, &others).is_empty());
    let derived =
        found(TENANT, &named("two", "main-one-postgresql"), None, &[instance("postgres"), dynamic("one")]);
    assert_eq!(derived, ["error spec.secretName: Duplicate value"]);
}

#[test]
fn a_database_that_cannot_be_bound_has_one_warning_whatever_the_reason() {
    let available = with(database("legacy", "a", "a"), json!({"status": {"phase": "Available"}}));
    let text = |objects: &[Value]| {
        let findings = beside(TENANT, &existing("shop", "legacy"), None, &world(objects));
        findings.iter().map(|finding| (finding.severity, finding.body())).collect::<Vec<_>>()
    };
    assert!(text(std::slice::from_ref(&available)).is_empty());
    let missing = text(&[]);
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].0, Severity::Warning);
    assert_eq!(missing, text(&[database("legacy", "a", "a")]));
    assert_eq!(missing, text(&[bound_to(available.clone(), "other")]));
    assert_eq!(missing, text(&[with(available.clone(), json!({"status": {"phase": "Released"}}))]));
    let long = with(available, json!({"spec": {"instanceRef": {"name": "i".repeat(240)}}}));
    assert_eq!(
        found(TENANT, &existing("shop", "legacy"), None, &[long]),
        ["error spec.databaseRef.name: Invalid value"]
    );
}

#[test]
fn the_target_is_frozen_once_binding_has_begun() {
    let objects = [instance("postgres")];
    let edits = [
        (json!({"provision": {"database": "orders"}}), "spec.provision"),
        (json!({"secretName": "main-orders-postgresql"}), "spec.secretName"),
    ];
    for (edit, field) in edits {
        let new = with(dynamic("orders"), json!({"spec": edit}));
        for (phase, expected) in [("", 0), ("Pending", 0), ("Binding", 1), ("Bound", 1), ("Later", 1)] {
            let old = with(dynamic("orders"), json!({"status": {"phase": phase}}));
            let lines = found(TENANT, &new, Some(&old), &objects);
            assert_eq!(lines.len(), expected, "{phase} {lines:?}");
            assert!(lines.iter().all(|line| *line == format!("error {field}: Forbidden")), "{lines:?}");
        }
    }
    // Its status is lost, but a Database carries its UID: only the edit that puts it back passes.
    let carrier = bound_to(database("tenant-uid-orders", "orders", "orders"), "orders");
    let objects = [instance("postgres"), carrier];
    let moved = with(dynamic("orders"), json!({"spec": {"provision": {"database": "other"}}}));
    assert_eq!(
        found(TENANT, &moved, Some(&dynamic("orders")), &objects),
        ["error spec.provision: Forbidden"]
    );
    assert!(found(TENANT, &dynamic("orders"), Some(&moved), &objects).is_empty());
}

#[test]
fn installed_extensions_stay_and_the_refusal_says_which() {
    let old = with(
        dynamic("a"),
        json!({"spec": {"extensions": ["pg_trgm", "hstore", "new"]},
            "status": {"installedExtensions": ["pg_trgm", "hstore", "gone"]}}),
    );
    let new = with(dynamic("a"), json!({"spec": {"extensions": ["hstore"]}}));
    let findings = beside(TENANT, &new, Some(&old), &world(&[instance("postgres")]));
    let lines: Vec<String> = findings.iter().map(super::Finding::line).collect();
    assert_eq!(
        lines,
        ["spec.extensions: Forbidden: extensions that are installed cannot be removed; put back: [pg_trgm]"]
    );
}

#[test]
fn a_database_that_is_known_stays_what_it_is() {
    let free = database("d", "a", "a");
    let observed = with(free.clone(), json!({"status": {"instanceUID": "i"}}));
    let objects = [instance("postgres")];
    for (field, value) in [("database", json!("b")), ("loginRole", json!("b")), ("source", json!("Import"))] {
        let new = with(free.clone(), json!({"spec": {field: value}}));
        assert!(found(DATABASE, &new, Some(&free), &objects).is_empty());
        let expected = format!("error spec.{field}: Forbidden");
        assert_eq!(found(DATABASE, &new, Some(&observed), &objects), [expected]);
    }
    let moved = with(free.clone(), json!({"spec": {"instanceRef": {"name": "other"}}}));
    assert!(
        found(DATABASE, &moved, Some(&free), &objects)
            .contains(&"error spec.instanceRef: Forbidden".to_owned())
    );
    let delete = |object: &Value| with(object.clone(), json!({"spec": {"reclaimPolicy": "Delete"}}));
    assert!(found(DATABASE, &delete(&free), Some(&free), &objects).is_empty());
    for old in [
        with(free.clone(), json!({"metadata": {"deletionTimestamp": "set"}})),
        with(free.clone(), json!({"status": {"release": {"policy": "Retain"}}})),
        bound_to(free.clone(), "nobody"),
    ] {
        assert_eq!(
            found(DATABASE, &delete(&old), Some(&old), &objects),
            ["error spec.reclaimPolicy: Forbidden"]
        );
    }
}

#[test]
fn a_binding_must_be_true() {
    let free = database("legacy", "a", "a");
    let new = bound_to(free.clone(), "shop");
    let of = |old: &Value, objects: &[Value]| {
        let mut objects = objects.to_vec();
        objects.push(instance("postgres"));
        found(DATABASE, &bound_to(old.clone(), "shop"), Some(old), &objects)
    };
    let asks = existing("shop", "legacy");
    assert!(of(&free, std::slice::from_ref(&asks)).is_empty());
    let not_found = ["error spec.tenantRef.uid: Not found"];
    assert_eq!(of(&free, &[]), not_found);
    assert_eq!(of(&free, &[existing("shop", "other")]), not_found);
    assert_eq!(of(&free, &[with(asks.clone(), json!({"metadata": {"uid": "new"}}))]), not_found);
    let forbidden = ["error spec.tenantRef: Forbidden"];
    assert_eq!(
        of(&free, &[with(asks.clone(), json!({"metadata": {"deletionTimestamp": "set"}}))]),
        forbidden
    );
    let record = |uid: &str| {
        let record = json!({"namespace": "shop", "name": "shop", "uid": uid});
        with(free.clone(), json!({"status": {"phase": "Bound", "tenantRef": record}}))
    };
    assert!(of(&record("uid-shop"), &[]).is_empty(), "what was tampered with may be put back");
    assert_eq!(of(&record("uid-other"), std::slice::from_ref(&asks)), forbidden);
    let other = bound_to(free, "other");
    assert_eq!(found(DATABASE, &other, Some(&new), &[instance("postgres"), asks]), forbidden);
}

#[test]
fn a_reopening_must_be_true_and_alone() {
    let released = json!({"status": {"phase": "Released", "release": {"tenantRef": {"uid": "uid-shop"}}}});
    let old = with(bound_to(database("legacy", "a", "a"), "shop"), released);
    let open = |old: &Value| {
        let mut new = old.clone();
        new["spec"].as_object_mut().unwrap().remove("tenantRef");
        new
    };
    let objects = [instance("postgres")];
    assert!(found(DATABASE, &open(&old), Some(&old), &objects).is_empty());
    let forbidden = ["error spec.tenantRef: Forbidden"];
    let unreleased = with(old.clone(), json!({"status": {"release": null}}));
    assert_eq!(found(DATABASE, &open(&unreleased), Some(&unreleased), &objects), forbidden);
    let deleting = with(old.clone(), json!({"metadata": {"deletionTimestamp": "set"}}));
    assert_eq!(found(DATABASE, &open(&deleting), Some(&deleting), &objects), forbidden);
    let tenant = with(existing("shop", "legacy"), json!({"metadata": {"deletionTimestamp": "set"}}));
    assert_eq!(found(DATABASE, &open(&old), Some(&old), &[instance("postgres"), tenant]), forbidden);
    let more = with(open(&old), json!({"spec": {"note": 1}}));
    assert_eq!(found(DATABASE, &more, Some(&old), &objects), forbidden);
}

#[test]
fn deletions_of_what_is_in_use_are_refused() {
    let refused = |kind, object: &Value, objects: &[Value]| {
        protect(kind, object, &world(objects)).map(|refusal| refusal.message)
    };
    let held = bound_to(database("legacy", "a", "a"), "shop");
    let user = with(existing("shop", "legacy"), json!({"status": {"databaseRef": {"uid": "uid-legacy"}}}));
    let message = refused(DATABASE, &held, std::slice::from_ref(&user)).unwrap();
    assert!(
        message.starts_with("PostgreSQLDatabase \"legacy\" is bound") && !message.contains("shop"),
        "{message}"
    );
    assert_eq!(refused(DATABASE, &held, &[existing("shop", "legacy")]), None);
    let leaving = with(user.clone(), json!({"metadata": {"deletionTimestamp": "set"}}));
    assert_eq!(refused(DATABASE, &held, &[leaving]), None);
    let released = with(held.clone(), json!({"status": {"release": {}}}));
    assert_eq!(refused(DATABASE, &released, std::slice::from_ref(&user)), None);
    assert_eq!(refused(TENANT, &user, &[held]), None);
    let message = |objects: &[Value]| refused(INSTANCE, &instance("postgres"), objects);
    assert_eq!(message(&[]), None);
    assert_eq!(message(&[existing("shop", "legacy")]), None);
    assert_eq!(
        message(&[database("one", "a", "a"), database("two", "b", "b"), dynamic("orders")]).unwrap(),
        "PostgreSQLInstance \"main\" is still referred to by 2 PostgreSQLDatabases (\"one\", \"two\") and 1 PostgreSQLTenant \
         without a database yet; delete them first"
    );
    let lost = with(dynamic("orders"), json!({"status": {"phase": "Lost"}}));
    assert_eq!(message(&[lost]), None);
}
