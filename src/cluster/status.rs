//! Writes status: one PUT on the status subresource of exactly the object that was judged.

use kube::api::{DynamicObject, PostParams};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};

use super::error::{RequestError, within};
use crate::api::names;

/// Replaces the status of `object` by `status`.
///
/// The UID and resourceVersion of `object` go along, so that the API server answers 409 when the object has changed or
/// is another one by now: the caller then judges again what is there. Nothing but the status is sent; the API server
/// keeps the rest of the object as it is.
pub async fn replace(
    api: &Api<DynamicObject>,
    object: &DynamicObject,
    status: &Value,
) -> Result<Option<String>, RequestError> {
    let types = object.types.as_ref();
    let name = object.name_any();
    let body = json!({
        "apiVersion": types.map(|types| &types.api_version),
        "kind": types.map(|types| &types.kind),
        "metadata": {
            "name": name,
            "namespace": object.namespace(),
            "uid": object.uid(),
            "resourceVersion": object.resource_version(),
        },
        "status": status,
    });
    let kind = types.map_or("object", |types| types.kind.as_str());
    let action = format!("write status of {kind} {:?}", qualified(object));
    let parameters =
        PostParams { field_manager: Some(names::CONTROLLER.to_owned()), ..PostParams::default() };
    let write = async {
        let body: DynamicObject = serde_json::from_value(body).map_err(kube::Error::SerdeError)?;
        api.replace_status(&name, &parameters, &body).await
    };
    within(action, write).await.map(|written| written.resource_version())
}

/// `namespace/name`, or the name alone of an object without a namespace.
pub fn qualified(object: &DynamicObject) -> String {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()),
        None => object.name_any(),
    }
}
