//! `covenant check`, the real binary: what it says, in which form, and with which exit code.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// What one run of the binary gave.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

fn run(arguments: &[&str], folder: &Path, input: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_covenant"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("COVENANT_EXTERNAL_SECRET_API_VERSION")
        .env_remove("COVENANT_CREDENTIAL_PATH")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A run that refuses its flags does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder of this test alone, removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-check-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn check(&self, arguments: &[&str]) -> Run {
        run(&[&["check"], arguments].concat(), &self.0, "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check_input(arguments: &[&str], input: &str) -> Run {
    run(&[&["check"], arguments].concat(), Path::new("."), input)
}

const SEVEN: &str = r#"# Five faults that the schema cannot see, and two that it can.
apiVersion: secrets.codepop.tech/v1alpha1
kind: SecretContract
metadata:
  name: web
  namespace: shop
spec:
  secretRef:
    name: web
  requiredKeys:
  - name: a
    envName: 9BAD
  - name: b
    envName: TWICE
  - name: c
    envName: TWICE
    minLength: 9
    maxLength: 3
  - name: d
    pattern: "(a"
  - name: e
    format: XML
    minLength: "seven"
  policy:
    requireExternalSecretReady: true
"#;

const GOOD: &str = "apiVersion: secrets.codepop.tech/v1alpha1
kind: SecretContract
metadata: {name: good}
spec: {secretRef: {name: web}, requiredKeys: [{name: token}]}
";

fn contract(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: secrets.codepop.tech/v1alpha1\nkind: SecretContract\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )
}

fn fields(entry: &Value) -> Vec<&str> {
    entry["findings"].as_array().unwrap().iter().map(|finding| finding["field"].as_str().unwrap()).collect()
}

#[test]
fn all_seven_faults_come_at_once() {
    let run = check_input(&["-o", "json"], SEVEN);
    assert_eq!(run.code, 1, "{}", run.err);
    let report = run.json();
    let entry = &report["results"][0];
    assert_eq!(
        fields(entry),
        [
            "spec.requiredKeys[0].envName",
            "spec.requiredKeys[2].maxLength",
            "spec.requiredKeys[2].envName",
            "spec.requiredKeys[3].pattern",
            "spec.requiredKeys[4].minLength",
            "spec.requiredKeys[4].format",
            "spec.externalSecretRef",
        ]
    );
    let messages: Vec<_> = entry["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    for (message, start) in messages.iter().zip([
        "Invalid value: \"9BAD\": ",
        "Invalid value: 3: ",
        "Duplicate value: \"TWICE\"",
        "Invalid value: \"(a\": ",
        "Invalid value: \"string\": spec.requiredKeys[4].minLength in body must be of type integer",
        "Unsupported value: \"XML\": supported values: \"None\", \"JSON\", \"URI\", \"PEM\"",
        "Required value: ",
    ]) {
        assert!(message.starts_with(start), "{message:?} does not start with {start:?}");
    }
}

