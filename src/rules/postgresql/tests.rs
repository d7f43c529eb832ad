//! SHAPE of the PostgreSQL kinds, as tables: a spec, and how the lines that a person reads begin.

use serde_json::{Value, json};

use crate::api::Kind;
use crate::rules::finding::Finding;
use crate::rules::{Installation, shape};

fn lines(kind: Kind, name: &str, spec: Value, installation: &Installation) -> Vec<String> {
    let object = json!({"apiVersion": kind.api_version(), "kind": kind.as_str(), "metadata": {"name": name}, "spec": spec});
    shape(kind, &object, installation).errors().map(Finding::line).collect()
}

fn check(kind: Kind, table: &[(&str, Value, &[&str])]) {
    for (name, spec, expected) in table {
        let found = lines(kind, name, spec.clone(), &Installation::default());
        assert_eq!(found.len(), expected.len(), "{name} {spec}: {found:#?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.starts_with(expected), "{name} {spec}: {found}");
        }
    }
}

#[test]
fn tenants() {
    let instance = json!({"name": "main"});
    check(
        Kind::PostgreSQLTenant,
        &[
            ("orders", json!({"provision": {"instanceRef": instance}}), &[]),
            (
                "orders",
                json!({"databaseRef": {"name": "legacy"}, "extensions": ["uuid-ossp", "pg_trgm"], "secretName": "db"}),
                &[],
            ),
            (
                "orders",
                json!({}),
                &["spec: Required value: must have provision for a new database, or databaseRef"],
            ),
            (
                "orders",
                json!({"provision": {"instanceRef": instance}, "databaseRef": {"name": "legacy"}}),
                &["spec.databaseRef: Forbidden: may not be set together with provision"],
            ),
            (
                "team-a",
                json!({"provision": {"instanceRef": instance}}),
                &[
                    "spec.provision.database: Required value: the default, the name of the Tenant, cannot be used; set a name \
                 that matches ^[a-z][a-z0-9_]{0,62}$ and is not reserved, for example 'team_a'",
                    "spec.provision.loginRole: Required value: the default, the name of the Tenant, cannot be used; set a name \
                 that matches ^[a-z][a-z0-9_]{0,62}$ and is not reserved, for example 'team_a'",
                ],
            ),
            (
                "team-a",
                json!({"provision": {"instanceRef": instance, "database": "team_a", "loginRole": "team_a"}}),
                &[],
            ),
            ("team-a", json!({"databaseRef": {"name": "legacy"}}), &[]),
            (
                "postgres",
                json!({"provision": {"instanceRef": instance}}),
                &[
                    "spec.provision.database: Required value: the default, the name of the Tenant, cannot be used; set a name that \
               matches ^[a-z][a-z0-9_]{0,62}$ and is not reserved, for example 'db_postgres'",
                ],
            ),
            (
                "orders",
                json!({"provision": {"instanceRef": instance, "database": "Team-A", "loginRole": "pg_app"}}),
                &[
                    "spec.provision.database: Invalid value: \"Team-A\": must match ^[a-z][a-z0-9_]{0,62}$, for example 'team_a'",
                    "spec.provision.loginRole: Invalid value: \"pg_app\": must not be a role name that PostgreSQL keeps",
                ],
            ),
            (
                "orders",
                json!({"databaseRef": {"name": "Legacy"}, "extensions": ["a b", "a b"], "secretName": "-"}),
                &[
                    "spec.databaseRef.name: Invalid value: \"Legacy\": must be the name of a PostgreSQLDatabase",
                    "spec.extensions[0]: Invalid value: \"a b\": must be the name of an extension",
                    "spec.extensions[1]: Duplicate value: \"a b\"",
                    "spec.extensions[1]: Invalid value: \"a b\": must be the name of an extension",
                    "spec.secretName: Invalid value: \"-\": must be the name of a Secret",
                ],
            ),
            (
                "orders",
                json!({"provision": {"instanceRef": {"name": "a".repeat(236)}}}),
                &[
                    "spec.provision.instanceRef.name: Invalid value: must have at most 241 characters together",
                ],
            ),
            ("orders", json!({"provision": {"instanceRef": {"name": "a".repeat(235)}}}), &[]),
        ],
    );
}

