//! `covenant check`: judges objects from files, offline, by the very rules of webhook and controller.
//!
//! `judge` turns objects into a report, with the facts of `facts` and the verdicts of `state`; `report` is the form that programs read, `text` the one for people.

mod claims;
mod facts;
mod judge;
pub mod report;
mod state;
pub mod text;

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use jiff::Timestamp;

use super::exit::{Code, Failure};
use super::input::object::{self, Item};
use super::input::source;
use crate::format::rfc3339;
use crate::rules::Installation;
use judge::{Former, Judge};
use report::Report;

/// How the report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object.
    Json,
}

/// Judge contracts and database claims from files, offline, as webhook and controller would.
///
/// YAML is read as kubectl reads it: by YAML 1.1, where a plain yes, on or 0777 is a boolean or a number. A key that
/// stands twice in one map makes a document unreadable.
///
/// Exit code: 0 without errors, 1 with at least one error, 2 when a flag is wrong or something cannot be read.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// File, folder (every *.yaml, *.yml and *.json below it), or - for standard input. YAML or JSON, any number of
    /// documents, lists too. None: standard input, if something is piped in.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// How the report is written.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Output,

    /// File or folder with the former versions of the same objects: a fault that the former version has already is a
    /// warning.
    #[arg(long, value_name = "PATH")]
    pub old: Option<PathBuf>,

    /// Take a contract whose Ready is Unknown for an error.
    #[arg(long)]
    pub strict: bool,

    /// Instant at which rotation and staleness are judged, as in 2026-10-10T08:30:00Z. None: now.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub now: Option<Timestamp>,

    /// Namespace of objects that name none.
    #[arg(short, long, value_name = "NAME", default_value = "default", value_parser = namespace)]
    pub namespace: String,

    /// apiVersion that a contract's externalSecretRef may name. Repeatable.
    #[arg(
        long = "external-secret-api-version",
        env = "COVENANT_EXTERNAL_SECRET_API_VERSION",
        value_name = "APIVERSION",
        value_delimiter = ',',
        default_values = ["external-secrets.io/v1", "external-secrets.io/v1beta1"],
        value_parser = external_secret_api_version
    )]
    pub external_secret_api_versions: Vec<String>,

    /// Place in OpenBao below which an imported credential may lie. Repeatable; none given: anywhere.
    #[arg(
        long = "credential-path",
        env = "COVENANT_CREDENTIAL_PATH",
        value_name = "MOUNT/PREFIX",
        value_delimiter = ',',
        value_parser = Installation::credential_path
    )]
    pub credential_paths: Vec<String>,

    /// Write only the line of counts.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Runs the command.
pub fn run(flags: Flags) -> Result<Code, Failure> {
    let paths = match flags.paths.as_slice() {
        [] if io::stdin().is_terminal() => {
            let what = "nothing to check: no PATH is given and nothing is piped in";
            return Err(Failure::new(what, "name a file or folder, or pipe manifests in; see --help"));
        }
        [] => vec![PathBuf::from("-")],
        paths => paths.to_vec(),
    };
    let former = match &flags.old {
        Some(old) => former(old, &flags.namespace)?,
        None => Former::default(),
    };
    let installation = Installation {
        external_secret_api_versions: flags.external_secret_api_versions,
        credential_paths: flags.credential_paths,
    };
    let mut judge = Judge::new(installation, flags.namespace, former);
    for found in source::find(&paths) {
        let read = found.and_then(|source| object::each(&source, |item| judge.take(item)));
        if let Err(unusable) = read {
            tell(&unusable);
            judge.unusable(&unusable);
        }
    }
    let report = judge.report(flags.now.unwrap_or_else(now), flags.strict);
    write(&report, flags.output, flags.quiet).map_err(|error| {
        Failure::new(format!("the report cannot be written: {error}"), "check standard output")
    })?;
    Ok(code(&report))
}

fn former(path: &Path, namespace: &str) -> Result<Former, Failure> {
    let mut former = Former::default();
    let mut broken = None;
    for found in source::find(&[path.to_owned()]) {
        let read = found.and_then(|source| {
            object::each(&source, |item| match item {
                Item::Object(object) => former.take(object, namespace),
                Item::Other => {}
                Item::Broken { place, problem } => {
                    broken.get_or_insert_with(|| format!("{}: line {}: {problem}", place.file, place.line));
                }
            })
        });
        if let Err(unusable) = read {
            broken.get_or_insert_with(|| unusable.to_string());
        }
    }
    match broken {
        Some(broken) => {
            Err(Failure::new(format!("--old: {broken}"), "without it no former version is known"))
        }
        None => Ok(former),
    }
}

#[expect(clippy::print_stderr, reason = "the command line's own diagnostics")]
fn tell(unusable: &source::Unusable) {
    eprintln!("covenant: {unusable}");
}

fn write(report: &Report, output: Output, quiet: bool) -> io::Result<()> {
    let terminal = io::stdout().is_terminal();
    let mut out = io::BufWriter::new(io::stdout().lock());
    match output {
        Output::Json => {
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        Output::Text => {
            let style = text::Style { colour: terminal && super::colour_is_welcome(), quiet };
            text::write(report, style, &mut out)?;
        }
    }
    match out.flush() {
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn code(report: &Report) -> Code {
    match &report.summary {
        summary if summary.unreadable > 0 => Code::Unusable,
        summary if summary.errors > 0 => Code::Found,
        _ => Code::Good,
    }
}

/// The time now. The clock of the long-running processes is not part of a program that only reads files.
#[expect(clippy::disallowed_methods, reason = "the outermost layer asks, and hands on what it got")]
fn now() -> Timestamp {
    Timestamp::now()
}

/// RFC 3339, by the grammar that annotations are read by.
fn instant(text: &str) -> Result<Timestamp, String> {
    rfc3339::parse(text).ok_or_else(|| "must be an RFC 3339 time such as 2026-10-10T08:30:00Z".to_owned())
}

/// A DNS label.
fn namespace(text: &str) -> Result<String, String> {
    let letters = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if (1..=63).contains(&text.len()) && letters && !text.starts_with('-') && !text.ends_with('-') {
        Ok(text.to_owned())
    } else {
        Err("must be the name of a namespace: at most 63 lower-case letters, digits and '-'".to_owned())
    }
}

/// `external-secrets.io/<version>`.
fn external_secret_api_version(text: &str) -> Result<String, String> {
    let version = text.strip_prefix("external-secrets.io/").unwrap_or_default();
    let letters = version.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if version.starts_with('v') && version.len() <= 32 && letters {
        Ok(text.to_owned())
    } else {
        Err("must be such as external-secrets.io/v1".to_owned())
    }
}
