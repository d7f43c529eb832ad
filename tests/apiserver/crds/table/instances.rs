//! What the rules of a PostgreSQLInstance accept and refuse.

use covenant::api::Kind;
use serde_json::{Value, json};

use super::{Case, case, instance};

const HOST: (&str, &str) = ("spec.endpoint.host", "must be a DNS name in lower case");
const LAST_LABEL: (&str, &str) = ("spec.endpoint.host", "whose last label is not all digits");
const ADDRESS: (&str, &str) = ("spec.endpoint.hostaddr", "must be one IPv4 or IPv6 address");
const FITS: (&str, &str) = ("spec.endpoint.database", "must have at most 63 bytes");

/// Objects as they are created.
pub fn cases() -> Vec<Case> {
    let kind = Kind::PostgreSQLInstance;
    let host = |host: &str| instance(json!({"endpoint": {"host": host}}));
    let hostaddr = |hostaddr: &str| instance(json!({"endpoint": {"hostaddr": hostaddr}}));
    let credential = |change: Value| instance(json!({"adminCredentialRef": change}));
    let mut cases = vec![
        case("the smallest Instance", kind, instance(json!({})), &[]),
        case("upper case in host", kind, host("Db.example.com"), &[HOST]),
        case("a dot at the end of host", kind, host("db.example.com."), &[HOST]),
        case("an underscore in host", kind, host("my_db.example.com"), &[HOST]),
        case("a label of 64", kind, host(&"a".repeat(64)), &[HOST]),
        case("a label of 63", kind, host(&"a".repeat(63)), &[]),
        case("a label that looks like a number", kind, host("1e3"), &[]),
        case("IPv6 as host", kind, host("::1"), &[HOST]),
        case("IPv4 as host", kind, host("10.0.0.1"), &[LAST_LABEL]),
        case("three numbers as host", kind, host("1.2.3"), &[LAST_LABEL]),
        case(
            "a database of 63 bytes",
            kind,
            instance(json!({"endpoint": {"database": "d".repeat(63)}})),
            &[],
        ),
        case(
            "a database of 63 characters and 126 bytes",
            kind,
            instance(json!({"endpoint": {"database": "é".repeat(63)}})),
            &[FITS],
        ),
        case(
            "a zero byte in database",
            kind,
            instance(json!({"endpoint": {"database": "a\u{0}b"}})),
            &[FITS],
        ),
        case(
            "a credential that no object can be called",
            kind,
            credential(json!({"name": "Admin"})),
            &[("spec.adminCredentialRef.name", "must be the name of a Secret")],
        ),
        case(
            "keys that no Secret can have",
            kind,
            credential(json!({"usernameKey": "a b", "passwordKey": "..", "caKey": "."})),
            &[
                ("spec.adminCredentialRef.caKey", "must be a key of a Secret"),
                ("spec.adminCredentialRef.passwordKey", "must be a key of a Secret"),
                ("spec.adminCredentialRef.usernameKey", "must be a key of a Secret"),
            ],
        ),
        case(
            "keys of every kind",
            kind,
            credential(json!({"usernameKey": "_A-9.z", "caKey": "ca.crt"})),
            &[],
        ),
    ];
    for address in ["2001:db8::10", "::ffff:10.0.0.1", "0:0:0:0:0:FFFF:10.0.0.1", "::1"] {
        cases.push(case("an address", kind, hostaddr(address), &[]));
    }
    for address in
        ["10.0.0.256", "010.0.0.1", "fe80::1%eth0", "192.0.2.1:5432", "[::1]", "db.example.com", "1.2.3"]
    {
        cases.push(case("no address", kind, hostaddr(address), &[ADDRESS]));
    }
    cases
}
