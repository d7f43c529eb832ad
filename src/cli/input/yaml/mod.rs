//! Reads YAML and JSON text into documents, the way the API server's tools read them.
//!
//! - JSON's data model, with the line of every node; a document that cannot be read does not hide the next one.
//! - Scalars as in YAML 1.1, see `resolve`: `yes` and `on` are booleans.
//! - A key that stands twice in one map makes the document unreadable: which of the two was meant is nobody's guess.
//! - Anchors, aliases and merge keys are followed within one document, up to a limit that no honest document meets.
//! - No text of a document is in any message.

mod compose;
mod node;
mod problem;
mod resolve;

use std::ops::Range;

use granit_parser::{Event, Options, Parser, StrInput};
use serde::de::IgnoredAny;

use compose::Composer;
pub use node::{Data, Entry, Node, Step};
pub use problem::{Problem, Unreadable};

/// One document of a text.
pub struct Document {
    /// Which one, from 1; empty documents count.
    pub number: u32,
    /// Its root, or why it cannot be read.
    pub root: Result<Node, Unreadable>,
}

/// The documents of a text, read one by one. Empty ones are left out, but counted in `number`.
pub fn documents(text: &str) -> Documents<'_> {
    let parts = json_parts(text);
    let first_line = 1;
    let whole = parts.is_empty().then(|| Stream::new(text, first_line));
    Documents { text, parts: parts.into_iter(), stream: whole, number: 0, json_line: 1, json_end: 0 }
}

/// See [`documents`].
pub struct Documents<'a> {
    text: &'a str,
    /// Where each JSON value stands, if the text is nothing but JSON.
    parts: std::vec::IntoIter<Range<usize>>,
    stream: Option<Stream<'a>>,
    number: u32,
    /// Line and place up to which JSON values have been read.
    json_line: u32,
    json_end: usize,
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        loop {
            let root = match &mut self.stream {
                Some(stream) => stream.next()?,
                None => self.next_json()?,
            };
            self.number = self.number.saturating_add(1);
            match root {
                Ok(Node { data: Data::Null, .. }) => {}
                root => return Some(Document { number: self.number, root }),
            }
        }
    }
}

impl Documents<'_> {
    fn next_json(&mut self) -> Option<Result<Node, Unreadable>> {
        let part = self.parts.next()?;
        let before = self.text.get(self.json_end..part.start).unwrap_or_default();
        let value = self.text.get(part.clone()).unwrap_or_default();
        self.json_line = self.json_line.saturating_add(count_lines(before));
        let line = self.json_line;
        self.json_line = line.saturating_add(count_lines(value));
        self.json_end = part.end;
        let read = Stream::new(value, line).next()?;
        let ours = |problem| matches!(problem, Problem::DuplicateKey { .. } | Problem::Depth(_));
        if read.as_ref().is_err_and(|error| !ours(error.problem))
            && let Ok(json) = serde_json::from_str(value)
        {
            // JSON has longer keys, and characters in its texts, that YAML has not: read it without the lines.
            return Some(Ok(Node::from_value(json, line)));
        }
        Some(read)
    }
}

fn count_lines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Where the JSON values of a text stand, one after another; none when it is anything but JSON.
fn json_parts(text: &str) -> Vec<Range<usize>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(value) = values.next() {
        if value.is_err() {
            return Vec::new();
        }
        let end = values.byte_offset();
        let space = text.get(start..end).map_or(0, |part| part.len() - part.trim_start().len());
        parts.push(start + space..end);
        start = end;
    }
    parts
}

/// The documents of one YAML text.
struct Stream<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    first_line: u32,
    ended: bool,
}

impl<'a> Stream<'a> {
    fn new(text: &'a str, first_line: u32) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        Self { parser: Parser::new_from_str_with_options(text, options), text, first_line, ended: false }
    }

    fn next(&mut self) -> Option<Result<Node, Unreadable>> {
        let root = self.read()?;
        if root.is_err() {
            // What is left of a broken document is skipped up to the next `---`.
            self.ended = !matches!(self.parser.proceed_next_document(), Ok(true));
        }
        Some(root)
    }

    fn read(&mut self) -> Option<Result<Node, Unreadable>> {
        if self.ended {
            return None;
        }
        loop {
            match self.parser.next_event()? {
                Ok((Event::DocumentStart(..), _)) => {
                    return Some(Composer::new(&mut self.parser, self.text, self.first_line).root());
                }
                Ok((Event::StreamEnd, _)) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(Unreadable::scan(&error, self.first_line))),
            }
        }
    }
}

#[cfg(test)]
mod tests;
