//! The environment of one container, in the order in which the kubelet makes it: the sources of `envFrom` one after the
//! other, then the entries of `env`; what comes later wins. A literal that refers to a variable, `$(VAR)`, is a literal.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Arrival, Declared};
use crate::format::env_name;
use crate::rules::facts::{Container, EnvFrom, EnvFromSource, EnvSource};

/// How many different sources of `envFrom` are looked at, the last ones of the list: far more than people write. It
/// keeps a template that is made to be costly from being so.
pub(super) const SOURCES: usize = 256;

/// The environment of one container as far as the Secret has a part in it.
pub(super) struct Environment<'a> {
    declared: &'a Declared<'a>,
    /// `envFrom` without those that an equal one repeats later.
    sources: Vec<&'a EnvFrom>,
    /// The entries of `env` by their variable.
    entries: HashMap<&'a str, Vec<&'a EnvSource>>,
    /// The variables that `env` sets from a key of the Secret, by key.
    references: HashMap<&'a str, BTreeSet<&'a str>>,
}

/// A variable that a key of the Secret was written to.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) arrival: Arrival,
    /// Whether a source that is not read may have written to it afterwards.
    pub(super) doubtful: bool,
    /// Whether the value comes through `envFrom`.
    through_source: bool,
}

impl Variable {
    /// Whether the variable counts as consumption: through `envFrom` only under a name that every program can read.
    pub(super) fn counts(&self) -> bool {
        !self.through_source || env_name::is_portable(&self.name)
    }
}

impl<'a> Environment<'a> {
    pub(super) fn of_container(container: &'a Container, declared: &'a Declared<'a>) -> Self {
        let mut seen = HashSet::new();
        let mut sources: Vec<_> =
            container.env_from.iter().rev().filter(|source| seen.insert(*source)).take(SOURCES).collect();
        sources.reverse();
        let mut environment = Self { declared, sources, entries: HashMap::new(), references: HashMap::new() };
        for variable in &container.env {
            environment.entries.entry(&variable.name).or_default().push(&variable.source);
            if let EnvSource::SecretKey { name, key, .. } = &variable.source
                && name == declared.secret
            {
                environment.references.entry(key).or_default().insert(&variable.name);
            }
        }
        environment
    }

    /// Every variable that the key was written to, whether or not the value stayed.
    pub(super) fn variables(&self, key: &str) -> Vec<Variable> {
        let mut names: BTreeSet<String> =
            self.references.get(key).into_iter().flatten().map(|name| (*name).to_owned()).collect();
        let own = self.sources.iter().filter(|source| self.is_own(source));
        names.extend(own.map(|source| format!("{}{key}", source.prefix)));
        names.into_iter().map(|name| self.replay(name, key)).collect()
    }

    /// Whether the key stands in the environment in the end, if the Secret has it.
    pub(super) fn holds(&self, key: &str) -> bool {
        self.variables(key).iter().any(|variable| variable.arrival >= Arrival::Optional)
    }

    /// A variable that is set from the key and keeps the pod from starting while the key is absent.
    pub(super) fn mandatory(&self, key: &str) -> Option<&'a str> {
        let is_mandatory = |source: &&EnvSource| {
            matches!(source, EnvSource::SecretKey { name, key: from, optional: false }
                if name == self.declared.secret && from == key)
        };
        let names = self.references.get(key)?;
        names.iter().copied().find(|name| self.entries.get(name).into_iter().flatten().any(is_mandatory))
    }

    fn is_own(&self, source: &EnvFrom) -> bool {
        matches!(&source.source, EnvFromSource::Secret(name) if name == self.declared.secret)
    }

    /// What is written to one variable, write by write.
    fn replay(&self, name: String, key: &str) -> Variable {
        let mut variable = Variable { name, arrival: Arrival::Never, doubtful: false, through_source: false };
        for source in &self.sources {
            let write = match variable.name.strip_prefix(source.prefix.as_str()) {
                None | Some("") => continue,
                Some(from) if self.is_own(source) => self.own(from, key, source.optional, true),
                Some(_) => Write::Unknown,
            };
            variable.write(write);
        }
        for source in self.entries.get(variable.name.as_str()).into_iter().flatten() {
            let write = match source {
                EnvSource::SecretKey { name, key: from, optional } if name == self.declared.secret => {
                    self.own(from, key, *optional, false)
                }
                EnvSource::SecretKey { optional: true, .. } | EnvSource::Other { optional: true } => {
                    Write::Unknown
                }
                EnvSource::SecretKey { .. } | EnvSource::Other { .. } => Write::Another,
            };
            variable.write(write);
        }
        variable
    }

    /// A write of the Secret's key `from`, as seen by one who looks for `key`.
    fn own(&self, from: &str, key: &str, optional: bool, through_source: bool) -> Write {
        if from == key {
            return Write::Key { optional, through_source };
        }
        let required = self.declared.required(from);
        if through_source && required.is_none() {
            // Of what is in the Secret only the declared keys are known.
            Write::Nothing
        } else if required != Some(true) && (optional || through_source) {
            Write::Unknown
        } else {
            Write::Another
        }
    }
}

/// One write to a variable.
enum Write {
    /// The key that is looked for.
    Key {
        optional: bool,
        through_source: bool,
    },
    /// Something else.
    Another,
    /// Something else, if what is not read has it.
    Unknown,
    Nothing,
}

impl Variable {
    fn write(&mut self, write: Write) {
        match write {
            // The same value again, where the key is there.
            Write::Key { optional: true, .. } if self.arrival >= Arrival::Optional => self.doubtful = false,
            Write::Key { optional, through_source } => {
                self.arrival = if optional { Arrival::Optional } else { Arrival::Surely };
                (self.doubtful, self.through_source) = (false, through_source);
            }
            Write::Another if self.arrival > Arrival::Never => self.arrival = Arrival::Overwritten,
            Write::Unknown => self.doubtful = self.arrival >= Arrival::Optional,
            Write::Another | Write::Nothing => {}
        }
    }
}
