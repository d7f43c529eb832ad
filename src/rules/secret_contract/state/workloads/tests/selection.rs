//! Which containers are judged.

use super::*;

#[test]
fn containers_are_selected() {
    let app = json!({"name": "app", "envFrom": [all()]});
    let bare = |name: &str| json!({"name": name});
    let sidecar = json!({"name": "proxy", "restartPolicy": "Always"});
    let pod = json!({"containers": [app, bare("log")], "initContainers": [bare("migrate"), sidecar]});
    let lost = |container: &str| format!("{container} K ReferenceMissing");
    for (what, reference, expected) in [
        ("every regular one", json!({}), vec![lost("log")]),
        ("every regular one, said so", json!({"includeInitContainers": false}), vec![lost("log")]),
        ("all", json!({"includeInitContainers": true}), vec![lost("log"), lost("migrate"), lost("proxy")]),
        ("a listed one", json!({"containers": ["app"]}), vec![]),
        ("two listed ones", json!({"containers": ["app", "log"]}), vec![lost("log")]),
        ("one twice", json!({"containers": ["log", "log"]}), vec![lost("log")]),
        (
            "one that is not there",
            json!({"containers": ["app", "nginx"]}),
            vec!["nginx - ContainerNotFound".into()],
        ),
        (
            "that one twice",
            json!({"containers": ["nginx", "nginx"]}),
            vec!["nginx - ContainerNotFound".into()],
        ),
        (
            "an init container",
            json!({"containers": ["app", "migrate"]}),
            vec!["migrate - InitContainerNotIncluded".into()],
        ),
        (
            "a native sidecar",
            json!({"containers": ["app", "proxy"]}),
            vec!["proxy - InitContainerNotIncluded".into()],
        ),
        (
            "an init container, included",
            json!({"containers": ["app", "migrate"], "includeInitContainers": true}),
            vec![lost("migrate")],
        ),
        (
            "a native sidecar, included",
            json!({"containers": ["proxy"], "includeInitContainers": true}),
            vec![lost("proxy")],
        ),
        (
            "listed ones alone, though included",
            json!({"containers": ["app"], "includeInitContainers": true}),
            vec![],
        ),
        (
            "none that is there, though included",
            json!({"containers": ["x"], "includeInitContainers": true}),
            vec!["x - ContainerNotFound".into()],
        ),
        ("letters of another case", json!({"containers": ["App"]}), vec!["App - ContainerNotFound".into()]),
        (
            "faults beside findings",
            json!({"containers": ["log", "nginx"]}),
            vec![lost("log"), "nginx - ContainerNotFound".into()],
        ),
    ] {
        let judged = judged(&json!([{"name": "K"}]), reference, &pod);
        assert_eq!(told(&judged), expected, "{what}");
    }
    let none = judged(&json!([]), json!({"containers": ["nginx"]}), &pod);
    assert_eq!(told(&none), ["nginx - ContainerNotFound"], "also where no key is required");
    assert_eq!(
        none.findings[0].message,
        "Deployment \"web\" has no container \"nginx\": it has \"app\", \"log\"; correct spec.workloadRefs[].containers."
    );
    let empty = judged(&json!([{"name": "K"}]), json!({}), &json!({}));
    assert_eq!(told(&empty), [" - ContainerNotFound"], "a template without containers configures nothing");
}

#[test]
fn every_selected_container_needs_every_required_key() {
    let keys = json!([{"name": "K"}, {"name": "L"}, {"name": "M", "required": false}]);
    let pod = json!({"containers": [{"name": "b", "env": [from_key("K", "K")]}, {"name": "a", "env": [from_key("L", "L")]}]});
    let judged = judged(&keys, json!({}), &pod);
    assert_eq!(told(&judged), ["a K ReferenceMissing", "b L ReferenceMissing"]);
}
