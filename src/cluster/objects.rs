//! Reads one object of a kind that is not ours, as raw JSON.

use http_body_util::BodyExt as _;
use http_body_util::Limited;
use kube::Client;
use kube::api::GetParams;
use kube::client::Body;
use kube::core::Request;
use serde_json::Value;

use super::error::{REQUEST, read_failure};
use crate::api::raw;
use crate::rules::facts::{Lookup, ReadFailure};

/// More than the API server ever stores for one object. A longer answer is not read to its end.
const ANSWER_BYTES: usize = 8 << 20;

/// Reads the object `name` below `path`, the address of its collection (`/apis/apps/v1/namespaces/a/deployments`).
///
/// The API server answers 404 for an object that is not there and for a kind that it does not serve; only the first
/// names the object.
pub async fn read(client: &Client, path: &str, name: &str) -> Lookup<Value> {
    match tokio::time::timeout(REQUEST, request(client, path, name)).await {
        Ok(lookup) => lookup,
        Err(_) => Lookup::Failed(ReadFailure::Timeout),
    }
}

async fn request(client: &Client, path: &str, name: &str) -> Lookup<Value> {
    // A name that makes no URL was stored past all validation; there is no such object.
    let Ok(request) = Request::new(path).get(name, &GetParams::default()) else { return Lookup::Absent };
    let answer = match client.send(request.map(Body::from)).await {
        Ok(answer) => answer,
        Err(error) => return Lookup::Failed(read_failure(&error)),
    };
    let code = answer.status().as_u16();
    match code {
        200 | 404 => {}
        403 => return Lookup::Forbidden,
        code => return Lookup::Failed(ReadFailure::Status(code)),
    }
    let Ok(body) = Limited::new(answer.into_body(), ANSWER_BYTES).collect().await else {
        return Lookup::Failed(ReadFailure::Connection);
    };
    let value: Option<Value> = serde_json::from_slice(&body.to_bytes()).ok();
    match (code, value) {
        (200, Some(value)) if raw::object(Some(&value), "metadata").is_some() => Lookup::Found(value),
        (404, Some(value)) if raw::text(raw::object(Some(&value), "details"), "name").is_some() => {
            Lookup::Absent
        }
        (404, _) => Lookup::NotServed,
        _ => Lookup::Failed(ReadFailure::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Response;

    use super::*;

    fn client(code: u16, body: &'static str) -> Client {
        let service = tower::service_fn(move |request: http::Request<Body>| async move {
            assert_eq!(request.uri().path(), "/apis/apps/v1/namespaces/n/deployments/web");
            let answer = Response::builder().status(code).body(Body::from(body.as_bytes().to_vec())).unwrap();
            Ok::<_, Infallible>(answer)
        });
        Client::new(service, "n")
    }

    #[tokio::test]
    async fn every_answer_says_only_what_it_means() {
        let of = async |code, body| {
            read(&client(code, body), "/apis/apps/v1/namespaces/n/deployments", "web").await
        };
        assert!(matches!(of(200, r#"{"metadata":{"name":"web"}}"#).await, Lookup::Found(_)));
        assert!(matches!(of(200, "[]").await, Lookup::Failed(ReadFailure::Malformed)));
        assert!(matches!(of(404, r#"{"kind":"Status","details":{"name":"web"}}"#).await, Lookup::Absent));
        assert!(matches!(of(404, "404 page not found\n").await, Lookup::NotServed));
        assert!(matches!(of(403, "{}").await, Lookup::Forbidden));
        assert!(matches!(of(500, "").await, Lookup::Failed(ReadFailure::Status(500))));
    }
}
