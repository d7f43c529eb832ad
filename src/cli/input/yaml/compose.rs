//! From the parser's events to one tree a document: anchors, merge keys, duplicate keys, limits.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle, Tag};

use super::node::{Data, Entry, Node};
use super::problem::{Problem, Unreadable};
use super::resolve::{self, ScalarTag, Unresolved};

/// How deep lists and maps may nest. Kubernetes objects stay below a hundred levels; the largest are other people's
/// CustomResourceDefinitions.
const MAX_DEPTH: usize = 200;
/// How much a document may grow through aliases: bytes of text, and [`NODE_WEIGHT`] for every node. A small document
/// that unfolds to gigabytes is refused long before.
const MAX_ALIAS_WEIGHT: usize = 16 << 20;
/// What one node counts for, whatever it holds.
const NODE_WEIGHT: usize = 64;
/// From how many entries on a map's keys are looked up through a table.
const INDEX_FROM: usize = 32;

type Found<'a> = (Event<'a>, Span);

/// Reads the nodes of one document.
pub(super) struct Composer<'p, 'a> {
    parser: &'p mut Parser<'a, StrInput<'a>>,
    text: &'a str,
    /// Added to every line: the document may be a part of its file.
    first_line: u32,
    anchors: HashMap<usize, Anchored>,
    alias_weight: usize,
}

struct Anchored {
    node: Node,
    weight: usize,
    depth: usize,
}

impl<'p, 'a> Composer<'p, 'a> {
    pub(super) fn new(parser: &'p mut Parser<'a, StrInput<'a>>, text: &'a str, first_line: u32) -> Self {
        Self { parser, text, first_line, anchors: HashMap::new(), alias_weight: 0 }
    }

    /// The root of the document whose start was just read, and the end of that document.
    pub(super) fn root(&mut self) -> Result<Node, Unreadable> {
        let first = self.next()?;
        let root = self.node(first, 0)?;
        match self.next()? {
            (Event::DocumentEnd, _) => Ok(root),
            (_, span) => Err(self.at(&span, Problem::Syntax)),
        }
    }

    fn next(&mut self) -> Result<Found<'a>, Unreadable> {
        match self.parser.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(Unreadable::scan(&error, self.first_line)),
            None => Err(Unreadable { line: self.first_line, problem: Problem::Syntax }),
        }
    }

    fn line(&self, span: &Span) -> u32 {
        line_of(span.start.line(), self.first_line)
    }

    fn at(&self, span: &Span, problem: Problem) -> Unreadable {
        Unreadable { line: self.line(span), problem }
    }

    fn node(&mut self, (event, span): Found<'a>, depth: usize) -> Result<Node, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(self.at(&span, Problem::Depth(MAX_DEPTH)));
        }
        let line = self.line(&span);
        let (data, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let (plain, tag) = (style == ScalarStyle::Plain, scalar_tag(tag.as_deref()));
                let data =
                    resolve::resolve(&text, plain, tag).map_err(|error| self.unresolved(&span, error))?;
                (data, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(StructureStyle::Block, ..) if self.follows_tab(&span) => {
                return Err(self.at(&span, Problem::Tab));
            }
            Event::MappingStart(_, anchor, _) => (self.map(depth)?, anchor),
            Event::Alias(id) => return self.alias(id, &span, depth),
            _ => return Err(self.at(&span, Problem::Syntax)),
        };
        let node = Node { line, data };
        if anchor != 0 {
            self.keep(anchor, &node, &span)?;
        }
        Ok(node)
    }

    /// Whether only white space with a tab stands before a node on its line. The parser lets that pass at the top
    /// level; kubectl's does not.
    fn follows_tab(&self, span: &Span) -> bool {
        let before = span.start.byte_offset().and_then(|offset| self.text.get(..offset)).unwrap_or_default();
        let indentation = before.rsplit('\n').next().unwrap_or_default();
        indentation.contains('\t') && indentation.trim().is_empty()
    }

    fn unresolved(&self, span: &Span, error: Unresolved) -> Unreadable {
        self.at(
            span,
            match error {
                Unresolved::Tag => Problem::Tag,
                Unresolved::NotFinite => Problem::NotFinite,
            },
        )
    }

    fn list(&mut self, depth: usize) -> Result<Data, Unreadable> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Data::List(items)),
                found => items.push(self.node(found, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Data, Unreadable> {
        let mut map = Map::default();
        loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Data::Map(map.entries)),
                found => found,
            };
            let Event::Scalar(text, style, anchor, tag) = event else {
                return Err(self.at(&span, Problem::Key));
            };
            let (plain, tag) = (style == ScalarStyle::Plain, scalar_tag(tag.as_deref()));
            let line = self.line(&span);
            if plain && tag == ScalarTag::None && text == "<<" {
                let found = self.next()?;
                let value = self.node(found, depth + 1)?;
                self.merge(&mut map, value, &span)?;
                continue;
            }
            let key = resolve::key(&text, plain, tag).ok_or_else(|| self.at(&span, Problem::Key))?;
            if anchor != 0 {
                let node = Node { line, data: Data::Text(key.clone()) };
                self.keep(anchor, &node, &span)?;
            }
            let found = self.next()?;
            let value = self.node(found, depth + 1)?;
            let entry = Entry { key, line, value };
            map.insert(entry).map_err(|first| self.at(&span, Problem::DuplicateKey { first }))?;
        }
    }

    /// `<<: *other`: the other map's entries, which later ones of this map may replace. Like kubectl's reader, and
    /// unlike YAML's own text, an entry that was written before the `<<` is replaced too.
    fn merge(&mut self, map: &mut Map, value: Node, span: &Span) -> Result<(), Unreadable> {
        let sources = match value.data {
            Data::List(items) => items,
            data => vec![Node { line: value.line, data }],
        };
        // Of several maps the first counts.
        for source in sources.into_iter().rev() {
            let Data::Map(entries) = source.data else { return Err(self.at(span, Problem::Merge)) };
            for entry in entries {
                map.replace(entry);
            }
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, span: &Span, depth: usize) -> Result<Node, Unreadable> {
        let Some(anchored) = self.anchors.get(&id) else { return Err(self.at(span, Problem::Alias)) };
        let (weight, inner) = (anchored.weight, anchored.depth);
        self.grow(weight, span)?;
        if depth + inner > MAX_DEPTH {
            return Err(self.at(span, Problem::Depth(MAX_DEPTH)));
        }
        let Some(anchored) = self.anchors.get(&id) else { return Err(self.at(span, Problem::Alias)) };
        let mut node = anchored.node.clone();
        node.line = self.line(span);
        Ok(node)
    }

    fn keep(&mut self, anchor: usize, node: &Node, span: &Span) -> Result<(), Unreadable> {
        let (weight, depth) = measure(node);
        self.grow(weight, span)?;
        self.anchors.insert(anchor, Anchored { node: node.clone(), weight, depth });
        Ok(())
    }

    fn grow(&mut self, weight: usize, span: &Span) -> Result<(), Unreadable> {
        self.alias_weight = self.alias_weight.saturating_add(weight);
        if self.alias_weight > MAX_ALIAS_WEIGHT { Err(self.at(span, Problem::Aliases)) } else { Ok(()) }
    }
}

