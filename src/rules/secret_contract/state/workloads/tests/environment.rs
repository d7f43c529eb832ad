//! Keys as environment variables.

use super::*;

/// Keys, the container's `env` and `envFrom`, and the expected findings of container `app`, by key.
pub(super) type Row = (&'static str, Value, Value, Value, &'static [&'static str]);

pub(super) fn run(consumption: &str, rows: Vec<Row>) {
    for (what, keys, env, env_from, expected) in rows {
        let pod = json!({"containers": [{"name": "app", "env": env, "envFrom": env_from}]});
        let judged = judged(&keys, json!({"consumption": consumption}), &pod);
        let expected: Vec<String> = expected
            .iter()
            .map(|word| if *word == "note" { (*word).into() } else { format!("app {word}") })
            .collect();
        assert_eq!(told(&judged), expected, "{what}: {}", judged.verdict.message);
    }
}

pub(super) fn k() -> Value {
    json!([{"name": "K"}])
}

pub(super) fn named() -> Value {
    json!([{"name": "a.json", "envName": "A"}])
}

#[test]
fn references_of_single_variables() {
    let other = json!({"name": "V", "valueFrom": {"secretKeyRef": {"name": "other", "key": "K"}}});
    let both = json!({"name": "V", "value": "x", "valueFrom": {"secretKeyRef": {"name": "web", "key": "K"}}});
    let empty = json!({"name": "V", "value": "", "valueFrom": {"secretKeyRef": {"name": "web", "key": "K"}}});
    run(
        "EnvVars",
        vec![
            ("nothing", k(), json!([]), json!([]), &["K ReferenceMissing"]),
            ("under its own name", k(), json!([from_key("K", "K")]), json!([]), &[]),
            ("under any name", k(), json!([from_key("V", "K")]), json!([]), &[]),
            ("under a name that is not portable", k(), json!([from_key("a.b", "K")]), json!([]), &[]),
            ("another key", k(), json!([from_key("K", "X")]), json!([]), &["K ReferenceMissing"]),
            ("another Secret", k(), json!([other]), json!([]), &["K ReferenceMissing"]),
            (
                "a reference by $(VAR) is none",
                k(),
                json!([literal("V", "$(K)")]),
                json!([]),
                &["K ReferenceMissing"],
            ),
            ("a literal wins over a source", k(), json!([both]), json!([]), &["K ReferenceMissing"]),
            ("an empty literal does not", k(), json!([empty]), json!([]), &[]),
            (
                "a key that is no variable name",
                json!([{"name": "a.b"}]),
                json!([from_key("V", "a.b")]),
                json!([]),
                &[],
            ),
            ("the name that is asked for", named(), json!([from_key("A", "a.json")]), json!([]), &[]),
            (
                "another name",
                named(),
                json!([from_key("B", "a.json")]),
                json!([]),
                &["a.json ReferenceMissing"],
            ),
            (
                "letters of another case",
                named(),
                json!([from_key("a", "a.json")]),
                json!([]),
                &["a.json ReferenceMissing"],
            ),
            (
                "two names, one of them right",
                named(),
                json!([from_key("B", "a.json"), from_key("A", "a.json")]),
                json!([]),
                &[],
            ),
            (
                "two keys, one of them there",
                json!([{"name": "K"}, {"name": "L"}]),
                json!([from_key("K", "K")]),
                json!([]),
                &["L ReferenceMissing"],
            ),
        ],
    );
}

#[test]
fn sources_of_many_variables() {
    let config = json!({"configMapRef": {"name": "web"}});
    run(
        "EnvVars",
        vec![
            ("all keys", k(), json!([]), json!([all()]), &[]),
            ("with a prefix", k(), json!([]), json!([all_with_prefix("P_")]), &[]),
            ("a ConfigMap of that name", k(), json!([]), json!([config]), &["K ReferenceMissing"]),
            (
                "another Secret",
                k(),
                json!([]),
                json!([{"secretRef": {"name": "other"}}]),
                &["K ReferenceMissing"],
            ),
            ("not portable", json!([{"name": "a.b"}]), json!([]), json!([all()]), &["a.b ReferenceMissing"]),
            (
                "no prefix makes it portable",
                json!([{"name": "a-b"}]),
                json!([]),
                json!([all_with_prefix("P")]),
                &["a-b ReferenceMissing"],
            ),
            ("a digit first", json!([{"name": "1a"}]), json!([]), json!([all()]), &["1a ReferenceMissing"]),
            (
                "a digit after a prefix",
                json!([{"name": "1a"}]),
                json!([]),
                json!([all_with_prefix("P")]),
                &[],
            ),
            (
                "a prefix that is not portable",
                k(),
                json!([]),
                json!([all_with_prefix("p.")]),
                &["K ReferenceMissing"],
            ),
            (
                "not portable, but read by itself",
                json!([{"name": "a.b"}]),
                json!([from_key("V", "a.b")]),
                json!([all()]),
                &[],
            ),
            (
                "prefix and key are the name",
                json!([{"name": "K", "envName": "P_K"}]),
                json!([]),
                json!([all_with_prefix("P_")]),
                &[],
            ),
            (
                "prefix and key are another name",
                json!([{"name": "K", "envName": "K"}]),
                json!([]),
                json!([all_with_prefix("P_")]),
                &["K ReferenceMissing"],
            ),
            (
                "the key's own name is not the one",
                named(),
                json!([]),
                json!([all()]),
                &["a.json ReferenceMissing"],
            ),
            (
                "one of two prefixes is right",
                json!([{"name": "K", "envName": "K"}]),
                json!([]),
                json!([all(), all_with_prefix("P_")]),
                &[],
            ),
        ],
    );
}

#[test]
fn optional_references() {
    let maybe = json!({"secretRef": {"name": "web", "optional": true}});
    let optional = || json!([{"name": "K", "required": false}]);
    run(
        "EnvVars",
        vec![
            (
                "an optional reference",
                k(),
                json!([from_optional_key("K", "K")]),
                json!([]),
                &["K OptionalReference"],
            ),
            ("an optional source", k(), json!([]), json!([maybe]), &["K OptionalReference"]),
            (
                "beside one that is not",
                k(),
                json!([from_optional_key("V", "K"), from_key("K", "K")]),
                json!([]),
                &[],
            ),
            ("over one that is not", k(), json!([from_optional_key("K", "K")]), json!([all()]), &[]),
            ("under one that is not", k(), json!([from_key("K", "K")]), json!([maybe]), &[]),
            (
                "overwritten",
                k(),
                json!([from_optional_key("K", "K"), literal("K", "x")]),
                json!([]),
                &["K Shadowed"],
            ),
            (
                "after a literal",
                k(),
                json!([literal("K", "x"), from_optional_key("K", "K")]),
                json!([]),
                &["K OptionalReference"],
            ),
            (
                "one lost, one optional",
                k(),
                json!([from_optional_key("V", "K"), literal("K", "x")]),
                json!([all()]),
                &["K OptionalReference"],
            ),
            (
                "optional: false",
                k(),
                json!([{"name": "K", "valueFrom": {"secretKeyRef": {"name": "web", "key": "K", "optional": false}}}]),
                json!([]),
                &[],
            ),
            ("of an optional key", optional(), json!([from_optional_key("K", "K")]), json!([]), &[]),
            ("an optional key that nothing reads", optional(), json!([]), json!([]), &[]),
            ("an optional key through a source", optional(), json!([]), json!([all()]), &[]),
            (
                "an optional key that must be there",
                optional(),
                json!([from_key("K", "K")]),
                json!([]),
                &["K MandatoryReference"],
            ),
            (
                "the same, overwritten",
                optional(),
                json!([from_key("K", "K"), literal("K", "x")]),
                json!([]),
                &["K MandatoryReference"],
            ),
            (
                "one of two must be there",
                optional(),
                json!([from_optional_key("V", "K"), from_key("K", "K")]),
                json!([]),
                &["K MandatoryReference"],
            ),
            ("an optional key that is lost", optional(), json!([literal("K", "x")]), json!([all()]), &[]),
        ],
    );
    run(
        "Volume",
        vec![(
            "whatever the consumption",
            optional(),
            json!([from_key("K", "K")]),
            json!([]),
            &["K MandatoryReference"],
        )],
    );
}

#[test]
fn either_way() {
    let rows = || {
        vec![
            ("by a variable", k(), json!([from_key("V", "K")]), json!([]), &[][..]),
            ("by none", k(), json!([]), json!([]), &["K ReferenceMissing"][..]),
        ]
    };
    run("Any", rows());
    run(
        "Volume",
        vec![("a variable is no file", k(), json!([from_key("V", "K")]), json!([]), &["K ReferenceMissing"])],
    );
}

#[test]
fn keys_that_stand_in_the_environment() {
    let keys = json!([{"name": "K"}, {"name": "a.b", "required": false}, {"name": "L", "envName": "M"}]);
    for (what, env, env_from, expected) in [
        ("all, under whatever name", json!([]), json!([all()]), &["K", "L", "a.b"][..]),
        ("without those that are lost", json!([literal("K", "x")]), json!([all()]), &["L", "a.b"]),
        (
            "lost in one variable, not in another",
            json!([literal("K", "x"), from_key("V", "K")]),
            json!([all()]),
            &["K", "L", "a.b"],
        ),
        ("optional ones too", json!([from_optional_key("V", "a.b")]), json!([]), &["a.b"]),
        ("none", json!([literal("K", "$(L)")]), json!([others()]), &[]),
    ] {
        for consumption in ["EnvVars", "Volume", "Any"] {
            let pod = json!({"containers": [
                {"name": "app", "env": env, "envFrom": env_from},
                {"name": "not-selected", "envFrom": [all()]},
            ]});
            let judged = judged(&keys, json!({"consumption": consumption, "containers": ["app"]}), &pod);
            let found: Vec<&str> = judged.environment_keys.iter().map(String::as_str).collect();
            assert_eq!(found, expected, "{what} {consumption}");
        }
    }
}
