//! What the rules of a PostgreSQLTenant accept and refuse.

use covenant::api::Kind;
use serde_json::json;

use super::{Case, case, edit, merged, tenant};

const DATABASE: &str = "spec.provision.database";
const ROLE: &str = "spec.provision.loginRole";
const FROZEN: &str = "Forbidden: cannot be changed once binding has begun";
const PROVISION: (&str, &str) = ("spec.provision", FROZEN);

/// Objects as they are created.
pub fn cases() -> Vec<Case> {
    let kind = Kind::PostgreSQLTenant;
    vec![
        case("the smallest Tenant", kind, tenant(json!({})), &[]),
        case("an existing database", kind, json!({"databaseRef": {"name": "legacy"}}), &[])
            .named("any-name.at-all"),
        case(
            "both sources",
            kind,
            tenant(json!({"databaseRef": {"name": "legacy"}})),
            &[("spec.databaseRef", "Forbidden: may not be set together with provision")],
        ),
        case("no source", kind, json!({}), &[("spec", "Required value: must have provision")]),
        case(
            "a database that no object can be called",
            kind,
            json!({"databaseRef": {"name": "-legacy"}}),
            &[("spec.databaseRef.name", "must be the name of a PostgreSQLDatabase")],
        ),
        case(
            "an Instance that no object can be called",
            kind,
            tenant(json!({"provision": {"instanceRef": {"name": "MAIN"}}})),
            &[("spec.provision.instanceRef.name", "must be the name of a PostgreSQLInstance")],
        ),
        case("extensions", kind, tenant(json!({"extensions": ["uuid-ossp", "pg_trgm", "plv8"]})), &[]),
        case(
            "extensions that are none",
            kind,
            tenant(json!({"extensions": ["uuid--ossp", "pg trgm"]})),
            &[
                ("spec.extensions[0]", "must be the name of an extension"),
                ("spec.extensions[1]", "must be the name of an extension"),
            ],
        ),
        case(
            "a Secret that no object can be called",
            kind,
            tenant(json!({"secretName": "My.Secret"})),
            &[("spec.secretName", "must be the name of a Secret")],
        ),
    ]
}

/// Tenants whose names matter.
pub fn names() -> Vec<Case> {
    let kind = Kind::PostgreSQLTenant;
    let named = json!({"provision": {"database": "orders", "loginRole": "orders"}});
    let instance_of = |length: usize| {
        merged(tenant(named.clone()), json!({"provision": {"instanceRef": {"name": "i".repeat(length)}}}))
    };
    vec![
        case(
            "a name that does not fit the server",
            kind,
            tenant(json!({})),
            &[
                (DATABASE, "reserved, for example 'my_team_orders'"),
                (ROLE, "reserved, for example 'my_team_orders'"),
            ],
        )
        .named("my-team.orders"),
        case(
            "a name that begins with a digit",
            kind,
            tenant(json!({})),
            &[(DATABASE, "for example 'db_1shop'"), (ROLE, "for example 'role_1shop'")],
        )
        .named("1shop"),
        case(
            "a name that is too long for the server",
            kind,
            tenant(json!({})),
            &[(DATABASE, "for example 'ssss"), (ROLE, "for example 'ssss")],
        )
        .named("s".repeat(64)),
        case(
            "a name that is reserved for databases",
            kind,
            tenant(json!({})),
            &[(DATABASE, "Required value: the default, the name of the Tenant, cannot be used")],
        )
        .named("postgres"),
        case(
            "a name that is reserved for roles",
            kind,
            tenant(json!({})),
            &[(ROLE, "for example 'role_public'")],
        )
        .named("public"),
        case("a name that is not used", kind, tenant(named.clone()), &[]).named("my-team"),
        case(
            "written names that do not fit",
            kind,
            tenant(json!({"provision": {"database": "My-DB", "loginRole": "pg_x"}})),
            &[(DATABASE, "for example 'my_db'"), (ROLE, "must not be a role name")],
        ),
        case(
            "written names that are reserved or do not fit",
            kind,
            tenant(json!({"provision": {"database": "template0", "loginRole": "9"}})),
            &[(DATABASE, "must not be a database"), (ROLE, "for example 'db_9'")],
        ),
        case("names of 241 characters together", kind, instance_of(238), &[]).named("abc"),
        case(
            "names of 242 characters together",
            kind,
            instance_of(238),
            &[("spec.provision.instanceRef.name", "must have at most 241 characters together")],
        )
        .named("abcd"),
    ]
}

/// Edits of stored objects.
pub fn edits() -> Vec<Case> {
    let kind = Kind::PostgreSQLTenant;
    let other = || json!({"provision": {"instanceRef": {"name": "other"}}});
    let existing = || json!({"databaseRef": {"name": "legacy"}});
    let extended = || tenant(json!({"extensions": ["hstore", "citext"]}));
    let phase = |phase: &str| json!({ "phase": phase });
    vec![
        edit("another Instance before binding", kind, tenant(json!({})), other(), &[]).with_status(phase("Pending")),
        edit("another Instance", kind, tenant(json!({})), other(), &[PROVISION]).with_status(phase("Binding")),
        edit("another Instance in a later phase", kind, tenant(json!({})), other(), &[PROVISION])
            .with_status(phase("Novel")),
        edit(
            "the default written out",
            kind,
            tenant(json!({})),
            json!({"provision": {"database": "orders"}}),
            &[PROVISION],
        )
        .with_status(phase("Bound")),
        edit(
            "the other source",
            kind,
            tenant(json!({})),
            json!({"provision": null, "databaseRef": {"name": "legacy"}}),
            &[("spec.databaseRef", FROZEN), PROVISION],
        )
        .with_status(phase("Bound")),
        edit(
            "another database",
            kind,
            existing(),
            json!({"databaseRef": {"name": "other"}}),
            &[("spec.databaseRef", FROZEN)],
        )
        .with_status(phase("Bound")),
        edit("another Secret", kind, existing(), json!({"secretName": "db"}), &[("spec.secretName", FROZEN)])
            .with_status(phase("Bound")),
        edit("one more extension", kind, extended(), json!({"extensions": ["citext", "hstore", "ltree"]}), &[])
            .with_status(json!({"phase": "Bound", "installedExtensions": ["hstore"]})),
        edit("an extension that was never installed", kind, extended(), json!({"extensions": ["hstore"]}), &[])
            .with_status(json!({"phase": "Bound", "installedExtensions": ["hstore"]})),
        edit(
            "installed extensions",
            kind,
            extended(),
            json!({"extensions": null}),
            &[("spec.extensions", "Forbidden: extensions that are installed cannot be removed; put back: [\"hstore\", \"citext\"]")],
        )
        .with_status(json!({"phase": "Bound", "installedExtensions": ["citext", "hstore"]})),
        edit("beside an extension that was removed too early", kind, extended(), json!({"extensions": ["hstore"]}), &[])
            .with_status(json!({"phase": "Bound", "installedExtensions": ["ltree"]})),
    ]
}
