//! Keys as files of volumes.

use super::*;

/// The pod's volume `v`, the container's mounts, and the expected findings of key `K`.
type Row = (&'static str, Value, Value, &'static [&'static str]);

fn run(keys: &Value, consumption: &str, rows: Vec<Row>) {
    for (what, mut volume, mounts, expected) in rows {
        volume["name"] = json!("v");
        let pod = json!({"containers": [{"name": "app", "volumeMounts": mounts}], "volumes": [volume, {"name": "other", "emptyDir": {}}]});
        let judged = judged(keys, json!({"consumption": consumption}), &pod);
        assert!(judged.environment_keys.is_empty());
        let expected: Vec<String> = expected
            .iter()
            .map(|word| if *word == "note" { (*word).into() } else { format!("app K {word}") })
            .collect();
        assert_eq!(told(&judged), expected, "{what}: {}", judged.verdict.message);
    }
}

fn k() -> Value {
    json!([{"name": "K"}])
}

fn whole() -> Value {
    json!({"secret": {"secretName": "web"}})
}

fn items(items: &[(&str, &str)]) -> Value {
    let items: Vec<Value> = items.iter().map(|(key, path)| json!({"key": key, "path": path})).collect();
    json!({"secret": {"secretName": "web", "items": items}})
}

fn projected(sources: &Value) -> Value {
    json!({"projected": {"sources": sources}})
}

fn mounted() -> Value {
    json!([{"name": "v", "mountPath": "/etc/web"}])
}

fn part(field: &str, part: &str) -> Value {
    json!([{"name": "v", "mountPath": "/etc/web", field: part}])
}

#[test]
fn volumes_of_the_secret() {
    let other = json!({"secret": {"secretName": "other"}});
    let csi = json!({"csi": {"driver": "secrets-store.csi.k8s.io", "nodePublishSecretRef": {"name": "web"}}});
    run(
        &k(),
        "Volume",
        vec![
            ("mounted", whole(), mounted(), &[]),
            ("not mounted", whole(), json!([]), &["ReferenceMissing"]),
            (
                "another volume is mounted",
                whole(),
                json!([{"name": "other", "mountPath": "/a"}]),
                &["ReferenceMissing"],
            ),
            (
                "a mount of no volume",
                whole(),
                json!([{"name": "none", "mountPath": "/a"}]),
                &["ReferenceMissing"],
            ),
            ("of another Secret", other, mounted(), &["ReferenceMissing"]),
            ("csi", csi, mounted(), &["ReferenceMissing"]),
            (
                "a ConfigMap of that name",
                json!({"configMap": {"name": "web"}}),
                mounted(),
                &["ReferenceMissing"],
            ),
            ("listed", items(&[("K", "k")]), mounted(), &[]),
            ("not listed", items(&[("L", "k")]), mounted(), &["ReferenceMissing"]),
            ("listed twice", items(&[("K", "a"), ("K", "b")]), mounted(), &[]),
            (
                "another key at its path later",
                items(&[("K", "a"), ("L", "./a")]),
                mounted(),
                &["ReferenceMissing"],
            ),
            ("another key at its path before", items(&[("L", "a"), ("K", "a")]), mounted(), &[]),
            ("another path is left", items(&[("K", "a"), ("L", "a"), ("K", "b")]), mounted(), &[]),
        ],
    );
    run(&k(), "EnvVars", vec![("a file is no variable", whole(), mounted(), &["ReferenceMissing"])]);
    run(
        &k(),
        "Any",
        vec![("either way", whole(), mounted(), &[]), ("neither", whole(), json!([]), &["ReferenceMissing"])],
    );
    let named = json!([{"name": "K", "envName": "V"}]);
    run(&named, "Volume", vec![("a file needs no variable", whole(), mounted(), &[])]);
    run(&named, "Any", vec![("a file needs no variable", whole(), mounted(), &[])]);
    let pulled = json!({"imagePullSecrets": [{"name": "web"}], "containers": [{"name": "app"}]});
    assert_eq!(told(&judged(&k(), json!({}), &pulled)), ["app K ReferenceMissing"]);
}

#[test]
fn projected_volumes() {
    let own = || json!({"secret": {"name": "web"}});
    let listed = |path: &str| json!({"secret": {"name": "web", "items": [{"key": "K", "path": path}]}});
    let maybe = json!({"secret": {"name": "web", "optional": true}});
    let named_otherwise = json!({"secret": {"secretName": "web"}});
    run(
        &k(),
        "Volume",
        vec![
            ("a source", projected(&json!([own()])), mounted(), &[]),
            (
                "a source among others",
                projected(&json!([{"downwardAPI": {"items": []}}, own()])),
                mounted(),
                &[],
            ),
            (
                "no source",
                projected(&json!([{"secret": {"name": "other"}}])),
                mounted(),
                &["ReferenceMissing"],
            ),
            (
                "the volume's field for the name",
                projected(&json!([named_otherwise])),
                mounted(),
                &["ReferenceMissing"],
            ),
            ("listed", projected(&json!([listed("a/b")])), mounted(), &[]),
            (
                "another key is listed",
                projected(&json!([{"secret": {"name": "web", "items": [{"key": "L", "path": "K"}]}}])),
                mounted(),
                &["ReferenceMissing"],
            ),
            ("optional", projected(&json!([maybe])), mounted(), &["OptionalReference"]),
            ("optional, and again", projected(&json!([maybe, own()])), mounted(), &[]),
        ],
    );
}

#[test]
fn sources_of_one_projected_volume_meet_in_one_path() {
    let own = || json!({"secret": {"name": "web"}});
    let listed = |path: &str| json!({"secret": {"name": "web", "items": [{"key": "K", "path": path}]}});
    let token = |path: &str| json!({"serviceAccountToken": {"path": path}});
    run(
        &k(),
        "Volume",
        vec![
            ("replaced", projected(&json!([own(), token("K")])), mounted(), &["ReferenceMissing"]),
            (
                "replaced by a listed key",
                projected(
                    &json!([own(), {"configMap": {"name": "c", "items": [{"key": "x", "path": "K"}]}}]),
                ),
                mounted(),
                &["ReferenceMissing"],
            ),
            (
                "replaced by a listed key of a Secret",
                projected(&json!([own(), {"secret": {"name": "t", "items": [{"key": "x", "path": "K"}]}}])),
                mounted(),
                &["ReferenceMissing"],
            ),
            (
                "perhaps replaced by a listed key",
                projected(
                    &json!([own(), {"secret": {"name": "t", "optional": true, "items": [{"key": "x", "path": "K"}]}}]),
                ),
                mounted(),
                &["note"],
            ),
            ("another path", projected(&json!([own(), token("token")])), mounted(), &[]),
            ("the other comes first", projected(&json!([token("K"), own()])), mounted(), &[]),
            (
                "an unread source after",
                projected(&json!([own(), {"configMap": {"name": "c"}}])),
                mounted(),
                &["note"],
            ),
            (
                "an unread Secret after",
                projected(&json!([own(), {"secret": {"name": "t"}}])),
                mounted(),
                &["note"],
            ),
            (
                "an unread source before",
                projected(&json!([{"configMap": {"name": "c"}}, own()])),
                mounted(),
                &[],
            ),
            (
                "an unread source writes no folders",
                projected(&json!([listed("a/b"), {"configMap": {"name": "c"}}])),
                mounted(),
                &[],
            ),
            ("the same Secret again", projected(&json!([own(), own()])), mounted(), &[]),
        ],
    );
    let two = json!([{"name": "K"}, {"name": "L", "required": false}]);
    run(
        &two,
        "Volume",
        vec![
            ("an optional key may take the path", projected(&json!([listed("L"), own()])), mounted(), &[]),
            (
                "an optional key may take the path, and the folder is not there",
                projected(&json!([own(), listed("L")])),
                mounted(),
                &[],
            ),
        ],
    );
}

#[test]
fn parts_of_volumes() {
    run(
        &k(),
        "Volume",
        vec![
            ("the file", whole(), part("subPath", "K"), &["note"]),
            ("the file by an expression", whole(), part("subPathExpr", "K"), &["note"]),
            ("another file", whole(), part("subPath", "L"), &["ReferenceMissing", "note"]),
            ("a longer name", whole(), part("subPath", "K2"), &["ReferenceMissing", "note"]),
            ("below the file", whole(), part("subPath", "K/x"), &["ReferenceMissing", "note"]),
            ("everything", whole(), part("subPath", "."), &["note"]),
            ("an empty part is none", whole(), part("subPath", ""), &[]),
            ("written otherwise", whole(), part("subPath", "./K/"), &["note"]),
            ("a folder above", items(&[("K", "a/b/c")]), part("subPath", "a/b"), &["note"]),
            ("the file in a folder", items(&[("K", "a/b/c")]), part("subPath", "a/b/c"), &["note"]),
            (
                "half a folder's name",
                items(&[("K", "abc/d")]),
                part("subPath", "ab"),
                &["ReferenceMissing", "note"],
            ),
            (
                "an expression with variables",
                whole(),
                part("subPathExpr", "$(NAME)"),
                &["ReferenceMissing", "note"],
            ),
            (
                "an expression with a dollar sign",
                items(&[("K", "$(NAME)")]),
                part("subPathExpr", "$$(NAME)"),
                &["note"],
            ),
            (
                "no variables in a plain part",
                items(&[("K", "$(NAME)")]),
                part("subPath", "$(NAME)"),
                &["note"],
            ),
            ("an absolute part", whole(), part("subPath", "/K"), &["ReferenceMissing", "note"]),
            ("a part that climbs", whole(), part("subPath", "a/../K"), &["ReferenceMissing", "note"]),
            (
                "the whole beside the part",
                whole(),
                json!([{"name": "v", "mountPath": "/a", "subPath": "L"}, {"name": "v", "mountPath": "/b"}]),
                &["note"],
            ),
        ],
    );
    run(
        &k(),
        "EnvVars",
        vec![("where files count for nothing", whole(), part("subPath", "K"), &["ReferenceMissing"])],
    );
}

#[test]
fn mounts_over_mounts() {
    let over =
        |path: &str| json!([{"name": "v", "mountPath": "/etc/web/"}, {"name": "other", "mountPath": path}]);
    run(
        &k(),
        "Volume",
        vec![
            ("over the file", whole(), over("/etc/web/K"), &["ReferenceMissing"]),
            ("beside the file", whole(), over("/etc/web/L"), &[]),
            ("around the mount", whole(), over("/etc"), &[]),
            ("over a folder of the file", items(&[("K", "a/b")]), over("/etc/web/a"), &["ReferenceMissing"]),
            ("below the file's name", whole(), over("/etc/web/K2"), &[]),
            (
                "by the key itself",
                whole(),
                json!([{"name": "v", "mountPath": "/etc/web"}, {"name": "v", "mountPath": "/etc/web/K", "subPath": "K"}]),
                &["note"],
            ),
        ],
    );
}

#[test]
fn optional_volumes() {
    let maybe = |items: Value| json!({"secret": {"secretName": "web", "optional": true, "items": items}});
    run(
        &k(),
        "Volume",
        vec![
            ("optional", maybe(json!([])), mounted(), &["OptionalReference"]),
            (
                "optional and listed",
                maybe(json!([{"key": "K", "path": "k"}])),
                mounted(),
                &["OptionalReference"],
            ),
        ],
    );
    let optional = json!([{"name": "K", "required": false}]);
    let source = |optional: bool| {
        projected(
            &json!([{"secret": {"name": "web", "optional": optional, "items": [{"key": "K", "path": "k"}]}}]),
        )
    };
    for consumption in ["Volume", "EnvVars", "Any"] {
        run(
            &optional,
            consumption,
            vec![
                ("the whole volume", whole(), mounted(), &[]),
                ("listed", items(&[("K", "k")]), mounted(), &["MandatoryReference"]),
                ("listed and not mounted", items(&[("K", "k")]), json!([]), &[]),
                ("listed and optional", maybe(json!([{"key": "K", "path": "k"}])), mounted(), &[]),
                ("another key is listed", items(&[("L", "k")]), mounted(), &[]),
                ("projected", source(false), mounted(), &["MandatoryReference"]),
                ("projected and optional", source(true), mounted(), &[]),
            ],
        );
    }
    // A sure way by a variable makes up for an optional volume, where either counts.
    let pod = json!({
        "containers": [{"name": "app", "env": [from_key("V", "K")], "volumeMounts": mounted()}],
        "volumes": [{"name": "v", "secret": {"secretName": "web", "optional": true}}],
    });
    assert_eq!(told(&judged(&k(), json!({}), &pod)), Vec::<String>::new());
    assert_eq!(told(&judged(&k(), json!({"consumption": "Volume"}), &pod)), ["app K OptionalReference"]);
}
