//! What others have built and published: envtest archives (etcd, kube-apiserver, kubectl), and each Kubernetes
//! release's single binaries for what the archives lack. Every file's checksum is verified before it is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, SHA512};
use serde::Deserialize;

use super::cache::Slot;
use super::check::check;
use super::fetch::{Patience, checksum};
use super::progress::Progress;
use super::sources::{go_arch, go_os};
use super::{Binary, NotObtained, Provider, Version};
use crate::controlplane::command;

/// What an archive holds.
const IN_ARCHIVE: [Binary; 3] = [Binary::Etcd, Binary::KubeApiserver, Binary::Kubectl];
/// The folder inside an archive.
const ARCHIVE_FOLDER: &str = "controller-tools/envtest";
/// How long unpacking may take.
const UNPACK_LIMIT: Duration = Duration::from_mins(5);

/// The index of published archives.
#[derive(Debug, Deserialize)]
struct Index {
    /// By version (`v1.37.2`), then by the archive's name.
    releases: BTreeMap<String, BTreeMap<String, Archive>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Archive {
    /// SHA-512 in hexadecimal.
    hash: String,
    /// Where it is.
    #[serde(rename = "selfLink")]
    self_link: String,
}

impl Index {
    /// The archive of exactly `version`, else of the newest patch of its minor, for this system.
    fn choose(&self, version: Version) -> Option<(Version, Archive)> {
        let listed = self.releases.iter().filter_map(|(name, archives)| {
            // A release candidate is no release.
            if name.contains('-') {
                return None;
            }
            let found: Version = name.parse().ok()?;
            let archive = archives.get(&format!("envtest-{name}-{}-{}.tar.gz", go_os(), go_arch()))?;
            found.same_minor(version).then(|| (found, archive.clone()))
        });
        listed.max_by_key(|(found, _)| (*found == version, *found))
    }
}

impl Provider {
    /// Fetches the published envtest archive.
    pub(super) fn fetch_archive(&self, binary: Binary, slot: &Slot) -> Result<PathBuf, NotObtained> {
        let Some(url) = self.sources.archive_index.as_deref().filter(|_| IN_ARCHIVE.contains(&binary)) else {
            return Err(NotObtained::NotOffered);
        };
        self.reachable(url)?;
        let workspace = slot.workspace()?;
        let what = format!("fetching {binary} {}", self.version);
        let mut progress = Progress::start(self.display, what, "from the published envtest archives");
        let result = self.archive_into(workspace, url, &mut progress);
        let result = result.and_then(|version| self.install_from(workspace, slot, binary, version));
        progress.end(result.as_ref().map_or_else(String::as_str, |_| "done"));
        Ok(result?)
    }

    /// Fetches, verifies and unpacks the archive; returns its version.
    fn archive_into(&self, workspace: &Path, url: &str, progress: &mut Progress) -> Result<Version, String> {
        let index_file = workspace.join("index.yaml");
        self.fetch_first(url, url, &index_file, progress)?;
        let text = std::fs::read_to_string(&index_file).map_err(|error| format!("{url}: {error}"))?;
        let index: Index = serde_saphyr::from_str(&text)
            .map_err(|_| format!("{url}: this is no index of envtest archives"))?;
        let (version, archive) = index.choose(self.version).ok_or_else(|| {
            let (major, minor) = (self.version.major, self.version.minor);
            format!("{url} lists no archive of {major}.{minor} for {}/{}", go_os(), go_arch())
        })?;
        let file = workspace.join("archive.tar.gz");
        self.fetch(&archive.self_link, &file, Patience::Large, progress)?;
        let sum = checksum(&SHA512, &file).map_err(|error| format!("{}: {error}", file.display()))?;
        if !sum.eq_ignore_ascii_case(archive.hash.trim()) {
            return Err(format!("{}: its SHA-512 is not the published one", archive.self_link));
        }
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&file).arg("-C").arg(workspace);
        let unpacked = command::finish(tar, None, UNPACK_LIMIT).map_err(|error| format!("tar: {error}"))?;
        if !unpacked.status.success() {
            let said = unpacked.stderr.lines().last().unwrap_or("tar failed");
            return Err(format!("{}: {said}", archive.self_link));
        }
        Ok(version)
    }

    /// Takes what the unpacked archive holds into the cache and returns the wanted part.
    fn install_from(
        &self,
        workspace: &Path,
        slot: &Slot,
        wanted: Binary,
        version: Version,
    ) -> Result<PathBuf, String> {
        let mut found = Err(format!("the archive of {version} holds no {wanted}"));
        for binary in IN_ARCHIVE {
            let file = workspace.join(ARCHIVE_FOLDER).join(binary.name());
            let installed = if file.is_file() {
                check(binary, &file, self.version).and_then(|()| slot.install(&file, binary, version))
            } else {
                continue;
            };
            if binary == wanted {
                found = installed.map_err(|reason| format!("{wanted} of the archive of {version}: {reason}"));
            }
        }
        found
    }