#[test]
fn the_json_form_is_the_documented_one() {
    let run = check_input(
        &["-o", "json"],
        &format!("{GOOD}---\napiVersion: v1\nkind: ConfigMap\n---\n---\n{SEVEN}"),
    );
    let report = run.json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(report["apiVersion"], "covenant/v1");
    assert_eq!(keys(&report), ["apiVersion", "results", "summary"]);
    let results = report["results"].as_array().unwrap();
    for entry in results {
        let mut expected = [
            "file",
            "document",
            "line",
            "apiVersion",
            "kind",
            "namespace",
            "name",
            "verdict",
            "ready",
            "conditions",
            "missingKeys",
            "violations",
            "workloadFindings",
            "findings",
        ];
        expected.sort_unstable();
        assert_eq!(keys(entry), expected);
    }
    let head = |entry: &Value| {
        ["file", "document", "line", "kind", "namespace", "name", "verdict"].map(|key| entry[key].clone())
    };
    assert_eq!(json!(head(&results[0])), json!(["-", 1, 1, "SecretContract", "default", "good", "Valid"]));
    assert_eq!(json!(head(&results[1])), json!(["-", 4, 11, "SecretContract", "shop", "web", "Invalid"]));
    let finding = &results[1]["findings"][2];
    assert_eq!(
        *finding,
        json!({"severity": "error", "reason": "FieldValueDuplicate", "field": "spec.requiredKeys[2].envName",
               "key": null, "message": "Duplicate value: \"TWICE\""})
    );
    let summary = &report["summary"];
    assert_eq!(
        (&summary["objects"], &summary["valid"], &summary["invalid"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!((&summary["skipped"], &summary["unreadable"]), (&json!(1), &json!(0)));
    // The order of the fields is part of what a person reads.
    let order = ["\"file\"", "\"document\"", "\"verdict\"", "\"conditions\"", "\"findings\"", "\"summary\""];
    let places: Vec<_> = order.iter().map(|key| run.out.find(key).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn text_names_line_fault_and_remedy_by_file() {
    let folder = Folder::new("text");
    folder
        .file("b/web.yaml", SEVEN)
        .file("a.yml", GOOD)
        .file("c.json", "{\"kind\": \"List\", \"items\": []}");
    folder.file("notes.txt", "not: [read");
    let run = folder.check(&["."]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    let lines: Vec<_> = run.out.lines().collect();
    // A good contract without its Secret says why it cannot be told.
    assert_eq!(lines[0], "./a.yml");
    assert!(lines[2].starts_with("    Ready is Unknown: Secret "), "{}", run.out);
    let lines = &lines[3..];
    assert_eq!(lines[0], "./b/web.yaml");
    assert_eq!(lines[1], "  SecretContract shop/web (line 2)");
    assert_eq!(lines[2], "    error: line 12: spec.requiredKeys[0].envName: Invalid value: \"9BAD\"");
    assert!(lines[3].starts_with("      ") && lines[3].contains("must"), "{}", run.out);
    assert!(run.out.contains("error: line 7: spec.externalSecretRef: Required value\n"), "{}", run.out);
    assert!(
        lines.last().unwrap().starts_with(
            "2 objects: 1 admitted, 1 refused; contracts: 0 Ready, 1 not Ready, 1 Unknown; 7 errors, "
        ),
        "{}",
        run.out
    );
    assert!(!run.out.contains('\u{1b}'), "colour without a terminal");
    let quiet = folder.check(&["-q", "."]);
    assert_eq!(quiet.out.lines().count(), 1);
    assert_eq!(quiet.code, 1);
}

#[test]
fn what_is_broken_does_not_hide_the_rest() {
    let folder = Folder::new("broken");
    folder.file(
        "a.yaml",
        format!("{GOOD}---\nx: [1, 2\n---\n{}", contract("late", "{secretRef: {name: Bad_Name}}")),
    );
    folder.file("b.yaml", [0xff, 0xfe, 0x00]).file("c.yaml", "kind: SecretContract\nkind: Other\n");
    folder.file("d.yaml", "just words\n");
    let run = folder.check(&["-o", "json", "."]);
    assert_eq!(run.code, 2, "{}", run.out);
    let report = run.json();
    let unreadable: Vec<_> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["kind"].is_null())
        .map(|entry| json!([entry["file"], entry["document"], entry["line"], entry["findings"][0]["reason"]]))
        .collect();
    assert_eq!(
        json!(unreadable),
        json!([
            ["./a.yaml", 2, 6, "InputUnreadable"],
            ["./b.yaml", 1, 1, "InputUnreadable"],
            ["./c.yaml", 1, 2, "InputUnreadable"],
            ["./d.yaml", 1, 1, "InputUnreadable"],
        ])
    );
    assert_eq!(report["summary"]["unreadable"], 4);
    assert_eq!(report["summary"]["objects"], 2);
    assert_eq!(fields(&report["results"][2]), ["spec.secretRef.name"]);
    assert_eq!(run.err, "covenant: ./b.yaml: is not text in UTF-8; convert it\n");
}

#[test]
fn exit_codes_are_those_of_the_documentation() {
    let folder = Folder::new("codes");
    folder.file("good.yaml", GOOD).file("bad.yaml", SEVEN);
    let code = |arguments: &[&str]| folder.check(arguments).code;
    assert_eq!(code(&["good.yaml"]), 0);
    assert_eq!(code(&["bad.yaml"]), 1);
    assert_eq!(code(&["good.yaml", "bad.yaml"]), 1);
    assert_eq!(code(&["missing.yaml", "bad.yaml"]), 2);
    for (arguments, named) in [
        (&["-o", "xml", "good.yaml"][..], "--output"),
        (&["-n", "Not_A_Name", "good.yaml"], "--namespace"),
        (&["--external-secret-api-version", "v1", "good.yaml"], "--external-secret-api-version"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--now", "tomorrow", "good.yaml"], "--now"),
        (&["missing.yaml"], "missing.yaml"),
        (&["--old", "missing.yaml", "good.yaml"], "missing.yaml"),
    ] {
        let run = folder.check(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert_eq!(run.err.lines().count(), 1, "{arguments:?}: {}", run.err);
        assert!(run.err.starts_with("covenant: ") && run.err.contains(named), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn lists_json_and_standard_input_are_read() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract", "metadata": {"name": "a"},
         "spec": {"secretRef": {"name": "a"}}},
        {"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "c"}}]},
        {"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContractList", "items": [
            {"metadata": {"name": "b", "namespace": "other"}, "spec": {}}]}]});
    let run = check_input(&["-o", "json", "-n", "team", "-"], &format!("{{}}\n{list:#}"));
    assert_eq!(run.code, 1);
    let report = run.json();
    let results = report["results"].as_array().unwrap();
    assert_eq!(json!([results[0]["namespace"], results[0]["document"]]), json!(["team", 2]));
    assert_eq!(json!([results[1]["namespace"], results[1]["document"]]), json!(["other", 2]));
    assert_eq!(fields(&results[1]), ["spec.secretRef"]);
    assert_eq!(report["summary"]["skipped"], 2);
}

#[test]
fn an_old_fault_is_a_warning_and_a_new_one_an_error() {
    let folder = Folder::new("old");
    let key = |name: &str, env: &str| format!("{{name: {name}, envName: {env}}}");
    let spec = |keys: &[String]| format!("{{secretRef: {{name: web}}, requiredKeys: [{}]}}", keys.join(", "));
    folder.file("old.yaml", contract("web", &spec(&[key("a", "9A"), key("b", "9B")])));
    folder.file("same.yaml", contract("web", &spec(&[key("b", "9B"), key("a", "9A")])));
    folder.file("new.yaml", contract("web", &spec(&[key("a", "9A"), key("b", "8B")])));
    assert_eq!(folder.check(&["same.yaml"]).code, 1);
    let same = folder.check(&["--old", "old.yaml", "same.yaml", "-o", "json"]);
    assert_eq!(same.code, 0, "{}", same.out);
    let report = same.json();
    assert_eq!(report["results"][0]["verdict"], "Valid");
    assert_eq!(report["summary"]["warnings"], 2);
    let new = folder.check(&["--old", "old.yaml", "new.yaml", "-o", "json"]);
    assert_eq!(new.code, 1);
    assert_eq!(new.json()["summary"]["errors"], 1);
    // Another object's faults excuse nothing.
    folder.file("other.yaml", contract("other", &spec(&[key("a", "9A")])));
    assert_eq!(folder.check(&["--old", "old.yaml", "other.yaml"]).code, 1);
}

#[test]
fn of_an_object_given_twice_the_last_counts() {
    let text = format!("{}---\n{}", contract("web", "{}"), contract("web", "{secretRef: {name: web}}"));
    let run = check_input(&["-o", "json"], &text);
    assert_eq!(run.code, 0, "{}", run.out);
    let report = run.json();
    assert_eq!(report["results"].as_array().unwrap().len(), 1);
    assert_eq!(report["results"][0]["document"], 2);
    assert_eq!(report["results"][0]["findings"][0]["severity"], "warning");
    assert_eq!(report["results"][0]["findings"][0]["reason"], "DuplicateObject");
}

#[test]
fn a_kind_or_version_that_does_not_exist_is_not_skipped() {
    let text = GOOD.replace("v1alpha1", "v1")
        + "---\n"
        + &GOOD.replace("kind: SecretContract", "kind: SecretContrakt");
    let run = check_input(&["-o", "json"], &text);
    assert_eq!(run.code, 1);
    let report = run.json();
    assert_eq!(fields(&report["results"][0]), ["apiVersion"]);
    assert_eq!(fields(&report["results"][1]), ["kind"]);
    assert_eq!(report["summary"]["invalid"], 2);
}

#[test]
fn what_the_api_server_holds_of_metadata_is_judged_here() {
    let nameless = GOOD.replace("{name: good}", "{namespce: shop}");
    let odd = GOOD.replace("{name: good}", "{name: Not_Good, labels: {on: on}}");
    let run = check_input(&["-o", "json"], &[&nameless, &odd].map(String::as_str).join("---\n"));
    assert_eq!(run.code, 1);
    let report = run.json();
    assert_eq!(report["results"][0]["name"], Value::Null);
    assert_eq!(fields(&report["results"][0]), ["metadata.name", "metadata.namespce"]);
    // `on` is a boolean in YAML as kubectl reads it, as a key and as a value; the key becomes text.
    assert_eq!(fields(&report["results"][1]), ["metadata.name", "metadata.labels[true]"]);
}

#[test]
fn database_kinds_are_judged_too() {
    let tenant = "apiVersion: database.ayatori.ddupan.top/v1alpha1
kind: PostgreSQLTenant
metadata: {name: orders}
spec:
  databaseRef: {name: orders}
  provision: {instanceRef: {name: main}}
";
    let run = check_input(&["-o", "json"], tenant);
    assert_eq!(run.code, 1, "{}", run.out);
    let report = run.json();
    assert_eq!(report["results"][0]["verdict"], "Invalid");
    assert_eq!(report["results"][0]["ready"], Value::Null);
}

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {token: CANARY-3f1, url: CANARY-9a2}
";

#[test]
fn a_contract_is_judged_with_its_secret_wherever_it_stands() {
    let keys = "{name: token}, {name: url, minLength: 100}, {name: absent}, {name: gone}, {name: may, required: false}";
    let bad = contract("bad", &format!("{{secretRef: {{name: web}}, requiredKeys: [{keys}]}}"));
    let elsewhere = contract("elsewhere", "{secretRef: {name: other}, requiredKeys: [{name: token}]}");
    let run = check_input(&["-o", "json"], &[&bad, GOOD, SECRET, &elsewhere].join("---\n"));
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(!run.out.contains("CANARY") && !run.err.contains("CANARY"), "{}", run.out);
    let report = run.json();
    let entry = |name: &str| {
        let results = report["results"].as_array().unwrap();
        results.iter().find(|entry| entry["name"] == name).unwrap().clone()
    };
    let conditions = |name: &str| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entry = entry(name);
        let conditions = entry["conditions"].as_array().unwrap();
        assert!(conditions.iter().all(|condition| !condition["message"].as_str().unwrap().is_empty()));
        conditions.iter().map(|condition| (text(&condition["status"]), text(&condition["reason"]))).collect()
    };
    let pair = |status: &str, reason: &str| (status.to_owned(), reason.to_owned());

    assert_eq!(entry("good")["ready"], "True");
    assert_eq!(conditions("good").len(), 6);
    assert_eq!(conditions("good")[5], pair("True", "ContractSatisfied"));

    let bad = entry("bad");
    assert_eq!(json!([bad["verdict"], bad["ready"]]), json!(["Valid", "False"]));
    assert_eq!(bad["missingKeys"], json!(["absent", "gone"]));
    assert_eq!(
        json!([bad["violations"][0]["key"], bad["violations"][0]["rule"]]),
        json!(["url", "minLength"])
    );
    let finding = &bad["findings"][0];
    assert_eq!(
        json!([finding["severity"], finding["reason"], finding["field"]]),
        json!(["error", "KeysInvalid", null])
    );

    let unknown = [pair("Unknown", "NotInInput"), pair("Unknown", "NotInInput")];
    assert_eq!(conditions("elsewhere")[..2], unknown);
    assert_eq!(conditions("elsewhere")[5], pair("Unknown", "NotInInput"));
    assert_eq!(entry("elsewhere")["findings"], json!([]));
    assert_eq!(report["summary"]["unknown"], 1);
    assert_eq!(report["summary"]["skipped"], 0);
}

#[test]
fn an_external_secret_is_judged_by_what_the_input_says_of_it() {
    let contract = contract(
        "web",
        "{secretRef: {name: web}, externalSecretRef: {name: web, apiVersion: external-secrets.io/v1}, \
         policy: {requireExternalSecretReady: true}}",
    );
    let external = |version: &str, metadata: &str, rest: &str| {
        format!(
            "apiVersion: external-secrets.io/{version}\nkind: ExternalSecret\nmetadata: {{name: web{metadata}}}\n{rest}\n"
        )
    };
    let live = |refreshed: &str| {
        format!(
            "spec: {{refreshInterval: 1h}}\nstatus: {{binding: {{name: web}}, refreshTime: \"{refreshed}\", \
             syncedResourceVersion: 1-abc, conditions: [{{type: Ready, status: \"True\", reason: SecretSynced}}]}}"
        )
    };
    let secret = |owner: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: web, ownerReferences: [{owner}]}}\nstringData: {{a: b}}\n"
        )
    };
    let (identity, fresh) = (", uid: u, generation: 1", live("9999-12-30T00:00:00Z"));
    let dumped = external("v1beta1", identity, &fresh);
    let late = external("v1beta1", identity, &live("2020-01-01T00:00:00Z"));
    let owned = secret("{apiVersion: external-secrets.io/v1, kind: ExternalSecret, name: web, uid: u}");
    let manifest = external("v1", "", "spec: {target: {name: web}}");
    for (documents, expected, code) in [
        (vec![&manifest, &owned], ("Unknown", "Pending"), 0),
        (vec![&manifest], ("Unknown", "Pending"), 0),
        (vec![&owned], ("Unknown", "NotInInput"), 0),
        (vec![&external("v1alpha1", "", &fresh), &owned], ("Unknown", "NotInInput"), 0),
        (vec![&dumped, &owned], ("True", "ExternalSecretReady"), 0),
        (vec![&late, &owned], ("Unknown", "ExternalSecretStale"), 0),
        (vec![&dumped], ("Unknown", "NotInInput"), 0),
        (vec![&dumped, &secret("")], ("False", "NotOwned"), 1),
        (vec![&external("v1", ", generation: 1", &fresh), &owned], ("Unknown", "NotInInput"), 0),
    ] {
        let input = std::iter::once(&contract).chain(documents).map(String::as_str).collect::<Vec<_>>();
        let run = check_input(&["-o", "json"], &input.join("---\n"));
        let report = run.json();
        let condition = &report["results"][0]["conditions"][2];
        let said = (condition["status"].as_str().unwrap(), condition["reason"].as_str().unwrap());
        assert_eq!((said, run.code), (expected, code), "{input:#?}");
        assert_eq!(report["summary"]["skipped"], 0);
    }
}

#[test]
fn an_invalid_contract_is_not_ready_and_an_unknown_word_is_not_known() {
    let invalid = contract("invalid", "{secretRef: {name: web}, rotation: {maxAge: 30d}}");
    let later = contract("later", "{secretRef: {name: web}, requiredKeys: [{name: token, format: TOML}]}");
    let report = check_input(&["-o", "json"], &[&invalid, &later, SECRET].join("---\n")).json();
    let ready = |index: usize| {
        let entry = &report["results"][index];
        json!([entry["verdict"], entry["ready"], entry["conditions"][5]["reason"]])
    };
    assert_eq!(ready(0), json!(["Invalid", "False", "InvalidSpec"]));
    assert_eq!(ready(1), json!(["Invalid", "Unknown", "NotSupported"]));
}

#[test]
fn a_secret_that_no_cluster_would_take_is_unreadable() {
    let secret = SECRET.replace("stringData: {token: CANARY-3f1", "data: {token: CANARY-3f1");
    let run = check_input(&["-o", "json"], &[GOOD, &secret].join("---\n"));
    assert_eq!(run.code, 2);
    assert!(!run.out.contains("CANARY"), "{}", run.out);
    let report = run.json();
    assert_eq!(report["results"][0]["conditions"][0]["reason"], "NotInInput");
    let broken = &report["results"][1];
    assert_eq!(json!([broken["verdict"], broken["findings"][0]["reason"]]), json!([null, "InputUnreadable"]));
    assert_eq!(report["summary"]["unreadable"], 1);
}

#[test]
fn of_a_secret_given_twice_the_last_counts() {
    let empty = SECRET.replace("{token: CANARY-3f1, url: CANARY-9a2}", "{}");
    let run = check_input(&["-o", "json"], &[GOOD, &empty, SECRET].join("---\n"));
    assert_eq!(run.code, 0, "{}", run.out);
    let report = run.json();
    assert_eq!(report["results"][0]["ready"], "True");
    let twice = &report["results"][1];
    assert_eq!(
        json!([twice["kind"], twice["document"], twice["verdict"], twice["findings"][0]["reason"]]),
        json!(["Secret", 3, null, "DuplicateObject"])
    );
    assert_eq!(report["summary"]["warnings"], 1);
}

#[test]
fn strict_takes_what_is_unknown_for_an_error() {
    let later = contract("later", "{secretRef: {name: web}, requiredKeys: [{name: token, format: TOML}]}");
    assert_eq!(check_input(&["-"], GOOD).code, 0);
    let run = check_input(&["-o", "json", "--strict", "-"], &[GOOD, &later].join("---\n"));
    assert_eq!(run.code, 1);
    let report = run.json();
    for (index, reason) in [(0, "NotInInput"), (1, "NotSupported")] {
        let finding = report["results"][index]["findings"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            json!([finding["severity"], finding["reason"], finding["field"]]),
            json!(["error", reason, null])
        );
    }
    assert_eq!(check_input(&["--strict", "-"], &[GOOD, SECRET].join("---\n")).code, 0);
}

#[test]
fn of_a_sealed_secret_only_the_keys_are_known() {
    let sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: web}
spec: {encryptedData: {token: AgB, url: AgC}, template: {data: {made: 'x'}}}\n";
    let keys = |keys: &str| contract("web", &format!("{{secretRef: {{name: web}}, requiredKeys: [{keys}]}}"));
    let conditions = |contract: &str, facts: &[&str]| {
        let report = check_input(&["-o", "json", "-"], &[&[contract], facts].concat().join("---\n")).json();
        let entry = &report["results"][0];
        let reason = |index: usize| {
            format!("{} {}", entry["conditions"][index]["status"], entry["conditions"][index]["reason"])
        };
        (reason(0).replace('"', ""), reason(1).replace('"', ""), entry["missingKeys"].clone())
    };
    let unknown = || "Unknown NotInInput".to_owned();
    let there = keys("{name: token, minLength: 900}, {name: made}, {name: may, required: false}");
    assert_eq!(conditions(&there, &[sealed]), (unknown(), unknown(), json!([])));
    let missing = keys("{name: token}, {name: absent}");
    assert_eq!(
        conditions(&missing, &[sealed]),
        (unknown(), "False KeysInvalid".to_owned(), json!(["absent"]))
    );
    assert_eq!(conditions(&missing, &[sealed, SECRET]).0, "True SecretFound", "the Secret itself tells more");
    let whole = sealed.replace("encryptedData: {token: AgB, url: AgC}", "data: AgD");
    assert_eq!(conditions(&missing, &[&whole]), (unknown(), unknown(), json!([])));
}

