//! The report for people: grouped by file, the fault first and the remedy below it, one line of counts at the end.

use std::io::{self, Write};

use super::report::{Condition, Entry, Finding, Report};
use crate::api::conditions::READY;
use crate::rules::finding::Severity;

/// How the text is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether severities are coloured.
    pub colour: bool,
    /// Whether only the line of counts is written.
    pub quiet: bool,
}

/// Writes the report.
pub fn write(report: &Report, style: Style, out: &mut impl Write) -> io::Result<()> {
    if !style.quiet {
        let mut file = None;
        for entry in report.results.iter().filter(|entry| !entry.told && says_something(entry)) {
            if file != Some(&entry.file) {
                let name = if entry.file == "-" { "standard input" } else { &entry.file };
                writeln!(out, "{}", Paint::Bold.on(&printable(name), style))?;
                file = Some(&entry.file);
            }
            write_entry(entry, style, out)?;
        }
        if file.is_some() {
            writeln!(out)?;
        }
    }
    writeln!(out, "{}", summary(report))
}

fn write_entry(entry: &Entry, style: Style, out: &mut impl Write) -> io::Result<()> {
    match &entry.kind {
        Some(kind) => writeln!(out, "  {} {} (line {})", printable(kind), name(entry), entry.line)?,
        None => writeln!(out, "  document {}", entry.document)?,
    }
    for finding in &entry.findings {
        write_finding(finding, style, out)?;
    }
    match unknown(entry) {
        Some(why) => writeln!(out, "    Ready is Unknown: {}", printable(why)),
        None => Ok(()),
    }
}

fn says_something(entry: &Entry) -> bool {
    !entry.findings.is_empty() || unknown(entry).is_some()
}

/// Why files are not enough to tell whether a contract is Ready, unless a finding says it already.
fn unknown(entry: &Entry) -> Option<&str> {
    let ready = entry.conditions.iter().find(|condition| condition.type_ == READY)?;
    let said = entry.findings.iter().any(|finding| finding.message == ready.message);
    // Ready quotes every check that keeps it; the first one alone is enough for a person.
    let keeps = |condition: &&Condition| {
        condition.type_ != READY
            && condition.status == "Unknown"
            && ready.message.contains(&condition.message)
    };
    let first = entry.conditions.iter().find(keeps).unwrap_or(ready);
    (ready.status == "Unknown" && !said).then_some(first.message.as_str())
}

fn name(entry: &Entry) -> String {
    let name = entry.name.as_deref().unwrap_or("(without a name)");
    match &entry.namespace {
        Some(namespace) => printable(&format!("{namespace}/{name}")),
        None => printable(name),
    }
}

fn write_finding(finding: &Finding, style: Style, out: &mut impl Write) -> io::Result<()> {
    let paint = match finding.severity {
        Severity::Error => Paint::Red,
        Severity::Warning => Paint::Yellow,
        Severity::Note => Paint::Plain,
    };
    write!(out, "    {}: ", paint.on(finding.severity.as_str(), style))?;
    let (fault, remedy) = finding.message.split_at_checked(finding.fault).unwrap_or((&finding.message, ""));
    match (&finding.field, finding.line) {
        (Some(field), Some(line)) => write!(out, "line {line}: {}: ", printable(field))?,
        (Some(field), None) => write!(out, "{}: ", printable(field))?,
        (None, Some(line)) => write!(out, "line {line}: ")?,
        // About the whole object: the reason says which check.
        (None, None) => write!(out, "{}: ", finding.reason)?,
    }
    writeln!(out, "{}", printable(fault))?;
    match remedy.trim_start_matches([':', ';', ' ']) {
        "" => Ok(()),
        remedy => writeln!(out, "      {}", printable(remedy)),
    }
}

/// `3 objects: 2 admitted, 1 refused; contracts: 1 Ready, 1 not Ready, 0 Unknown; 5 errors, 1 warning`.
fn summary(report: &Report) -> String {
    let summary = &report.summary;
    let objects = match summary.objects {
        0 => "no object of Covenant's kinds".to_owned(),
        objects => {
            format!("{}: {} admitted, {} refused", count(objects, "object"), summary.valid, summary.invalid)
        }
    };
    let faults = format!("{}, {}", count(summary.errors, "error"), count(summary.warnings, "warning"));
    let ready = |status| report.results.iter().filter(|entry| entry.ready == Some(status)).count();
    let (holds, broken) = (ready("True"), ready("False"));
    let contracts = format!("contracts: {holds} Ready, {broken} not Ready, {} Unknown", summary.unknown);
    let parts = [
        (true, objects),
        (holds + broken + summary.unknown > 0, contracts),
        (summary.errors + summary.warnings > 0, faults),
        (summary.unreadable > 0, format!("{} unreadable", summary.unreadable)),
        (summary.skipped > 0, format!("{} skipped", count(summary.skipped, "other object"))),
    ];
    let said: Vec<_> = parts.into_iter().filter(|(say, _)| *say).map(|(_, part)| part).collect();
    said.join("; ")
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Text from a file must not steer the terminal.
fn printable(text: &str) -> String {
    if text.chars().any(char::is_control) {
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
    } else {
        text.to_owned()
    }
}

/// The few colours in use.
#[derive(Clone, Copy)]
enum Paint {
    Plain,
    Bold,
    Red,
    Yellow,
}

impl Paint {
    fn on(self, text: &str, style: Style) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Bold => "1",
            Self::Red => "1;31",
            Self::Yellow => "1;33",
        };
        if style.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
