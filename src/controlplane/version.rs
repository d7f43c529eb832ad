//! The Kubernetes versions that Covenant supports, and the one release of each minor that tests and the demo run.
//! No file and no process here.

use std::fmt;
use std::str::FromStr;

/// A Kubernetes release, `1.37.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major version; 1 for every release so far.
    pub major: u16,
    /// The minor version; a released Kubernetes API is the same in all its patches.
    pub minor: u16,
    /// The patch.
    pub patch: u16,
}

/// The pinned release of each supported minor, oldest first. Each has a Go module under `tests/kubernetes/`.
pub const PINNED: [Version; 4] = [
    Version { major: 1, minor: 34, patch: 4 },
    Version { major: 1, minor: 35, patch: 4 },
    Version { major: 1, minor: 36, patch: 3 },
    Version { major: 1, minor: 37, patch: 2 },
];

/// The release that is used when none is asked for.
pub const NEWEST: Version = Version { major: 1, minor: 37, patch: 2 };

/// A request for a Kubernetes version that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Kubernetes version {asked:?} is not supported; give a minor or its pinned release: {}",
    pinned_list()
)]
pub struct UnsupportedVersion {
    /// The text that was given.
    pub asked: String,
}

impl Version {
    /// Turns a request into a pinned release: `1.34` and `v1.34` mean that minor's pinned patch, `1.34.4` means itself.
    pub fn resolve(request: &str) -> Result<Self, UnsupportedVersion> {
        let unsupported = || UnsupportedVersion { asked: request.to_owned() };
        let text = request.trim().trim_start_matches('v');
        PINNED
            .into_iter()
            .find(|pinned| text == pinned.to_string() || text == format!("{}.{}", pinned.major, pinned.minor))
            .ok_or_else(unsupported)
    }

    /// Whether both are releases of the same minor.
    pub fn same_minor(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = UnsupportedVersion;

    /// Reads `1.37.2`, `v1.37.2`, and what distributions append (`v1.37.2-gke.100`, `v1.37.2+k3s1`), for any release.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unsupported = || UnsupportedVersion { asked: text.to_owned() };
        let plain = text.trim().trim_start_matches('v');
        let plain = plain.split(['-', '+']).next().unwrap_or_default();
        let mut numbers = plain.split('.').map(str::parse::<u16>);
        let mut next = || numbers.next().and_then(Result::ok).ok_or_else(unsupported);
        let version = Self { major: next()?, minor: next()?, patch: next()? };
        if numbers.next().is_some() {
            return Err(unsupported());
        }
        Ok(version)
    }
}

fn pinned_list() -> String {
    PINNED.map(|pinned| format!("{}.{} ({pinned})", pinned.major, pinned.minor)).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minor_resolves_to_its_pinned_patch() {
        assert_eq!(Version::resolve("1.34").unwrap().to_string(), "1.34.4");
        assert_eq!(Version::resolve("v1.36").unwrap().to_string(), "1.36.3");
        assert_eq!(Version::resolve(" 1.37.2 ").unwrap(), NEWEST);
        assert_eq!(PINNED.last(), Some(&NEWEST));
        assert!(PINNED.is_sorted());
    }

    #[test]
    fn what_is_not_pinned_is_refused_with_the_list() {
        for request in ["", "1", "1.33", "1.34.1", "1.37.2-beta.0", "newest"] {
            let error = Version::resolve(request).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "Kubernetes version {request:?} is not supported; give a minor or its pinned release: \
                     1.34 (1.34.4), 1.35 (1.35.4), 1.36 (1.36.3), 1.37 (1.37.2)"
                )
            );
        }
    }

    #[test]
    fn what_binaries_report_is_read() {
        assert_eq!("v1.37.2".parse::<Version>().unwrap(), NEWEST);
        assert_eq!(
            "v1.32.4-dispatcher".parse::<Version>().unwrap(),
            Version { major: 1, minor: 32, patch: 4 }
        );
        assert!("v1.37.9+k3s1".parse::<Version>().unwrap().same_minor(NEWEST));
        assert!("1.37".parse::<Version>().is_err());
        assert!("1.37.2.1".parse::<Version>().is_err());
        assert!("1.37.x".parse::<Version>().is_err());
    }
}
