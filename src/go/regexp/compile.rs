//! From a syntax tree to instructions, counted repetition written out. Works backwards, so that each piece knows what
//! follows it, and on a list of its own instead of recursion.

use super::syntax::{Kind, Look, NodeId, Tree};

/// Refers to an instruction.
pub(super) type Address = u32;

/// One instruction of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// The pattern has matched.
    Match,
    /// Reads exactly this code point.
    CodePoint { code_point: u32, next: Address },
    /// Reads one code point of a class.
    Class { class: u32, next: Address },
    /// Goes on where the assertion holds.
    Look { look: Look, next: Address },
    /// Goes on in both places.
    Split { first: Address, second: Address },
}

/// What is still to do, last entry first.
#[derive(Clone, Copy)]
enum Task {
    /// Compile a node before everything compiled so far.
    Node(NodeId),
    /// Remember the entry of an alternative and begin the one before it, which leads to the same place.
    KeepEntry { exit: Address },
    /// Join the remembered entries of so many alternatives.
    Join(usize),
    /// Complete the loop whose split stands at this address; the loop can be skipped if `skips`.
    CloseLoop { split: Address, skips: bool },
    /// Make what was just compiled optional.
    MakeOptional { exit: Address },
}

/// Compiles the tree below `root`; gives the instructions and the first one to run.
///
/// The caller has checked the size of the tree: as many instructions come out as it says, and one.
pub(super) fn compile(tree: &Tree, root: NodeId) -> (Vec<Instruction>, Address) {
    let mut compiler = Compiler {
        tree,
        instructions: vec![Instruction::Match],
        next: 0,
        tasks: vec![Task::Node(root)],
        entries: Vec::new(),
    };
    while let Some(task) = compiler.tasks.pop() {
        compiler.run(task);
    }
    (compiler.instructions, compiler.next)
}

struct Compiler<'t> {
    tree: &'t Tree,
    instructions: Vec<Instruction>,
    /// Where to go on behind what is compiled next; what was compiled last begins here.
    next: Address,
    tasks: Vec<Task>,
    /// Entries of alternatives that wait to be joined.
    entries: Vec<Address>,
}

impl Compiler<'_> {
    fn run(&mut self, task: Task) {
        match task {
            Task::Node(id) => self.node(id),
            Task::KeepEntry { exit } => {
                self.entries.push(self.next);
                self.next = exit;
            }
            Task::Join(count) => {
                for _ in 1..count {
                    let first = self.entries.pop().unwrap_or(self.next);
                    self.next = self.emit(Instruction::Split { first, second: self.next });
                }
            }
            Task::CloseLoop { split, skips } => {
                let body = self.next;
                if let Some(Instruction::Split { first, .. }) = self.instructions.get_mut(split as usize) {
                    *first = body;
                }
                if skips {
                    self.next = split;
                }
            }
            Task::MakeOptional { exit } => {
                self.next = self.emit(Instruction::Split { first: self.next, second: exit });
            }
        }
    }

    fn emit(&mut self, instruction: Instruction) -> Address {
        // The size of a program is limited far below the range of an address.
        let address = Address::try_from(self.instructions.len()).unwrap_or(Address::MAX);
        self.instructions.push(instruction);
        address
    }

    fn node(&mut self, id: NodeId) {
        let next = self.next;
        match self.tree.kind(id) {
            Kind::Empty => {}
            Kind::CodePoint(code_point) => {
                self.next = self.emit(Instruction::CodePoint { code_point: *code_point, next });
            }
            Kind::Class(class) => self.next = self.emit(Instruction::Class { class: class.0, next }),
            Kind::Look(look) => self.next = self.emit(Instruction::Look { look: *look, next }),
            Kind::Group(of) => self.tasks.push(Task::Node(*of)),
            Kind::Star(of) => self.loop_of(*of, true),
            Kind::Plus(of) => self.loop_of(*of, false),
            Kind::Optional(of) => {
                self.tasks.push(Task::MakeOptional { exit: next });
                self.tasks.push(Task::Node(*of));
            }
            Kind::Repeat { of, min, max } => self.repeat(*of, *min, *max),
            // The last of a sequence is compiled first, so it is pushed last.
            Kind::Concat(of) => self.tasks.extend(of.iter().map(|&id| Task::Node(id))),
            Kind::Alternate(of) => self.alternate(of),
        }
    }

    fn loop_of(&mut self, of: NodeId, skips: bool) {
        // The split leads into the loop, which is not there yet, and out of it.
        let split = self.emit(Instruction::Split { first: 0, second: self.next });
        self.next = split;
        self.tasks.push(Task::CloseLoop { split, skips });
        self.tasks.push(Task::Node(of));
    }

    fn alternate(&mut self, of: &[NodeId]) {
        let exit = self.next;
        self.tasks.push(Task::Join(of.len()));
        if let Some((last, others)) = of.split_last() {
            self.tasks.push(Task::Node(*last));
            for &id in others {
                self.tasks.push(Task::KeepEntry { exit });
                self.tasks.push(Task::Node(id));
            }
        }
    }

    /// Writes the repetition out: x{2,} as xx+, x{2,4} as xx(x(x)?)?.
    fn repeat(&mut self, of: NodeId, min: u32, max: Option<u32>) {
        if self.tree.instructions(of) == 0 && max.is_some() {
            return;
        }
        let copies = |count: u32| (0..count).map(move |_| Task::Node(of));
        match max {
            None => {
                self.tasks.extend(copies(min.saturating_sub(1)));
                self.loop_of(of, min == 0);
            }
            Some(max) => {
                self.tasks.extend(copies(min));
                let exit = self.next;
                for _ in min..max {
                    self.tasks.push(Task::MakeOptional { exit });
                    self.tasks.push(Task::Node(of));
                }
            }
        }
    }
}
