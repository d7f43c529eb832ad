//! `covenant-database-bind`, `covenant-database-reopen` and `covenant-database-policy`, with the shipped roles.

use serde_json::{Value, json};

use crate::shipped::{User, install};
use crate::support::{Finished, eventually, kubectl, kubectl_with_input};

const GROUP: &str = "database.ayatori.ddupan.top";

fn denied_by(policy: &str) -> String {
    format!("ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request: ")
}

fn tenant_ref() -> Value {
    json!({"namespace": "shop", "name": "shop", "uid": "0b5f6dd5-6d1c-4a5e-9d0e-1f8c2f3a4b5c"})
}

fn database(name: &str, tenant_ref: Option<Value>) -> Value {
    let mut database = json!({
        "apiVersion": format!("{GROUP}/v1alpha1"), "kind": "PostgreSQLDatabase", "metadata": {"name": name},
        "spec": {"instanceRef": {"name": "main"}, "database": "shop", "loginRole": "shop", "source": "Provision"},
    });
    if let Some(tenant_ref) = tenant_ref {
        database["spec"]["tenantRef"] = tenant_ref;
    }
    database
}

fn resource_admin(name: &str) -> User {
    User::new(name).with_cluster_role("covenant-resource-admin")
}

fn create(user: &User, object: &Value) -> covenant::controlplane::Output {
    user.kubectl(&["create", "-f", "-"], &object.to_string())
}

fn patch(user: &User, name: &str, edit: &Value) -> covenant::controlplane::Output {
    user.kubectl(
        &[
            "patch",
            "postgresqldatabases.database.ayatori.ddupan.top",
            name,
            "--type=merge",
            "--patch",
            &edit.to_string(),
        ],
        "",
    )
}

/// Writes the status as the controller would.
fn set_status(name: &str, status: &Value) {
    let edit = json!({"status": status}).to_string();
    kubectl(&[
        "patch",
        "postgresqldatabases.database.ayatori.ddupan.top",
        name,
        "--subresource=status",
        "--type=merge",
        "--patch",
        &edit,
    ])
    .success();
}

/// Makes a bound database as the administrator, who may do everything.
fn bound(name: &str) {
    kubectl_with_input(&["create", "-f", "-"], &database(name, Some(tenant_ref())).to_string()).success();
}

#[test]
fn only_who_may_bind_creates_a_bound_database_or_one_with_a_reserved_name() {
    install();
    let admin = resource_admin("bind-create");
    let refused = |object: &Value, name: &str, why: &str| {
        let answer = create(&admin, object).failure();
        let expected = format!(
            "postgresqldatabases.{GROUP} \"{name}\" is forbidden: {}user \"bind-create\" must be allowed to bind postgresqldatabases.{GROUP} \"{name}\": {why}",
            denied_by("covenant-database-bind")
        );
        assert!(answer.trim_end().ends_with(&expected), "{answer}\nexpected:\n{expected}");
    };
    let set = "spec.tenantRef is set by the controller, a database is asked for by a PostgreSQLTenant";
    refused(&database("bind-create-1", Some(tenant_ref())), "bind-create-1", set);
    let reserved = "names that start with \"tenant-\" are given by the controller, choose another one";
    refused(&database("tenant-0b5f6dd5", None), "tenant-0b5f6dd5", reserved);

    let mut generated = database("", None);
    generated["metadata"] = json!({"generateName": "tenant-"});
    let answer = create(&admin, &generated).failure();
    assert!(
        answer.contains(&denied_by("covenant-database-bind")) && answer.trim_end().ends_with(reserved),
        "{answer}"
    );

    create(&admin, &database("bind-create-2", None)).success();
    create(&admin, &database("my-tenant-1", None)).success();
    let controller = User::new("bind-controller").with_cluster_role("covenant-controller");
    create(&controller, &database("tenant-1c6e7ff6", Some(tenant_ref()))).success();
}

