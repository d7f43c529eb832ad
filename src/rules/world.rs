//! What rules may know of other objects: a look into memory, never a call. Webhook and command line bring their own.

mod key;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

pub use key::Key;

use crate::api::{Kind, raw};

/// The other objects of the PostgreSQL kinds, as far as they are known.
pub trait World {
    /// The object of `kind` with this name; `namespace` is empty for a kind without namespaces.
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value>;

    /// The objects of `kind` that are known and have this key, by namespace and name. There is no way to go through all
    /// objects: what a rule looks at must not grow with the cluster.
    fn having<'a>(&'a self, kind: Kind, key: &Key) -> Box<dyn Iterator<Item = &'a Value> + 'a>;

    /// Whether an object that is not known does not exist, for all that can be told.
    fn knows_absence(&self) -> bool;
}

/// Objects in memory, each found by its name and by its keys.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    kinds: HashMap<Kind, Indexed>,
    complete: bool,
}

/// Namespace and name.
type Name = (String, String);

/// The objects of one kind.
#[derive(Clone, Debug, Default)]
struct Indexed {
    objects: BTreeMap<Name, Value>,
    keys: HashMap<Key, BTreeSet<Name>>,
}

impl Indexed {
    fn insert(&mut self, kind: Kind, name: Name, object: Value) {
        self.remove(kind, &name);
        for key in Key::all(kind, &object) {
            self.keys.entry(key).or_default().insert(name.clone());
        }
        self.objects.insert(name, object);
    }

    fn remove(&mut self, kind: Kind, name: &Name) {
        let Some(object) = self.objects.remove(name) else { return };
        for key in Key::all(kind, &object) {
            if let Some(names) = self.keys.get_mut(&key) {
                names.remove(name);
                if names.is_empty() {
                    self.keys.remove(&key);
                }
            }
        }
    }
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
        if let Some(name) = name(&object) {
            self.kinds.entry(kind).or_default().insert(kind, name, object);
        }
    }

    /// Forgets the object with the name of `object`.
    pub fn remove(&mut self, kind: Kind, object: &Value) {
        if let (Some(name), Some(indexed)) = (name(object), self.kinds.get_mut(&kind)) {
            indexed.remove(kind, &name);
        }
    }

    /// Holds `objects` in place of all others of `kind`.
    pub fn replace(&mut self, kind: Kind, objects: Vec<Value>) {
        self.kinds.insert(kind, Indexed::default());
        for object in objects {
            self.insert(kind, object);
        }
    }
}

impl World for Objects {
    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Value> {
        self.kinds.get(&kind)?.objects.get(&(namespace.to_owned(), name.to_owned()))
    }

    fn having<'a>(&'a self, kind: Kind, key: &Key) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
        let indexed = self.kinds.get(&kind);
        let names = indexed.and_then(|indexed| indexed.keys.get(key)).into_iter().flatten();
        Box::new(names.filter_map(move |name| indexed?.objects.get(name)))
    }

    fn knows_absence(&self) -> bool {
        self.complete
    }
}

fn name(object: &Value) -> Option<Name> {
    let metadata = raw::object(Some(object), "metadata");
    let namespace = raw::text(metadata, "namespace").unwrap_or_default();
    Some((namespace.to_owned(), raw::text(metadata, "name")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_follow_their_objects() {
        let kind = Kind::PostgreSQLDatabase;
        let database = |name: &str, role: &str| {
            json!({"metadata": {"name": name, "uid": format!("uid-{name}")},
                "spec": {"instanceRef": {"name": "main"}, "database": name, "loginRole": role}})
        };
        let mut world = Objects::new();
        let names = |world: &Objects, key: &Key| -> Vec<String> {
            world
                .having(kind, key)
                .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
                .collect()
        };
        let role = |role: &str| Key::LoginRole("main".to_owned(), role.to_owned());
        let main = Key::Instance("main".to_owned());
        world.insert(kind, database("b", "one"));
        world.insert(kind, database("a", "one"));
        assert_eq!(names(&world, &role("one")), ["a", "b"]);
        world.insert(kind, database("a", "two"));
        assert_eq!(names(&world, &role("one")), ["b"]);
        assert_eq!(names(&world, &role("two")), ["a"]);
        assert_eq!(names(&world, &main), ["a", "b"]);
        world.remove(kind, &database("a", "whatever"));
        assert!(names(&world, &role("two")).is_empty());
        assert_eq!(names(&world, &Key::Uid("uid-b".to_owned())), ["b"]);
        world.replace(kind, vec![database("c", "one")]);
        assert_eq!(names(&world, &main), ["c"]);
        assert!(names(&world, &Key::Uid("uid-b".to_owned())).is_empty());
        let held = world.kinds.get(&kind).unwrap();
        assert_eq!(
            held.keys.len(),
            Key::all(kind, &database("c", "one")).len(),
            "no key of what is gone stays"
        );
    }
}
