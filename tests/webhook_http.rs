//! The webhook over HTTP without a socket: one review in, one answer out, every text as the API server gets it.

#![cfg(feature = "webhook")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use covenant::api::Kind;
use covenant::rules::Installation;
use covenant::rules::world::Objects;
use covenant::webhook::config::{Limits, Timeouts};
use covenant::webhook::{App, Metrics, Stores};
use http_body_util::BodyExt as _;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tower::ServiceExt as _;

struct Answer {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    text: String,
}

impl Answer {
    fn response(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        let review: Value = serde_json::from_str(&self.text).unwrap();
        assert_eq!(
            (&review["apiVersion"], &review["kind"]),
            (&json!("admission.k8s.io/v1"), &json!("AdmissionReview"))
        );
        review["response"].clone()
    }
}

fn app(limits: Limits) -> Arc<App> {
    let metrics = Metrics::register(&mut Registry::default());
    App::new(Installation::default(), Arc::default(), limits, Timeouts::default(), metrics)
}

async fn post(app: &Arc<App>, path: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post(format!("{path}?timeout=5s")).body(body.into()).unwrap();
    let response = app.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, text }
}

fn contract(spec: Value) -> Value {
    json!({"apiVersion": "secrets.codepop.tech/v1alpha1", "kind": "SecretContract",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

fn review(operation: &str, object: Value, old: Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "secrets.codepop.tech", "version": "v1alpha1", "kind": "SecretContract"},
        "resource": {"group": "secrets.codepop.tech", "version": "v1alpha1", "resource": "secretcontracts"},
        "name": "web", "namespace": "shop", "operation": operation, "userInfo": {"username": "dev"},
        "object": object, "oldObject": old, "dryRun": false, "options": null}})
}

fn good() -> Value {
    json!({"secretRef": {"name": "s"}, "requiredKeys": [{"name": "a"}]})
}

fn faulty() -> Value {
    json!({"secretRef": {"name": "s"}, "requiredKeys": [
        {"name": "a", "envName": "TOKEN"}, {"name": "b", "envName": "TOKEN", "minLength": 2, "maxLength": 1}]})
}

#[tokio::test]
async fn a_refusal_is_complete_in_causes_and_in_message() {
    let answer = post(
        &app(Limits::default()),
        "/validate",
        review("CREATE", contract(faulty()), Value::Null).to_string(),
    )
    .await;
    let lengths = "Invalid value: 1: must be greater than or equal to minLength (2)";
    let duplicate = "Duplicate value: \"TOKEN\"";
    let message = format!(
        "SecretContract.secrets.codepop.tech \"web\" is invalid: \
         [spec.requiredKeys[1].maxLength: {lengths}, spec.requiredKeys[1].envName: {duplicate}]"
    );
    assert_eq!(
        answer.response(),
        json!({"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": false,
            "status": {"status": "Failure", "code": 422, "reason": "Invalid", "message": message,
                "details": {"group": "secrets.codepop.tech", "kind": "SecretContract", "name": "web", "causes": [
                    {"reason": "FieldValueInvalid", "message": lengths, "field": "spec.requiredKeys[1].maxLength"},
                    {"reason": "FieldValueDuplicate", "message": duplicate, "field": "spec.requiredKeys[1].envName"}]}},
            "auditAnnotations": {"rule-ids": "contract/length-bounds,contract/env-name-unique",
                "version": env!("CARGO_PKG_VERSION")}})
    );
}

#[tokio::test]
async fn a_good_object_and_everything_that_is_not_ours_pass() {
    let app = app(Limits::default());
    let allowed = async |review: Value| {
        post(&app, "/validate", review.to_string()).await.response()["allowed"] == json!(true)
    };
    assert!(allowed(review("CREATE", contract(good()), Value::Null)).await);
    assert!(allowed(review("DELETE", Value::Null, contract(faulty()))).await);
    assert!(allowed(review("CONNECT", contract(faulty()), Value::Null)).await);
    let mut foreign = review("CREATE", contract(faulty()), Value::Null);
    foreign["request"]["kind"]["group"] = json!("hostk8s.io");
    assert!(allowed(foreign).await);
    let mut status = review("UPDATE", contract(faulty()), contract(good()));
    status["request"]["subResource"] = json!("status");
    assert!(allowed(status).await);
}

