//! What it costs to judge a workload, estimated before it is done: a template that is made to be costly must not keep
//! other contracts waiting.

use std::collections::HashMap;

use super::environment::SOURCES;
use crate::rules::facts::{Container, PodTemplate, ProjectedSource, SecretSource, VolumeSource};

/// The most steps, each about a comparison of two names, that one workload may cost. A large one of real life stays far
/// below.
pub(super) const STEPS: usize = 20_000_000;

/// An upper bound of the steps that the selected containers cost.
pub(super) fn of_workload(containers: &[&Container], pod: &PodTemplate, keys: usize) -> usize {
    let volumes: HashMap<&str, usize> =
        pod.volumes.iter().map(|volume| (volume.name.as_str(), files(&volume.source))).collect();
    let of_container = |container: &&Container| {
        let sources = container.env_from.len().min(SOURCES);
        let environment = (keys.saturating_mul(sources).saturating_add(container.env.len()))
            .saturating_mul(sources.saturating_add(1));
        // The volumes are looked through for each container.
        let mounts = container.volume_mounts.iter().map(|mount| volumes.get(mount.name.as_str()));
        let files = mounts.fold(pod.volumes.len(), |sum, files| {
            let files = files.copied().unwrap_or(1);
            let mount = keys.saturating_add(files).saturating_mul(files).saturating_add(pod.volumes.len());
            sum.saturating_add(mount)
        });
        environment.saturating_add(files).saturating_add(keys)
    };
    containers.iter().map(of_container).fold(0, usize::saturating_add)
}

/// How many entries of a volume have to be compared.
fn files(source: &VolumeSource) -> usize {
    let of = |source: &SecretSource| source.items.len() + 1;
    match source {
        VolumeSource::Secret(secret) => of(secret),
        VolumeSource::Projected(sources) => sources
            .iter()
            .map(|source| match source {
                ProjectedSource::Secret(secret) => of(secret),
                ProjectedSource::Other { paths, .. } => paths.len() + 1,
            })
            .sum(),
        VolumeSource::Other => 1,
    }
}
