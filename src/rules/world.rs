//! What rules may know of other objects: a look into memory, never a call. Webhook and command line bring their own.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::api::{Kind, raw};

/// The other objects of the PostgreSQL kinds, as far as they are known.
pub trait World {
    /// The object of `kind` with this name; `namespace` is empty for a kind without namespaces.
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value>;

    /// Every object of `kind` that is known.
    fn all<'a>(&'a self, kind: Kind) -> Box<dyn Iterator<Item = &'a Value> + 'a>;

    /// Whether an object that is not known does not exist, for all that can be told.
    fn knows_absence(&self) -> bool;
}

/// Objects in memory.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    kinds: HashMap<Kind, BTreeMap<(String, String), Value>>,
    complete: bool,
}

impl Objects {
    /// None, and nothing is said of what is not there.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on what is not held counts as absent, or no longer does.
    pub fn set_complete(&mut self, complete: bool) {
        self.complete = complete;
    }

    /// Takes an object, in place of one with the same name. One without a name is not held.
    pub fn insert(&mut self, kind: Kind, object: Value) {
        if let Some(key) = key(&object) {
            self.kinds.entry(kind).or_default().insert(key, object);
        }
    }

    /// Forgets the object with the name of `object`.
    pub fn remove(&mut self, kind: Kind, object: &Value) {
        if let (Some(key), Some(objects)) = (key(object), self.kinds.get_mut(&kind)) {
            objects.remove(&key);
        }
    }

    /// Holds `objects` in place of all others of `kind`.
    pub fn replace(&mut self, kind: Kind, objects: Vec<Value>) {
        let keyed = objects.into_iter().filter_map(|object| Some((key(&object)?, object)));
        self.kinds.insert(kind, keyed.collect());
    }
}

impl World for Objects {
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.kinds.get(&kind)?.get(&(namespace.to_owned(), name.to_owned()))
    }

    fn all<'a>(&'a self, kind: Kind) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
        Box::new(self.kinds.get(&kind).into_iter().flat_map(BTreeMap::values))
    }

    fn knows_absence(&self) -> bool {
        self.complete
    }
}

fn key(object: &Value) -> Option<(String, String)> {
    let metadata = raw::object(Some(object), "metadata");
    let namespace = raw::text(metadata, "namespace").unwrap_or_default();
    Some((namespace.to_owned(), raw::text(metadata, "name")?.to_owned()))
}
