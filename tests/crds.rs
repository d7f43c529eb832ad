//! The definitions that we ship: the committed files are what the code prints, and what they hold is what they promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::case_sensitive_file_extension_comparisons,
    missing_docs
)]
#![cfg(feature = "cli")]

use std::path::Path;

use covenant::api::{Kind, crd};
use covenant::cli::crds;
use serde_json::Value;

/// Calls `check` with the path of every schema node below `node`, itself included.
fn visit(node: &Value, path: &str, check: &mut impl FnMut(&str, &Value)) {
    check(path, node);
    for (name, child) in node["properties"].as_object().into_iter().flatten() {
        visit(child, &format!("{path}.{name}"), check);
    }
    if node["items"].is_object() {
        visit(&node["items"], &format!("{path}[]"), check);
    }
}

fn schema(kind: Kind) -> Value {
    crd::to_value(kind).unwrap()["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
}

fn each_node(kind: Kind, mut check: impl FnMut(&str, &Value)) {
    visit(&schema(kind), kind.as_str(), &mut check);
}

/// With `COVENANT_UPDATE=1` the files are written instead of compared.
#[test]
fn committed_files_are_what_the_code_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/crds");
    for kind in Kind::ALL {
        let file = folder.join(crds::manifest_name(kind));
        let printed = crds::manifest(kind).unwrap();
        if std::env::var_os("COVENANT_UPDATE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &printed).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == printed,
            "{} is not what `covenant crds --kind {kind}` prints; run this test with COVENANT_UPDATE=1",
            file.display()
        );
    }
}

#[test]
fn the_installation_holds_every_definition() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/crds/kustomization.yaml");
    let kustomization: Value = serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let listed: Vec<_> =
        kustomization["resources"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let mut expected = Kind::ALL.map(crds::manifest_name);
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn every_field_is_described() {
    for kind in Kind::ALL {
        each_node(kind, |path, node| {
            if path.ends_with(']') && node["properties"].is_null() || path.contains(".metadata") {
                return;
            }
            let description = node["description"].as_str().unwrap_or_default();
            assert!(description.len() >= 18, "{path} is not described: {description:?}");
            assert!(description.ends_with('.'), "{path}: {description:?}");
            for word in
                ["Option<", "Vec<", "None =", "::", "i64", "bool ", "struct", "enum ", "Auto-generated"]
            {
                assert!(!description.contains(word), "{path} speaks of the source: {description:?}");
            }
        });
    }
}

#[test]
fn nothing_is_null_or_open_and_every_format_is_known() {
    for kind in Kind::ALL {
        each_node(kind, |path, node| {
            for keyword in ["nullable", "anyOf", "oneOf", "allOf", "not", "additionalProperties", "pattern"] {
                assert!(node[keyword].is_null(), "{path} has {keyword}");
            }
            assert!(node["x-kubernetes-preserve-unknown-fields"].is_null(), "{path}");
            if let Some(format) = node["format"].as_str() {
                assert!(["int32", "int64", "date-time"].contains(&format), "{path} has format {format}");
            }
            for value in node["enum"].as_array().into_iter().flatten() {
                assert!(value.is_string(), "{path} lists {value}");
            }
        });
    }
}

#[test]
fn every_text_and_list_is_bounded() {
    for kind in Kind::ALL {
        each_node(kind, |path, node| match node["type"].as_str() {
            Some("string") => {
                let fixed = node["enum"].is_array() || node["format"] == "date-time";
                let root = path.matches('.').count() == 1;
                assert!(fixed || root || node["maxLength"].is_i64(), "{path} is an unbounded text");
            }
            Some("array") => {
                assert!(node["maxItems"].is_i64(), "{path} is an unbounded list");
                assert!(node["x-kubernetes-list-type"].is_string(), "{path} does not say how it is merged");
            }
            Some("integer" | "boolean" | "object") => {}
            other => panic!("{path} has type {other:?}"),
        });
    }
}

#[test]
fn a_contract_has_no_rules_and_no_defaults() {
    each_node(Kind::SecretContract, |path, node| {
        for keyword in ["x-kubernetes-validations", "default"] {
            assert!(node[keyword].is_null(), "{path} has {keyword}");
        }
    });
}

#[test]
fn the_words_of_a_contract_stand_in_their_order() {
    let schema = schema(Kind::SecretContract);
    let spec = &schema["properties"]["spec"]["properties"];
    let key = &spec["requiredKeys"]["items"]["properties"];
    let workload = &spec["workloadRefs"]["items"]["properties"];
    assert_eq!(key["format"]["enum"], serde_json::json!(["None", "JSON", "URI", "PEM"]));
    assert_eq!(workload["consumption"]["enum"], serde_json::json!(["EnvVars", "Volume", "Any"]));
    assert_eq!(workload["kind"]["enum"], serde_json::json!(["Deployment", "StatefulSet", "DaemonSet"]));
    assert_eq!(workload["apiVersion"]["enum"], serde_json::json!(["apps/v1"]));
    assert!(spec["injection"]["properties"]["mode"]["enum"].is_null());
}

#[test]
fn the_defaults_of_the_database_kinds_are_the_fixed_ones() {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        each_node(kind, |path, node| {
            if !node["default"].is_null() {
                found.push(format!("{path} = {}", node["default"]));
            }
        });
    }
    assert_eq!(
        found,
        [
            "PostgreSQLInstance.spec.adminCredentialRef.passwordKey = \"password\"",
            "PostgreSQLInstance.spec.adminCredentialRef.usernameKey = \"username\"",
            "PostgreSQLInstance.spec.endpoint.database = \"postgres\"",
            "PostgreSQLInstance.spec.endpoint.port = 5432",
            "PostgreSQLInstance.spec.endpoint.sslMode = \"verify-full\"",
            "PostgreSQLDatabase.spec.reclaimPolicy = \"Retain\"",
        ]
    );
}

