//! Which containers of a pod template the contract is about.

use std::collections::BTreeSet;

use crate::api::conditions::WorkloadFindingReason;
use crate::api::secret_contract::effective::EffectiveWorkload;
use crate::rules::facts::{Container, PodTemplate};

/// The selected containers, and the names that select none.
pub(super) struct Selection<'a> {
    pub(super) containers: Vec<&'a Container>,
    pub(super) faults: Vec<(&'a str, WorkloadFindingReason)>,
}

/// Selects the listed containers; every regular one where none is listed. Init containers only where the contract
/// includes them.
pub(super) fn select<'a>(reference: &EffectiveWorkload<'a>, pod: &'a PodTemplate) -> Selection<'a> {
    let mut selection = Selection { containers: Vec::new(), faults: Vec::new() };
    let include = reference.include_init_containers;
    if reference.containers.is_empty() {
        selection.containers.extend(&pod.containers);
        if include {
            selection.containers.extend(&pod.init_containers);
        }
        if selection.containers.is_empty() {
            selection.faults.push(("", WorkloadFindingReason::ContainerNotFound));
        }
        return selection;
    }
    let listed: BTreeSet<&str> = reference.containers.iter().map(|listed| listed.value).collect();
    for name in listed {
        let regular: Vec<_> = named(&pod.containers, name).collect();
        let init: Vec<_> = named(&pod.init_containers, name).collect();
        match (regular.is_empty(), init.is_empty()) {
            (false, _) => selection.containers.extend(regular),
            (true, false) if include => selection.containers.extend(init),
            (true, false) => selection.faults.push((name, WorkloadFindingReason::InitContainerNotIncluded)),
            (true, true) => selection.faults.push((name, WorkloadFindingReason::ContainerNotFound)),
        }
    }
    selection
}

fn named<'a>(containers: &'a [Container], name: &str) -> impl Iterator<Item = &'a Container> {
    containers.iter().filter(move |container| container.name == name)
}