#[cfg(unix)]
#[test]
fn loops_of_links_end_and_a_link_to_nowhere_is_told() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    folder.file("a/good.yaml", GOOD);
    symlink("..", folder.0.join("a/up")).unwrap();
    symlink("a", folder.0.join("b")).unwrap();
    assert_eq!(
        folder.check(&["-q", "."]).out,
        "1 object: 1 admitted, 0 refused; contracts: 0 Ready, 0 not Ready, 1 Unknown\n"
    );
    symlink("nowhere.yaml", folder.0.join("dangling.yaml")).unwrap();
    symlink("round.yaml", folder.0.join("round.yaml")).unwrap();
    let run = folder.check(&["."]);
    assert_eq!(run.code, 2);
    assert_eq!(run.err.lines().count(), 2, "{}", run.err);
    assert!(run.err.contains("./dangling.yaml: no such file"), "{}", run.err);
}

#[test]
fn no_value_of_a_secret_is_in_any_output() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData:\n  token: CANARY-3f1";
    let broken = [
        format!("{secret}\n  other: \"CANARY-3f1\n"),
        format!("{secret}: x\n"),
        format!("{secret}\n  token: CANARY-3f1\n"),
        format!("{secret}\n  bad: *CANARY-3f1\n"),
        format!("{secret}\n  bad: !!int CANARY-3f1\n"),
        format!("{secret}\n CANARY-3f1\n"),
        format!("{secret}\n\t? [CANARY-3f1]\n"),
        "CANARY-3f1\n".to_owned(),
    ];
    for text in broken {
        for arguments in [&["-o", "json"][..], &["-o", "text"]] {
            let run = check_input(arguments, &text);
            assert_eq!(run.code, 2, "{text}");
            assert!(!run.out.contains("CANARY") && !run.err.contains("CANARY"), "{}{}", run.out, run.err);
        }
    }
}

#[test]
fn nothing_that_looks_like_ours_is_passed_over() {
    let no_version = "kind: SecretContract\nmetadata: {name: a}\nspec: {secretRef: {name: a}}\n";
    let run = check_input(&["-o", "json", "-"], no_version);
    assert_eq!(run.code, 1);
    assert_eq!(fields(&run.json()["results"][0]), ["apiVersion"]);
    let ours =
        "apiVersion: secrets.codepop.tech/v1alpha1\nkind: SecretContract\nspec: {secretRef: {name: a}}\n";
    for (metadata, field) in [
        ("{}", "metadata.name"),
        ("{name: A_B}", "metadata.name"),
        ("{name: a, namespace: X Y}", "metadata.namespace"),
    ] {
        let run = check_input(&["-o", "json", "-"], &format!("{ours}metadata: {metadata}\n"));
        assert_eq!((run.code, fields(&run.json()["results"][0])), (1, vec![field]), "{metadata}");
    }
    assert_eq!(check_input(&["-"], &format!("{ours}metadata: {{generateName: a-}}\n")).code, 0);
    assert_eq!(check_input(&["-"], "- a\n").code, 2, "a list is no object");
}