#[test]
fn databases() {
    let spec = |changes: Value| {
        let mut spec = json!({"instanceRef": {"name": "main"}, "database": "orders", "loginRole": "orders", "source": "Provision"});
        spec.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        spec
    };
    let import = |mount: &str, path: &str| {
        spec(json!({"source": "Import", "credentialRef": {"mount": mount, "path": path}}))
    };
    check(
        Kind::PostgreSQLDatabase,
        &[
            ("d", spec(json!({})), &[]),
            ("d", import("secret", "teams/orders"), &[]),
            (
                "d",
                spec(json!({"source": "Import"})),
                &["spec.credentialRef: Required value: source Import needs"],
            ),
            (
                "d",
                spec(json!({"credentialRef": {"mount": "m", "path": "p"}})),
                &["spec.credentialRef: Forbidden: may not be set with source Provision"],
            ),
            (
                "d",
                spec(json!({"source": "Copy"})),
                &["spec.source: Unsupported value: \"Copy\": supported values: \"Provision\", \"Import\""],
            ),
            (
                "d",
                spec(json!({"database": "template1", "loginRole": "none"})),
                &[
                    "spec.database: Invalid value: \"template1\": must not be a database that the server has for itself",
                    "spec.loginRole: Invalid value: \"none\": must not be a role name",
                ],
            ),
            (
                "d",
                import("secret", "data/orders"),
                &[
                    "spec.credentialRef.path: Invalid value: \"data/orders\": must be the path inside the mount",
                ],
            ),
            ("d", import("secret", "dataset/orders"), &[]),
            (
                "d",
                import("secret/", "a//b"),
                &[
                    "spec.credentialRef.mount: Invalid value: \"secret/\": must not begin or end with '/'",
                    "spec.credentialRef.path: Invalid value: \"a//b\": must not begin or end with '/'",
                ],
            ),
            (
                "d",
                import("secret", "a/%2e%2e/b"),
                &["spec.credentialRef.path: Invalid value: \"a/%2e%2e/b\": must not hold '%'"],
            ),
            (
                "d",
                import("secret", "a/../b"),
                &["spec.credentialRef.path: Invalid value: \"a/../b\": must not begin"],
            ),
            (
                "d",
                spec(json!({"tenantRef": {"namespace": "A", "name": "t"}})),
                &[
                    "spec.tenantRef.namespace: Invalid value: \"A\": must be the name of a namespace",
                    "spec.tenantRef.uid: Required value",
                ],
            ),
        ],
    );
}

#[test]
fn a_credential_lies_in_a_permitted_place() {
    let installation =
        Installation { credential_paths: vec!["secret/teams".to_owned()], ..Installation::default() };
    let found = |mount: &str, path: &str| {
        let spec = json!({"instanceRef": {"name": "main"}, "database": "orders", "loginRole": "orders", "source": "Import",
            "credentialRef": {"mount": mount, "path": path}});
        lines(Kind::PostgreSQLDatabase, "d", spec, &installation)
    };
    assert!(found("secret", "teams/orders").is_empty());
    assert!(found("secret", "teams").is_empty());
    assert_eq!(found("secret", "teams-b/orders").len(), 1);
    assert_eq!(
        found("other", "teams/orders"),
        [
            "spec.credentialRef.path: Invalid value: \"teams/orders\": must lie, with its mount, below one of the \
         installation's places: 'secret/teams'"
        ]
    );
}

#[test]
fn instances() {
    let spec = |host: &str, address: &str| json!({"endpoint": {"host": host, "hostaddr": address}, "adminCredentialRef": {"name": "admin"}});
    for (host, address) in [
        ("db.example.com", "192.0.2.1"),
        ("1e3", "::1"),
        ("db", "::ffff:10.0.0.1"),
        (&"a".repeat(63), "2001:db8::1"),
    ] {
        assert!(
            lines(Kind::PostgreSQLInstance, "main", spec(host, address), &Installation::default()).is_empty(),
            "{host} {address}"
        );
    }
    for host in ["DB.example.com", "db.", "db_1", "::1", "-a", &"a".repeat(64)] {
        let found = lines(Kind::PostgreSQLInstance, "main", spec(host, "::1"), &Installation::default());
        assert!(
            found.len() == 1 && found[0].starts_with("spec.endpoint.host: Invalid value: "),
            "{host}: {found:?}"
        );
    }
    for host in ["192.0.2.1", "1.2.3"] {
        let found = lines(Kind::PostgreSQLInstance, "main", spec(host, "::1"), &Installation::default());
        assert!(found.len() == 1 && found[0].contains("an address belongs in hostaddr"), "{host}: {found:?}");
    }
    for address in ["010.0.0.1", "10.0.0.256", "fe80::1%eth0", "[::1]", "10.0.0.1:5432", "db"] {
        let found = lines(Kind::PostgreSQLInstance, "main", spec("db", address), &Installation::default());
        assert!(
            found.len() == 1 && found[0].starts_with("spec.endpoint.hostaddr: Invalid value: "),
            "{address}: {found:?}"
        );
    }
}

#[test]
fn an_unverified_connection_is_a_warning() {
    for (mode, warnings) in [("disable", 1), ("require", 1), ("verify-ca", 0), ("verify-full", 0)] {
        let object = json!({"metadata": {"name": "main"}, "spec": {"endpoint": {"host": "db", "hostaddr": "::1", "sslMode": mode},
            "adminCredentialRef": {"name": "admin"}}});
        let findings = shape(Kind::PostgreSQLInstance, &object, &Installation::default());
        assert!(!findings.has_errors());
        assert_eq!(findings.warnings().count(), warnings, "{mode}");
    }
}
