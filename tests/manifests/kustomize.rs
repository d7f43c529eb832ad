//! That `kubectl apply -k` takes every file along.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{files_below, installed, kustomization, manifests, strings};

/// Folders that are kustomizations of their own and not part of their parent's.
const APART: [&str; 4] = ["overlays/cert-manager", "overlays/files", "rbac/certificates", "samples"];

fn relative(path: &Path) -> String {
    path.strip_prefix(manifests()).unwrap().display().to_string()
}

fn folders() -> BTreeSet<String> {
    files_below(&manifests())
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| relative(path.parent().unwrap()))
        .filter(|folder| !folder.starts_with("samples"))
        .collect()
}

#[test]
fn every_folder_lists_every_file_it_holds() {
    for folder in folders() {
        let path = manifests().join(&folder);
        let kustomization = kustomization(&path);
        let mut listed: BTreeSet<String> = strings(&kustomization, "/resources").into_iter().collect();
        listed.extend(
            kustomization
                .pointer("/patches")
                .and_then(|patches| patches.as_array())
                .into_iter()
                .flatten()
                .filter_map(|patch| Some(patch.get("path")?.as_str()?.to_owned())),
        );
        let present: BTreeSet<String> = std::fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|entry| entry.extension().is_some_and(|extension| extension == "yaml"))
            .map(|entry| entry.file_name().unwrap().to_string_lossy().into_owned())
            .filter(|name| name != "kustomization.yaml")
            .collect();
        let files: BTreeSet<String> =
            listed.iter().filter(|name| !path.join(name).is_dir()).cloned().collect();
        assert_eq!(files, present, "manifests/{folder}/kustomization.yaml against its folder");
    }
}

#[test]
fn every_folder_is_part_of_the_installation_or_stands_apart_on_purpose() {
    let installed: BTreeSet<String> =
        strings(&kustomization(&manifests()), "/resources").into_iter().collect();
    for folder in folders().into_iter().filter(|folder| !folder.is_empty()) {
        assert!(
            installed.contains(&folder) || APART.contains(&folder.as_str()),
            "manifests/{folder} is installed by nobody"
        );
    }
}

#[test]
fn an_overlay_installs_the_same_parts() {
    let parts: BTreeSet<String> = strings(&kustomization(&manifests()), "/resources")
        .iter()
        .map(|part| format!("../../{part}"))
        .collect();
    for overlay in ["overlays/cert-manager", "overlays/files"] {
        let kustomization = kustomization(&manifests().join(overlay));
        let resources: BTreeSet<String> = strings(&kustomization, "/resources").into_iter().collect();
        let missing: Vec<_> = parts.difference(&resources).collect();
        assert!(missing.is_empty(), "{overlay} leaves out {missing:?}");
        assert_eq!(
            kustomization["images"],
            crate::support::kustomization(&manifests())["images"],
            "{overlay}"
        );
    }
}

#[test]
fn no_object_is_installed_twice() {
    for folder in ["", "overlays/cert-manager", "overlays/files"] {
        let mut seen = BTreeSet::new();
        for document in installed(folder) {
            let key = (document.kind().to_owned(), document.name().to_owned());
            assert!(
                key.0 == "Role" || key.0 == "RoleBinding" || seen.insert(key.clone()),
                "{key:?} of {} comes twice",
                document.file
            );
        }
    }
}
