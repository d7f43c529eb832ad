//! Which contracts look at which Secret: built from the contracts, asked when a Secret changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock};

/// A namespace with the name of an object in it.
type Key = (String, String);

/// The Secret of each contract, and the contracts of each Secret.
#[derive(Debug, Default)]
pub(super) struct SecretIndex(RwLock<Maps>);

#[derive(Debug, Default)]
struct Maps {
    secret_of: HashMap<Key, String>,
    contracts_of: HashMap<Key, BTreeSet<String>>,
}

impl SecretIndex {
    /// The contract `namespace/contract` looks at this Secret; `None`: at none, or the contract is gone.
    pub(super) fn set(&self, namespace: &str, contract: &str, secret: Option<&str>) {
        let mut maps = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), contract.to_owned());
        let before = match secret {
            Some(secret) => maps.secret_of.insert(key, secret.to_owned()),
            None => maps.secret_of.remove(&key),
        };
        if before.as_deref() == secret {
            return;
        }
        if let Some(before) = before {
            let old = (namespace.to_owned(), before);
            if let Some(contracts) = maps.contracts_of.get_mut(&old) {
                contracts.remove(contract);
                if contracts.is_empty() {
                    maps.contracts_of.remove(&old);
                }
            }
        }
        if let Some(secret) = secret {
            let new = (namespace.to_owned(), secret.to_owned());
            maps.contracts_of.entry(new).or_default().insert(contract.to_owned());
        }
    }

    /// The names of the contracts in `namespace` that look at the Secret `secret`.
    pub(super) fn contracts(&self, namespace: &str, secret: &str) -> Vec<String> {
        let maps = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), secret.to_owned());
        maps.contracts_of.get(&key).into_iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_every_change_of_a_contract() {
        let index = SecretIndex::default();
        index.set("n", "b", Some("s"));
        index.set("n", "a", Some("s"));
        index.set("m", "a", Some("s"));
        assert_eq!(index.contracts("n", "s"), ["a", "b"]);
        index.set("n", "a", Some("t"));
        index.set("n", "a", Some("t"));
        assert_eq!(index.contracts("n", "s"), ["b"]);
        assert_eq!(index.contracts("n", "t"), ["a"]);
        index.set("n", "b", None);
        index.set("n", "a", None);
        index.set("n", "never", None);
        assert!(index.contracts("n", "s").is_empty() && index.contracts("n", "t").is_empty());
        assert_eq!(index.contracts("m", "s"), ["a"]);
        let maps = index.0.read().unwrap();
        assert_eq!((maps.secret_of.len(), maps.contracts_of.len()), (1, 1), "nothing is left behind");
    }
}