#[test]
fn only_who_may_bind_sets_a_tenant_ref() {
    install();
    let admin = resource_admin("bind-update");
    create(&admin, &database("bind-update-1", None)).success();
    let edit = json!({"spec": {"tenantRef": tenant_ref()}});
    let answer = patch(&admin, "bind-update-1", &edit).failure();
    assert!(answer.contains(&denied_by("covenant-database-bind")), "{answer}");
    let replaced = database("bind-update-1", Some(tenant_ref()));
    let answer = admin.kubectl(&["replace", "-f", "-"], &replaced.to_string()).failure();
    assert!(answer.contains(&denied_by("covenant-database-bind")), "{answer}");

    // Everything else of an unbound and of a bound database is theirs.
    patch(&admin, "bind-update-1", &json!({"spec": {"reclaimPolicy": "Delete"}})).success();
    let repair = User::new("bind-repair").with_cluster_role("covenant-database-repair");
    patch(&repair, "bind-update-1", &edit).success();
    patch(&admin, "bind-update-1", &json!({"metadata": {"labels": {"team": "shop"}}})).success();
    patch(&admin, "bind-update-1", &json!({"spec": {"reclaimPolicy": "Retain"}})).success();
    // Named, so that it holds for this one database alone.
    let named = User::new("bind-named").with_cluster_rules(&json!([
        {"apiGroups": [GROUP], "resources": ["postgresqldatabases"], "verbs": ["get", "create", "patch"]},
        {"apiGroups": [GROUP], "resources": ["postgresqldatabases"], "resourceNames": ["bind-named-1"], "verbs": ["bind"]},
    ]));
    create(&named, &database("bind-named-1", Some(tenant_ref()))).success();
    let answer = create(&named, &database("bind-named-2", Some(tenant_ref()))).failure();
    assert!(answer.contains(&denied_by("covenant-database-bind")), "{answer}");
}

#[test]
fn only_who_may_reopen_removes_a_tenant_ref() {
    install();
    bound("reopen-1");
    bound("reopen-2");
    let repair = User::new("reopen-repair").with_cluster_role("covenant-database-repair");
    let edit = json!({"spec": {"tenantRef": null}});
    let expected = format!(
        "{}user \"reopen-repair\" must be allowed to reopen postgresqldatabases.{GROUP} \"reopen-1\": removing spec.tenantRef gives the database back for use by another tenant",
        denied_by("covenant-database-reopen")
    );
    // The policy may come into force a moment after the others, and only a dry run may find that out.
    let dry_run = [
        "patch",
        "postgresqldatabases.database.ayatori.ddupan.top",
        "reopen-1",
        "--dry-run=server",
        "--type=merge",
        "--patch",
        &edit.to_string(),
    ];
    let answer = eventually("covenant-database-reopen is in force", || {
        let output = repair.kubectl(&dry_run, "");
        (!output.is_success()).then_some(output.stderr)
    });
    assert!(answer.trim_end().ends_with(&expected), "{answer}\nexpected:\n{expected}");
    patch(&repair, "reopen-1", &edit).failure();

    let admin = resource_admin("reopen-admin");
    patch(&admin, "reopen-1", &edit).success();
    // A replace that leaves the field out is the same.
    admin.kubectl(&["replace", "-f", "-"], &database("reopen-2", None).to_string()).success();
}

