//! Sends the write of one step. It decides nothing: object, content and preconditions come with the step.

use kube::Client;
use serde_json::{Value, json};

use super::read::{Raw, lease_path};
use crate::api::Kind;
use crate::binding::{ObjectVersion, Operation, Status, Write};
use crate::cluster::objects::{self, Refusal};

/// What was stored; null where something was deleted.
pub(super) async fn execute(
    client: &Client,
    namespace: &str,
    raw: &Raw,
    write: &Write,
) -> Result<Value, Refusal> {
    let dry_run = write.is_dry_run;
    match &write.operation {
        Operation::ReplaceFinalizers { object, finalizers } => {
            let mut body = as_read(raw, object)?;
            set_finalizers(&mut body, finalizers);
            replace(client, object, None, &body, dry_run).await
        }
        Operation::Bind { object, tenant_ref, finalizers } => {
            let mut body = as_read(raw, object)?;
            set_finalizers(&mut body, finalizers);
            if let Some(Value::Object(spec)) = body.get_mut("spec") {
                spec.insert("tenantRef".to_owned(), serde_json::to_value(tenant_ref).unwrap_or_default());
            }
            replace(client, object, None, &body, dry_run).await
        }
        Operation::ReplaceStatus { object, status } => {
            let body = json!({
                "apiVersion": object.kind.api_version(),
                "kind": object.kind.as_str(),
                "metadata": {
                    "namespace": object.namespace,
                    "name": object.name,
                    "uid": object.uid,
                    "resourceVersion": object.resource_version,
                },
                "status": status_value(status),
            });
            replace(client, object, Some("status"), &body, dry_run).await
        }
        Operation::CreateDatabase { body } => {
            let path = objects::collection(Kind::PostgreSQLDatabase, None);
            objects::create(client, &path, body, dry_run).await
        }
        Operation::DeleteDatabase { object } => {
            let path = objects::collection(object.kind, None);
            objects::delete(client, &path, &object.name, &object.uid, &object.resource_version).await?;
            Ok(Value::Null)
        }
        Operation::CreateLease { body } => {
            objects::create(client, &lease_path(namespace), body, dry_run).await
        }
        Operation::DeleteLease { name, uid, resource_version } => {
            objects::delete(client, &lease_path(namespace), name, uid, resource_version).await?;
            Ok(Value::Null)
        }
        // The world of this version never holds a delivered object.
        Operation::DeleteDelivered { .. } => Err(Refusal::default()),
    }
}

async fn replace(
    client: &Client,
    object: &ObjectVersion,
    subresource: Option<&str>,
    body: &Value,
    dry_run: bool,
) -> Result<Value, Refusal> {
    let path = objects::collection(object.kind, object.namespace.as_deref());
    objects::replace(client, &path, &object.name, subresource, body, dry_run).await
}

/// The object as this pass has read it, if it is the very version that was judged.
fn as_read(raw: &Raw, object: &ObjectVersion) -> Result<Value, Refusal> {
    let place = (object.namespace.clone().unwrap_or_default(), object.name.clone());
    let read = raw.get(&(object.kind, place)).filter(|read| {
        let text = |pointer| read.pointer(pointer).and_then(Value::as_str);
        text("/metadata/uid") == Some(&object.uid)
            && text("/metadata/resourceVersion") == Some(&object.resource_version)
    });
    let overtaken =
        || Refusal { code: Some(409), message: "it was read again meanwhile".to_owned(), causes: Vec::new() };
    let mut body = read.cloned().ok_or_else(overtaken)?;
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        // Left out, they stay as they are.
        metadata.remove("managedFields");
    }
    Ok(body)
}

fn set_finalizers(body: &mut Value, finalizers: &[String]) {
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        metadata.insert("finalizers".to_owned(), json!(finalizers));
    }
}

fn status_value(status: &Status) -> Value {
    match status {
        Status::Tenant(status) => serde_json::to_value(status),
        Status::Database(status) => serde_json::to_value(status),
        Status::Instance(status) => serde_json::to_value(status),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(resource_version: &str) -> ObjectVersion {
        ObjectVersion {
            kind: Kind::PostgreSQLDatabase,
            namespace: None,
            name: "orders".into(),
            uid: "u".into(),
            resource_version: resource_version.into(),
        }
    }

    #[test]
    fn what_is_written_is_what_was_read_with_one_change() {
        let read = json!({"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "orders", "uid": "u", "resourceVersion": "7",
            "managedFields": [{"manager": "m"}], "labels": {"a": "b"}}, "spec": {"later": {"field": 1}}});
        let raw = Raw::from([((Kind::PostgreSQLDatabase, (String::new(), "orders".into())), read)]);
        let mut body = as_read(&raw, &version("7")).unwrap();
        set_finalizers(&mut body, &["x/y".to_owned()]);
        assert_eq!(body["spec"]["later"]["field"], 1);
        assert_eq!(
            body["metadata"],
            json!({"name": "orders", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}, "finalizers": ["x/y"]})
        );
        assert_eq!(
            as_read(&raw, &version("8")).unwrap_err().code,
            Some(409),
            "another version than the one judged"
        );
    }
}