#[tokio::test]
async fn an_old_fault_passes_with_a_warning() {
    let app = app(Limits::default());
    let update = review("UPDATE", contract(faulty()), contract(faulty()));
    let response = post(&app, "/validate", update.to_string()).await.response();
    assert_eq!(response["allowed"], json!(true));
    assert_eq!(response["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(response["auditAnnotations"]["ratcheted"], json!("2"));
    let response =
        post(&app, "/validate", review("UPDATE", contract(faulty()), contract(good())).to_string()).await;
    assert_eq!(response.response()["allowed"], json!(false));
}

#[tokio::test]
async fn many_faults_are_cut_and_counted() {
    let keys: Vec<Value> =
        (0..10_000).map(|number| json!({"name": format!("k{number}"), "envName": "9"})).collect();
    let spec = json!({"secretRef": {"name": "s"}, "requiredKeys": keys});
    let answer = post(
        &app(Limits { body_bytes: 8 << 20, ..Limits::default() }),
        "/validate",
        review("CREATE", contract(spec), Value::Null).to_string(),
    )
    .await;
    let response = answer.response();
    let causes = response["status"]["details"]["causes"].as_array().unwrap();
    assert!(causes.len() <= 101);
    let last = causes.last().unwrap();
    assert_eq!(last["field"], json!("(policy)"));
    assert!(last["message"].as_str().unwrap().ends_with(" more violations not shown"));
    assert!(answer.text.len() < 48 * 1024, "{}", answer.text.len());
}

#[tokio::test]
async fn a_name_that_is_yet_to_be_generated_is_named_by_its_prefix() {
    let mut object = contract(faulty());
    object["metadata"] = json!({"generateName": "web-", "namespace": "shop"});
    let mut create = review("CREATE", object, Value::Null);
    create["request"]["name"] = json!("");
    let response = post(&app(Limits::default()), "/validate", create.to_string()).await.response();
    assert_eq!(response["status"]["details"]["name"], json!("web-"));
}

#[tokio::test]
async fn a_body_that_is_no_review_is_answered_under_its_uid_or_refused() {
    let app = app(Limits::default());
    let body = review("CREATE", contract(good()), Value::Null).to_string();
    let cut = body.get(..body.len() - 3).unwrap().to_owned();
    let response = post(&app, "/validate", cut).await.response();
    assert_eq!(
        (&response["uid"], &response["allowed"]),
        (&json!("705ab4f5-6393-11e8-b7cc-42010a800002"), &json!(false))
    );
    assert_eq!(response["status"]["code"], json!(400));
    assert_eq!(post(&app, "/validate", "no review").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(post(&app, "/elsewhere", body).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_object_that_nests_too_deeply_is_refused_under_its_uid() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = review("CREATE", contract(json!("DEEP")), Value::Null).to_string().replace("\"DEEP\"", &deep);
    let response = post(&app(Limits::default()), "/validate", body).await.response();
    assert_eq!(response["status"]["code"], json!(400));
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_under_its_uid() {
    let limits = Limits { body_bytes: 64 * 1024, ..Limits::default() };
    let body = review("CREATE", contract(json!({"secretRef": {"name": "x".repeat(100_000)}})), Value::Null);
    // The uid comes first, as the API server writes it.
    let body = format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"u-1",{}"#,
        body["request"].to_string().strip_prefix('{').unwrap()
    );
    let answer = post(&app(limits), "/validate", body).await;
    assert_eq!(answer.response()["uid"], json!("u-1"));
    assert_eq!(answer.response()["status"]["code"], json!(413));
    assert_eq!(answer.headers["connection"], "close");
}

#[tokio::test]
async fn too_much_at_once_is_turned_away_for_a_second() {
    let limits = Limits { queued_bytes: 100, ..Limits::default() };
    let answer =
        post(&app(limits), "/validate", review("CREATE", contract(good()), Value::Null).to_string()).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers["retry-after"], "1");
}

#[tokio::test]
async fn a_review_that_takes_too_long_is_given_up_in_time() {
    let metrics = Metrics::register(&mut Registry::default());
    let timeouts = Timeouts { review: std::time::Duration::ZERO, ..Timeouts::default() };
    let app = App::new(Installation::default(), Arc::default(), Limits::default(), timeouts, metrics);
    let keys: Vec<Value> =
        (0..200).map(|number| json!({"name": format!("k{number}"), "pattern": "a".repeat(200)})).collect();
    let large = contract(json!({"secretRef": {"name": "s"}, "requiredKeys": keys}));
    for object in [large, contract(good())] {
        let response =
            post(&app, "/validate", review("CREATE", object, Value::Null).to_string()).await.response();
        assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(504)));
        assert_eq!(response["uid"], json!("705ab4f5-6393-11e8-b7cc-42010a800002"));
    }
}

#[tokio::test]
async fn keys_beyond_the_limit_are_one_fault_and_cost_nothing() {
    let keys: Vec<Value> =
        (0..300).map(|number| json!({"name": format!("k{number}"), "pattern": "("})).collect();
    let spec = json!({"secretRef": {"name": "s"}, "requiredKeys": keys});
    let response =
        post(&app(Limits::default()), "/validate", review("CREATE", contract(spec), Value::Null).to_string())
            .await
            .response();
    let message = response["status"]["message"].as_str().unwrap();
    assert!(message.contains("spec.requiredKeys: Too many: 300: must have at most 256 items"), "{message}");
    assert!(!message.contains("spec.requiredKeys[256].pattern"), "{message}");
}

fn tenant(name: &str) -> Value {
    json!({"apiVersion": "database.ayatori.ddupan.top/v1alpha1", "kind": "PostgreSQLTenant",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}")},
        "spec": {"provision": {"instanceRef": {"name": "main"}, "database": "orders", "loginRole": name}}})
}

