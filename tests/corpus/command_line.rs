//! `covenant check -o json`, the real binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::case::{Case, Fault, Given, NAMESPACE, Outcome, Place, differ};

#[test]
fn the_command_line_says_what_every_case_expects() {
    let cases: Vec<Case> =
        Case::all(None).into_iter().filter(|case| case.is_for(Place::CommandLine)).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("corpus-{}", std::process::id()));
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = check(case, &folder.join(&case.name));
                    if !differences.is_empty() {
                        let text = format!("{}:\n  {}", case.name, differences.join("\n  "));
                        wrong.lock().unwrap_or_else(PoisonError::into_inner).push(text);
                    }
                }
            });
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs one case and says what differs.
fn check(case: &Case, folder: &Path) -> Vec<String> {
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: String, object: &Value| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, object.to_string()).unwrap();
        path
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_covenant"));
    command.env_remove("COVENANT_EXTERNAL_SECRET_API_VERSION");
    command.args(["check", "-o", "json", "-n", NAMESPACE, "--now", &case.facts.now.to_string()]);
    if let Some(old) = &case.old {
        command.arg("--old").arg(write("old.json".to_owned(), old));
    }
    command.arg(write("contract.json".to_owned(), &case.object));
    let facts =
        [&case.facts.secret, &case.facts.external_secret].into_iter().flatten().chain(&case.facts.workloads);
    for (number, manifest) in facts.filter_map(Given::manifest).enumerate() {
        command.arg(write(format!("fact-{number}.json"), manifest));
    }
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        !case.recognisable_values().iter().any(|value| out.contains(value) || err.contains(value)),
        "{out}{err}"
    );
    let report: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{}: {error}: {err}", case.name));

    let mut differences = Vec::new();
    let entry = &report["results"][0];
    let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
    let of_fields =
        entry["findings"].as_array().unwrap().iter().filter(|finding| finding["field"].is_string());
    let faults: Vec<Fault> = of_fields
        .map(|finding| Fault {
            rule: String::new(),
            field: text(finding, "field"),
            message: text(finding, "message"),
            severity: text(finding, "severity"),
        })
        .collect();
    let expected = case.expected(true);
    let wanted: Vec<Fault> =
        expected.faults.iter().map(|fault| Fault { rule: String::new(), ..fault.clone() }).collect();
    differ("faults", &faults, &wanted, &mut differences);
    let refused = wanted.iter().any(|fault| fault.severity == "error");
    differ("verdict", &[text(entry, "verdict")], &[verdict(refused)], &mut differences);
    let ready = &expected.conditions["Ready"].is;
    differ("ready", &[text(entry, "ready")], &[status(ready)], &mut differences);
    // An old fault that is let through ends nothing, though the contract is not ready for it.
    let code = i32::from(refused || (ready.starts_with("False ") && !ready.ends_with(" InvalidSpec")));
    differ("exit code", &[output.status.code()], &[Some(code)], &mut differences);
    differences.extend(Outcome::of_status(entry).differences(&expected));
    differences
}

fn verdict(refused: bool) -> String {
    if refused { "Invalid" } else { "Valid" }.to_owned()
}

fn status(is: &str) -> String {
    is.split(' ').next().unwrap_or_default().to_owned()
}
