//! What is said of workloads and their containers: names of objects, containers, keys, variables and volumes, and fixed
//! words. Names that no API server has judged are quoted and cut.

use std::collections::BTreeSet;

use super::Arrival;
use super::container::Ways;
use super::files::Miss;
use crate::api::conditions::MAX_MESSAGE_BYTES;
use crate::api::secret_contract::effective::Consumption;
use crate::format::env_name;
use crate::go::quote::quote_bounded;
use crate::rules::facts::PodTemplate;
use crate::rules::text::{cut, listed};

/// How many names a message lists before it counts the rest.
const NAMES: usize = 5;
/// How many of each a condition's message lists before it counts the rest.
pub(super) const SENTENCES: usize = 3;
/// How to ask less of a workload.
const NARROW: &str = "or list only the containers that need the Secret in spec.workloadRefs[].containers";

/// What a sentence is about.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// `Deployment "web"`.
    pub(super) workload: &'a str,
    pub(super) container: &'a str,
    /// The Secret's name.
    pub(super) secret: &'a str,
}

impl Subject<'_> {
    fn place(self) -> String {
        format!("{}, container {}", self.workload, quote_bounded(self.container))
    }

    fn key(self, key: &str) -> String {
        format!("key \"{key}\" of Secret \"{}\"", self.secret)
    }
}