/// The parser's line (from 1) as a line of the file.
pub(super) fn line_of(line: usize, first_line: u32) -> u32 {
    u32::try_from(line.max(1) - 1).unwrap_or(u32::MAX).saturating_add(first_line)
}

fn scalar_tag(tag: Option<&Tag>) -> ScalarTag {
    tag.map_or(ScalarTag::None, |tag| ScalarTag::of(tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref()))
}

/// Weight and depth of a node.
fn measure(node: &Node) -> (usize, usize) {
    let of_children = |children: &mut dyn Iterator<Item = (usize, &Node)>| {
        children.fold((0_usize, 0_usize), |(weight, depth), (own, child)| {
            let (inner, below) = measure(child);
            (weight.saturating_add(inner).saturating_add(own), depth.max(below + 1))
        })
    };
    let (weight, depth) = match &node.data {
        Data::Text(text) => (text.len(), 0),
        Data::List(items) => of_children(&mut items.iter().map(|item| (0, item))),
        Data::Map(entries) => of_children(&mut entries.iter().map(|entry| (entry.key.len(), &entry.value))),
        _ => (0, 0),
    };
    (weight.saturating_add(NODE_WEIGHT), depth)
}

/// A map under construction.
#[derive(Default)]
struct Map {
    entries: Vec<Entry>,
    /// Where each key stands, and whether it was merged; filled once the map has grown.
    index: HashMap<String, usize>,
    /// Places of entries that came from a merge and may be written again.
    merged: std::collections::HashSet<usize>,
}

impl Map {
    fn position(&self, key: &str) -> Option<usize> {
        if self.index.is_empty() {
            self.entries.iter().position(|entry| entry.key == key)
        } else {
            self.index.get(key).copied()
        }
    }

    /// Adds an entry; gives the line of the first one when its key was written before.
    fn insert(&mut self, entry: Entry) -> Result<(), u32> {
        match self.position(&entry.key) {
            None => self.push(entry),
            Some(place) if self.merged.remove(&place) => self.set(place, entry),
            Some(place) => return Err(self.entries.get(place).map_or(0, |first| first.line)),
        }
        Ok(())
    }

    /// Adds or replaces an entry of a merged map.
    fn replace(&mut self, entry: Entry) {
        let place = self.position(&entry.key).unwrap_or(self.entries.len());
        if place < self.entries.len() {
            self.set(place, entry);
        } else {
            self.push(entry);
        }
        self.merged.insert(place);
    }

    fn set(&mut self, place: usize, entry: Entry) {
        if let Some(slot) = self.entries.get_mut(place) {
            *slot = entry;
        }
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        let count = self.entries.len();
        if count == INDEX_FROM {
            self.index =
                self.entries.iter().enumerate().map(|(place, entry)| (entry.key.clone(), place)).collect();
        } else if count > INDEX_FROM
            && let Some(last) = self.entries.last()
        {
            self.index.insert(last.key.clone(), count - 1);
        }
    }
}
