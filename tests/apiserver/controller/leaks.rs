//! No byte of a Secret is in anything that the controller says, whatever is asked of it and however it is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{Controller, apply, kubectl, namespace, until};

const CANARY: &str = "kanarienvogel/+7f3Q==~";

/// The canary as it might turn up.
fn traces(value: &str) -> Vec<String> {
    let hex: String = value.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let url: String =
        value
            .bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect();
    let numbers = value.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    vec![
        value.to_owned(),
        STANDARD.encode(value),
        hex.to_uppercase(),
        hex,
        url,
        numbers,
        "kanarien".to_owned(),
    ]
}

#[test]
fn nothing_of_a_secret_is_said() {
    let namespace = &namespace("leaks");
    let controller = Controller::alone(namespace);
    controller.ready();
    let keys: Vec<_> = ["JSON", "URI", "PEM", "None"]
        .iter()
        .flat_map(|format| {
            ["^nothing$", "(a|b)*c"].iter().enumerate().map(move |(number, pattern)| {
                json!({"name": format!("{format}-{number}"), "format": format, "pattern": pattern, "minLength": 900, "maxLength": 1000})
            })
        })
        .collect();
    let contract = json!({
        "apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"secretRef": {"name": "web"}, "requiredKeys": keys, "rotation": {"maxAge": "1h"},
            "policy": {"requireRotationPolicy": true}}
    });
    let values: serde_json::Map<_, _> =
        keys.iter().map(|key| (key["name"].as_str().unwrap().to_owned(), json!(CANARY))).collect();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "web", "namespace": namespace, "annotations": {"secrets.codepop.tech/rotated-at": CANARY}},
        "stringData": values
    });
    apply(&contract.to_string());
    let object = ["secretcontract", "web", "-n", namespace.as_str()];
    until(&object, "Ready", "False", "SecretNotFound");
    // `kubectl apply` also puts the values into an annotation.
    apply(&secret.to_string());
    let found = until(&object, "KeysValid", "False", "KeysInvalid");
    until(&object, "RotationPolicySatisfied", "False", "RotationTimeInvalid");
    assert_eq!(
        found["status"]["violationCount"],
        8 * 2 + 6,
        "every key breaks minLength, pattern, three formats twice"
    );
    kubectl(&["delete", "secret", "web", "-n", namespace]);
    until(&object, "Ready", "False", "SecretNotFound");

    let outputs = [
        ("log", controller.log()),
        ("status", found["status"].to_string()),
        ("events", kubectl(&["get", "events", "-n", namespace, "-o", "json"])),
        ("metrics", controller.http("/metrics").1),
        ("readiness", controller.http("/readyz?verbose").1),
    ];
    for (name, text) in &outputs {
        for trace in traces(CANARY) {
            assert!(!text.contains(&trace), "{trace} is in the {name}");
        }
    }
    assert!(outputs[0].1.contains("KeysInvalid"), "the log has lines of these passes");
    assert_eq!(controller.stop(), Some(0));
}
