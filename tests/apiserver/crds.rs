//! The definitions on a real API server: it takes them as they are, and their rules refuse what they should and hold
//! nothing fast.

mod copies;
mod rest;
mod table;

use std::collections::BTreeSet;
use std::path::Path;

use covenant::api::{Kind, crd};
use serde_json::{Value, json};

use self::copies::Copies;
use self::rest::{Answer, Cause, Rest};
use self::table::{Case, cases};
use crate::support::{Finished as _, kubectl, namespace};

/// Installs the definitions as they are shipped.
fn install() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/crds");
    let output = kubectl(&["apply", "--server-side", "--force-conflicts", "-k", folder.to_str().unwrap()]);
    assert!(!output.stderr.contains("Warning"), "{output:#?}");
    output.success();
    for kind in Kind::ALL {
        let name = format!("crd/{}.{}", kind.plural(), kind.group());
        kubectl(&["wait", "--for=condition=Established", "--timeout=60s", &name]).success();
    }
}

#[test]
fn they_are_accepted_and_served() {
    install();
    for kind in Kind::ALL {
        let name = format!("{}.{}", kind.plural(), kind.group());
        let stored = kubectl(&["get", "crd", &name, "-o", "json"]).success();
        let stored: Value = serde_json::from_str(&stored).unwrap();
        for condition in stored["status"]["conditions"].as_array().unwrap() {
            let good = if condition["type"] == "NonStructuralSchema" { "False" } else { "True" };
            assert_eq!(condition["status"], good, "{kind}: {condition}");
        }
        let ours = &crd::to_value(kind).unwrap()["spec"]["versions"];
        assert!(&stored["spec"]["versions"] == ours, "{kind} is stored as something else than we ship");
    }
}

#[test]
fn people_find_and_understand_them() {
    install();
    for (short, name) in [
        ("sctr", "secretcontracts.secrets.codepop.tech"),
        ("pgi", "postgresqlinstances.database.ayatori.ddupan.top"),
        ("pgdb", "postgresqldatabases.database.ayatori.ddupan.top"),
        ("pgt", "postgresqltenants.database.ayatori.ddupan.top"),
    ] {
        let listed = kubectl(&["api-resources", "-o", "name"]).success();
        assert!(listed.lines().any(|line| line == name), "{listed}");
        kubectl(&["get", short, "-A"]).success();
    }
    kubectl(&["get", "covenant-databases", "-A"]).success();
    kubectl(&["get", "secrets-contracts", "-A"]).success();
    let explained = kubectl(&["explain", "secretcontract.spec.requiredKeys.nonEmpty"]).success();
    assert!(explained.contains("Omitted: true."), "{explained}");
    let explained = kubectl(&["explain", "pgt.spec.secretName"]).success();
    assert!(explained.contains("<instance>-<tenant>-postgresql"), "{explained}");
}

