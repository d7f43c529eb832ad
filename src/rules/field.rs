//! The path of a field inside an object, as Kubernetes writes it (`spec.requiredKeys[2].envName`).
//!
//! Only the path lives here: what is wrong with a field is a [`Finding`](super::finding::Finding).

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Segment {
    /// A field of an object, printed as `.name`.
    Field(Cow<'static, str>),
    /// An item of a list, printed as `[index]`; `key` is what identifies the item when it moves.
    Item { index: usize, key: Option<String> },
    /// An entry of a map, printed as `[key]` without quotes, as the API server does.
    Entry(String),
}

/// The path from the root of an object to one of its fields.
///
/// `Display` gives the form of apimachinery's `field.Path`: fields joined by dots, list items as `[2]`, map keys as
/// `[key]`. A path is never empty: admission answers about the whole object name its first wrong field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// The path of a top-level field (`spec`, `metadata`).
    pub fn root(name: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![Segment::Field(name.into())])
    }

    /// A dotted path without list items (`spec.rotation.maxAge`).
    pub fn dotted(path: &'static str) -> Self {
        Self(path.split('.').map(|name| Segment::Field(Cow::Borrowed(name))).collect())
    }

    /// The path of a field of the object at this path.
    #[must_use]
    pub fn child(&self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(Segment::Field(name.into()))
    }

    /// The path of the list item at `index`, identified by its position alone.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        self.with(Segment::Item { index, key: None })
    }

    /// The path of the list item at `index` whose identity is `key` (the list-map key's value): the item stays the
    /// same item for [`identity`](Self::identity) when it moves in the list.
    #[must_use]
    pub fn keyed_item(&self, index: usize, key: impl Into<String>) -> Self {
        self.with(Segment::Item { index, key: Some(key.into()) })
    }

    /// The path of the entry `key` of the map at this path.
    #[must_use]
    pub fn entry(&self, key: impl Into<String>) -> Self {
        self.with(Segment::Entry(key.into()))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }

    /// The path with every keyed list item named by its key instead of its index. Two findings about the same item of
    /// an old and a new object have the same identity, wherever the item stands.
    pub fn identity(&self) -> String {
        let mut text = String::new();
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) => {
                    if position > 0 {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                // Writing to a String cannot fail.
                Segment::Item { index, key: None } => drop(write!(text, "[{index}]")),
                Segment::Item { key: Some(key), .. } => drop(write!(text, "[={key:?}]")),
                Segment::Entry(key) => drop(write!(text, "[{key}]")),
            }
        }
        text
    }

    /// How this path sorts in the document order `order`: a list of dotted paths without indices, in the order of the
    /// kind's fields. A field that is not listed comes after its listed siblings; list items go by index.
    pub fn document_position(&self, order: &[&str]) -> Vec<(usize, usize, String)> {
        let mut position = Vec::with_capacity(self.0.len());
        let mut dotted = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Field(name) => {
                    if !dotted.is_empty() {
                        dotted.push('.');
                    }
                    dotted.push_str(name);
                    let rank = order.iter().position(|known| *known == dotted).unwrap_or(order.len());
                    position.push((
                        rank,
                        0,
                        if rank == order.len() { name.to_string() } else { String::new() },
                    ));
                }
                Segment::Item { index, .. } => position.push((0, *index, String::new())),
                Segment::Entry(key) => position.push((0, 0, key.clone())),
            }
        }
        position
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if position == 0 => formatter.write_str(name)?,
                Segment::Field(name) => write!(formatter, ".{name}")?,
                Segment::Item { index, .. } => write!(formatter, "[{index}]")?,
                Segment::Entry(key) => write!(formatter, "[{key}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_the_api_server_does() {
        let path = FieldPath::dotted("spec.requiredKeys").keyed_item(2, "a").child("envName");
        assert_eq!(path.to_string(), "spec.requiredKeys[2].envName");
        assert_eq!(
            FieldPath::root("metadata").child("labels").entry("a/b").to_string(),
            "metadata.labels[a/b]"
        );
    }

    #[test]
    fn identity_follows_the_item_not_its_index() {
        let keys = FieldPath::dotted("spec.requiredKeys");
        assert_eq!(
            keys.keyed_item(2, "a").child("x").identity(),
            keys.keyed_item(7, "a").child("x").identity()
        );
        assert_ne!(keys.item(2).identity(), keys.item(7).identity());
        assert_ne!(keys.keyed_item(0, "a].b[=\"").identity(), keys.keyed_item(0, "a").identity());
    }

    #[test]
    fn document_order_is_that_of_the_kind() {
        let order = ["metadata", "spec", "spec.b", "spec.a"];
        let at = |path: &'static str| FieldPath::dotted(path).document_position(&order);
        assert!(at("spec.b") < at("spec.a"));
        assert!(at("spec.a") < at("spec.unknown"));
        let list = FieldPath::dotted("spec.a");
        assert!(list.document_position(&order) < list.item(0).document_position(&order));
        assert!(list.item(2).document_position(&order) < list.item(10).document_position(&order));
    }
}
