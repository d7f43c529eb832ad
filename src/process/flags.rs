//! The flags that the webhook and the controller share, the parsers of flag values, and how a wrong value is told.
//!
//! Every flag can also be given as an environment variable, `COVENANT_` and its name in capitals; the flag wins. A
//! repeatable flag takes its variable's values separated by commas.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::exit::{StartError, one_line};
use super::telemetry::{LogFormat, LogLevel};
use crate::api::names;
use crate::format;
use crate::go::duration::{self, GoDuration};
use crate::rules::Installation;

/// The group of the External Secrets Operator.
const EXTERNAL_SECRETS_GROUP: &str = "external-secrets.io";

/// What both long-running processes take.
#[derive(Clone, Debug, clap::Args)]
pub struct SharedFlags {
    /// File that says how to reach the API server. Without it: the pod's own service account, else `$KUBECONFIG`,
    /// else `~/.kube/config`.
    #[arg(long, env = "COVENANT_KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Namespace that Covenant is installed in: its Leases, certificates and admin credentials.
    #[arg(long, env = "COVENANT_NAMESPACE", value_name = "NAME", default_value = names::NAMESPACE, value_parser = dns_label)]
    pub namespace: String,

    /// Address and port of /livez, /readyz and /metrics, plain HTTP.
    #[arg(long, env = "COVENANT_METRICS_LISTEN", value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8080", value_parser = socket_address)]
    pub metrics_listen: SocketAddr,

    /// How much is logged.
    #[arg(long, env = "COVENANT_LOG_LEVEL", value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// How a log line looks.
    #[arg(long, env = "COVENANT_LOG_FORMAT", value_name = "FORMAT", default_value = "json")]
    pub log_format: LogFormat,

    /// apiVersion that a contract's `externalSecretRef` may name. Repeatable.
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
}

/// Reads the flags of `F` from the command line and the environment.
///
/// `--help` and `--version` come back as [`StartError::Printed`]; anything wrong as one line that names the flag, the
/// value and what is right.
pub fn parse<F: clap::Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<F, StartError> {
    F::try_parse_from(arguments).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => StartError::Printed(error.render().to_string()),
        _ => StartError::configuration(wrong(&error), "see --help"),
    })
}

/// What is wrong, on one line, without the usage text.
fn wrong(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg).map(|argument| flag_name(&argument).to_owned());
    let value = text(ContextKind::InvalidValue);
    let source = std::error::Error::source(error).map(ToString::to_string);
    match (error.kind(), flag, value) {
        (ErrorKind::UnknownArgument, Some(flag), _) => match text(ContextKind::SuggestedArg) {
            Some(known) => format!("{flag}: no such flag, did you mean {known}?"),
            None => format!("{flag}: no such flag"),
        },
        (_, Some(flag), Some(value)) if !value.is_empty() || source.is_some() => {
            let right = source
                .or_else(|| text(ContextKind::ValidValue).map(|valid| format!("must be one of {valid}")));
            match right {
                Some(right) => format!("{flag}: invalid value {value:?}: {right}"),
                None => format!("{flag}: invalid value {value:?}"),
            }
        }
        (ErrorKind::InvalidValue, Some(flag), _) => format!("{flag}: a value is required"),
        (ErrorKind::ArgumentConflict, Some(flag), _) => format!("{flag}: given more than once"),
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.split("\n\n").next().unwrap_or_default();
            one_line(first.strip_prefix("error: ").unwrap_or(first))
        }
    }
}

/// `--name` of `--name <VALUE>`.
fn flag_name(argument: &str) -> &str {
    argument.split([' ', '=', '[']).next().unwrap_or(argument)
}

/// A Go duration from `least` to `most`, for `value_parser`.
pub fn duration_between(
    least: &'static str,
    most: &'static str,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let rule = || format!("must be a duration from {least} to {most}, such as 90s or 5m");
        let read = |text: &str| duration::parse(text).ok().and_then(GoDuration::to_std);
        let value = read(text).ok_or_else(rule)?;
        let inside =
            read(least).is_some_and(|least| least <= value) && read(most).is_some_and(|most| value <= most);
        if inside { Ok(value) } else { Err(rule()) }
    }
}

