//! The flags of `covenant-controller`.

use std::time::Duration;

use clap::builder::BoolishValueParser;
use jiff::SignedDuration;

use crate::go::regexp::STEPS_PER_SECRET;
use crate::process::flags::{SharedFlags, dns_label, duration_between};
use crate::rules::Installation;
use crate::rules::secret_contract::state::Settings;

/// Judges SecretContracts against the Secrets in the cluster and reports in their status; registers PostgreSQL
/// Instances, Databases and Tenants.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "covenant-controller", version)]
pub struct Flags {
    /// What both processes take.
    #[command(flatten)]
    pub shared: SharedFlags,

    /// Namespace whose contracts and tenants are looked at. Repeatable; none given: all namespaces.
    #[arg(
        long = "watch-namespace",
        env = "COVENANT_WATCH_NAMESPACE",
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = dns_label
    )]
    pub watch_namespaces: Vec<String>,

    /// Whether replicas elect one that acts, by the Lease covenant-controller. `false` is for a single process alone.
    #[arg(
        long,
        env = "COVENANT_LEADER_ELECT",
        value_name = "BOOLEAN",
        default_value = "true",
        num_args = 0..=1,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub leader_elect: bool,

    /// Who makes the webhook's certificate.
    #[arg(long, env = "COVENANT_CERTIFICATES", value_name = "WHO", default_value = "external")]
    pub certificates: Certificates,

    /// Time after which a contract is checked again although nothing has changed, from 10s to 24h.
    #[arg(
        long,
        env = "COVENANT_RECHECK_INTERVAL",
        value_name = "DURATION",
        default_value = "5m",
        value_parser = duration_between("10s", "24h")
    )]
    pub recheck_interval: Duration,

    /// How far in the future a declared rotation time may lie, from 0s to 1h.
    #[arg(
        long,
        env = "COVENANT_CLOCK_SKEW",
        value_name = "DURATION",
        default_value = "5m",
        value_parser = duration_between("0s", "1h")
    )]
    pub clock_skew: Duration,

    /// Steps that all patterns of one Secret may cost together, at most 100000000. A step is one state of a pattern at
    /// one character.
    #[arg(
        long,
        env = "COVENANT_EVALUATION_STEPS",
        value_name = "STEPS",
        default_value_t = STEPS_PER_SECRET,
        value_parser = clap::value_parser!(u64).range(1..=STEPS_PER_SECRET)
    )]
    pub evaluation_steps: u64,

    /// Type of Secret whose content is not evaluated. Repeatable; replaces the default list.
    #[arg(
        long = "denied-secret-type",
        env = "COVENANT_DENIED_SECRET_TYPE",
        value_name = "TYPE",
        value_delimiter = ',',
        default_values = Settings::DENIED_TYPES
    )]
    pub denied_secret_types: Vec<String>,
}

/// Who makes the webhook's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Certificates {
    /// Somebody else, such as cert-manager.
    External,
    /// This process; not in this version.
    SelfManaged,
}

impl Flags {
    /// What the installation decides for SHAPE.
    pub fn installation(&self) -> Installation {
        Installation {
            external_secret_api_versions: self.shared.external_secret_api_versions.clone(),
            credential_paths: self.shared.credential_paths.clone(),
        }
    }

    /// What the installation decides for STATE.
    pub fn settings(&self) -> Settings {
        Settings {
            clock_skew: signed(self.clock_skew),
            evaluation_steps: self.evaluation_steps,
            denied_types: self.denied_secret_types.clone(),
        }
    }
}

/// A duration of a flag, which is far below the limits of either type.
pub(super) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::flags::parse;

    fn read(arguments: &[&str]) -> Result<Flags, String> {
        let all = std::iter::once("covenant-controller").chain(arguments.iter().copied());
        parse(all.map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_and_lists() {
        let flags = read(&[]).unwrap();
        assert!(flags.leader_elect);
        assert_eq!(flags.settings(), Settings::default());
        assert_eq!(flags.installation(), Installation::default());
        let flags = read(&[
            "--leader-elect",
            "false",
            "--watch-namespace",
            "a",
            "--watch-namespace",
            "b,c",
            "--denied-secret-type",
            "x/y",
        ])
        .unwrap();
        assert!(!flags.leader_elect);
        assert_eq!(flags.watch_namespaces, ["a", "b", "c"]);
        assert_eq!(flags.settings().denied_types, ["x/y"]);
    }

    #[test]
    fn values_out_of_range_are_one_line() {
        for (flag, value, right) in [
            ("--evaluation-steps", "0", "0 is not in 1..=100000000"),
            ("--evaluation-steps", "100000001", "100000001 is not in 1..=100000000"),
            ("--clock-skew", "2h", "must be a duration from 0s to 1h, such as 90s or 5m"),
            ("--recheck-interval", "1s", "must be a duration from 10s to 24h, such as 90s or 5m"),
            ("--certificates", "me", "must be one of external, self-managed"),
        ] {
            let error = read(&[flag, value]).unwrap_err();
            assert_eq!(error, format!("{flag}: invalid value \"{value}\": {right}; see --help"));
        }
        assert!(
            read(&["--watch-namespace", "A_b"]).unwrap_err().starts_with("--watch-namespace: invalid value")
        );
        assert!(
            read(&["--leader-elect", "perhaps"]).unwrap_err().starts_with("--leader-elect: invalid value")
        );
    }
}
