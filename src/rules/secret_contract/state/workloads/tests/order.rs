//! Several writers of one environment variable.

use super::environment::{k, named, run};
use super::*;

#[test]
fn what_comes_later_wins() {
    let other = json!({"name": "K", "valueFrom": {"secretKeyRef": {"name": "other", "key": "K"}}});
    let field = json!({"name": "K", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
    let two = || json!([{"name": "K"}, {"name": "L"}]);
    run(
        "EnvVars",
        vec![
            ("a literal over a source", k(), json!([literal("K", "x")]), json!([all()]), &["K Shadowed"]),
            (
                "an empty literal over a source",
                k(),
                json!([literal("K", "")]),
                json!([all()]),
                &["K Shadowed"],
            ),
            ("a field over a source", k(), json!([field]), json!([all()]), &["K Shadowed"]),
            ("another Secret over a source", k(), json!([other]), json!([all()]), &["K Shadowed"]),
            ("a literal over another variable", k(), json!([literal("X", "x")]), json!([all()]), &[]),
            (
                "a literal after a reference",
                k(),
                json!([from_key("K", "K"), literal("K", "x")]),
                json!([]),
                &["K Shadowed"],
            ),
            (
                "a literal before a reference",
                k(),
                json!([literal("K", "x"), from_key("K", "K")]),
                json!([]),
                &[],
            ),
            (
                "a reference after all",
                k(),
                json!([literal("K", "x"), from_key("K", "K")]),
                json!([all()]),
                &[],
            ),
            (
                "another variable still has it",
                k(),
                json!([from_key("V", "K"), literal("K", "x")]),
                json!([all()]),
                &[],
            ),
            (
                "the name that is asked for is lost",
                json!([{"name": "K", "envName": "K"}]),
                json!([from_key("V", "K"), literal("K", "x")]),
                json!([all()]),
                &["K Shadowed"],
            ),
            (
                "another name is lost",
                named(),
                json!([from_key("B", "a.json"), literal("B", "x")]),
                json!([]),
                &["a.json ReferenceMissing"],
            ),
            (
                "a literal with the variable in it",
                k(),
                json!([from_key("K", "K"), literal("K", "$(K)")]),
                json!([]),
                &["K Shadowed"],
            ),
            (
                "another key takes the variable",
                two(),
                json!([from_key("K", "L")]),
                json!([all()]),
                &["K Shadowed"],
            ),
            (
                "keys change places",
                two(),
                json!([from_key("K", "L"), from_key("L", "K")]),
                json!([all()]),
                &[],
            ),
        ],
    );
}

#[test]
fn what_comes_from_objects_that_are_not_read() {
    let may =
        json!({"name": "K", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "K", "optional": true}}});
    run(
        "EnvVars",
        vec![
            ("an unread source before", k(), json!([]), json!([others(), all()]), &[]),
            ("an unread source after", k(), json!([]), json!([all(), others()]), &["note"]),
            ("an unread source in the middle", k(), json!([]), json!([all(), others(), all()]), &[]),
            (
                "an unread source with another prefix",
                k(),
                json!([]),
                json!([all(), {"configMapRef": {"name": "c"}, "prefix": "X_"}]),
                &[],
            ),
            (
                "an unread source with a prefix that fits",
                json!([{"name": "X_K"}]),
                json!([]),
                json!([all(), {"secretRef": {"name": "t"}, "prefix": "X_"}]),
                &["note"],
            ),
            (
                "an unread source with all of the name as prefix",
                k(),
                json!([]),
                json!([all(), {"secretRef": {"name": "t"}, "prefix": "K"}]),
                &[],
            ),
            (
                "an unread source, and a reference after it",
                k(),
                json!([from_key("K", "K")]),
                json!([all(), others()]),
                &[],
            ),
            (
                "an unread source, and a literal after it",
                k(),
                json!([literal("K", "x")]),
                json!([all(), others()]),
                &["K Shadowed"],
            ),
            ("an entry that need not be there", k(), json!([may]), json!([all()]), &["note"]),
            ("only an unread source", k(), json!([]), json!([others()]), &["K ReferenceMissing"]),
        ],
    );
}

#[test]
fn keys_of_the_same_secret_meet_in_one_variable() {
    let keys = |required: bool| json!([{"name": "K"}, {"name": "P_K", "required": required, "envName": "Q"}]);
    let own = json!([{"name": "K", "envName": "P_K"}]);
    let sources = || json!([all_with_prefix("P_"), all()]);
    let mut required = keys(true);
    required[0]["envName"] = json!("P_K");
    let mut optional = keys(false);
    optional[0]["envName"] = json!("P_K");
    run(
        "EnvVars",
        vec![
            ("a key that no rule names is not known", own, json!([]), sources(), &[]),
            ("an optional key may be there", optional, json!([]), sources(), &["note"]),
            ("a required key is there", required, json!([from_key("Q", "P_K")]), sources(), &["K Shadowed"]),
        ],
    );
}
