//! The provider of binaries: where it looks, what it passes over, and how it obtains what is missing. The binaries here
//! are scripts that only know their version; the real ones are what the rest of this crate runs on.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use covenant::controlplane::binaries::{Display, Sources};
use covenant::controlplane::version::NEWEST;
use covenant::controlplane::{Binary, Provider, Version};

use crate::support::{COVENANT, script};

/// A folder that is removed at the end of its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("covenant-test-binaries-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn join(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Places of which none has anything yet, with the system's own programs on the search path.
    fn sources(&self) -> Sources {
        Sources {
            assets: None,
            store: None,
            cache: self.join("cache"),
            archive_index: None,
            releases: None,
            modules: self.join("modules"),
            search_path: "/usr/bin:/bin".into(),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn provider(sources: Sources) -> Provider {
    Provider::with_sources(NEWEST, Path::new(COVENANT), sources).display(Display::Quiet)
}

/// A script in place of kube-apiserver, of some version.
fn api_server(path: &Path, version: &str) -> PathBuf {
    script(path, &format!("echo Kubernetes v{version}"))
}

fn etcd(path: &Path, version: &str) -> PathBuf {
    script(path, &format!("echo etcd Version: {version}; echo Git SHA: none"))
}

fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}-{arch}")
}

#[test]
fn places_are_searched_in_order() {
    let scratch = Scratch::new("order");
    let mut sources = scratch.sources();
    sources.assets = Some(scratch.join("assets"));
    sources.store = Some(scratch.join("store"));
    let find = || provider(sources.clone()).find(Binary::KubeApiserver);
    assert_eq!(find(), None);
    let cached = api_server(&scratch.join("cache/v1.37.2/kube-apiserver"), "1.37.2");
    assert_eq!(find(), Some(cached));
    let other_patch = format!("store/k8s/1.37.0-{}/kube-apiserver", platform());
    let other_patch = api_server(&scratch.join(&other_patch), "1.37.0");
    assert_eq!(find(), Some(other_patch));
    let stored = format!("store/k8s/1.37.2-{}/kube-apiserver", platform());
    let stored = api_server(&scratch.join(&stored), "1.37.2");
    assert_eq!(find(), Some(stored));
    let asset = api_server(&scratch.join("assets/kube-apiserver"), "1.37.1");
    assert_eq!(find(), Some(asset));
}

#[test]
fn a_binary_of_another_minor_or_one_that_does_not_run_is_passed_over() {
    let scratch = Scratch::new("minor");
    let mut sources = scratch.sources();
    sources.assets = Some(scratch.join("assets"));
    let find = |binary| provider(sources.clone()).find(binary);
    let cached = api_server(&scratch.join("cache/v1.37.2/kube-apiserver"), "1.37.2");
    for text in ["echo Kubernetes v1.36.3", "echo hello", "exit 1", "kill -9 $$"] {
        script(&scratch.join("assets/kube-apiserver"), text);
        assert_eq!(find(Binary::KubeApiserver).as_ref(), Some(&cached), "{text:?} was accepted");
    }
    etcd(&scratch.join("assets/etcd"), "3.4.99");
    assert_eq!(find(Binary::Etcd), None);
    let other_version = etcd(&scratch.join("cache/v1.34.4/etcd"), "3.7.3");
    assert_eq!(find(Binary::Etcd), Some(other_version), "one etcd serves every version");
    // Not of the version asked for: an API server of the cache that says it is something else.
    api_server(&scratch.join("cache/v1.37.2/kube-apiserver"), "1.34.4");
    assert_eq!(find(Binary::KubeApiserver), None);
}

#[test]
fn a_kubectl_on_the_path_comes_first_if_it_works() {
    let scratch = Scratch::new("kubectl");
    let mut sources = scratch.sources();
    sources.search_path = scratch.join("path").into();
    sources.assets = Some(scratch.join("assets"));
    let kubectl = |path: &str, version: &str| {
        let text = format!("echo '{{\"clientVersion\": {{\"gitVersion\": \"{version}\"}}}}'");
        script(&scratch.join(path), &text)
    };
    let asset = kubectl("assets/kubectl", "v1.37.2");
    assert_eq!(provider(sources.clone()).find(Binary::Kubectl), Some(asset.clone()));
    let on_path = kubectl("path/kubectl", "v1.32.4-dispatcher");
    assert_eq!(provider(sources.clone()).find(Binary::Kubectl), Some(on_path));
    script(&scratch.join("path/kubectl"), "echo broken >&2; exit 1");
    assert_eq!(provider(sources).find(Binary::Kubectl), Some(asset));
}

