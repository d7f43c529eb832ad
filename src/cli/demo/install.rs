//! Installs what is shipped into the control plane, as an administrator would, through the API.

use std::collections::HashMap;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::discovery::{ApiCapabilities, Scope};
use kube::runtime::{conditions, wait};
use kube::{Api, Client};
use serde_json::Value;

use super::manifests::{authority_patch, is_webhook_configuration};
use crate::api::Kind;

/// The demo's name as the writer of fields.
const MANAGER: &str = "covenant-demo";
/// How long the API server may take to serve new kinds.
const ESTABLISHED: Duration = Duration::from_secs(30);

/// Something could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused an object or a request about it.
    #[error("cannot install {what}: {source}")]
    Refused {
        /// The object.
        what: String,
        /// What the API server says.
        source: Box<kube::Error>,
    },
    /// A definition was accepted, but its kind is not served.
    #[error("the API server does not serve {kind} after {} s", ESTABLISHED.as_secs())]
    NotServed {
        /// The kind.
        kind: Kind,
    },
}

/// Applies objects one after the other.
pub struct Installer {
    client: Client,
    known: HashMap<GroupVersionKind, (ApiResource, ApiCapabilities)>,
}

impl Installer {
    /// An installer with the rights of `client`.
    pub fn new(client: Client) -> Self {
        Self { client, known: HashMap::new() }
    }

    /// Applies every object, in order.
    pub async fn apply_all(&mut self, objects: &[Value]) -> Result<(), Error> {
        for object in objects {
            self.apply(object, MANAGER).await?;
        }
        Ok(())
    }

    /// Sets `caBundle` in the webhook configuration among `objects` by applying that one field.
    pub async fn set_authority(&mut self, objects: &[Value], bundle: &str) -> Result<(), Error> {
        let configurations = objects.iter().filter(|object| is_webhook_configuration(object));
        for configuration in configurations {
            // A writer of its own: applying under the name that wrote the rest would mean that the rest is to go.
            self.apply(&authority_patch(configuration, bundle), "covenant-demo-authority").await?;
        }
        Ok(())
    }

    /// Waits until all four kinds are served.
    pub async fn wait_until_served(&self) -> Result<(), Error> {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        for kind in Kind::ALL {
            let name = format!("{}.{}", kind.plural(), kind.group());
            let served = wait::await_condition(definitions.clone(), &name, conditions::is_crd_established());
            match tokio::time::timeout(ESTABLISHED, served).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) | Err(_) => return Err(Error::NotServed { kind }),
            }
        }
        Ok(())
    }

    async fn apply(&mut self, object: &Value, manager: &str) -> Result<(), Error> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, name, api_version) = (text("/kind"), text("/metadata/name"), text("/apiVersion"));
        let refused =
            |source: kube::Error| Error::Refused { what: format!("{kind} {name}"), source: Box::new(source) };
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) = if let Some(known) = self.known.get(&gvk) {
            known.clone()
        } else {
            let found = kube::discovery::pinned_kind(&self.client, &gvk).await.map_err(refused)?;
            self.known.insert(gvk, found.clone());
            found
        };
        let api: Api<DynamicObject> = if capabilities.scope == Scope::Namespaced {
            Api::namespaced_with(self.client.clone(), text("/metadata/namespace"), &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        };
        let parameters = PatchParams::apply(manager).force();
        api.patch(name, &parameters, &Patch::Apply(object)).await.map_err(refused)?;
        Ok(())
    }
}

/// What the API server says against creating a contract, as a dry run; nothing when it would take it.
pub async fn refusal(client: &Client, contract: &Value) -> Option<String> {
    let resource = kube::Api::<crate::api::SecretContract>::namespaced(client.clone(), "default");
    let url = kube::core::Request::new(resource.resource_url());
    let parameters = PostParams { dry_run: true, field_manager: Some(MANAGER.to_owned()) };
    let request = url.create(&parameters, contract.to_string().into_bytes());
    match client.request::<Value>(request.ok()?).await {
        Ok(_) => None,
        Err(kube::Error::Api(status)) => Some(status.message),
        Err(other) => Some(other.to_string()),
    }
}
