//! The command tree and how a wrong command line is told.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use super::check;
use super::crds::CrdFormat;
use super::exit::{Failure, one_line};
use crate::api::Kind;

/// What `--version` says: the version, the Kubernetes releases that Covenant is made for and tested with, and the Go
/// release whose regular expressions a contract's patterns follow.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\nKubernetes 1.34 to 1.37\nRegular expressions as in Go 1.27");

/// Keeps the contracts between application teams and their Kubernetes platform: what a Secret must hold, and which
/// database a team gets.
#[derive(Debug, Parser)]
#[command(name = "covenant", version = VERSION)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `covenant` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge contracts and database claims from files, offline.
    Check(check::Flags),
    /// Print the CustomResourceDefinitions.
    Crds(CrdsFlags),
    /// Start a local Kubernetes control plane with Covenant in it and show it at work.
    #[cfg(feature = "demo")]
    Demo(super::demo::Flags),
}

/// Print the CustomResourceDefinitions, as they are installed in a cluster.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct CrdsFlags {
    /// Only this kind.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,

    /// How they are printed.
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: CrdsOutput,
}

/// How definitions are printed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CrdsOutput {
    /// One document for each kind.
    Yaml,
    /// One object: the definition, or a list of several.
    Json,
}

impl CrdsFlags {
    /// The kinds that are asked for.
    pub fn kinds(self) -> Vec<Kind> {
        self.kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind])
    }

    /// The format that is asked for.
    pub const fn format(self) -> CrdFormat {
        match self.output {
            CrdsOutput::Yaml => CrdFormat::Yaml,
            CrdsOutput::Json => CrdFormat::Json,
        }
    }
}

/// A kind by its name, or by the names that kubectl knows it by.
fn kind(text: &str) -> Result<Kind, String> {
    let known = |kind: &Kind| {
        let short = kind.crd().spec.names.short_names.unwrap_or_default();
        let names = [kind.as_str(), kind.plural(), kind.singular()].into_iter();
        names.chain(short.iter().map(String::as_str)).any(|name| name.eq_ignore_ascii_case(text))
    };
    Kind::ALL
        .into_iter()
        .find(known)
        .ok_or_else(|| format!("must be one of {}", Kind::ALL.map(Kind::as_str).join(", ")))
}

/// What came of reading a command line.
#[derive(Debug)]
pub enum Read {
    /// A command.
    Command(Command),
    /// `--help` or `--version`: the text to print.
    Text(String),
}

/// Reads a command line, the program's name first. What is wrong comes back as one line.
pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Read, Failure> {
    match Arguments::try_parse_from(without_separator(arguments)) {
        Ok(arguments) => Ok(Read::Command(arguments.command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Read::Text(error.render().to_string())),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Err(Failure::new("a command is missing", "see covenant --help"))
            }
            _ => Err(Failure::new(wrong(&error), "see --help")),
        },
    }
}

/// `cargo demo -- --once` reaches us as `demo -- --once`: Cargo hands on the `--` that follows an alias which has one
/// of its own. The demo takes no operands, so the separator can only be that one.
fn without_separator(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|command| command == "demo")
        && arguments.get(2).is_some_and(|separator| separator == "--")
    {
        arguments.remove(2);
    }
    arguments
}

/// What is wrong, without the usage text.
fn wrong(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let usage =
        rendered.find("\n\nUsage:").or_else(|| rendered.find("\n\nFor more")).unwrap_or(rendered.len());
    let text = rendered.get(..usage).unwrap_or_default();
    one_line(text.strip_prefix("error: ").unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn line(arguments: &[&str]) -> Result<Read, Failure> {
        read(std::iter::once("covenant").chain(arguments.iter().copied()).map(OsString::from))
    }

    #[test]
    fn the_tree_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_wrong_line_is_one_line() {
        for (arguments, expected) in [
            (&[][..], "a command is missing; see covenant --help"),
            (
                &["chekc"],
                "unrecognized subcommand 'chekc' tip: a similar subcommand exists: 'check'; see --help",
            ),
            (
                &["check", "-o", "xml"],
                "invalid value 'xml' for '--output <FORMAT>' [possible values: text, json]; see --help",
            ),
            (
                &["check", "-n", "A_b"],
                "invalid value 'A_b' for '--namespace <NAME>': must be the name of a namespace: at most 63 lower-case letters, digits and '-'; see --help",
            ),
            (
                &["check", "--external-secret-api-version", "v1"],
                "invalid value 'v1' for '--external-secret-api-version <APIVERSION>': must be such as external-secrets.io/v1; see --help",
            ),
        ] {
            assert_eq!(line(arguments).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_kind_has_the_names_that_kubectl_knows() {
        for (name, expected) in [
            ("sctr", Kind::SecretContract),
            ("PGT", Kind::PostgreSQLTenant),
            ("postgresqldatabases", Kind::PostgreSQLDatabase),
        ] {
            assert_eq!(kind(name), Ok(expected));
        }
        assert!(kind("secret").is_err());
    }

    #[cfg(feature = "demo")]
    #[test]
    fn the_alias_reaches_the_demo_with_its_flags() {
        for arguments in [&["demo", "--once"][..], &["demo", "--", "--once"]] {
            let Ok(Read::Command(Command::Demo(flags))) = line(arguments) else { panic!("{arguments:?}") };
            assert!(flags.once);
        }
        let error = line(&["demo", "--kubernetes-version", "1.12"]).unwrap_err().to_string();
        assert!(error.contains("1.12") && error.contains("1.37"), "{error}");
    }

    #[test]
    fn help_and_version_are_text() {
        let Ok(Read::Text(version)) = line(&["--version"]) else { panic!("no version") };
        assert!(version.contains("1.34 to 1.37") && version.contains("Go 1.27"), "{version}");
        let Ok(Read::Text(help)) = line(&["check", "--help"]) else { panic!("no help") };
        assert!(help.contains("[default: text]"), "{help}");
    }
}