/// The name of a namespace: a DNS label.
pub fn dns_label(text: &str) -> Result<String, String> {
    match format::dns_label(text).into_iter().next() {
        None => Ok(text.to_owned()),
        Some(message) => Err(message),
    }
}

/// An address with a port.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 0.0.0.0:8080 or [::]:8080".to_owned())
}

/// `external-secrets.io/<version>`.
fn external_secret_api_version(text: &str) -> Result<String, String> {
    let version = text.strip_prefix(EXTERNAL_SECRETS_GROUP).and_then(|rest| rest.strip_prefix('/'));
    let right = version.is_some_and(|version| {
        version.starts_with('v')
            && version.len() <= 32
            && version.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    if right { Ok(text.to_owned()) } else { Err("must be such as external-secrets.io/v1".to_owned()) }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    #[command(name = "covenant-test", version)]
    struct Flags {
        #[command(flatten)]
        shared: SharedFlags,
        /// How long.
        #[arg(long, default_value = "5m", value_parser = duration_between("10s", "24h"))]
        recheck_interval: Duration,
    }

    fn read(arguments: &[&str]) -> Result<Flags, StartError> {
        parse(std::iter::once("covenant-test").chain(arguments.iter().copied()).map(OsString::from))
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let flags = read(&[]).unwrap();
        assert_eq!(flags.shared.namespace, "covenant-system");
        assert_eq!(flags.shared.metrics_listen.to_string(), "0.0.0.0:8080");
        assert_eq!(flags.shared.external_secret_api_versions.len(), 2);
        assert_eq!(flags.recheck_interval, Duration::from_mins(5));
    }

    #[test]
    fn a_wrong_value_is_one_line_that_names_flag_and_remedy() {
        for (arguments, expected) in [
            (
                &["--recheck-interval", "30d"][..],
                "--recheck-interval: invalid value \"30d\": must be a duration from 10s to 24h, such as 90s or 5m; see --help",
            ),
            (
                &["--recheck-interval", "1s"],
                "--recheck-interval: invalid value \"1s\": must be a duration from 10s to 24h, such as 90s or 5m; see --help",
            ),
            (
                &["--log-level", "loud"],
                "--log-level: invalid value \"loud\": must be one of error, warn, info, debug, trace; see --help",
            ),
            (
                &["--metrics-listen", "8080"],
                "--metrics-listen: invalid value \"8080\": must be an IP address and a port, such as 0.0.0.0:8080 or [::]:8080; see --help",
            ),
            (
                &["--credential-path", "secret/../x"],
                "--credential-path: invalid value \"secret/../x\": must be MOUNT/PREFIX, such as secret/teams, without empty, '.', '..' or encoded segments; see --help",
            ),
            (&["--namespac", "x"], "--namespac: no such flag, did you mean --namespace?; see --help"),
            (&["--namespace"], "--namespace: a value is required; see --help"),
            (&["--namespace", "a", "--namespace", "b"], "--namespace: given more than once; see --help"),
            (
                &["--external-secret-api-version", "v1"],
                "--external-secret-api-version: invalid value \"v1\": must be such as external-secrets.io/v1; see --help",
            ),
        ] {
            let error = read(arguments).unwrap_err();
            assert_eq!(error.code(), 2);
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn help_is_printed_and_shows_defaults() {
        let error = read(&["--help"]).unwrap_err();
        assert_eq!(error.code(), 0);
        let text = error.to_string();
        assert!(text.contains("[default: covenant-system]") && text.contains("COVENANT_NAMESPACE"), "{text}");
        assert!(Flags::try_parse_from(["covenant-test", "--recheck-interval", "24h"]).is_ok());
    }
}