#[test]
fn nobody_reopens_a_database_that_is_being_released_or_deleted() {
    install();
    let edit = json!({"spec": {"tenantRef": null}});
    let admin = resource_admin("reopen-when");
    bound("reopen-releasing");
    set_status("reopen-releasing", &json!({"phase": "Releasing"}));
    let answer = eventually("covenant-database-reopen is in force", || {
        let arguments = [
            "patch",
            "postgresqldatabases.database.ayatori.ddupan.top",
            "reopen-releasing",
            "--dry-run=server",
            "--type=merge",
            "--patch",
            &edit.to_string(),
        ];
        let output = admin.kubectl(&arguments, "");
        (!output.is_success()).then_some(output.stderr)
    });
    let releasing = "spec.tenantRef cannot be removed while the database is being released, wait until its phase is Released";
    assert!(answer.trim_end().ends_with(releasing), "{answer}");
    set_status("reopen-releasing", &json!({"phase": "Released"}));
    patch(&admin, "reopen-releasing", &edit).success();

    bound("reopen-deleting");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    patch(&admin, "reopen-deleting", &finalizer).success();
    admin
        .kubectl(
            &["delete", "postgresqldatabases.database.ayatori.ddupan.top", "reopen-deleting", "--wait=false"],
            "",
        )
        .success();
    let answer = patch(&admin, "reopen-deleting", &edit).failure();
    assert!(
        answer.trim_end().ends_with("spec.tenantRef cannot be removed from a database that is being deleted"),
        "{answer}"
    );
    patch(&admin, "reopen-deleting", &json!({"metadata": {"finalizers": null}})).success();
}

#[test]
fn the_reclaim_policy_is_frozen_from_the_release_or_the_deletion_on() {
    install();
    let admin = resource_admin("policy-admin");
    let to_delete = json!({"spec": {"reclaimPolicy": "Delete"}});
    bound("policy-1");
    set_status(
        "policy-1",
        &json!({"phase": "Released", "release": {"policy": "Retain", "tenantRef": tenant_ref()}}),
    );
    let answer = eventually("the policy of a released database is frozen", || {
        let arguments = [
            "patch",
            "postgresqldatabases.database.ayatori.ddupan.top",
            "policy-1",
            "--dry-run=server",
            "--type=merge",
            "--patch",
            &to_delete.to_string(),
        ];
        let output = admin.kubectl(&arguments, "");
        (!output.is_success()).then_some(output.stderr)
    });
    // The definition's own rule may answer before the policy does.
    assert!(answer.contains("spec.reclaimPolicy"), "{answer}");
    // Not in the edit that re-opens it either.
    let both = json!({"spec": {"reclaimPolicy": "Delete", "tenantRef": null}});
    patch(&admin, "policy-1", &both).failure();
    patch(&admin, "policy-1", &json!({"metadata": {"labels": {"team": "shop"}}})).success();
    // Omitted is Retain, so this changes nothing.
    patch(&admin, "policy-1", &json!({"spec": {"reclaimPolicy": null}})).success();

    patch(&admin, "policy-1", &json!({"spec": {"tenantRef": null}})).success();
    patch(&admin, "policy-1", &to_delete).failure();
    set_status("policy-1", &json!({"release": null, "lastRelease": {"policy": "Retain"}}));
    patch(&admin, "policy-1", &to_delete).success();

    create(&admin, &database("policy-2", None)).success();
    patch(&admin, "policy-2", &json!({"metadata": {"finalizers": ["example.com/hold"]}})).success();
    admin
        .kubectl(
            &["delete", "postgresqldatabases.database.ayatori.ddupan.top", "policy-2", "--wait=false"],
            "",
        )
        .success();
    let answer = patch(&admin, "policy-2", &to_delete).failure();
    assert!(
        answer.trim_end().ends_with("spec.reclaimPolicy is frozen, the database is being deleted"),
        "{answer}"
    );
    patch(&admin, "policy-2", &json!({"metadata": {"finalizers": null}})).success();
}

#[test]
fn a_resource_admin_writes_no_status_and_a_tenant_editor_no_database() {
    install();
    let admin = resource_admin("roles-admin");
    let databases = format!("postgresqldatabases.{GROUP}");
    for (verb, resource, expected) in [
        ("reopen", databases.as_str(), true),
        ("bind", databases.as_str(), false),
        ("update", "postgresqldatabases.database.ayatori.ddupan.top/status", false),
        ("list", "postgresqltenants.database.ayatori.ddupan.top", true),
        ("update", "postgresqltenants.database.ayatori.ddupan.top", false),
    ] {
        assert_eq!(admin.may(None, verb, resource, ""), expected, "{verb} {resource}");
    }
}
