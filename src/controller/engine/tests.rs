//! The engine against a scripted API server, and the following of a watch step by step.

use std::collections::BTreeMap;

use http::Response;
use kube::client::Body;
use serde_json::{Value, json};

use super::*;
use crate::process::health::Readiness;
use crate::process::metrics::Metrics as Exposition;

const KIND: Kind = Kind::SecretContract;

fn object(name: &str, uid: &str, generation: i64, version: &str) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": KIND.api_version(), "kind": KIND.as_str(),
        "metadata": {"name": name, "namespace": "n", "uid": uid, "generation": generation, "resourceVersion": version,
            "managedFields": [{"manager": "m"}]},
        "spec": {}
    }))
    .unwrap()
}

/// Remembers what it is told, and panics or fails for objects of that name.
#[derive(Default)]
struct Recording {
    passes: Mutex<BTreeMap<String, u32>>,
    gone: Mutex<Vec<String>>,
}

impl Recording {
    fn passes(&self, name: &str) -> u32 {
        self.passes.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

impl Reconciler for Recording {
    async fn reconcile(&self, object: Arc<DynamicObject>) -> Result<Next, RequestError> {
        *self.passes.lock().unwrap().entry(object.name_any()).or_default() += 1;
        match object.name_any().as_str() {
            "panics" => panic!("on purpose"),
            "fails" => {
                Err(RequestError { action: "try".into(), class: FailureClass::Conflict, reason: "x".into() })
            }
            "again" => Ok(Next::After(Duration::from_millis(10))),
            _ => Ok(Next::Change),
        }
    }
    fn seen(&self, _: &DynamicObject) {}
    fn gone(&self, _: Option<&str>, name: &str) {
        self.gone.lock().unwrap().push(name.to_owned());
    }
}

fn changes(reconciler: &Arc<Recording>) -> Changes<Recording> {
    let resource = resource(KIND);
    Changes {
        writer: Writer::new(resource.clone()),
        types: TypeMeta { api_version: resource.api_version.clone(), kind: resource.kind.clone() },
        resource,
        known: HashMap::new(),
        listed: HashMap::new(),
        failures: Failures::default(),
        reconciler: reconciler.clone(),
    }
}

#[test]
fn only_a_new_generation_is_due() {
    let recording = Arc::new(Recording::default());
    let mut changes = changes(&recording);
    let mut due = |event| -> Vec<String> { changes.follow(event).into_iter().map(|due| due.name).collect() };
    assert!(due(Event::Init).is_empty());
    assert!(due(Event::InitApply(object("a", "1", 1, "10"))).is_empty(), "the store does not have it yet");
    assert_eq!(due(Event::InitDone), ["a"]);
    assert!(due(Event::Apply(object("a", "1", 1, "11"))).is_empty(), "a new status is no reason");
    assert_eq!(due(Event::Apply(object("a", "1", 2, "12"))), ["a"]);
    assert_eq!(due(Event::Apply(object("a", "2", 2, "13"))), ["a"], "another object of that name");
    assert!(due(Event::Delete(object("a", "2", 2, "14"))).is_empty());
    assert_eq!(*recording.gone.lock().unwrap(), ["a"]);
    assert_eq!(due(Event::Apply(object("a", "2", 2, "15"))), ["a"]);
}

#[test]
fn a_new_list_tells_what_was_missed() {
    let recording = Arc::new(Recording::default());
    let mut changes = changes(&recording);
    let store = changes.writer.as_reader();
    for name in ["same", "changed", "gone"] {
        changes.follow(Event::Apply(object(name, name, 1, "1")));
    }
    changes.follow(Event::Init);
    for (name, generation) in [("same", 1), ("changed", 2), ("new", 1)] {
        changes.follow(Event::InitApply(object(name, name, generation, "2")));
    }
    let mut due: Vec<String> = changes.follow(Event::InitDone).into_iter().map(|due| due.name).collect();
    due.sort();
    assert_eq!(due, ["changed", "new"]);
    assert_eq!(*recording.gone.lock().unwrap(), ["gone"]);
    let kept = store.get(&reference(KIND, Some("n"), "changed")).unwrap();
    assert_eq!(kept.metadata.generation, Some(2));
    assert!(kept.metadata.managed_fields.is_none(), "not kept in memory");
}

/// Lists these objects once, and then never has anything to say.
fn client(objects: Vec<DynamicObject>) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let list: Value = json!({
            "apiVersion": KIND.api_version(), "kind": "SecretContractList", "metadata": {"resourceVersion": "9"},
            "items": objects
        });
        async move {
            if request.uri().query().unwrap_or_default().contains("watch=true") {
                std::future::pending::<()>().await;
            }
            let body = Body::from(serde_json::to_vec(&list).unwrap());
            Ok::<_, Infallible>(Response::new(body))
        }
    });
    Client::new(service, "n")
}

fn engine(client: Client, stop: &CancellationToken) -> (Engine, Exposition) {
    let mut metrics = None;
    let exposition = Exposition::build(|registry| metrics = Some(Metrics::register(registry)));
    let check = Readiness::new().register("x", "x");
    let engine =
        Engine { client, kind: KIND, namespace: None, check, metrics: metrics.unwrap(), stop: stop.clone() };
    (engine, exposition)
}

#[tokio::test]
async fn a_panic_or_an_error_costs_nobody_else_anything() {
    let stop = CancellationToken::new();
    let objects = ["panics", "fails", "again", "good"].map(|name| object(name, name, 1, "1")).to_vec();
    let (engine, exposition) = engine(client(objects), &stop);
    let recording = Arc::new(Recording::default());
    let running = tokio::spawn(engine.run(recording.clone(), |_| stream::pending().boxed()));
    let enough = async {
        while recording.passes("again") < 5
            || recording.passes("fails") < 2
            || recording.passes("panics") == 0
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), enough).await.unwrap();
    assert_eq!((recording.passes("good"), recording.passes("panics")), (1, 1));
    stop.cancel();
    tokio::time::timeout(Duration::from_mins(1), running).await.unwrap().unwrap();
    let text = exposition.text();
    assert!(
        text.contains("covenant_reconcile_errors_total{kind=\"SecretContract\",class=\"internal\"} 1\n"),
        "{text}"
    );
}

#[tokio::test]
async fn the_end_comes_even_if_nothing_was_ever_listed() {
    let stop = CancellationToken::new();
    let service = tower::service_fn(|_: http::Request<Body>| async {
        let body = Body::from(
            b"{\"kind\":\"Status\",\"code\":403,\"message\":\"no\",\"reason\":\"Forbidden\"}".to_vec(),
        );
        Ok::<_, Infallible>(Response::builder().status(403).body(body).unwrap())
    });
    let (engine, _) = engine(Client::new(service, "n"), &stop);
    let running = tokio::spawn(engine.run(Arc::new(Recording::default()), |_| stream::pending().boxed()));
    tokio::task::yield_now().await;
    stop.cancel();
    tokio::time::timeout(Duration::from_mins(1), running).await.unwrap().unwrap();
}