#[tokio::test]
async fn lists_show_what_a_person_asks_first() {
    let rest = Rest::new().await;
    let copies = Copies::install(&rest, "columns.test", false).await;
    let mut shown = Vec::new();
    for kind in Kind::ALL {
        let columns = rest.columns(&copies.collection(kind, "default")).await;
        let columns = columns.into_iter().filter(|(_, priority)| *priority == 0).map(|(name, _)| name);
        shown.push(columns.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(
        shown,
        [
            "Name Ready Reason Secret Missing Violations Age",
            "Name Ready Version Endpoint Age",
            "Name Instance Database Role Policy Phase Tenant Ready Age",
            "Name Phase Database Secret Ready Age",
        ]
    );
}

#[tokio::test]
async fn defaults_are_written_for_the_database_kinds_alone() {
    let rest = Rest::new().await;
    let copies = Copies::install(&rest, "defaults.test", false).await;
    let contract = json!({
        "secretRef": {"name": "web"},
        "requiredKeys": [{"name": "token"}],
        "workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        "injection": {}, "rotation": {}, "policy": {},
    });
    let mut instance = table::instance(json!({}));
    let mut database = table::database(json!({}));
    for (kind, spec) in [
        (Kind::SecretContract, &contract),
        (Kind::PostgreSQLInstance, &instance),
        (Kind::PostgreSQLDatabase, &database),
        (Kind::PostgreSQLTenant, &table::tenant(json!({}))),
    ] {
        let path = copies.collection(kind, "default");
        rest.post(&path, &copies.object(kind, "sample", spec)).await.success("create");
    }
    let stored = async |kind| {
        let path = format!("{}/sample", copies.collection(kind, "default"));
        rest.get(&path).await.success("read")["spec"].take()
    };
    assert_eq!(stored(Kind::SecretContract).await, contract);
    assert_eq!(stored(Kind::PostgreSQLTenant).await, table::tenant(json!({})));
    instance["endpoint"]["port"] = json!(5432);
    instance["endpoint"]["database"] = json!("postgres");
    instance["endpoint"]["sslMode"] = json!("verify-full");
    instance["adminCredentialRef"]["usernameKey"] = json!("username");
    instance["adminCredentialRef"]["passwordKey"] = json!("password");
    assert_eq!(stored(Kind::PostgreSQLInstance).await, instance);
    database["reclaimPolicy"] = json!("Retain");
    assert_eq!(stored(Kind::PostgreSQLDatabase).await, database);
}

#[tokio::test]
async fn a_contract_meets_only_the_bounds_of_its_schema() {
    let rest = Rest::new().await;
    let copies = Copies::install(&rest, "bounds.test", false).await;
    let path = format!("{}?dryRun=All", copies.collection(Kind::SecretContract, "default"));
    let key = |key: Value| json!({"secretRef": {"name": "web"}, "requiredKeys": [key]});
    let left_to_the_webhook = key(json!({
        "name": "a b", "envName": "9 9", "minLength": 9, "maxLength": 1, "pattern": "(", "nonEmpty": true,
    }));
    for (spec, field) in [
        (left_to_the_webhook, None),
        (
            json!({"secretRef": {"name": "web"}, "rotation": {"maxAge": "30d"}, "injection": {"mode": "Mutate"}}),
            None,
        ),
        (json!({}), Some("spec.secretRef")),
        (key(json!({"name": "a", "format": "XML"})), Some("spec.requiredKeys[0].format")),
        (key(json!({"name": "a", "minLength": -1})), Some("spec.requiredKeys[0].minLength")),
        (key(json!({"name": "a", "maxLength": 1_048_577})), Some("spec.requiredKeys[0].maxLength")),
        (key(json!({"name": "a", "pattern": ""})), Some("spec.requiredKeys[0].pattern")),
        (key(json!({"name": "a", "pattern": "x".repeat(1025)})), Some("spec.requiredKeys[0].pattern")),
        (
            json!({"secretRef": {"name": "web"}, "requiredKeys": [{"name": "a"}, {"name": "a"}]}),
            Some("spec.requiredKeys[1]"),
        ),
    ] {
        let answer = rest.post(&path, &copies.object(Kind::SecretContract, "sample", &spec)).await;
        match field {
            None => drop(answer.success("accepted")),
            Some(field) => {
                let causes = answer.causes("refused");
                assert!(causes.iter().any(|(place, _)| place == field), "{field}: {causes:?}");
            }
        }
    }
}

/// Stores the object of a case, with its status and (if `edited`) its edit; the last answer is what is judged.
async fn play(rest: &Rest, copies: &Copies, case: &Case, place: usize, space: &str) -> Answer {
    let collection = copies.collection(case.kind, space);
    let name = case.object_name(place);
    let created = rest.post(&collection, &copies.object(case.kind, &name, &case.spec)).await;
    let Some(edit) = &case.edit else { return created };
    created.success(case.what);
    let path = format!("{collection}/{name}");
    if case.status != json!({}) {
        let status = json!({"status": case.status});
        rest.patch(&format!("{path}/status"), &status).await.success(case.what);
    }
    rest.patch(&path, edit).await
}

/// Every rule with the field that it speaks about and the fixed beginning of what it says.
fn rules() -> BTreeSet<(Kind, String, String)> {
    fn collect(kind: Kind, node: &Value, path: &str, found: &mut BTreeSet<(Kind, String, String)>) {
        for rule in node["x-kubernetes-validations"].as_array().into_iter().flatten() {
            let field = format!("{path}{}", rule["fieldPath"].as_str().unwrap_or_default());
            let field = field.strip_prefix('.').unwrap_or(&field).to_owned();
            let said = if let Some(message) = rule["message"].as_str() {
                message.to_owned()
            } else {
                let expression = rule["messageExpression"].as_str().unwrap();
                let literal = expression.split('\'').nth(1).unwrap();
                literal.split('%').next().unwrap().to_owned()
            };
            found.insert((kind, field, said));
        }
        for (name, child) in node["properties"].as_object().into_iter().flatten() {
            collect(kind, child, &format!("{path}.{name}"), found);
        }
        if node["items"].is_object() {
            collect(kind, &node["items"], &format!("{path}[]"), found);
        }
    }
    let mut found = BTreeSet::new();
    for kind in Kind::ALL {
        let definition = crd::to_value(kind).unwrap();
        collect(kind, &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], "", &mut found);
    }
    found
}

#[tokio::test]
async fn every_rule_refuses_and_accepts_what_it_should() {
    let space = tokio::task::spawn_blocking(|| namespace("rules")).await.unwrap();
    let rest = Rest::new().await;
    let copies = Copies::install(&rest, "rules.test", false).await;
    let mut silent = rules();
    let mut wrong = Vec::new();
    for (place, case) in cases().iter().enumerate() {
        let answer = play(&rest, &copies, case, place, &space).await;
        let causes: Vec<Cause> =
            if (200..300).contains(&answer.code) { Vec::new() } else { answer.causes(case.what) };
        let expected = case.faults.len() == causes.len()
            && case.faults.iter().all(|(field, text)| {
                causes.iter().any(|(place, message)| place == field && message.contains(text))
            });
        if !expected {
            wrong.push(format!("{} {}: {causes:#?}", case.kind, case.what));
        }
        for (field, message) in causes {
            let field: String = field.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            silent.retain(|(kind, place, said)| {
                !(*kind == case.kind && *place == field && message.contains(said.as_str()))
            });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(silent.is_empty(), "no line of the table makes these rules refuse: {silent:#?}");
}

#[tokio::test]
async fn no_rule_holds_a_stored_object_fast() {
    let space = tokio::task::spawn_blocking(|| namespace("stored")).await.unwrap();
    let rest = Rest::new().await;
    let copies = Copies::install(&rest, "stored.test", true).await;
    let cases = cases();
    for (place, case) in cases.iter().enumerate() {
        play(&rest, &copies, case, place, &space).await.success(case.what);
    }
    copies.tighten(&rest).await;
    for (place, case) in cases.iter().enumerate() {
        let what = |step: &str| format!("{step} of {} {}", case.kind, case.what);
        let path = format!("{}/{}", copies.collection(case.kind, &space), case.object_name(place));
        let label = json!({"metadata": {"labels": {"touched": "yes"}}});
        rest.patch(&path, &label).await.success(&what("label"));
        let status = json!({"status": {"observedGeneration": 7}});
        let written = rest.patch(&format!("{path}/status"), &status).await.success(&what("status"));
        assert_eq!(written["status"]["observedGeneration"], 7);
        let deleted = rest.delete(&path).await.success(&what("deletion"));
        assert!(deleted["metadata"]["deletionTimestamp"].is_string(), "{deleted}");
        rest.patch(&format!("{path}/status"), &json!({"status": {"observedGeneration": 8}}))
            .await
            .success(&what("status during the deletion"));
        rest.patch(&path, &json!({"metadata": {"finalizers": null}})).await.success(&what("last finalizer"));
        assert_eq!(rest.get(&path).await.code, 404, "{}", what("end"));
    }
}
