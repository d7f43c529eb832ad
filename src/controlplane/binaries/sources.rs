//! The places where binaries may be. They come from the environment once, as a value, so that tests can give others.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Binary, Error, Version};

/// Where published envtest archives are listed.
const ENVTEST_INDEX: &str =
    "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";
/// Where each Kubernetes release's single binaries are.
const RELEASES: &str = "https://dl.k8s.io";
/// Where the Go modules were when this crate was built.
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubernetes");

/// The places where binaries are looked for, and from which they are obtained.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The folder that `KUBEBUILDER_ASSETS` names.
    pub assets: Option<PathBuf>,
    /// The root of the store that `setup-envtest` keeps.
    pub store: Option<PathBuf>,
    /// The folder that holds `v<version>/<binary>`; made when needed.
    pub cache: PathBuf,
    /// The URL of the index of published envtest archives; none: they are not used.
    pub archive_index: Option<String>,
    /// The base URL of published Kubernetes releases; none: they are not used.
    pub releases: Option<String>,
    /// The folder that holds the Go modules.
    pub modules: PathBuf,
    /// The folders that programs are looked for in, as in `PATH`.
    pub search_path: OsString,
}

impl Sources {
    /// The places as the environment of this process gives them.
    pub fn from_environment() -> Result<Self, Error> {
        let cache = cache_home().ok_or(Error::NoCache)?;
        Ok(Self {
            assets: folder("KUBEBUILDER_ASSETS"),
            store: envtest_store(),
            cache: cache.join("covenant").join("kubernetes"),
            archive_index: url("COVENANT_ENVTEST_INDEX", ENVTEST_INDEX),
            releases: url("COVENANT_KUBERNETES_RELEASES", RELEASES),
            modules: folder("COVENANT_KUBERNETES_MODULES").unwrap_or_else(|| MODULES.into()),
            search_path: env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// Where a part may be, the best place first; not every path exists.
    pub(super) fn candidates(&self, binary: Binary, version: Version) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if binary == Binary::Kubectl {
            folders.extend(env::split_paths(&self.search_path));
        }
        folders.extend(self.assets.clone());
        if let Some(store) = &self.store {
            let suffix = format!("-{}-{}", go_os(), go_arch());
            folders.extend(version_folders(&store.join("k8s"), "", &suffix, version, false));
        }
        folders.extend(version_folders(&self.cache, "v", "", version, binary.is_shared()));
        folders.into_iter().map(|folder| folder.join(binary.name())).collect()
    }

    /// A program on the search path.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.search_path).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// A sentence part that says where nothing usable was found.
    pub(super) fn nothing_found(&self, binary: Binary) -> String {
        let mut places = Vec::new();
        if binary == Binary::Kubectl {
            places.push("on the PATH".to_owned());
        }
        match &self.assets {
            Some(folder) => places.push(format!("in KUBEBUILDER_ASSETS={}", folder.display())),
            None => places.push("in KUBEBUILDER_ASSETS (not set)".to_owned()),
        }
        if let Some(store) = &self.store {
            places.push(format!("in {}", store.display()));
        }
        places.push(format!("in {}", self.cache.display()));
        format!("none usable {}", places.join(", "))
    }
}

/// The subfolders named `<prefix><version><suffix>`: the exact version first, then others of the same minor, or of
/// every version, newest first.
fn version_folders(root: &Path, prefix: &str, suffix: &str, version: Version, every: bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut found: Vec<(Version, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let found: Version = name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()?;
            (every || found.same_minor(version)).then(|| (found, entry.path()))
        })
        .collect();
    found.sort_by_key(|(found, _)| (*found == version, found.same_minor(version), *found));
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// The user's cache folder, as Go and the XDG base directories name it.
fn cache_home() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home().map(|home| home.join("Library/Caches"));
    }
    folder("XDG_CACHE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| home().map(|home| home.join(".cache")))
}

/// The default store of `setup-envtest`: its own choice for each system. A store moved by its `--bin-dir` is named
/// by `KUBEBUILDER_ASSETS`, which `setup-envtest use` prints.
fn envtest_store() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home().map(|home| home.join("Library/Application Support/io.kubebuilder.envtest"));
    }
    let data = folder("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share")))?;
    Some(data.join("kubebuilder-envtest"))
}

fn home() -> Option<PathBuf> {
    folder("HOME")
}

fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A URL from the environment; unset means the default, empty means none.
fn url(variable: &str, default: &str) -> Option<String> {
    match env::var(variable) {
        Ok(value) if value.is_empty() => None,
        Ok(value) => Some(value),
        Err(_) => Some(default.to_owned()),
    }
}

/// This system by Go's name.
pub(super) fn go_os() -> &'static str {
    match env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// This processor by Go's name.
pub(super) fn go_arch() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}
