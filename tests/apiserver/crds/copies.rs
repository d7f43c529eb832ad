//! Copies of our definitions in a group of a test's own. The rules are the same, but no webhook and no policy of another
//! test speaks up, and they can be loosened to store what the real ones refuse.

use covenant::api::{Kind, crd};
use serde_json::{Value, json};

use super::rest::Rest;

/// The definitions of all kinds in one group.
pub struct Copies {
    group: &'static str,
}

impl Copies {
    /// Installs the definitions in `group`, without their rules if `loosened`.
    pub async fn install(rest: &Rest, group: &'static str, loosened: bool) -> Self {
        let copies = Self { group };
        for kind in Kind::ALL {
            let answer = rest.post(DEFINITIONS, &copies.definition(kind, loosened)).await;
            assert!(answer.warnings.is_empty(), "{answer:#?}");
            answer.success("install");
        }
        for kind in Kind::ALL {
            rest.eventually("the copy is served", &copies.collection(kind, "default"), |answer| {
                (answer.code == 200).then_some(())
            })
            .await;
        }
        copies
    }

    /// Brings the rules back and waits until they are in force: a rule at the end of the last schema refuses.
    pub async fn tighten(&self, rest: &Rest) {
        for kind in Kind::ALL {
            let path = format!("{DEFINITIONS}/{}.{}", kind.plural(), self.group);
            let mut definition = self.definition(kind, false);
            let stored = rest.get(&path).await.success("read the definition");
            definition["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
            let answer = rest.put(&path, &definition).await;
            assert!(answer.warnings.is_empty(), "{answer:#?}");
            answer.success("tighten");
        }
        for (kind, spec) in [
            (Kind::PostgreSQLInstance, super::table::instance(json!({"endpoint": {"host": "A"}}))),
            (Kind::PostgreSQLDatabase, super::table::database(json!({"database": "A"}))),
            (Kind::PostgreSQLTenant, json!({})),
        ] {
            let object = self.object(kind, "probe", &spec);
            let path = format!("{}?dryRun=All", self.collection(kind, "default"));
            let end = tokio::time::Instant::now() + crate::support::PATIENCE;
            while rest.post(&path, &object).await.code != 422 {
                assert!(tokio::time::Instant::now() < end, "the rules of {kind} are not in force");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }

    /// The path of all objects of the kind (in `namespace`).
    pub fn collection(&self, kind: Kind, namespace: &str) -> String {
        let place = if kind.namespaced() { format!("namespaces/{namespace}/") } else { String::new() };
        format!("/apis/{}/{}/{place}{}", self.group, kind.version(), kind.plural())
    }

    /// An object of the kind with a finalizer.
    pub fn object(&self, kind: Kind, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/{}", self.group, kind.version()),
            "kind": kind.as_str(),
            "metadata": {"name": name, "finalizers": ["definitions.test/kept"]},
            "spec": spec,
        })
    }

    fn definition(&self, kind: Kind, loosened: bool) -> Value {
        let mut definition = crd::to_value(kind).unwrap();
        definition["metadata"]["name"] = json!(format!("{}.{}", kind.plural(), self.group));
        definition["spec"]["group"] = json!(self.group);
        // Only one group may have the short names.
        definition["spec"]["names"].as_object_mut().unwrap().remove("shortNames");
        definition["spec"]["names"].as_object_mut().unwrap().remove("categories");
        if loosened {
            without_rules(&mut definition);
        }
        definition
    }
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn without_rules(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("x-kubernetes-validations");
            fields.values_mut().for_each(without_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        _ => {}
    }
}