#[test]
fn nothing_anywhere_is_one_line_with_what_is_missing_and_what_to_do() {
    let scratch = Scratch::new("nothing");
    let mut sources = scratch.sources();
    sources.search_path = scratch.join("empty").into();
    let error = provider(sources.clone()).ensure(&[Binary::KubeApiserver]).unwrap_err().to_string();
    let cache = scratch.join("cache");
    assert_eq!(
        error,
        format!(
            "no kube-apiserver for Kubernetes 1.37.2 (none usable in KUBEBUILDER_ASSETS (not set), in {}; Go is not \
             installed, so it cannot be built); set KUBEBUILDER_ASSETS to a folder that holds it, or run \
             `setup-envtest use 1.37`, or install Go so that it can be built",
            cache.display()
        )
    );
    script(&scratch.join("empty/go"), "exit 1");
    let error = provider(sources).ensure(&[Binary::Etcd]).unwrap_err().to_string();
    assert!(error.contains("there is no Go module in "), "{error}");
    assert!(!error.contains('\n'));
}

/// An HTTP server on loopback that knows a few paths and notes what it was asked for.
struct Site {
    base: String,
    asked: Arc<Mutex<Vec<String>>>,
}

fn serve(listener: TcpListener, files: BTreeMap<String, Vec<u8>>) -> Site {
    let base = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            while reader.read_line(&mut line).unwrap() > 2 {}
            let (status, body) = files.get(&path).map_or(("404 Not Found", &[][..]), |body| ("200 OK", body));
            notes.lock().unwrap().push(path);
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ =
                reader.get_mut().write_all(head.as_bytes()).and_then(|()| reader.get_mut().write_all(body));
        }
    });
    Site { base, asked }
}

fn checksum(program: &str, bytes: &[u8], scratch: &Scratch) -> String {
    let file = scratch.join("to-sum");
    fs::write(&file, bytes).unwrap();
    let output = Command::new(program).arg(&file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// A published archive with scripts in it, as the real ones are laid out.
fn archive(scratch: &Scratch, version: &str) -> Vec<u8> {
    let folder = scratch.join("content");
    api_server(&folder.join("controller-tools/envtest/kube-apiserver"), version);
    etcd(&folder.join("controller-tools/envtest/etcd"), "3.7.0");
    let file = scratch.join("made.tar.gz");
    let status =
        Command::new("tar").arg("-czf").arg(&file).arg("-C").arg(&folder).arg("controller-tools").status();
    assert!(status.unwrap().success());
    fs::read(file).unwrap()
}

/// A site with an index and one archive, under the given checksum.
fn archive_site(scratch: &Scratch, version: &str, hash: Option<&str>) -> Site {
    let archive = archive(scratch, version);
    let sum = checksum("sha512sum", &archive, scratch);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let index = format!(
        "releases:\n  v{version}:\n    envtest-v{version}-{}.tar.gz:\n      hash: {}\n      selfLink: http://{}/archive\n",
        platform(),
        hash.unwrap_or(&sum),
        listener.local_addr().unwrap()
    );
    let files = [("/index.yaml".to_owned(), index.into_bytes()), ("/archive".to_owned(), archive)];
    serve(listener, BTreeMap::from(files))
}

#[test]
fn a_published_archive_is_fetched_verified_and_kept() {
    let scratch = Scratch::new("archive");
    let site = archive_site(&scratch, "1.37.2", None);
    let mut sources = scratch.sources();
    sources.archive_index = Some(format!("{}/index.yaml", site.base));
    let found = provider(sources.clone()).ensure(&[Binary::Etcd, Binary::KubeApiserver]).unwrap();
    let cache = scratch.join("cache/v1.37.2");
    assert_eq!(found, [cache.join("etcd"), cache.join("kube-apiserver")]);
    assert_eq!(*site.asked.lock().unwrap(), ["/index.yaml", "/archive"], "one archive serves both");
    provider(sources).ensure(&[Binary::Etcd, Binary::KubeApiserver]).unwrap();
    assert_eq!(site.asked.lock().unwrap().len(), 2, "the second time comes from the cache");
    let names: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("partial")), "{names:?}");
}

#[test]
fn an_archive_of_another_patch_is_kept_under_its_own_version() {
    let scratch = Scratch::new("patch");
    let site = archive_site(&scratch, "1.37.0", None);
    let mut sources = scratch.sources();
    sources.archive_index = Some(format!("{}/index.yaml", site.base));
    let found = provider(sources).ensure(&[Binary::KubeApiserver]).unwrap();
    assert_eq!(found, [scratch.join("cache/v1.37.0/kube-apiserver")]);
}

#[test]
fn an_archive_with_another_checksum_is_not_used() {
    let scratch = Scratch::new("checksum");
    let site = archive_site(&scratch, "1.37.2", Some("00"));
    let mut sources = scratch.sources();
    sources.archive_index = Some(format!("{}/index.yaml", site.base));
    let error = provider(sources).ensure(&[Binary::Etcd]).unwrap_err().to_string();
    assert!(error.contains("/archive: its SHA-512 is not the published one"), "{error}");
    assert!(!scratch.join("cache/v1.37.2/etcd").exists());
}

