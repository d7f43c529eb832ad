//! The syntax tree of a pattern, held in one flat list: building, walking and dropping it needs no recursion, however
//! deep a pattern nests. Knows sizes and limits; knows nothing of text or of programs.

use super::class::Class;

/// Refers to a node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(u32);

/// Refers to a class of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClassId(pub(super) u32);

/// An assertion about a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// `\A`, and `^` without `m`.
    TextStart,
    /// `\z`, and `$` without `m`.
    TextEnd,
    /// `^` with `m`.
    LineStart,
    /// `$` with `m`.
    LineEnd,
    /// `\b`, of ASCII words.
    WordBoundary,
    /// `\B`, of ASCII words.
    NotWordBoundary,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Matches the empty text.
    Empty,
    /// Matches one code point.
    CodePoint(u32),
    /// Matches one code point of a class.
    Class(ClassId),
    /// Holds at some positions.
    Look(Look),
    /// A capturing group; kept because it counts as a level of nesting.
    Group(NodeId),
    /// `*`
    Star(NodeId),
    /// `+`
    Plus(NodeId),
    /// `?`
    Optional(NodeId),
    /// `{min,max}`, or `{min,}` without a maximum.
    Repeat { of: NodeId, min: u32, max: Option<u32> },
    /// One after the other; never empty.
    Concat(Box<[NodeId]>),
    /// Any one of them; never empty.
    Alternate(Box<[NodeId]>),
}

/// A node with what is known of everything below it.
#[derive(Debug, Clone)]
struct Node {
    kind: Kind,
    /// The instructions that it compiles to.
    instructions: u64,
    /// Levels of nesting, itself included.
    height: u32,
    /// How many copies counted repetition makes of the most copied thing below.
    copies: u64,
}

/// The tree: its nodes, children before their parents, and its classes, each different one once.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    classes: Vec<Class>,
}

impl Tree {
    /// Adds a node above nodes that were added before.
    pub(super) fn add(&mut self, kind: Kind) -> NodeId {
        let node = Node {
            instructions: self.instructions_of(&kind),
            height: self.height_of(&kind),
            copies: self.copies_of(&kind),
            kind,
        };
        // A node costs at least a byte of the pattern, so the number fits.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Adds a class of sorted, joined ranges as a node; a class of one code point becomes that code point.
    pub(super) fn add_class(&mut self, ranges: &[(u32, u32)]) -> NodeId {
        if let [(low, high)] = ranges
            && low == high
        {
            return self.add(Kind::CodePoint(*low));
        }
        let known = self.classes.iter().position(|class| class.is(ranges));
        let index = known.unwrap_or_else(|| {
            self.classes.push(Class::new(ranges));
            self.classes.len() - 1
        });
        self.add(Kind::Class(ClassId(u32::try_from(index).unwrap_or(u32::MAX))))
    }

    /// What the node is; [`Kind::Empty`] for a node of another tree.
    pub(super) fn kind(&self, id: NodeId) -> &Kind {
        self.node(id).map_or(&Kind::Empty, |node| &node.kind)
    }

    /// The instructions that the node compiles to, counted repetition written out.
    pub(super) fn instructions(&self, id: NodeId) -> u64 {
        self.node(id).map_or(0, |node| node.instructions)
    }

    /// The levels of nesting of the node.
    pub(super) fn height(&self, id: NodeId) -> u32 {
        self.node(id).map_or(0, |node| node.height)
    }

    /// How many copies of one thing the node asks for.
    pub(super) fn copies(&self, id: NodeId) -> u64 {
        self.node(id).map_or(1, |node| node.copies)
    }

    /// The classes that nodes refer to.
    pub(super) fn into_classes(self) -> Vec<Class> {
        self.classes
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    fn instructions_of(&self, kind: &Kind) -> u64 {
        let sum =
            |ids: &[NodeId]| ids.iter().fold(0, |sum: u64, &id| sum.saturating_add(self.instructions(id)));
        match kind {
            Kind::Empty => 0,
            Kind::CodePoint(_) | Kind::Class(_) | Kind::Look(_) => 1,
            Kind::Group(of) => self.instructions(*of),
            Kind::Star(of) | Kind::Plus(of) | Kind::Optional(of) => self.instructions(*of).saturating_add(1),
            Kind::Repeat { of, min, max } => {
                let one = self.instructions(*of);
                match max {
                    // Copies of nothing are nothing.
                    Some(_) if one == 0 => 0,
                    // x{2,5} is xx(x(x(x)?)?)?
                    Some(max) => u64::from(*max).saturating_mul(one).saturating_add(u64::from(max - min)),
                    // x{2,} is xx+ and x{0,} is x*
                    None => u64::from((*min).max(1)).saturating_mul(one).saturating_add(1),
                }
            }
            Kind::Concat(of) => sum(of),
            Kind::Alternate(of) => sum(of).saturating_add(of.len() as u64 - 1),
        }
    }

    fn height_of(&self, kind: &Kind) -> u32 {
        let highest = |ids: &[NodeId]| ids.iter().map(|&id| self.height(id)).max().unwrap_or(0);
        let below = match kind {
            Kind::Empty | Kind::CodePoint(_) | Kind::Class(_) | Kind::Look(_) => 0,
            Kind::Group(of)
            | Kind::Star(of)
            | Kind::Plus(of)
            | Kind::Optional(of)
            | Kind::Repeat { of, .. } => self.height(*of),
            Kind::Concat(of) | Kind::Alternate(of) => highest(of),
        };
        below.saturating_add(1)
    }

    fn copies_of(&self, kind: &Kind) -> u64 {
        match kind {
            // Nothing below {0} is ever copied.
            Kind::Empty
            | Kind::CodePoint(_)
            | Kind::Class(_)
            | Kind::Look(_)
            | Kind::Repeat { max: Some(0), .. } => 1,
            Kind::Group(of) | Kind::Star(of) | Kind::Plus(of) | Kind::Optional(of) => self.copies(*of),
            Kind::Repeat { of, min, max } => {
                self.copies(*of).saturating_mul(u64::from(max.unwrap_or(*min).max(1)))
            }
            Kind::Concat(of) | Kind::Alternate(of) => of.iter().map(|&id| self.copies(id)).max().unwrap_or(1),
        }
    }
}
