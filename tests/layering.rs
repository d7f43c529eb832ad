//! Holds the direction of the layers, the purity of the pure ones, and the size of files.
//!
//! It reads the source as text, so it also sees what a feature would hide from the compiler. Each failure is a sentence
//! that says which edge is banned and why.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What each module of the library may use of the others.
const MAY_USE: &[(&str, &[&str])] = &[
    ("go", &[]),
    ("format", &["go"]),
    ("api", &["format", "go"]),
    ("rules", &["api", "format", "go"]),
    ("status", &["rules", "api", "format", "go"]),
    ("binding", &["rules", "api", "format", "go"]),
    ("pki", &[]),
    ("process", &["status", "rules", "api", "format", "go"]),
    ("cluster", &["process", "status", "rules", "api", "format", "go"]),
    ("controlplane", &["pki", "process", "api"]),
    ("webhook", &["cluster", "process", "pki", "status", "rules", "api", "format", "go"]),
    ("controller", &["cluster", "process", "pki", "status", "binding", "rules", "api", "format", "go"]),
    ("cli", &["cluster", "process", "pki", "controlplane", "status", "rules", "api", "format", "go"]),
];

/// The modules that compile without any feature: facts in, findings out.
const PURE: &[&str] = &["go", "format", "api", "rules", "status", "binding"];

/// What a pure module must not name, and why.
const BANNED_IN_PURE: &[(&str, &str)] = &[
    ("tokio", "a rule does not wait"),
    ("axum", "a rule does not know HTTP"),
    ("kube::Client", "a rule does not call the API server"),
    ("kube::Api", "a rule does not call the API server"),
    ("tracing", "a rule does not log"),
    ("println!", "a rule does not print"),
    ("std::fs", "a rule reads no file"),
    ("std::env", "a rule reads no environment"),
    ("std::net::Tcp", "a rule opens no connection"),
    ("std::process", "a rule starts no process"),
    ("Instant::now", "a rule has no clock"),
    ("SystemTime", "a rule has no clock"),
    ("Timestamp::now", "a rule has no clock"),
    ("rand::", "a rule is not random"),
    ("static mut", "a rule has no memory"),
];

/// Lines of a file, its unit tests apart, and all of them.
const LINES: usize = 400;
const LINES_WITH_TESTS: usize = 600;

struct Source {
    path: PathBuf,
    /// The top-level module; `lib` and `bin` stand for themselves.
    module: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let relative = path.strip_prefix(&root).unwrap().to_path_buf();
                let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
                let module = first.strip_suffix(".rs").unwrap_or(first).to_owned();
                found.push(Source { text: std::fs::read_to_string(&path).unwrap(), module, path: relative });
            }
        }
    }
    assert!(found.len() > 40, "the source was not found");
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// The lines of code: comments and the unit tests at the end of a file left out.
fn code(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let is_test_file = source.path.file_stem().is_some_and(|stem| {
        let stem = stem.to_str().unwrap();
        stem == "tests" || stem.ends_with("_tests")
    });
    let text = if is_test_file { "" } else { before_tests(&source.text) };
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(at, line)| (at + 1, line))
}

fn before_tests(text: &str) -> &str {
    text.find("\n#[cfg(test)]\nmod tests {").map_or(text, |end| &text[..end])
}

fn modules_used(line: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let names = match rest.strip_prefix('{') {
            Some(group) => {
                group.split(',').map(|part| part.trim().split("::").next().unwrap_or_default()).collect()
            }
            None => vec![rest],
        };
        for name in names {
            let name: String = name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            used.insert(name);
        }
    }
    used
}

#[test]
fn arrows_never_point_left() {
    let mut wrong = String::new();
    for source in sources() {
        if matches!(source.module.as_str(), "lib" | "bin") {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(module, _)| *module == source.module) else {
            panic!(
                "src/{} is in no layer: add it to the table of this test and to src/lib.rs",
                source.module
            );
        };
        for (line, text) in code(&source) {
            for used in modules_used(text) {
                let known = MAY_USE.iter().any(|(module, _)| *module == used);
                if known && used != source.module && !allowed.contains(&used.as_str()) {
                    let path = source.path.display();
                    writeln!(wrong, "src/{path}:{line}: {} must not use {used}", source.module).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "the layers' direction is broken:\n{wrong}");
}

#[test]
fn pure_modules_have_no_clock_no_io_and_no_log() {
    let mut wrong = String::new();
    for source in sources().iter().filter(|source| PURE.contains(&source.module.as_str())) {
        for (line, text) in code(source) {
            for (word, why) in BANNED_IN_PURE {
                if text.contains(word) {
                    writeln!(wrong, "src/{}:{line}: {word}: {why}", source.path.display()).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "pure modules must stay pure:\n{wrong}");
}

#[test]
fn only_one_module_reads_or_writes_an_admission_review() {
    for source in sources() {
        let inside = source.path.starts_with("webhook/review");
        for (line, text) in code(&source) {
            let names_it = text.contains("\"admission.k8s.io/v1\"") || text.contains("kube::core::admission");
            assert!(
                inside || !names_it,
                "src/{}:{line}: only webhook::review knows the envelope",
                source.path.display()
            );
        }
    }
}

#[test]
fn files_are_of_a_size_to_live_in() {
    let mut wrong = String::new();
    for source in sources() {
        let (all, own) = (source.text.lines().count(), before_tests(&source.text).lines().count());
        if own > LINES || all > LINES_WITH_TESTS {
            writeln!(wrong, "src/{}: {own} lines, {all} with its tests", source.path.display()).unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "at most {LINES} lines and {LINES_WITH_TESTS} with tests, one subject each:\n{wrong}"
    );
}

#[test]
fn every_module_says_what_lives_there() {
    for source in sources() {
        assert!(source.text.starts_with("//!"), "src/{} does not open with //!", source.path.display());
    }
}

#[test]
fn the_reader_of_edges_sees_what_it_must() {
    let used = |line: &str| modules_used(line).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(used("use crate::rules::field::FieldPath;"), "rules");
    assert_eq!(used("use crate::{api::Kind, go, webhook::App};"), "api go webhook");
    assert_eq!(used("    crate::cluster::client()"), "cluster");
}
