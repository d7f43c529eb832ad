//! What a person sees of the demo: its steps with their times, the commands and their output.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Instant;

/// Writes to standard output, line by line.
pub struct Stage {
    terminal: bool,
    colour: bool,
}

impl Stage {
    /// Standard output; colour only on a terminal.
    pub fn new() -> Self {
        let terminal = io::stdout().is_terminal();
        Self { terminal, colour: terminal && crate::cli::colour_is_welcome() }
    }

    /// One line. A reader that has gone is no reason to stop.
    #[expect(clippy::unused_self, reason = "whoever writes holds the stage")]
    pub fn say(&self, line: impl Display) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }

    /// A heading.
    pub fn heading(&self, text: &str) {
        self.say(format_args!("\n{}", self.paint("1", text)));
    }

    /// Does one step and says what was done and how long it took; on a terminal also what is being done.
    pub fn step<T, E>(&self, what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if self.terminal {
            let mut out = io::stdout().lock();
            let _ = write!(out, "       …  {what}\r").and_then(|()| out.flush());
        }
        self.told_step(what, work)
    }

    /// The same for a step that tells by itself, on standard error, what it is doing.
    pub fn told_step<T, E>(&self, what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let begun = Instant::now();
        let done = work()?;
        self.say(format_args!("{:6.1} s  {what}", begun.elapsed().as_secs_f64()));
        Ok(done)
    }

    /// A command, as a person would type it.
    pub fn command(&self, line: &str) {
        self.say(format_args!("\n{}", self.paint("36", &format!("$ {line}"))));
    }

    /// What differs from what was expected.
    pub fn difference(&self, line: &str) {
        self.say(self.paint("1;31", &format!("not as expected: {line}")));
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
