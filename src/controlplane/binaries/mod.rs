//! Finds or obtains the control plane's binaries for one Kubernetes version, in this order:
//!
//! 1. the folder that `KUBEBUILDER_ASSETS` names;
//! 2. the store of `setup-envtest`;
//! 3. Covenant's own cache, `covenant/kubernetes/v<version>/` in the user's cache folder;
//! 4. the published envtest archive, and the published release for the part that the archive lacks
//!    (kube-controller-manager), both with their checksums verified, into the cache;
//! 5. a build from the Go modules under `tests/kubernetes/`, into the cache.
//!
//! For kubectl, one on the `PATH` comes first. A binary that was found is asked for its version; one of another minor
//! is passed over, and standard error says so.
//!
//! | variable | meaning |
//! |---|---|
//! | `KUBEBUILDER_ASSETS` | folder with ready binaries |
//! | `COVENANT_KUBERNETES_MODULES` | folder with the Go modules, if not where the source tree was at build time |
//! | `COVENANT_ENVTEST_INDEX` | URL of the archive index, for a mirror; empty: do not use archives |
//! | `COVENANT_KUBERNETES_RELEASES` | base URL of published releases, for a mirror; empty: do not use them |

mod built;
mod cache;
mod check;
mod fetch;
mod progress;
mod published;
mod sources;
mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use progress::Display;
pub use sources::Sources;

use super::{Error, Version};

/// A part of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binary {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// Garbage collection, namespace deletion, role aggregation and the workloads' controllers.
    KubeControllerManager,
    /// The command-line client.
    Kubectl,
}

impl Binary {
    /// The file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::Kubectl => "kubectl",
        }
    }

    /// Whether one release of this program serves every Kubernetes version.
    fn is_shared(self) -> bool {
        matches!(self, Self::Etcd | Self::Kubectl)
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Where the parts for one version are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// The version that was asked for.
    pub version: Version,
    /// The store.
    pub etcd: PathBuf,
    /// The API server.
    pub kube_apiserver: PathBuf,
    /// The controllers; without them nothing is collected as garbage and no namespace is deleted.
    pub kube_controller_manager: Option<PathBuf>,
    /// The command-line client.
    pub kubectl: Option<PathBuf>,
}

/// Finds and obtains binaries for one version. It may be shared by threads: different parts are obtained side by side,
/// the same part only once.
pub struct Provider {
    version: Version,
    sources: Sources,
    /// The `covenant` binary: children run through it so that they die with this process.
    covenant: PathBuf,
    display: Display,
    said: Mutex<BTreeSet<String>>,
    /// By URL, why what is published there cannot be had: asking again for each part would only cost time.
    unreachable: Mutex<BTreeMap<String, String>>,
}

impl Provider {
    /// A provider that looks where the environment says; `covenant` is the path of the `covenant` binary.
    pub fn new(version: Version, covenant: &Path) -> Result<Self, Error> {
        Ok(Self::with_sources(version, covenant, Sources::from_environment()?))
    }

    /// A provider that looks in the given places.
    pub fn with_sources(version: Version, covenant: &Path, sources: Sources) -> Self {
        Self {
            version,
            sources,
            // Some children run in another folder.
            covenant: std::path::absolute(covenant).unwrap_or_else(|_| covenant.to_owned()),
            display: Display::Standard,
            said: Mutex::default(),
            unreachable: Mutex::default(),
        }
    }

    /// Chooses how progress is shown.
    #[must_use]
    pub fn display(mut self, display: Display) -> Self {
        self.display = display;
        self
    }

    /// The version that is provided.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Looks for a part without fetching or building anything.
    pub fn find(&self, binary: Binary) -> Option<PathBuf> {
        self.candidates(binary).into_iter().find(|path| self.accepts(binary, path))
    }

    /// Finds each part or obtains it. Blocks; a first build takes minutes and shows its progress on standard error.
    pub fn ensure(&self, binaries: &[Binary]) -> Result<Vec<PathBuf>, Error> {
        binaries.iter().map(|&binary| self.ensure_one(binary)).collect()
    }

    /// The parts that every control plane needs, obtained if need be; the others as far as they are there already.
    pub fn required(&self) -> Result<Binaries, Error> {
        Ok(Binaries {
            version: self.version,
            etcd: self.ensure_one(Binary::Etcd)?,
            kube_apiserver: self.ensure_one(Binary::KubeApiserver)?,
            kube_controller_manager: self.find(Binary::KubeControllerManager),
            kubectl: self.find(Binary::Kubectl),
        })
    }

    /// All parts, obtained if need be.
    pub fn all(&self) -> Result<Binaries, Error> {
        Ok(Binaries {
            version: self.version,
            etcd: self.ensure_one(Binary::Etcd)?,
            kube_apiserver: self.ensure_one(Binary::KubeApiserver)?,
            kube_controller_manager: Some(self.ensure_one(Binary::KubeControllerManager)?),
            kubectl: Some(self.ensure_one(Binary::Kubectl)?),
        })
    }

    fn ensure_one(&self, binary: Binary) -> Result<PathBuf, Error> {
        if let Some(found) = self.find(binary) {
            return Ok(found);
        }
        let slot = cache::Slot::lock(&self.sources.cache, self.version, binary, self.display)?;
        // Another process may have obtained it while this one waited for the lock.
        if let Some(found) = self.find(binary) {
            return Ok(found);
        }
        let mut reasons = vec![self.sources.nothing_found(binary)];
        for obtain in [Self::fetch_archive, Self::fetch_release, Self::build_from_module] {
            match obtain(self, binary, &slot) {
                Ok(path) => return Ok(path),
                Err(NotObtained::Reason(reason)) if !reasons.contains(&reason) => reasons.push(reason),
                Err(_) => {}
            }
        }
        Err(Error::NoBinary { binary: binary.name(), version: self.version, reasons })
    }

    /// Where a part may be, the best place first.
    fn candidates(&self, binary: Binary) -> Vec<PathBuf> {
        let mut candidates = self.sources.candidates(binary, self.version);
        candidates.retain(|path| path.is_file());
        candidates
    }

    /// Whether a part that was found can be used; if not, standard error says why, once.
    fn accepts(&self, binary: Binary, path: &Path) -> bool {
        match check::check(binary, path, self.version) {
            Ok(()) => true,
            Err(reason) => {
                let line = format!("passing over {}: {reason}", path.display());
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                if said.insert(line.clone()) {
                    progress::say(self.display, &line);
                }
                false
            }
        }
    }
}

/// Why one way did not give a binary.
enum NotObtained {
    /// This way never has it; nothing to tell.
    NotOffered,
    /// It was tried and did not work.
    Reason(String),
}

impl From<String> for NotObtained {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}
