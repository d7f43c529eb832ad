//! Reads everything that a contract refers to. What it means is the rules' to say.

use futures::future::{join_all, join3};
use kube::Client;
use serde_json::Value;

use crate::api::secret_contract::EffectiveContract;
use crate::api::secret_contract::effective::{EffectiveExternalSecret, EffectiveWorkload, WorkloadKind};
use crate::cluster::{objects, secrets};
use crate::rules::Installation;
use crate::rules::facts::{ContractFacts, ExternalSecretFacts, Lookup, ReadFailure, WorkloadFacts};

/// Reads the Secret, the ExternalSecret and the workloads of a contract, each once and all at the same time.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
    contract: &EffectiveContract<'_>,
    installation: &Installation,
) -> ContractFacts {
    let producer = async {
        match &contract.external_secret {
            Some(reference) => Some(external_secret(client, namespace, reference, installation).await),
            None => None,
        }
    };
    let workloads = contract.workloads.iter().map(|reference| workload(client, namespace, reference));
    let secret = secrets::read(client, namespace, contract.secret_name.unwrap_or_default());
    let (secret, external_secret, workloads) = join3(secret, producer, join_all(workloads)).await;
    ContractFacts { external_secret, workloads, ..ContractFacts::of_secret(secret) }
}

/// The ExternalSecret, through the version that the contract names or, where the API server does not serve that one,
/// through any other that the installation lists.
async fn external_secret(
    client: &Client,
    namespace: &str,
    reference: &EffectiveExternalSecret<'_>,
    installation: &Installation,
) -> Lookup<ExternalSecretFacts> {
    let asked = reference.api_version.unwrap_or_default();
    let others = installation.external_secret_api_versions.iter().map(String::as_str);
    for version in std::iter::once(asked).chain(others.filter(|other| *other != asked)) {
        let path = format!("/apis/{version}/namespaces/{namespace}/externalsecrets");
        match objects::read(client, &path, reference.name.unwrap_or_default()).await {
            Lookup::NotServed => {}
            found => return found.map(|object: Value| ExternalSecretFacts::of_object(&object)),
        }
    }
    Lookup::NotServed
}

async fn workload(
    client: &Client,
    namespace: &str,
    reference: &EffectiveWorkload<'_>,
) -> Lookup<WorkloadFacts> {
    let resource = match reference.kind {
        Some(WorkloadKind::Deployment) => "deployments",
        Some(WorkloadKind::StatefulSet) => "statefulsets",
        Some(WorkloadKind::DaemonSet) => "daemonsets",
        // SHAPE has refused every other kind.
        Some(WorkloadKind::Unknown(_)) | None => return Lookup::NotServed,
    };
    let path = format!("/apis/apps/v1/namespaces/{namespace}/{resource}");
    let found = objects::read(client, &path, reference.name.unwrap_or_default()).await;
    found.map(|object| WorkloadFacts::of_object(&object))
}

/// The first failure among the reads, and the object that it was about.
pub(super) fn failure(
    contract: &EffectiveContract<'_>,
    facts: &ContractFacts,
) -> Option<(String, ReadFailure)> {
    let named = |kind: &str, name: Option<&str>| format!("{kind} {:?}", name.unwrap_or_default());
    if let Lookup::Failed(failure) = &facts.secret {
        return Some((named("Secret", contract.secret_name), *failure));
    }
    if let (Some(reference), Some(Lookup::Failed(failure))) =
        (&contract.external_secret, &facts.external_secret)
    {
        return Some((named("ExternalSecret", reference.name), *failure));
    }
    contract.workloads.iter().zip(&facts.workloads).find_map(|(reference, found)| match found {
        Lookup::Failed(failure) => {
            let kind = reference.kind.map_or("workload", WorkloadKind::as_str);
            Some((named(kind, reference.name), *failure))
        }
        _ => None,
    })
}
