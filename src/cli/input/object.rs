//! From documents to Kubernetes objects: lists are taken apart, and every object says where it stands.

use std::sync::Arc;

use super::source::{Source, Unusable};
use super::yaml::{self, Data, Node};

/// Where something stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named; `-` is standard input.
    pub file: Arc<str>,
    /// Which document of the file, from 1. Items of a list have the list's.
    pub document: u32,
    /// Line in the file, from 1.
    pub line: u32,
}

/// One object.
pub struct Object {
    /// Where it begins.
    pub place: Place,
    /// `apiVersion`; empty if there is none.
    pub api_version: String,
    /// `kind`; empty if there is none.
    pub kind: String,
    /// The whole of it.
    pub node: Node,
}

impl Object {
    /// `metadata.name`, if there is one.
    pub fn name(&self) -> Option<&str> {
        self.metadata("name")
    }

    /// `metadata.namespace`, if there is one.
    pub fn namespace(&self) -> Option<&str> {
        self.metadata("namespace")
    }

    fn metadata(&self, field: &str) -> Option<&str> {
        self.node.get("metadata")?.get(field)?.text().filter(|text| !text.is_empty())
    }
}

/// What one document turns out to be.
pub enum Item {
    /// An object, or an item of a list.
    Object(Object),
    /// Well-formed, but nothing that could be an object: an item of a list of objects that is none.
    Other,
    /// It cannot be read.
    Broken {
        /// Where.
        place: Place,
        /// What is wrong, without a word of the document.
        problem: String,
    },
}

/// Reads a source and gives every object in it, in order. Only what is being looked at is kept as a tree.
pub fn each(source: &Source, mut visit: impl FnMut(Item)) -> Result<(), Unusable> {
    let file: Arc<str> = source.name().into();
    let text = source.read()?;
    for document in yaml::documents(&text) {
        let place = |line| Place { file: Arc::clone(&file), document: document.number, line };
        match document.root {
            Err(error) => {
                visit(Item::Broken { place: place(error.line), problem: error.problem.to_string() });
            }
            Ok(root) if matches!(root.data, Data::Map(_)) => unpack(root, &place, None, 0, &mut visit),
            Ok(root) => {
                let problem = yaml::Problem::NotAnObject.to_string();
                visit(Item::Broken { place: place(root.line), problem });
            }
        }
    }
    Ok(())
}

/// How deep lists of lists are followed.
const MAX_LISTS: usize = 8;

/// What the items of a typed list are, where they do not say so themselves.
struct Typed {
    api_version: String,
    kind: String,
}

fn unpack(
    node: Node,
    place: &impl Fn(u32) -> Place,
    typed: Option<&Typed>,
    depth: usize,
    visit: &mut impl FnMut(Item),
) {
    let field = |name: &str| node.get(name).and_then(Node::text).unwrap_or_default().to_owned();
    let (mut api_version, mut kind) = (field("apiVersion"), field("kind"));
    let items_are = match kind.strip_suffix("List") {
        Some(item) if depth < MAX_LISTS && node.get("items").is_some_and(|items| items.items().is_some()) => {
            Some(
                (!item.is_empty()).then(|| Typed { api_version: api_version.clone(), kind: item.to_owned() }),
            )
        }
        _ => None,
    };
    let Some(items_are) = items_are else {
        if let Some(typed) = typed.filter(|_| kind.is_empty()) {
            (api_version, kind) = (typed.api_version.clone(), typed.kind.clone());
        }
        visit(Item::Object(Object { place: place(node.line), api_version, kind, node }));
        return;
    };
    let Data::Map(entries) = node.data else { return };
    for entry in entries.into_iter().filter(|entry| entry.key == "items") {
        let Data::List(items) = entry.value.data else { continue };
        for item in items {
            match item.data {
                Data::Map(_) => unpack(item, place, items_are.as_ref(), depth + 1, visit),
                _ => visit(Item::Other),
            }
        }
    }
}
