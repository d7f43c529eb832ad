//! Which contracts refer to which object: built from the contracts, asked when the object changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock};

use crate::api::secret_contract::EffectiveContract;

/// The kind of a Secret, as [`Referent::kind`] names it.
pub(super) const SECRET: &str = "Secret";
/// The kind of an ExternalSecret, likewise.
pub(super) const EXTERNAL_SECRET: &str = "ExternalSecret";

/// An object that a contract refers to, in the contract's own namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Referent {
    /// `Secret`, `ExternalSecret`, or the kind of a workload.
    pub(super) kind: String,
    pub(super) name: String,
}

impl Referent {
    pub(super) fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned() }
    }

    /// Everything that a contract refers to.
    pub(super) fn all_of(contract: &EffectiveContract<'_>) -> BTreeSet<Self> {
        let secret = contract.secret_name.map(|name| Self::new(SECRET, name));
        let producer = contract.external_secret.and_then(|reference| reference.name);
        let workloads = contract
            .workloads
            .iter()
            .filter_map(|workload| Some(Self::new(workload.kind?.as_str(), workload.name?)));
        secret
            .into_iter()
            .chain(producer.map(|name| Self::new(EXTERNAL_SECRET, name)))
            .chain(workloads)
            .collect()
    }
}

/// A namespace with the name of a contract in it.
type Contract = (String, String);

/// What each contract refers to, and which contracts refer to each object.
#[derive(Debug, Default)]
pub(super) struct References(RwLock<Maps>);

#[derive(Debug, Default)]
struct Maps {
    referents_of: HashMap<Contract, BTreeSet<Referent>>,
    contracts_of: HashMap<(String, Referent), BTreeSet<String>>,
}

impl References {
    /// The contract `namespace/contract` refers to these objects; to none when it is gone.
    pub(super) fn set(&self, namespace: &str, contract: &str, referents: BTreeSet<Referent>) {
        let mut maps = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), contract.to_owned());
        let before = maps.referents_of.remove(&key).unwrap_or_default();
        for gone in before.difference(&referents) {
            let old = (namespace.to_owned(), gone.clone());
            if let Some(contracts) = maps.contracts_of.get_mut(&old) {
                contracts.remove(contract);
                if contracts.is_empty() {
                    maps.contracts_of.remove(&old);
                }
            }
        }
        for new in referents.difference(&before) {
            let contracts = maps.contracts_of.entry((namespace.to_owned(), new.clone())).or_default();
            contracts.insert(contract.to_owned());
        }
        if !referents.is_empty() {
            maps.referents_of.insert(key, referents);
        }
    }

    /// The names of the contracts in `namespace` that refer to the object.
    pub(super) fn contracts(&self, namespace: &str, referent: &Referent) -> Vec<String> {
        let maps = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.to_owned(), referent.clone());
        maps.contracts_of.get(&key).into_iter().flatten().cloned().collect()
    }

    /// Every contract that refers to an object of this kind, with its namespace.
    pub(super) fn contracts_of_kind(&self, kind: &str) -> Vec<(String, String)> {
        let maps = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let referring = maps.referents_of.iter().filter(|(_, all)| all.iter().any(|one| one.kind == kind));
        referring.map(|(contract, _)| contract.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(name: &str) -> Referent {
        Referent::new(SECRET, name)
    }

    #[test]
    fn follows_every_change_of_a_contract() {
        let index = References::default();
        let one = |name| BTreeSet::from([secret(name)]);
        index.set("n", "b", one("s"));
        index.set("n", "a", BTreeSet::from([secret("s"), Referent::new("Deployment", "s")]));
        index.set("m", "a", one("s"));
        assert_eq!(index.contracts("n", &secret("s")), ["a", "b"]);
        assert_eq!(index.contracts("n", &Referent::new("Deployment", "s")), ["a"]);
        index.set("n", "a", one("t"));
        index.set("n", "a", one("t"));
        assert_eq!(index.contracts("n", &secret("s")), ["b"]);
        assert_eq!(index.contracts("n", &secret("t")), ["a"]);
        assert!(index.contracts_of_kind("Deployment").is_empty());
        index.set("n", "b", BTreeSet::new());
        index.set("n", "a", BTreeSet::new());
        index.set("n", "never", BTreeSet::new());
        assert!(
            index.contracts("n", &secret("s")).is_empty() && index.contracts("n", &secret("t")).is_empty()
        );
        assert_eq!(index.contracts("m", &secret("s")), ["a"]);
        assert_eq!(index.contracts_of_kind(SECRET), [("m".to_owned(), "a".to_owned())]);
        let maps = index.0.read().unwrap();
        assert_eq!((maps.referents_of.len(), maps.contracts_of.len()), (1, 1), "nothing is left behind");
    }

    #[test]
    fn a_contract_refers_to_all_that_it_names() {
        let contract = json!({"spec": {
            "secretRef": {"name": "s"},
            "externalSecretRef": {"name": "e", "apiVersion": "external-secrets.io/v1"},
            "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}, {"name": "no kind"}],
        }});
        let all = Referent::all_of(&EffectiveContract::of_object(&contract));
        let expected = [
            Referent::new("Deployment", "w"),
            Referent::new(EXTERNAL_SECRET, "e"),
            Referent::new(SECRET, "s"),
        ];
        assert_eq!(all, BTreeSet::from(expected));
    }
}
