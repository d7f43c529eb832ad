//! Reads one Secret: one GET gives its bytes, its UID and its resourceVersion.
//!
//! The answer never becomes a `k8s_openapi` Secret, which could be printed and is not overwritten when dropped. It is
//! gathered in buffers that are, and decoded from there into [`SecretFacts`]. No text of a server or a parser about it
//! leaves this module. What the TLS and HTTP layers below hold for a moment is out of reach.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::Secret;
use kube::api::GetParams;
use kube::client::Body;
use kube::core::Request;
use kube::{Client, Resource as _};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use zeroize::{Zeroize as _, Zeroizing};

use super::error::{REQUEST, read_failure};
use crate::rules::facts::{Lookup, OwnerReference, ReadFailure, SecretBytes, SecretFacts};

/// More than the API server ever stores for one object. A longer answer is not read to its end.
const ANSWER_BYTES: usize = 8 << 20;

/// Reads the Secret `namespace/name`.
pub async fn read(client: &Client, namespace: &str, name: &str) -> Lookup<SecretFacts> {
    match tokio::time::timeout(REQUEST, request(client, namespace, name)).await {
        Ok(lookup) => lookup,
        Err(_) => Lookup::Failed(ReadFailure::Timeout),
    }
}

async fn request(client: &Client, namespace: &str, name: &str) -> Lookup<SecretFacts> {
    let path = Secret::url_path(&(), Some(namespace));
    // A name that makes no URL was stored past all validation; there is no such Secret.
    let Ok(request) = Request::new(path).get(name, &GetParams::default()) else { return Lookup::Absent };
    let answer = match client.send(request.map(Body::from)).await {
        Ok(answer) => answer,
        Err(error) => return Lookup::Failed(read_failure(&error)),
    };
    match answer.status().as_u16() {
        200 => match gather(answer.into_body()).await {
            Ok(bytes) => decode(&bytes).map_or(Lookup::Failed(ReadFailure::Malformed), Lookup::Found),
            Err(failure) => Lookup::Failed(failure),
        },
        403 => Lookup::Forbidden,
        404 => Lookup::Absent,
        code => Lookup::Failed(ReadFailure::Status(code)),
    }
}

/// The whole body in one buffer of exactly its size: a buffer that grows leaves copies behind.
async fn gather(mut body: Body) -> Result<Zeroizing<Vec<u8>>, ReadFailure> {
    let mut parts: Vec<Zeroizing<Vec<u8>>> = Vec::new();
    let mut total = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| ReadFailure::Connection)?.into_data() else { continue };
        total += data.len();
        if total > ANSWER_BYTES {
            return Err(ReadFailure::Malformed);
        }
        parts.push(Zeroizing::new(data.to_vec()));
        if let Ok(mut sole) = data.try_into_mut() {
            sole.as_mut().zeroize();
        }
    }
    let mut whole = Zeroizing::new(Vec::with_capacity(total));
    for part in parts {
        whole.extend_from_slice(&part);
    }
    Ok(whole)
}

#[derive(Deserialize)]
struct RawSecret<'a> {
    metadata: RawMetadata,
    #[serde(rename = "type", default)]
    type_: Option<String>,
    #[serde(default)]
    immutable: Option<bool>,
    // Base64 is borrowed from the buffer. The API server never escapes a letter of it.
    #[serde(borrow, default)]
    data: Option<BTreeMap<&'a str, Option<&'a str>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMetadata {
    name: String,
    uid: String,
    resource_version: String,
    #[serde(default)]
    deletion_timestamp: Option<IgnoredAny>,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(default)]
    owner_references: Option<Vec<RawOwner>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawOwner {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
    #[serde(default)]
    controller: Option<bool>,
}

/// The annotations without the applied copy of the object, whose value is skipped unread.
struct Annotations(BTreeMap<String, SecretBytes>);

impl<'de> Deserialize<'de> for Annotations {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Guard;
        impl<'de> Visitor<'de> for Guard {
            type Value = Annotations;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("annotations")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Annotations, M::Error> {
                let mut annotations = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == SecretFacts::LAST_APPLIED_ANNOTATION {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        annotations.insert(key, SecretBytes::new(map.next_value::<String>()?.into_bytes()));
                    }
                }
                Ok(Annotations(annotations))
            }
        }
        deserializer.deserialize_map(Guard)
    }
}