pub(super) fn no_container(workload: &str, name: &str, pod: &PodTemplate, with_init: bool) -> String {
    if name.is_empty() {
        return format!("{workload} has no containers in its pod template; correct the workload.");
    }
    let init = pod.init_containers.iter().filter(|_| with_init);
    let names: Vec<_> = pod.containers.iter().chain(init).map(|container| container.name.as_str()).collect();
    let names = if names.is_empty() {
        "it has none".to_owned()
    } else {
        let quoted: Vec<String> = names.iter().take(NAMES).map(|name| quote_bounded(name)).collect();
        let more = names.len().saturating_sub(NAMES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("it has {}{more}", quoted.join(", "))
    };
    format!(
        "{workload} has no container {}: {names}; correct spec.workloadRefs[].containers.",
        quote_bounded(name)
    )
}

pub(super) fn init_container(workload: &str, name: &str) -> String {
    format!(
        "{workload}: {} is an init container; set includeInitContainers to true, or remove it from \
         spec.workloadRefs[].containers.",
        quote_bounded(name)
    )
}

pub(super) fn mandatory_variable(subject: Subject<'_>, key: &str, variable: &str) -> String {
    mandatory(subject, key, &format!("environment variable {}", quote_bounded(variable)))
}

pub(super) fn mandatory_volume(subject: Subject<'_>, key: &str, volume: &str) -> String {
    mandatory(subject, key, &format!("the items of volume {}", quote_bounded(volume)))
}

fn mandatory(subject: Subject<'_>, key: &str, source: &str) -> String {
    format!(
        "{}: {source} must have {}, which the contract does not require, so the pod cannot start while the key is \
         absent; mark the reference as optional, or require the key.",
        subject.place(),
        subject.key(key)
    )
}

pub(super) fn optional(subject: Subject<'_>, key: &str) -> String {
    format!(
        "{}: every reference to {} is optional, so the container would start without it; remove optional: true, \
         {NARROW}.",
        subject.place(),
        subject.key(key)
    )
}

pub(super) fn shadowed(subject: Subject<'_>, key: &str, variable: &str) -> String {
    format!(
        "{}: environment variable {} is set from {}, and then set again by a later entry; remove the later entry, \
         {NARROW}.",
        subject.place(),
        quote_bounded(variable),
        subject.key(key)
    )
}

/// A required key that reaches the container in no way that counts.
pub(super) fn missing(subject: Subject<'_>, ways: &Ways<'_>) -> String {
    let variable = ways.env_name.map(quote_bounded);
    let by_reference = if env_name::is_portable(ways.key) && ways.env_name.is_none_or(|name| name == ways.key)
    {
        "with secretKeyRef or envFrom"
    } else {
        "with secretKeyRef"
    };
    let (wrong, remedy) = match (ways.consumption, variable) {
        (Consumption::Volume, _) => {
            ("is in no file that it mounts".to_owned(), "mount a volume with it".to_owned())
        }
        (Consumption::EnvVars, Some(name)) => {
            (format!("does not reach environment variable {name}"), format!("set it {by_reference}"))
        }
        (Consumption::EnvVars, None) => {
            ("reaches no environment variable".to_owned(), format!("set one {by_reference}"))
        }
        (Consumption::Any | Consumption::Unknown(_), Some(name)) => (
            format!("reaches neither environment variable {name} nor a file"),
            format!("set the variable {by_reference}, mount a volume with it"),
        ),
        (Consumption::Any | Consumption::Unknown(_), None) => (
            "reaches neither an environment variable nor a file".to_owned(),
            format!("set a variable {by_reference}, mount a volume with it"),
        ),
    };
    let near = near(ways).map(|near| format!(" ({near})")).unwrap_or_default();
    format!("{}: {} {wrong}{near}; {remedy}, {NARROW}.", subject.place(), subject.key(ways.key))
}

/// What comes near to a reference that counts.
fn near(ways: &Ways<'_>) -> Option<String> {
    let arrived = ways.variables.iter().find(|variable| variable.arrival >= Arrival::Optional);
    if let Some(variable) = arrived {
        let name = quote_bounded(&variable.name);
        return Some(if ways.consumption == Consumption::Volume {
            format!("it is in environment variable {name} only")
        } else if variable.counts() {
            format!("it is in {name}")
        } else {
            format!("envFrom makes {name} of it, which is no portable variable name")
        });
    }
    if ways.consumption == Consumption::EnvVars {
        return (ways.file.arrival > Arrival::Never).then(|| "it is in a mounted file only".to_owned());
    }
    let (miss, volume) = ways.file.miss?;
    let volume = format!("volume {}", quote_bounded(volume));
    Some(match miss {
        Miss::NotMounted => format!("{volume} is not mounted"),
        Miss::NotListed => format!("the items of {volume} leave it out"),
        Miss::OtherPart => format!("subPath shows another part of {volume}"),
        Miss::NotLiteral => format!("the subPathExpr for {volume} has variables"),
        Miss::Replaced => format!("something else in {volume} has its path"),
        Miss::Covered => format!("another mount lies over its file in {volume}"),
    })
}

pub(super) fn may_be_replaced(subject: Subject<'_>, keys: &[&str]) -> String {
    format!(
        "{}: a later source that Covenant does not read may replace {}.",
        subject.place(),
        listed(keys.iter().copied(), NAMES)
    )
}

pub(super) fn stays_as_it_is(subject: Subject<'_>) -> String {
    format!("{}: files mounted with subPath do not change while the pod runs.", subject.place())
}

/// Sentences of one sort.
pub(super) struct Group {
    /// What one of them is about, for the count of those that are not told.
    pub(super) noun: &'static str,
    /// The first of them, at least [`SENTENCES`] where there are so many.
    pub(super) first: Vec<String>,
    /// How many there are.
    pub(super) total: usize,
}

impl Group {
    pub(super) fn of(noun: &'static str, sentences: BTreeSet<String>) -> Self {
        let total = sentences.len();
        Self { noun, first: sentences.into_iter().take(SENTENCES).collect(), total }
    }
}

/// One message of all groups: of each as many of the first sentences as fit, and the count of the rest. The very first
/// sentence is told in any case.
pub(super) fn joined(groups: &[Group]) -> String {
    // Room for the count of the rest.
    let room = MAX_MESSAGE_BYTES - 40;
    let mut message = String::new();
    for group in groups {
        let mut told = 0;
        for sentence in group.first.iter().take(SENTENCES) {
            if !message.is_empty() && message.len() + 1 + sentence.len() > room {
                break;
            }
            push(&mut message, &cut(sentence.clone(), room));
            told += 1;
        }
        let rest = group.total.saturating_sub(told);
        if rest > 0 {
            push(
                &mut message,
                &format!("And {rest} more {}{}.", group.noun, if rest == 1 { "" } else { "s" }),
            );
        }
    }
    message
}

fn push(message: &mut String, sentence: &str) {
    if !message.is_empty() {
        message.push(' ');
    }
    message.push_str(sentence);
}
