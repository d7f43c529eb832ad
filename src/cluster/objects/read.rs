//! Reads objects, as raw JSON.

use http::Method;
use kube::Client;
use serde_json::Value;

use super::send;
use crate::api::raw;
use crate::rules::facts::{Lookup, ReadFailure};

/// Reads the object `name` below `path`, the address of its collection (`/apis/apps/v1/namespaces/a/deployments`).
///
/// The API server answers 404 for an object that is not there and for a kind that it does not serve; only the first
/// names the object.
pub async fn read(client: &Client, path: &str, name: &str) -> Lookup<Value> {
    // A name that makes no path was stored past all validation; there is no such object.
    if !is_segment(name) {
        return Lookup::Absent;
    }
    match send(client, Method::GET, &format!("{path}/{name}"), None).await {
        Ok((200, value)) if raw::object(Some(&value), "metadata").is_some() => Lookup::Found(value),
        Ok((200, _)) => Lookup::Failed(ReadFailure::Malformed),
        Ok((403, _)) => Lookup::Forbidden,
        Ok((404, value)) if raw::text(raw::object(Some(&value), "details"), "name").is_some() => {
            Lookup::Absent
        }
        Ok((404, _)) => Lookup::NotServed,
        Ok((code, _)) => Lookup::Failed(ReadFailure::Status(code)),
        Err(failure) => Lookup::Failed(failure),
    }
}

/// Lists the objects below `path` of which `field_selector` holds, as they are now.
pub async fn list(client: &Client, path: &str, field_selector: &str) -> Result<Vec<Value>, ReadFailure> {
    let query = form_urlencoded(field_selector);
    match send(client, Method::GET, &format!("{path}?fieldSelector={query}"), None).await? {
        (200, mut value) => match value.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => Ok(items),
            _ => Err(ReadFailure::Malformed),
        },
        (code, _) => Err(ReadFailure::Status(code)),
    }
}

/// Whether a name can stand between two slashes as it is.
pub(super) fn is_segment(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    letters && !name.is_empty() && name != "." && name != ".."
}

/// A value in a query: everything but letters, digits and `-._~` as `%XX`.
fn form_urlencoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Response;
    use kube::client::Body;

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

    #[test]
    fn names_and_selectors_fit_a_path() {
        assert!(is_segment("tenant-1.a_b") && !is_segment("a/b") && !is_segment("..") && !is_segment(""));
        assert_eq!(form_urlencoded("spec.a=b/c d"), "spec.a%3Db%2Fc%20d");
    }
}