    /// Fetches a single binary of the Kubernetes release.
    pub(super) fn fetch_release(&self, binary: Binary, slot: &Slot) -> Result<PathBuf, NotObtained> {
        // Servers are published for Linux only, etcd not at all.
        let offered = match binary {
            Binary::Etcd => false,
            Binary::KubeApiserver | Binary::KubeControllerManager => go_os() == "linux",
            Binary::Kubectl => true,
        };
        let Some(base) = self.sources.releases.as_deref().filter(|_| offered) else {
            return Err(NotObtained::NotOffered);
        };
        self.reachable(base)?;
        let url = format!("{base}/v{}/bin/{}/{}/{binary}", self.version, go_os(), go_arch());
        let workspace = slot.workspace()?;
        let what = format!("fetching {binary} {}", self.version);
        let mut progress = Progress::start(self.display, what, "from its release");
        let result = self.release_into(workspace, base, &url, &mut progress).and_then(|file| {
            check(binary, &file, self.version).map_err(|reason| format!("{url}: {reason}"))?;
            slot.install(&file, binary, self.version)
        });
        progress.end(result.as_ref().map_or_else(String::as_str, |_| "done"));
        Ok(result?)
    }

    fn release_into(
        &self,
        workspace: &Path,
        base: &str,
        url: &str,
        progress: &mut Progress,
    ) -> Result<PathBuf, String> {
        use std::os::unix::fs::PermissionsExt as _;

        let sum_file = workspace.join("sum");
        let sum_url = format!("{url}.sha256");
        self.fetch_first(base, &sum_url, &sum_file, progress)?;
        let published = std::fs::read_to_string(&sum_file).map_err(|error| format!("{sum_url}: {error}"))?;
        let file = workspace.join("binary");
        self.fetch(url, &file, Patience::Large, progress)?;
        let explain = |error: std::io::Error| format!("{}: {error}", file.display());
        let sum = checksum(&SHA256, &file).map_err(explain)?;
        if published.split_whitespace().next().is_none_or(|published| !sum.eq_ignore_ascii_case(published)) {
            return Err(format!("{url}: its SHA-256 is not the published one"));
        }
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).map_err(explain)?;
        Ok(file)
    }

    /// Fetches the small file that comes first from a source. When that source cannot be reached, this provider does
    /// not ask it again.
    fn fetch_first(
        &self,
        source: &str,
        url: &str,
        file: &Path,
        progress: &mut Progress,
    ) -> Result<(), String> {
        self.fetch(url, file, Patience::Small, progress).inspect_err(|reason| {
            let mut unreachable = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner);
            unreachable.insert(source.to_owned(), reason.clone());
        })
    }

    fn reachable(&self, source: &str) -> Result<(), NotObtained> {
        let unreachable = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner);
        unreachable.get(source).map_or(Ok(()), |reason| Err(reason.clone().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(versions: &[&str]) -> Index {
        let archive = Archive { hash: String::new(), self_link: String::new() };
        let entry = |version: &str| {
            let name = format!("envtest-{version}-{}-{}.tar.gz", go_os(), go_arch());
            (version.to_owned(), BTreeMap::from([(name, archive.clone())]))
        };
        Index { releases: versions.iter().copied().map(entry).collect() }
    }

    #[test]
    fn the_pinned_patch_is_preferred_then_the_newest_of_the_minor() {
        let version = Version::resolve("1.34").unwrap();
        let chosen = |versions| index(versions).choose(version).map(|(version, _)| version.to_string());
        assert_eq!(chosen(&["v1.34.4", "v1.34.9", "v1.35.0"]).as_deref(), Some("1.34.4"));
        assert_eq!(chosen(&["v1.34.1", "v1.34.10", "v1.34.9"]).as_deref(), Some("1.34.10"));
        assert_eq!(chosen(&["v1.33.0", "v1.35.0", "v1.34.0-rc.1"]), None);
    }

    #[test]
    fn an_archive_for_another_system_does_not_count() {
        let text = "releases:\n  v1.37.2:\n    envtest-v1.37.2-plan9-mips.tar.gz:\n      hash: aa\n      selfLink: b\n";
        let index: Index = serde_saphyr::from_str(text).unwrap();
        assert!(index.choose(super::super::super::version::NEWEST).is_none());
    }
}
