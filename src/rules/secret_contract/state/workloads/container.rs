//! One selected container: which keys reach it, and what it says of those that do not.

use std::collections::BTreeSet;

use super::environment::{Environment, Variable};
use super::files::{File, Files};
use super::message::{self, Subject};
use super::{Arrival, Declared};
use crate::api::conditions::WorkloadFindingReason;
use crate::api::secret_contract::effective::{Consumption, EffectiveKey};
use crate::rules::facts::{Container, PodTemplate};

/// What is to be said of one container.
#[derive(Default)]
pub(super) struct Judged {
    /// Key, reason and message.
    pub(super) findings: Vec<(String, WorkloadFindingReason, String)>,
    /// What is no fault but worth knowing.
    pub(super) notes: Vec<String>,
    /// Declared keys that stand in the environment.
    pub(super) environment_keys: BTreeSet<String>,
}

/// Judges one container by every declared key.
pub(super) fn judge(
    container: &Container,
    pod: &PodTemplate,
    declared: &Declared<'_>,
    keys: &[EffectiveKey<'_>],
    consumption: Consumption<'_>,
    subject: Subject<'_>,
) -> Judged {
    let environment = Environment::of_container(container, declared);
    let files = Files::of_container(container, pod, declared);
    let mut judged = Judged::default();
    let mut doubtful = Vec::new();
    for key in keys {
        let Some(name) = key.name else { continue };
        if environment.holds(name) {
            judged.environment_keys.insert(name.to_owned());
        }
        let found = if key.required {
            let ways = Ways::of_key(&environment, &files, key, name, consumption);
            if ways.is_doubtful() {
                doubtful.push(name);
            }
            ways.fault(subject)
        } else {
            mandatory(&environment, &files, name, subject)
        };
        judged.findings.extend(found.map(|(reason, message)| (name.to_owned(), reason, message)));
    }
    if !doubtful.is_empty() {
        judged.notes.push(message::may_be_replaced(subject, &doubtful));
    }
    if consumption != Consumption::EnvVars && files.has_sub_path() {
        judged.notes.push(message::stays_as_it_is(subject));
    }
    judged
}

/// An optional key that the pod cannot start without.
fn mandatory(
    environment: &Environment<'_>,
    files: &Files<'_>,
    key: &str,
    subject: Subject<'_>,
) -> Option<(WorkloadFindingReason, String)> {
    let message = match (environment.mandatory(key), files.mandatory(key)) {
        (Some(variable), _) => message::mandatory_variable(subject, key, variable),
        (None, Some(volume)) => message::mandatory_volume(subject, key, volume),
        (None, None) => return None,
    };
    Some((WorkloadFindingReason::MandatoryReference, message))
}

/// The ways by which a required key may reach a container.
pub(super) struct Ways<'a> {
    pub(super) key: &'a str,
    /// The variable that it must arrive in.
    pub(super) env_name: Option<&'a str>,
    pub(super) consumption: Consumption<'a>,
    pub(super) variables: Vec<Variable>,
    pub(super) file: File<'a>,
}

impl<'a> Ways<'a> {
    fn of_key(
        environment: &Environment<'_>,
        files: &'a Files<'_>,
        key: &EffectiveKey<'a>,
        name: &'a str,
        consumption: Consumption<'a>,
    ) -> Self {
        let (variables, file) = (environment.variables(name), files.file(name));
        Self { key: name, env_name: key.env_name, consumption, variables, file }
    }

    /// The variable that brings the key best, if variables are asked for.
    fn variable(&self) -> Option<&Variable> {
        if self.consumption == Consumption::Volume {
            return None;
        }
        let fitting = self.variables.iter().filter(|variable| {
            variable.counts() && self.env_name.is_none_or(|wanted| wanted == variable.name)
        });
        fitting.max_by_key(|variable| (variable.arrival, !variable.doubtful))
    }

    /// How the key arrives at best, and whether that is certain.
    fn best(&self) -> (Arrival, bool) {
        let variable =
            self.variable().map_or((Arrival::Never, true), |found| (found.arrival, !found.doubtful));
        let file = (self.file.arrival, self.file.certain);
        if self.consumption == Consumption::EnvVars { variable } else { variable.max(file) }
    }

    fn is_doubtful(&self) -> bool {
        self.best() == (Arrival::Surely, false)
    }

    fn fault(&self, subject: Subject<'_>) -> Option<(WorkloadFindingReason, String)> {
        match self.best().0 {
            Arrival::Surely => None,
            Arrival::Optional => {
                Some((WorkloadFindingReason::OptionalReference, message::optional(subject, self.key)))
            }
            Arrival::Overwritten => {
                let variable = self.variable().map_or("", |variable| &variable.name);
                Some((WorkloadFindingReason::Shadowed, message::shadowed(subject, self.key, variable)))
            }
            Arrival::Never => {
                Some((WorkloadFindingReason::ReferenceMissing, message::missing(subject, self)))
            }
        }
    }
}
