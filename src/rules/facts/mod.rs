//! What rules may know of the world around an object. Built by `cluster` from the API server, by the command line from
//! files, by tests from text; a rule never learns which.
//!
//! Only data lives here: no client, no clock, no judgement. What is read from a Secret stays in [`SecretBytes`].

mod external_secret;
mod secret;
mod secret_bytes;
mod workload;

pub use external_secret::{ExternalSecretFacts, ReadyCondition};
pub use secret::{OwnerReference, SecretFacts};
pub use secret_bytes::SecretBytes;
pub use workload::{
    Container, EnvFrom, EnvFromSource, EnvSource, EnvVar, KeyToPath, PodTemplate, ProjectedSource,
    SecretSource, Volume, VolumeMount, VolumeSource, WorkloadFacts,
};

use std::collections::BTreeSet;

/// What came of looking for one object.
///
/// Only [`Found`](Self::Found) and [`Absent`](Self::Absent) say something about the object; every other outcome means
/// that it is not known whether it exists.
#[derive(Debug)]
pub enum Lookup<T> {
    /// It was read.
    Found(T),
    /// The answer was: there is no such object.
    Absent,
    /// The reader may not read it (HTTP 403).
    Forbidden,
    /// It could not be read.
    Failed(ReadFailure),
    /// It is not among the files that were given.
    NotInInput,
    /// The API server does not serve its kind.
    NotServed,
}

impl<T> Lookup<T> {
    /// The same outcome with something else made of what was found.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Found(found) => Lookup::Found(change(found)),
            Self::Absent => Lookup::Absent,
            Self::Forbidden => Lookup::Forbidden,
            Self::Failed(failure) => Lookup::Failed(failure),
            Self::NotInInput => Lookup::NotInInput,
            Self::NotServed => Lookup::NotServed,
        }
    }
}

/// Why an object could not be read, without a word of what the server or a parser said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFailure {
    /// No connection, or it broke.
    Connection,
    /// No answer in time.
    Timeout,
    /// An answer with this HTTP status.
    Status(u16),
    /// An answer that is not the object.
    Malformed,
    /// The program's own fault while it judged; it is reported with the place in the code in its log.
    Internal,
}

impl std::fmt::Display for ReadFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connection => formatter.write_str("the connection to the API server failed"),
            Self::Timeout => formatter.write_str("the API server did not answer in time"),
            Self::Status(code) => write!(formatter, "the API server answered with status {code}"),
            Self::Malformed => formatter.write_str("the API server's answer could not be understood"),
            Self::Internal => formatter.write_str("an internal error stopped the evaluation"),
        }
    }
}

/// Everything that the STATE chain of a contract looks at.
#[derive(Debug)]
pub struct ContractFacts {
    /// The Secret that `spec.secretRef` names.
    pub secret: Lookup<SecretFacts>,
    /// The ExternalSecret that `spec.externalSecretRef` names; none when the contract declares none.
    pub external_secret: Option<Lookup<ExternalSecretFacts>>,
    /// The workloads of `spec.workloadRefs`, one to each reference, in the same order.
    pub workloads: Vec<Lookup<WorkloadFacts>>,
    /// The keys that the Secret will have, where files hold it only sealed: what is not among them will be missing, and
    /// nothing else is known. None in a cluster, and where the Secret itself was looked up.
    pub sealed_keys: Option<BTreeSet<String>>,
}

impl ContractFacts {
    /// The facts of a contract that declares nothing but its Secret.
    pub const fn of_secret(secret: Lookup<SecretFacts>) -> Self {
        Self { secret, external_secret: None, workloads: Vec::new(), sealed_keys: None }
    }
}
