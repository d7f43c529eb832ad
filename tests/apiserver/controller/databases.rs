//! The first status of Instances, Databases and Tenants.

use serde_json::{Value, json};

use super::{Controller, apply, kubectl, namespace, plane, until};

fn object(kind: &str, namespace: Option<&str>, name: &str, spec: &Value) -> String {
    json!({
        "apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace}, "spec": spec
    })
    .to_string()
}

#[test]
fn every_kind_says_what_it_waits_for() {
    let namespace = &namespace("databases");
    let controller = Controller::alone(namespace);
    let server = format!("server-{namespace}");
    let tenant = ["postgresqltenant", "orders", "-n", namespace.as_str()];
    apply(&object(
        "PostgreSQLTenant",
        Some(namespace),
        "orders",
        &json!({"provision": {"instanceRef": {"name": server}}}),
    ));
    let found = until(&tenant, "Ready", "False", "InstanceNotFound");
    assert_eq!(found["status"]["phase"], "Pending");
    assert_eq!(found["status"]["observedGeneration"], 1);

    let database = format!("imported-{namespace}");
    let spec = json!({"instanceRef": {"name": server}, "database": "orders", "loginRole": "orders", "source": "Provision"});
    apply(&object("PostgreSQLDatabase", None, &database, &spec));
    until(&["postgresqldatabase", &database], "Ready", "False", "InstanceNotFound");

    let spec = json!({
        "endpoint": {"host": "db.example.com", "hostaddr": "192.0.2.1"}, "adminCredentialRef": {"name": "admin"}
    });
    apply(&object("PostgreSQLInstance", None, &server, &spec));
    let found = until(&["postgresqlinstance", &server], "Ready", "False", "ServerNotObserved");
    assert_eq!(found["status"]["phase"], "Pending");
    until(&["postgresqldatabase", &database], "Ready", "False", "ServerNotObserved");
    let found = until(&tenant, "Ready", "False", "NotAvailable");
    let version = found["metadata"]["resourceVersion"].clone();

    let other = ["postgresqltenant", "billing", "-n", namespace.as_str()];
    apply(&object(
        "PostgreSQLTenant",
        Some(namespace),
        "billing",
        &json!({"databaseRef": {"name": "nowhere"}}),
    ));
    let found = until(&other, "Ready", "False", "NotAvailable");
    let message = found["status"]["conditions"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("PostgreSQLDatabase \"nowhere\" cannot be bound now: "), "{message}");

    assert_eq!(controller.stop(), Some(0));
    let controller = Controller::alone(namespace);
    controller.ready();
    kubectl(&["delete", "postgresqlinstance", &server]);
    until(&["postgresqldatabase", &database], "Ready", "False", "InstanceNotFound");
    let found = until(&tenant, "Ready", "False", "InstanceNotFound");
    let before: u64 = version.as_str().unwrap().parse().unwrap();
    let ours = plane().audit().unwrap().into_iter().filter(|event| {
        event.is_write()
            && event
                .object_ref
                .as_ref()
                .is_some_and(|object| object.name == "orders" && object.namespace == *namespace)
            && event.user_agent.starts_with("covenant-controller/")
    });
    assert_eq!(ours.count(), 3, "absent, present, absent: three statuses, and none by the restart");
    assert!(found["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() > before);
    kubectl(&["delete", "postgresqldatabase", &database]);
    assert_eq!(controller.stop(), Some(0));
}