/// The expression without its text literals.
fn code(expression: &str) -> String {
    expression.replace("\\'", "").split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// Whether the expression calls a function that can raise an error, or indexes a list or map.
fn can_fail(expression: &str) -> bool {
    let code = code(expression);
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    let calls = ["duration", "int", "uint", "double", "url", "timestamp", "quantity", "ip", "cidr", "string"];
    let call = calls.iter().any(|name| {
        code.match_indices(&format!("{name}(")).any(|(at, _)| !code[..at].ends_with(part_of_name))
    });
    let index = code
        .match_indices('[')
        .any(|(at, _)| code[..at].ends_with(|before| part_of_name(before) || before == ')' || before == ']'));
    call || index
}

/// A rule must not be able to raise an error, and one on the root or on a whole `spec` must spare what is stored.
#[test]
fn no_rule_can_hold_an_object_fast() {
    assert!(can_fail("duration(self) > duration('0s')") && can_fail("self.list[0] == 1"));
    assert!(!can_fail("isIP(self) || self in ['int(', 'a[0]']"));
    let mut rules = 0;
    for kind in Kind::ALL {
        each_node(kind, |path, node| {
            for rule in node["x-kubernetes-validations"].as_array().into_iter().flatten() {
                rules += 1;
                let text = rule["rule"].as_str().unwrap();
                assert!(!can_fail(text), "{path}: {text} could raise an error");
                let message = rule["messageExpression"].as_str();
                assert!(message.or(rule["message"].as_str()).is_some_and(|said| !said.is_empty()), "{path}");
                assert!(message.is_none_or(|said| !can_fail(said)), "{path}: {message:?}");
                let whole = !path.contains('.') || path.ends_with(".spec");
                assert!(!whole || text.contains("oldSelf"), "{path}: {text} would hold a stored object fast");
            }
        });
    }
    assert!(rules > 30, "only {rules} rules were looked at");
}

#[test]
fn people_find_the_kinds() {
    let names: Vec<_> = Kind::ALL
        .iter()
        .map(|kind| {
            let names = kind.crd().spec.names;
            (names.short_names.unwrap().join(","), names.categories.unwrap().join(","))
        })
        .collect();
    let expected = [
        ("sctr", "secrets-contracts"),
        ("pgi", "covenant-databases"),
        ("pgdb", "covenant-databases"),
        ("pgt", "covenant-databases"),
    ];
    assert_eq!(names, expected.map(|(short, category)| (short.to_owned(), category.to_owned())));
}

#[test]
fn every_kind_has_a_status_subresource() {
    for kind in Kind::ALL {
        let crd = crd::to_value(kind).unwrap();
        let version = &crd["spec"]["versions"][0];
        assert!(version["subresources"]["status"].is_object(), "{kind}");
        assert_eq!(version["served"], true);
        assert_eq!(version["storage"], true);
    }
}
