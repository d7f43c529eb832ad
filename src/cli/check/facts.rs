//! Facts from files: what the STATE rules may know of the world, when the world is a few manifests.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::api::raw;
use crate::cli::input::object::Object;
use crate::cli::input::yaml::{Data, Node};
use crate::rules::facts::{OwnerReference, SecretBytes, SecretFacts};

/// As the API server decodes: it does not look at the bits that the last letter has too many.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The kinds that contracts may refer to, and so are no strangers in the input.
const FACTS: [(&str, &str); 6] = [
    ("", "Secret"),
    ("bitnami.com", "SealedSecret"),
    ("external-secrets.io", "ExternalSecret"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
];

/// Whether an object is a fact for contracts.
pub fn is_fact(object: &Object) -> bool {
    let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
    FACTS.contains(&(group, object.kind.as_str()))
}

/// Whether an object is a Secret.
pub fn is_secret(object: &Object) -> bool {
    object.api_version == "v1" && object.kind == "Secret"
}

/// The Secret as the API server would store it; or what is wrong with it, without a word of its content.
pub fn secret(object: &Object) -> Result<SecretFacts, &'static str> {
    let node = &object.node;
    let mut data = BTreeMap::new();
    for (key, value) in entries(node.get("data"), "data is no map")? {
        let text = text(value).ok_or("a value of data is no text")?;
        data.insert(
            key.to_owned(),
            decode(text).ok_or("a value of data is no base64; use stringData for plain text")?,
        );
    }
    for (key, value) in entries(node.get("stringData"), "stringData is no map")? {
        let text = text(value).ok_or("a value of stringData is no text; quote it")?;
        data.insert(key.to_owned(), SecretBytes::new(text.as_bytes().to_vec()));
    }
    let metadata = node.get("metadata");
    let of = |field: &str| metadata.and_then(|metadata| metadata.get(field));
    let mut annotations = BTreeMap::new();
    for (key, value) in entries(of("annotations"), "metadata.annotations is no map")? {
        let text = text(value).ok_or("the value of an annotation is no text; quote it")?;
        if key != SecretFacts::LAST_APPLIED_ANNOTATION {
            annotations.insert(key.to_owned(), SecretBytes::new(text.as_bytes().to_vec()));
        }
    }
    let word = |node: Option<&Node>| node.and_then(Node::text).unwrap_or_default().to_owned();
    let type_ = word(node.get("type"));
    Ok(SecretFacts {
        name: object.name().unwrap_or_default().to_owned(),
        uid: word(of("uid")),
        resource_version: word(of("resourceVersion")),
        type_: if type_.is_empty() { SecretFacts::DEFAULT_TYPE.to_owned() } else { type_ },
        annotations,
        terminating: of("deletionTimestamp").is_some_and(|node| !matches!(node.data, Data::Null)),
        immutable: node.get("immutable").is_some_and(|node| matches!(node.data, Data::Bool(true))),
        owner_references: of("ownerReferences")
            .and_then(Node::items)
            .unwrap_or_default()
            .iter()
            .map(owner)
            .collect(),
        data,
    })
}

/// The keys that a SealedSecret will give its Secret; none when it does not tell (the old form seals the Secret whole).
/// What it seals cannot be read, here or anywhere outside its cluster.
pub fn sealed_keys(object: &Value) -> Option<BTreeSet<String>> {
    let spec = raw::object(Some(object), "spec")?;
    let whole = spec.get("data").is_some_and(|data| !data.is_null());
    let sealed = raw::object(Some(spec), "encryptedData");
    let templated = raw::object(raw::object(Some(spec), "template"), "data");
    let keys = [sealed, templated]
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flat_map(|map| map.keys().cloned());
    (!whole).then(|| keys.collect())
}

fn owner(node: &Node) -> OwnerReference {
    let word = |field: &str| node.get(field).and_then(Node::text).unwrap_or_default().to_owned();
    OwnerReference {
        api_version: word("apiVersion"),
        kind: word("kind"),
        name: word("name"),
        uid: word("uid"),
        controller: node.get("controller").is_some_and(|node| matches!(node.data, Data::Bool(true))),
    }
}

fn entries<'a>(
    node: Option<&'a Node>,
    problem: &'static str,
) -> Result<impl Iterator<Item = (&'a str, &'a Node)>, &'static str> {
    let entries = match node.map(|node| &node.data) {
        None | Some(Data::Null) => &[][..],
        Some(Data::Map(entries)) => entries.as_slice(),
        Some(_) => return Err(problem),
    };
    Ok(entries.iter().map(|entry| (entry.key.as_str(), &entry.value)))
}

/// `key: null` is present and empty, as the API server stores it.
fn text(node: &Node) -> Option<&str> {
    if matches!(node.data, Data::Null) { Some("") } else { node.text() }
}

fn decode(text: &str) -> Option<SecretBytes> {
    let decoded = if text.contains(['\n', '\r']) {
        let packed = zeroize::Zeroizing::new(text.replace(['\n', '\r'], ""));
        BASE64.decode(packed.as_bytes())
    } else {
        BASE64.decode(text)
    };
    decoded.ok().map(SecretBytes::new)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cli::input::object::Place;
    use crate::cli::input::yaml;

    fn read(text: &str) -> Result<SecretFacts, &'static str> {
        let node = yaml::documents(text).next().unwrap().root.unwrap_or_else(|error| panic!("{error:?}"));
        let place = Place { file: Arc::from("-"), document: 1, line: 1 };
        secret(&Object { place, api_version: "v1".into(), kind: "Secret".into(), node })
    }

    #[test]
    fn a_secret_is_read_as_it_would_be_stored() {
        let secret = read(
            "metadata: {name: s, annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: x}}
data: {plain: aGVsbG8=, both: eA==, bits: aGVsbG9=, lines: \"aGVs\\nbG8=\\n\", nothing: null}
stringData: {both: new, empty: null}",
        )
        .unwrap();
        assert_eq!((secret.name.as_str(), secret.type_.as_str()), ("s", "Opaque"));
        for (key, value) in [
            ("plain", "hello"),
            ("both", "new"),
            ("bits", "hello"),
            ("lines", "hello"),
            ("nothing", ""),
            ("empty", ""),
        ] {
            assert_eq!(secret.value(key), Some(value.as_bytes()), "{key}");
        }
        assert_eq!(secret.annotations.keys().collect::<Vec<_>>(), ["a"]);
        assert!(!secret.terminating && !secret.immutable);
    }

    #[test]
    fn what_the_api_server_would_not_take_is_no_fact() {
        for (text, word) in [
            ("data: {a: canary!}", "base64"),
            ("data: {a: aGVsbG8}", "base64"),
            ("data: {a: 5}", "text"),
            ("data: [canary]", "map"),
            ("stringData: {a: [canary]}", "quote"),
            ("metadata: {annotations: {a: true}}", "quote"),
        ] {
            let Err(problem) = read(text) else { panic!("{text} is a Secret") };
            assert!(problem.contains(word) && !problem.contains("canary"), "{text}: {problem}");
        }
    }
}