fn of_kind(kind: &str, operation: &str, object: Value, old: Value) -> String {
    let mut review = review(operation, object, old);
    review["request"]["kind"] =
        json!({"group": "database.ayatori.ddupan.top", "version": "v1alpha1", "kind": kind});
    review.to_string()
}

#[tokio::test]
async fn a_review_looks_at_the_stores() {
    let instance = json!({"kind": "PostgreSQLInstance", "metadata": {"name": "main"}, "spec": {}});
    let mut objects = Objects::new();
    objects.set_complete(true);
    objects.insert(Kind::PostgreSQLTenant, tenant("one"));
    objects.insert(Kind::PostgreSQLInstance, instance.clone());
    let metrics = Metrics::register(&mut Registry::default());
    let stores = Stores::holding(objects);
    let app = App::new(Installation::default(), stores, Limits::default(), Timeouts::default(), metrics);
    let asked = of_kind("PostgreSQLTenant", "CREATE", tenant("two"), Value::Null);
    let response = post(&app, "/validate", asked).await.response();
    assert_eq!(response["status"]["details"]["causes"][0]["reason"], "FieldValueDuplicate", "{response}");
    let asked = of_kind("PostgreSQLInstance", "DELETE", Value::Null, instance);
    let response = post(&app, "/protect", asked).await.response();
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(403)));
    let asked = of_kind("PostgreSQLTenant", "DELETE", Value::Null, tenant("one"));
    assert_eq!(post(&app, "/protect", asked).await.response()["allowed"], true);
}
