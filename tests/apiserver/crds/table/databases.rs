//! What the rules of a PostgreSQLDatabase accept and refuse.

use covenant::api::Kind;
use serde_json::{Value, json};

use super::{Case, case, database, edit, merged};

const MOUNT: &str = "spec.credentialRef.mount";
const PATH: &str = "spec.credentialRef.path";
const SEGMENTS: &str = "must not begin or end with '/'";
const CHARACTERS: &str = "must not hold '%'";
const FROZEN: &str = "Forbidden: cannot be changed once the database was observed on its server or bound";
const BINDING: (&str, &str) = ("spec.tenantRef", "Forbidden: may be set where there is none");

/// Objects as they are created.
pub fn cases() -> Vec<Case> {
    let kind = Kind::PostgreSQLDatabase;
    let import = |change: Value| {
        let credential =
            json!({"source": "Import", "credentialRef": {"mount": "kv", "path": "teams/orders"}});
        database(merged(credential, json!({"credentialRef": change})))
    };
    vec![
        case("a database to make", kind, database(json!({})), &[]),
        case("a database to import", kind, import(json!({})), &[]),
        case(
            "an Instance that no object can be called",
            kind,
            database(json!({"instanceRef": {"name": "Main"}})),
            &[("spec.instanceRef.name", "must be the name of a PostgreSQLInstance")],
        ),
        case(
            "names with dashes and capitals",
            kind,
            database(json!({"database": "Orders-DB", "loginRole": "1.app"})),
            &[
                ("spec.database", "must match ^[a-z][a-z0-9_]{0,62}$, for example 'orders_db'"),
                ("spec.loginRole", "must match ^[a-z][a-z0-9_]{0,62}$, for example 'db_1_app'"),
            ],
        ),
        case(
            "a name that nothing can be made of",
            kind,
            database(json!({"database": "orders!\n"})),
            &[("spec.database", "must match ^[a-z][a-z0-9_]{0,62}$")],
        ),
        case(
            "reserved names",
            kind,
            database(json!({"database": "postgres", "loginRole": "pg_monitor"})),
            &[
                ("spec.database", "must not be a database that the server has for itself"),
                ("spec.loginRole", "must not be a role name that PostgreSQL keeps for itself"),
            ],
        ),
        case(
            "more reserved names",
            kind,
            database(json!({"database": "template1", "loginRole": "public"})),
            &[
                ("spec.database", "must not be a database that the server has for itself"),
                ("spec.loginRole", "must not be a role name that PostgreSQL keeps for itself"),
            ],
        ),
        case(
            "an import without a credential",
            kind,
            database(json!({"source": "Import"})),
            &[("spec.credentialRef", "Required value: source Import needs the place")],
        ),
        case(
            "a credential for a database to make",
            kind,
            database(json!({"credentialRef": {"mount": "kv", "path": "x"}})),
            &[("spec.credentialRef", "Forbidden: may not be set with source Provision")],
        ),
        case("a mount that begins with a slash", kind, import(json!({"mount": "/kv"})), &[(MOUNT, SEGMENTS)]),
        case("an empty segment", kind, import(json!({"path": "a//b"})), &[(PATH, SEGMENTS)]),
        case("a segment that climbs", kind, import(json!({"path": "a/../b"})), &[(PATH, SEGMENTS)]),
        case("an escape in a mount", kind, import(json!({"mount": "kv%2fx"})), &[(MOUNT, CHARACTERS)]),
        case("an escape in a path", kind, import(json!({"path": "a/%2e%2e/b"})), &[(PATH, CHARACTERS)]),
        case("a query", kind, import(json!({"path": "a?version=1"})), &[(PATH, CHARACTERS)]),
        case("a backslash", kind, import(json!({"path": "a\\b"})), &[(PATH, CHARACTERS)]),
        case("a control character", kind, import(json!({"path": "a\nb"})), &[(PATH, CHARACTERS)]),
        case(
            "the store's own prefix",
            kind,
            import(json!({"path": "data/orders"})),
            &[(PATH, "must be the path inside the mount as people write it")],
        ),
        case("a path that only looks like it", kind, import(json!({"path": "database/metadata"})), &[]),
        case(
            "a tenant that nobody can be called",
            kind,
            database(json!({"tenantRef": {"namespace": "Shop", "name": "a_b", "uid": "u1"}})),
            &[
                ("spec.tenantRef.name", "must be the name of a PostgreSQLTenant"),
                ("spec.tenantRef.namespace", "must be the name of a namespace"),
            ],
        ),
    ]
}

/// Edits of stored objects.
pub fn edits() -> Vec<Case> {
    let kind = Kind::PostgreSQLDatabase;
    let tenant = || json!({"namespace": "shop", "name": "orders", "uid": "u1"});
    let bound = || database(json!({"tenantRef": tenant()}));
    let import =
        || database(json!({"source": "Import", "credentialRef": {"mount": "kv", "path": "teams/orders"}}));
    let observed = || json!({"instanceUID": "i1"});
    vec![
        edit(
            "another Instance",
            kind,
            database(json!({})),
            json!({"instanceRef": {"name": "other"}}),
            &[("spec.instanceRef", "Forbidden: is immutable")],
        ),
        edit("a first tenant", kind, database(json!({})), json!({"tenantRef": tenant()}), &[]),
        edit("no tenant any more", kind, bound(), json!({"tenantRef": null}), &[]),
        edit(
            "another tenant",
            kind,
            bound(),
            json!({"tenantRef": {"namespace": "b", "name": "b", "uid": "u2"}}),
            &[BINDING],
        ),
        edit("another name for the tenant", kind, bound(), json!({"tenantRef": {"name": "b"}}), &[BINDING]),
        edit("another name before it was seen", kind, database(json!({})), json!({"database": "sales"}), &[]),
        edit(
            "another name once bound",
            kind,
            bound(),
            json!({"database": "sales", "loginRole": "sales"}),
            &[("spec.database", FROZEN), ("spec.loginRole", FROZEN)],
        ),
        edit(
            "another source once observed",
            kind,
            import(),
            json!({"source": "Provision", "credentialRef": null}),
            &[("spec.credentialRef", FROZEN), ("spec.source", FROZEN)],
        )
        .with_status(observed()),
        edit(
            "another credential once observed",
            kind,
            import(),
            json!({"credentialRef": {"path": "teams/sales"}}),
            &[("spec.credentialRef", FROZEN)],
        )
        .with_status(observed()),
        edit("another policy while bound", kind, bound(), json!({"reclaimPolicy": "Delete"}), &[]),
        edit(
            "another policy during the release",
            kind,
            bound(),
            json!({"reclaimPolicy": "Delete"}),
            &[("spec.reclaimPolicy", "Forbidden: cannot be changed while the database is being released")],
        )
        .with_status(json!({"release": {"policy": "Retain", "completed": true}})),
        edit("a re-open", kind, bound(), json!({"tenantRef": null}), &[])
            .with_status(json!({"release": {"policy": "Retain", "completed": true}})),
    ]
}
