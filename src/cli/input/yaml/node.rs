//! The tree that a YAML or JSON document is read into: JSON's data model, with the line of every node.
//!
//! Nothing here can be printed: a node may hold a Secret.

use serde_json::{Map, Number, Value};

/// One value and where it starts.
#[derive(Clone)]
pub struct Node {
    /// Line in the file, from 1.
    pub line: u32,
    /// What stands there.
    pub data: Data,
}

/// JSON's data model; a map keeps the order in which it was written.
#[derive(Clone)]
pub enum Data {
    /// `null`, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, each key once.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone)]
pub struct Entry {
    /// The key; keys that were written as numbers or booleans are text here, as in JSON.
    pub key: String,
    /// Line of the key, from 1.
    pub line: u32,
    /// The value.
    pub value: Node,
}

/// One step from a node to one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value under a key.
    Key(&'a str),
    /// The item at an index, from 0.
    Index(usize),
}

impl Node {
    /// The value under `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.data {
            Data::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The line of the last step of `path` that exists: that of a map's key, or of a list's item. A field that is
    /// absent is thus found where it would have to be written.
    pub fn line_of(&self, path: &[Step<'_>]) -> u32 {
        let mut node = self;
        let mut line = self.line;
        for step in path {
            let next = match step {
                Step::Key(key) => node.entry(key).map(|entry| (entry.line, &entry.value)),
                Step::Index(index) => {
                    node.items().and_then(|items| items.get(*index)).map(|item| (item.line, item))
                }
            };
            let Some((found, child)) = next else { break };
            (line, node) = (found, child);
        }
        line
    }

    /// A JSON value whose lines are not known: every node is said to stand on `line`.
    pub fn from_value(value: Value, line: u32) -> Self {
        let data = match value {
            Value::Null => Data::Null,
            Value::Bool(flag) => Data::Bool(flag),
            Value::Number(number) => Data::Number(number),
            Value::String(text) => Data::Text(text),
            Value::Array(items) => {
                Data::List(items.into_iter().map(|item| Self::from_value(item, line)).collect())
            }
            Value::Object(fields) => Data::Map(
                fields
                    .into_iter()
                    .map(|(key, value)| Entry { key, line, value: Self::from_value(value, line) })
                    .collect(),
            ),
        };
        Self { line, data }
    }

    /// The same as JSON, without the lines.
    pub fn into_value(self) -> Value {
        match self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(flag),
            Data::Number(number) => Value::Number(number),
            Data::Text(text) => Value::String(text),
            Data::List(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Data::Map(entries) => Value::Object(
                entries.into_iter().map(|entry| (entry.key, entry.value.into_value())).collect(),
            ),
        }
    }

    /// The same as JSON, without the lines; the node is kept.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Data::Map(entries) => {
                let fields: Map<_, _> =
                    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect();
                Value::Object(fields)
            }
        }
    }
}
