//! Reading the files and walking their values.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One YAML document and the file it stands in, relative to `manifests/`.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub file: String,
    pub value: Value,
}

impl Document {
    pub(crate) fn kind(&self) -> &str {
        text(&self.value, "/kind")
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.value, "/metadata/name")
    }
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn manifests() -> PathBuf {
    repository().join("manifests")
}

/// Every file below a folder, sorted, without those that git ignores (certificates made on this machine).
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                found.push(path);
            } else if path.file_name().unwrap() != "certificates" || path.join("kustomization.yaml").exists()
            {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Every document of the YAML files below a folder of `manifests/`, kustomizations left out.
pub(crate) fn documents(folder: &str) -> Vec<Document> {
    files_below(&manifests().join(folder))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| path.file_name().unwrap() != "kustomization.yaml")
        .flat_map(|path| documents_of(&path))
        .collect()
}

/// The documents of one file.
pub(crate) fn documents_of(path: &Path) -> Vec<Document> {
    let file = path.strip_prefix(manifests()).unwrap_or(path).display().to_string();
    let content = fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let values: Vec<Value> =
        serde_saphyr::from_multiple(&content).unwrap_or_else(|error| panic!("{file}: {error}"));
    values.into_iter().map(|value| Document { file: file.clone(), value }).collect()
}

/// A kustomization file.
pub(crate) fn kustomization(folder: &Path) -> Value {
    let path = folder.join("kustomization.yaml");
    let content = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&content).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `kubectl apply -k` of a folder applies: its resources, folders followed, before patches.
pub(crate) fn installed(folder: &str) -> Vec<Document> {
    let folder = manifests().join(folder);
    let mut found = Vec::new();
    for resource in strings(&kustomization(&folder), "/resources") {
        let path =
            folder.join(&resource).canonicalize().unwrap_or_else(|error| panic!("{resource}: {error}"));
        if path.is_dir() {
            let relative =
                path.strip_prefix(manifests().canonicalize().unwrap()).unwrap().display().to_string();
            found.extend(installed(&relative));
        } else {
            found.extend(documents_of(&path));
        }
    }
    found
}

/// The text at a JSON pointer, or nothing.
pub(crate) fn text<'value>(value: &'value Value, pointer: &str) -> &'value str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a JSON pointer, or nothing.
pub(crate) fn list<'value>(value: &'value Value, pointer: &str) -> &'value [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The list of texts at a JSON pointer.
pub(crate) fn strings(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A copy with one value set; the place is made where it is missing.
pub(crate) fn with(value: &Value, pointer: &str, new: Value) -> Value {
    let mut copy = value.clone();
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    let place = copy.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    match place {
        Value::Array(items) if last == "-" => items.push(new),
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = new,
        Value::Object(fields) => {
            fields.insert(last.replace("~1", "/"), new);
        }
        other => panic!("{parent} holds {other}"),
    }
    copy
}

/// A copy with one value taken away.
pub(crate) fn without(value: &Value, pointer: &str) -> Value {
    let mut copy = value.clone();
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    let removed =
        copy.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|fields| fields.remove(last));
    assert!(removed.is_some(), "there was no {pointer}");
    copy
}
