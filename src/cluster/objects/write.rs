//! Changes objects. Every change of something that exists carries the UID and resourceVersion that were judged; whoever was
//! overtaken is refused and judges again.

use http::Method;
use kube::Client;
use serde_json::{Value, json};

use super::read::is_segment;
use super::send;
use crate::api::{names, raw};
use crate::cluster::error::bounded;

/// Longest message of an answer that is kept, in bytes.
const MESSAGE_BYTES: usize = 1024;

/// A change that was not done, or of which nobody said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status; none where no answer came, so that it may have been done after all.
    pub code: Option<u16>,
    /// What the API server said, on one line and bounded.
    pub message: String,
    /// `details.causes`: each with its reason and its field.
    pub causes: Vec<(String, String)>,
}

/// Creates `object` below `path`; gives what was stored.
pub async fn create(client: &Client, path: &str, object: &Value, dry_run: bool) -> Result<Value, Refusal> {
    change(client, Method::POST, &with_query(path, dry_run), Some(object)).await
}

/// Replaces the object `name` below `path`, or its `subresource`, by `object`, which carries UID and resourceVersion; gives
/// what was stored.
pub async fn replace(
    client: &Client,
    path: &str,
    name: &str,
    subresource: Option<&str>,
    object: &Value,
    dry_run: bool,
) -> Result<Value, Refusal> {
    let target = match subresource {
        Some(subresource) => format!("{}/{subresource}", below(path, name)?),
        None => below(path, name)?,
    };
    change(client, Method::PUT, &with_query(&target, dry_run), Some(object)).await
}

/// Deletes exactly this version of the object `name` below `path`.
pub async fn delete(
    client: &Client,
    path: &str,
    name: &str,
    uid: &str,
    resource_version: &str,
) -> Result<(), Refusal> {
    let options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": uid, "resourceVersion": resource_version},
    });
    change(client, Method::DELETE, &below(path, name)?, Some(&options)).await.map(drop)
}

fn below(path: &str, name: &str) -> Result<String, Refusal> {
    if is_segment(name) {
        return Ok(format!("{path}/{name}"));
    }
    Err(Refusal {
        code: Some(404),
        message: "there can be no object of that name".to_owned(),
        causes: Vec::new(),
    })
}

fn with_query(target: &str, dry_run: bool) -> String {
    let dry_run = if dry_run { "&dryRun=All" } else { "" };
    format!("{target}?fieldManager={}{dry_run}", names::CONTROLLER)
}

async fn change(
    client: &Client,
    method: Method,
    target: &str,
    body: Option<&Value>,
) -> Result<Value, Refusal> {
    match send(client, method, target, body).await {
        Ok((200..=299, stored)) => Ok(stored),
        Ok((code, status)) => Err(refusal(code, &status)),
        Err(failure) => Err(Refusal { message: failure.to_string(), ..Refusal::default() }),
    }
}

fn refusal(code: u16, status: &Value) -> Refusal {
    let details = raw::object(Some(status), "details");
    let causes = raw::items(details, "causes").map(|cause| {
        let text = |name| raw::text(Some(cause.value), name).unwrap_or_default().to_owned();
        (text("reason"), text("field"))
    });
    Refusal {
        code: Some(code),
        message: bounded(raw::text(Some(status), "message").unwrap_or_default(), MESSAGE_BYTES),
        causes: causes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_the_api_server_said() {
        let status = json!({"kind": "Status", "code": 422, "message": "no\nnew finalizers", "details": {"causes": [
            {"reason": "FieldValueForbidden", "field": "metadata.finalizers", "message": "no"}, {"message": "x"}]}});
        let refusal = refusal(422, &status);
        assert_eq!((refusal.code, refusal.message.as_str()), (Some(422), "no new finalizers"));
        assert_eq!(refusal.causes[0], ("FieldValueForbidden".to_owned(), "metadata.finalizers".to_owned()));
        assert_eq!(refusal.causes[1], (String::new(), String::new()));
        assert_eq!(super::refusal(500, &Value::Null).message, "");
    }

    #[test]
    fn no_name_leaves_its_folder() {
        assert_eq!(below("/api/v1/x", "../y").unwrap_err().code, Some(404));
        assert_eq!(with_query("/a/b", true), "/a/b?fieldManager=covenant-controller&dryRun=All");
    }
}
