//! Single requests for objects as raw JSON: what is written is what was read, with nothing lost that this version does not
//! know. `read` looks, `write` changes.

mod read;
mod write;

use std::time::Duration;

use http::{Method, Request};
use http_body_util::{BodyExt as _, Limited};
use kube::Client;
use kube::client::Body;
use serde_json::Value;

pub use read::{list, read};
pub use write::{Refusal, create, delete, replace};

use super::error::read_failure;
use crate::api::Kind;
use crate::rules::facts::ReadFailure;

/// More than the API server ever stores for one object, and enough for the lists that are asked for.
const ANSWER_BYTES: usize = 64 << 20;

/// How long one request may take. A leader that loses its Lease must be done with it before another one may begin: the Lease
/// lasts 15 s, and a leader gives up after 10 s without renewal.
const PATIENCE: Duration = Duration::from_secs(4);

/// The address of a collection: `/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL`, without the namespace for a kind that has
/// none.
pub fn collection(kind: Kind, namespace: Option<&str>) -> String {
    let (group, version, plural) = (kind.group(), kind.version(), kind.plural());
    match namespace {
        Some(namespace) => format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/apis/{group}/{version}/{plural}"),
    }
}

/// Sends one request; the HTTP status and the JSON of the answer, null where it is none.
async fn send(
    client: &Client,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> Result<(u16, Value), ReadFailure> {
    match tokio::time::timeout(PATIENCE, request(client, method, target, body)).await {
        Ok(answer) => answer,
        Err(_) => Err(ReadFailure::Timeout),
    }
}

async fn request(
    client: &Client,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> Result<(u16, Value), ReadFailure> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::ACCEPT, "application/json")
        .body(Body::from(body.into_bytes()))
        .map_err(|_| ReadFailure::Malformed)?;
    let answer = client.send(request).await.map_err(|error| read_failure(&error))?;
    let code = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES).collect().await;
    let body = body.map_err(|_| ReadFailure::Connection)?;
    Ok((code, serde_json::from_slice(&body.to_bytes()).unwrap_or_default()))
}