#[test]
fn an_index_that_cannot_be_reached_or_read_is_one_reason_and_not_asked_again() {
    let scratch = Scratch::new("unreachable");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut sources = scratch.sources();
    sources.archive_index = Some(format!("http://{closed}/index.yaml"));
    let error = provider(sources.clone()).ensure(&[Binary::Etcd]).unwrap_err().to_string();
    assert!(
        error.contains(&format!("http://{closed}/index.yaml: curl: ")) && !error.contains('\n'),
        "{error}"
    );

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = serve(listener, BTreeMap::from([("/index.yaml".to_owned(), b"<html>".to_vec())]));
    sources.archive_index = Some(format!("{}/index.yaml", site.base));
    let error = provider(sources.clone()).ensure(&[Binary::Etcd]).unwrap_err().to_string();
    assert!(error.contains("this is no index of envtest archives"), "{error}");

    sources.archive_index = Some(format!("{}/none", site.base));
    let provider = provider(sources);
    for _ in 0..2 {
        let error = provider.ensure(&[Binary::Etcd]).unwrap_err().to_string();
        assert!(error.contains("/none: curl: (22)"), "{error}");
    }
    assert_eq!(*site.asked.lock().unwrap(), ["/index.yaml", "/none"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_no_archive_holds_comes_from_the_release() {
    let scratch = Scratch::new("release");
    let binary = b"#!/bin/sh\necho Kubernetes v1.37.2\n".to_vec();
    let sum = format!("{}  kube-controller-manager\n", checksum("sha256sum", &binary, &scratch));
    let path = format!("/v1.37.2/bin/{}/kube-controller-manager", platform().replace('-', "/"));
    let files = BTreeMap::from([(format!("{path}.sha256"), sum.into_bytes()), (path, binary)]);
    let site = serve(TcpListener::bind("127.0.0.1:0").unwrap(), files);
    let mut sources = scratch.sources();
    sources.archive_index = Some(format!("{}/index.yaml", site.base));
    sources.releases = Some(site.base.clone());
    let found = provider(sources).ensure(&[Binary::KubeControllerManager]).unwrap();
    assert_eq!(found, [scratch.join("cache/v1.37.2/kube-controller-manager")]);
    assert_eq!(site.asked.lock().unwrap().len(), 2, "the archives have no such part, so they are not asked");
}

/// A script in place of `go`: it lists two packages, counts its builds, and "builds" a script.
fn fake_go(scratch: &Scratch) {
    let text = format!(
        "case $1 in
list) echo k8s.io/one; echo k8s.io/two ;;
build)
  echo build >> {builds}
  echo k8s.io/one >&2; echo k8s.io/two >&2
  sleep 0.3
  printf '#!/bin/sh\\necho Kubernetes v1.37.2\\n' > $4; chmod +x $4 ;;
esac",
        builds = scratch.join("builds").display()
    );
    script(&scratch.join("path/go"), &text);
    fs::create_dir_all(scratch.join("modules/v1.37.2")).unwrap();
    fs::write(scratch.join("modules/v1.37.2/go.mod"), "module none").unwrap();
}

#[test]
fn what_is_published_nowhere_is_built_once_even_if_two_want_it() {
    let scratch = Scratch::new("built");
    fake_go(&scratch);
    let mut sources = scratch.sources();
    sources.search_path =
        std::env::join_paths([scratch.join("path"), "/usr/bin".into(), "/bin".into()]).unwrap();
    let wanted = scratch.join("cache/v1.37.2/kube-controller-manager");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let found = provider(sources.clone()).ensure(&[Binary::KubeControllerManager]).unwrap();
                assert_eq!(found.first(), Some(&wanted));
            });
        }
    });
    assert_eq!(fs::read_to_string(scratch.join("builds")).unwrap(), "build\n");
}

#[test]
fn a_build_that_fails_gives_its_last_words() {
    let scratch = Scratch::new("failing");
    fake_go(&scratch);
    script(&scratch.join("path/go"), "echo 'go: no such module' >&2; echo k8s.io/one >&2; exit 1");
    let mut sources = scratch.sources();
    sources.search_path = scratch.join("path").into();
    let error = provider(sources).ensure(&[Binary::KubeApiserver]).unwrap_err().to_string();
    assert!(error.contains("failed: exit status: 1: go: no such module)"), "{error}");
    assert!(!scratch.join("cache/v1.37.2/kube-apiserver").exists());
}

#[test]
fn every_pinned_version_has_a_module_with_its_checksums() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes");
    for version in covenant::controlplane::version::PINNED {
        let folder = modules.join(format!("v{version}"));
        let module = fs::read_to_string(folder.join("go.mod")).unwrap();
        assert!(
            module.contains(&format!("k8s.io/kubernetes v{version} // indirect\n")),
            "{}",
            folder.display()
        );
        let sums = fs::read_to_string(folder.join("go.sum")).unwrap();
        assert!(sums.contains(&format!("k8s.io/kubernetes v{version} h1:")), "{}", folder.display());
    }
    assert_eq!(Version::resolve("1.34").unwrap().to_string(), "1.34.4", "the oldest supported minor");
}