/// The facts in the body of one answer; `None` when it is not a Secret.
fn decode(body: &[u8]) -> Option<SecretFacts> {
    let raw: RawSecret<'_> = serde_json::from_slice(body).ok()?;
    let data = raw.data.unwrap_or_default().into_iter().map(|(key, text)| {
        let value = decode_value(text.unwrap_or_default())?;
        Some((key.to_owned(), value))
    });
    let owners = raw.metadata.owner_references.unwrap_or_default().into_iter().map(|owner| OwnerReference {
        api_version: owner.api_version,
        kind: owner.kind,
        name: owner.name,
        uid: owner.uid,
        controller: owner.controller.unwrap_or(false),
    });
    Some(SecretFacts {
        data: data.collect::<Option<_>>()?,
        owner_references: owners.collect(),
        name: raw.metadata.name,
        uid: raw.metadata.uid,
        resource_version: raw.metadata.resource_version,
        type_: raw.type_.unwrap_or_else(|| SecretFacts::DEFAULT_TYPE.to_owned()),
        annotations: raw.metadata.annotations.map(|annotations| annotations.0).unwrap_or_default(),
        terminating: raw.metadata.deletion_timestamp.is_some(),
        immutable: raw.immutable.unwrap_or(false),
    })
}

/// Decodes into a buffer made large enough beforehand, so that nothing is copied while it grows.
fn decode_value(text: &str) -> Option<SecretBytes> {
    let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(text.len())]);
    let length = STANDARD.decode_slice(text, &mut bytes).ok()?;
    bytes.truncate(length);
    Some(SecretBytes::from(bytes))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Response;

    use super::*;

    const BODY: &str = r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"n","uid":"u",
        "resourceVersion":"7","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\"canary\"}",
        "secrets.codepop.tech/rotated-at":"2026-01-01T00:00:00Z"},"managedFields":[{"manager":"m"}],
        "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"p","controller":true}]},
        "data":{"A":"aGVsbG8=","empty":"","none":null},"type":"Opaque","immutable":true}"#;

    fn client(code: u16, body: &'static str) -> Client {
        let service = tower::service_fn(move |request: http::Request<Body>| async move {
            assert_eq!(request.uri().path(), "/api/v1/namespaces/n/secrets/s");
            let answer = Response::builder().status(code).body(Body::from(body.as_bytes().to_vec())).unwrap();
            Ok::<_, Infallible>(answer)
        });
        Client::new(service, "n")
    }

    #[tokio::test]
    async fn one_read_gives_identity_and_content() {
        let Lookup::Found(secret) = read(&client(200, BODY), "n", "s").await else { panic!("not found") };
        assert_eq!((secret.uid.as_str(), secret.resource_version.as_str()), ("u", "7"));
        assert_eq!(secret.value("A"), Some(&b"hello"[..]));
        assert_eq!((secret.value("empty"), secret.value("none")), (Some(&b""[..]), Some(&b""[..])));
        assert!(secret.immutable && !secret.terminating);
        assert_eq!(secret.annotations.keys().collect::<Vec<_>>(), ["secrets.codepop.tech/rotated-at"]);
        assert!(secret.owner_references[0].controller);
    }

    #[tokio::test]
    async fn every_other_answer_says_only_what_it_means() {
        let of = async |code, body| read(&client(code, body), "n", "s").await;
        assert!(matches!(of(404, "{}").await, Lookup::Absent));
        assert!(matches!(of(403, "{}").await, Lookup::Forbidden));
        assert!(matches!(of(429, "{}").await, Lookup::Failed(ReadFailure::Status(429))));
        assert!(matches!(of(200, "[]").await, Lookup::Failed(ReadFailure::Malformed)));
        let wrong = r#"{"metadata":{"name":"s","uid":"u","resourceVersion":"7"},"data":{"A":"%%%"}}"#;
        assert!(matches!(of(200, wrong).await, Lookup::Failed(ReadFailure::Malformed)));
    }
}
