//! Requests to the API server with everything that comes back: code, body and warnings.

use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::support::{PATIENCE, control_plane};

/// What the API server answered.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub body: Value,
    pub warnings: Vec<String>,
}

/// One cause of a refusal: the field and what is said about it.
pub type Cause = (String, String);

impl Answer {
    /// The body of a success; fails the test for anything else.
    #[track_caller]
    pub fn success(self, what: &str) -> Value {
        assert!((200..300).contains(&self.code), "{what}: {self:#?}");
        self.body
    }

    /// The causes of a refusal for its content; fails the test for anything else.
    #[track_caller]
    pub fn causes(&self, what: &str) -> Vec<Cause> {
        assert!(self.code == 422 && self.body["reason"] == "Invalid", "{what}: {self:#?}");
        let causes = self.body["details"]["causes"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        causes.iter().map(|cause| (text(&cause["field"]), text(&cause["message"]))).collect()
    }
}

/// Speaks to the shared control plane as its administrator.
pub struct Rest {
    client: Client,
}

impl Rest {
    pub async fn new() -> Self {
        let plane = tokio::task::spawn_blocking(control_plane).await.unwrap();
        Self { client: plane.client().await.unwrap() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "application/json", None).await
    }

    /// A list as `kubectl get` asks for it: with the printer columns.
    pub async fn columns(&self, path: &str) -> Vec<(String, i64)> {
        let table = self.send(Method::GET, path, "application/json;as=Table;v=v1;g=meta.k8s.io", None).await;
        let table = table.success(path);
        let columns = table["columnDefinitions"].as_array().unwrap();
        columns
            .iter()
            .map(|column| (column["name"].as_str().unwrap().to_owned(), column["priority"].as_i64().unwrap()))
            .collect()
    }

    pub async fn post(&self, path: &str, object: &Value) -> Answer {
        self.send(Method::POST, path, "application/json", Some(("application/json", object))).await
    }

    pub async fn put(&self, path: &str, object: &Value) -> Answer {
        self.send(Method::PUT, path, "application/json", Some(("application/json", object))).await
    }

    pub async fn patch(&self, path: &str, merge: &Value) -> Answer {
        self.send(Method::PATCH, path, "application/json", Some(("application/merge-patch+json", merge)))
            .await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "application/json", None).await
    }

    async fn send(&self, method: Method, path: &str, accept: &str, body: Option<(&str, &Value)>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("accept", accept);
        let mut bytes = Vec::new();
        if let Some((content_type, value)) = body {
            request = request.header("content-type", content_type);
            bytes = serde_json::to_vec(value).unwrap();
        }
        let response = self.client.send(request.body(Body::from(bytes)).unwrap()).await.unwrap();
        let code = response.status().as_u16();
        let warnings = response.headers().get_all("warning").iter();
        let warnings = warnings.map(|value| value.to_str().unwrap_or_default().to_owned()).collect();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
        Answer { code, body, warnings }
    }

    /// Asks until `look` is content with the answer; fails the test when that takes longer than [`PATIENCE`].
    pub async fn eventually<T>(
        &self,
        what: &str,
        path: &str,
        mut look: impl FnMut(Answer) -> Option<T>,
    ) -> T {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self.get(path).await) {
                return found;
            }
            assert!(tokio::time::Instant::now() < end, "{what}: not within {} s", PATIENCE.as_secs());
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}
