//! What all workloads come to together, and how it is said.

use proptest::prelude::*;

use super::*;
use crate::api::conditions::ConditionStatus;

fn container(containers: &Value) -> Value {
    json!({"containers": containers})
}

fn good() -> Lookup<WorkloadFacts> {
    workload(&container(&json!([{"name": "app", "envFrom": [all()]}])))
}

fn bad() -> Lookup<WorkloadFacts> {
    workload(&container(&json!([{"name": "app"}])))
}

fn going(lookup: Lookup<WorkloadFacts>) -> Lookup<WorkloadFacts> {
    lookup.map(|facts| WorkloadFacts { terminating: true, ..facts })
}

/// A contract with one key and these workloads, named by their place.
fn together(workloads: Vec<Lookup<WorkloadFacts>>) -> Workloads {
    let names: Vec<String> = (0..workloads.len()).map(|index| format!("w{index}")).collect();
    named(&names, &workloads)
}

fn named(names: &[String], workloads: &[Lookup<WorkloadFacts>]) -> Workloads {
    let references: Vec<Value> = names
        .iter()
        .map(|name| json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name}))
        .collect();
    let spec =
        json!({"secretRef": {"name": "web"}, "requiredKeys": [{"name": "K"}], "workloadRefs": references});
    let judged = judge(&EffectiveContract::of_spec(Some(&spec)), workloads);
    check(&judged);
    judged
}

#[test]
fn the_worst_decides() {
    use ConditionStatus::{False, True, Unknown};
    use ContractReason as Why;
    let failed = || Lookup::Failed(ReadFailure::Timeout);
    for (workloads, status, reason) in [
        (vec![good()], True, Why::WorkloadsReferenceSecret),
        (vec![good(), good()], True, Why::WorkloadsReferenceSecret),
        (vec![bad()], False, Why::ReferenceMissing),
        (vec![good(), bad()], False, Why::ReferenceMissing),
        (vec![Lookup::Absent], False, Why::WorkloadNotFound),
        (vec![good(), Lookup::Absent], False, Why::WorkloadNotFound),
        (vec![going(good())], False, Why::WorkloadTerminating),
        (vec![going(bad())], False, Why::WorkloadTerminating),
        (vec![Lookup::Forbidden], Unknown, Why::AccessDenied),
        (vec![good(), Lookup::Forbidden], Unknown, Why::AccessDenied),
        (vec![failed()], Unknown, Why::APIError),
        (vec![Lookup::NotServed], Unknown, Why::APIError),
        (vec![Lookup::NotInInput], Unknown, Why::NotInInput),
        (vec![], True, Why::NotConfigured),
        (vec![Lookup::Absent, bad()], False, Why::ReferenceMissing),
        (vec![going(good()), bad()], False, Why::ReferenceMissing),
        (vec![going(good()), Lookup::Absent], False, Why::WorkloadNotFound),
        (vec![Lookup::Forbidden, bad()], False, Why::ReferenceMissing),
        (vec![failed(), Lookup::Absent], False, Why::WorkloadNotFound),
        (vec![Lookup::NotInInput, going(good())], False, Why::WorkloadTerminating),
        (vec![Lookup::Forbidden, failed()], Unknown, Why::APIError),
        (vec![Lookup::NotInInput, Lookup::Forbidden], Unknown, Why::AccessDenied),
    ] {
        let what = format!("{workloads:?}");
        let judged = together(workloads);
        assert_eq!((judged.verdict.status, judged.verdict.reason), (status, reason), "{what}");
    }
    let spec = json!({"workloadRefs": [{"kind": "Deployment", "name": "web"}]});
    let unread = judge(&EffectiveContract::of_spec(Some(&spec)), &[]);
    assert_eq!(unread.verdict.reason, Why::NotInInput, "a reference without a lookup");
}

#[test]
fn what_cannot_be_read_holds_no_keys() {
    for (lookup, held) in [
        (good(), true),
        (going(good()), true),
        (Lookup::Absent, false),
        (Lookup::Forbidden, false),
        (Lookup::Failed(ReadFailure::Status(500)), false),
        (Lookup::NotInInput, false),
    ] {
        assert_eq!(together(vec![lookup]).environment_keys.contains("K"), held);
    }
}

#[test]
fn messages_say_what_and_where_and_what_to_do() {
    let message = |keys: Value, reference: Value, pod: Value| judged(&keys, reference, &pod).verdict.message;
    let k = || json!([{"name": "K"}]);
    let narrow = "or list only the containers that need the Secret in spec.workloadRefs[].containers.";
    let app = |fields: &Value| {
        let mut app = fields.clone();
        app["name"] = json!("app");
        container(&json!([app]))
    };
    for (keys, reference, pod, expected) in [
        (
            k(),
            json!({}),
            app(&json!({"envFrom": [all()]})),
            "Deployment \"web\" references every required key of Secret \"web\" in each selected container.".to_owned(),
        ),
        (
            json!([]),
            json!({}),
            app(&json!({})),
            "The contract requires no key of Secret \"web\", so nothing is asked of its 1 workload.".to_owned(),
        ),
        (
            k(),
            json!({}),
            app(&json!({})),
            format!(
                "Deployment \"web\", container \"app\": key \"K\" of Secret \"web\" reaches neither an environment variable \
                 nor a file; set a variable with secretKeyRef or envFrom, mount a volume with it, {narrow}"
            ),
        ),
        (
            json!([{"name": "a.b"}]),
            json!({"consumption": "EnvVars"}),
            app(&json!({"envFrom": [all()]})),
            format!(
                "Deployment \"web\", container \"app\": key \"a.b\" of Secret \"web\" reaches no environment variable \
                 (envFrom makes \"a.b\" of it, which is no portable variable name); set one with secretKeyRef, {narrow}"
            ),
        ),
        (
            json!([{"name": "K", "envName": "V"}]),
            json!({"consumption": "EnvVars"}),
            app(&json!({"envFrom": [all()]})),
            format!(
                "Deployment \"web\", container \"app\": key \"K\" of Secret \"web\" does not reach environment variable \
                 \"V\" (it is in \"K\"); set it with secretKeyRef, {narrow}"
            ),
        ),
        (
            k(),
            json!({}),
            app(&json!({"envFrom": [all()], "env": [literal("K", "canary")]})),
            format!(
                "Deployment \"web\", container \"app\": environment variable \"K\" is set from key \"K\" of Secret \"web\", \
                 and then set again by a later entry; remove the later entry, {narrow}"
            ),
        ),
        (
            k(),
            json!({}),
            app(&json!({"env": [from_optional_key("K", "K")]})),
            format!(
                "Deployment \"web\", container \"app\": every reference to key \"K\" of Secret \"web\" is optional, so the \
                 container would start without it; remove optional: true, {narrow}"
            ),
        ),
        (
            json!([{"name": "K", "required": false}]),
            json!({}),
            app(&json!({"env": [from_key("K", "K")]})),
            "Deployment \"web\", container \"app\": environment variable \"K\" must have key \"K\" of Secret \"web\", which the \
             contract does not require, so the pod cannot start while the key is absent; mark the reference as optional, or \
             require the key."
                .to_owned(),
        ),
        (
            k(),
            json!({}),
            app(&json!({"envFrom": [all(), others()]})),
            "Deployment \"web\" references every required key of Secret \"web\" in each selected container. Note: \
             Deployment \"web\", container \"app\": a later source that Covenant does not read may replace \"K\"."
                .to_owned(),
        ),
    ] {
        let found = message(keys, reference, pod);
        assert_eq!(found, expected);
        assert!(!found.contains("canary"));
    }
}

#[test]
fn near_misses_are_named() {
    let near = |volume: Value, mount: Value| {
        let pod = json!({"containers": [{"name": "app", "volumeMounts": [mount]}], "volumes": [volume]});
        judged(&json!([{"name": "K"}]), json!({"consumption": "Volume"}), &pod).verdict.message
    };
    let volume = |items: Value| json!({"name": "v", "secret": {"secretName": "web", "items": items}});
    let mount = |field: &str, part: &str| json!({"name": "v", "mountPath": "/m", field: part});
    let twice = json!([{"key": "K", "path": "a"}, {"key": "L", "path": "a"}]);
    for (message, expected) in [
        (near(volume(json!([])), json!({})), "volume \"v\" is not mounted"),
        (
            near(volume(json!([{"key": "L", "path": "l"}])), mount("readOnly", "")),
            "the items of volume \"v\" leave it out",
        ),
        (near(volume(json!([])), mount("subPath", "L")), "subPath shows another part of volume \"v\""),
        (
            near(volume(json!([])), mount("subPathExpr", "$(A)")),
            "the subPathExpr for volume \"v\" has variables",
        ),
        (near(volume(twice), mount("readOnly", "")), "something else in volume \"v\" has its path"),
    ] {
        assert!(message.contains(&format!("is in no file that it mounts ({expected}); ")), "{message}");
    }
}

#[test]
fn long_messages_name_the_first_and_count_the_rest() {
    let containers: Vec<Value> = (0..40).map(|number| json!({"name": format!("c{number:02}")})).collect();
    let judged = judged(&json!([{"name": "K"}]), json!({}), &container(&containers.into()));
    assert_eq!(judged.findings.len(), 40);
    let message = judged.verdict.message;
    assert!(message.starts_with("Deployment \"web\", container \"c00\": "), "{message}");
    assert!(message.ends_with(" And 37 more findings."), "{message}");
    assert!(message.contains("\"c02\"") && !message.contains("\"c03\""), "{message}");

    let names: Vec<String> = (0..16).map(|number| format!("{number:02}{}", "w".repeat(251))).collect();
    let mut workloads: Vec<_> = (0..15).map(|_| Lookup::Absent).collect();
    workloads.push(bad());
    let message = named(&names, &workloads).verdict.message;
    assert!(message.contains("container \"app\": key \"K\""), "{message}");
    assert!(message.ends_with(" missing workloads."), "{message}");
}

#[test]
fn of_very_many_findings_the_first_are_kept_and_all_are_counted() {
    let keys: Vec<Value> = (0..256).map(|number| json!({"name": format!("k{number:03}")})).collect();
    let containers: Vec<Value> =
        (0..260).rev().map(|number| json!({"name": format!("c{number:03}")})).collect();
    let judged = judged(&keys.into(), json!({}), &container(&containers.into()));
    assert_eq!((judged.findings.len(), judged.finding_count), (KEPT, 260 * 256));
    assert_eq!(judged.findings[0].container, "c000");
    assert!(judged.verdict.message.ends_with(" And 66557 more findings."), "{}", judged.verdict.message);
}

#[test]
fn a_template_that_is_made_to_be_costly_is_not_judged() {
    let keys: Vec<Value> = (0..256).map(|number| json!({"name": format!("k{number:03}")})).collect();
    let items: Vec<Value> = (0..5_000)
        .map(|number| json!({"key": format!("k{:03}", number % 256), "path": format!("p{number}")}))
        .collect();
    let app = |name: usize| json!({"name": format!("c{name}"), "envFrom": [all()], "volumeMounts": [{"name": "v", "mountPath": "/v"}]});
    let pod = |containers: usize, items: &[Value]| {
        let volume = json!({"name": "v", "secret": {"secretName": "web", "items": items}});
        json!({"containers": (0..containers).map(app).collect::<Vec<_>>(), "volumes": [volume]})
    };
    let keys = Value::from(keys);
    let costly = judged(&keys, json!({}), &pod(2_000, &items));
    assert_eq!(costly.verdict.status, ConditionStatus::Unknown);
    assert_eq!(costly.verdict.reason, ContractReason::EvaluationLimitExceeded);
    assert!(costly.environment_keys.is_empty());
    let narrowed = judged(&keys, json!({"containers": ["c7"]}), &pod(2_000, &items[..2_000]));
    assert_eq!(narrowed.verdict.reason, ContractReason::WorkloadsReferenceSecret);
    let large = judged(&keys, json!({}), &pod(50, &items[..256]));
    assert_eq!(large.verdict.reason, ContractReason::WorkloadsReferenceSecret);
}

fn any_lookup() -> impl Strategy<Value = u8> {
    0..7_u8
}

fn lookup(kind: u8) -> Lookup<WorkloadFacts> {
    match kind {
        0 => good(),
        1 => bad(),
        2 => going(bad()),
        3 => Lookup::Absent,
        4 => Lookup::Forbidden,
        5 => workload(&container(
            &json!([{"name": "a", "envFrom": [all(), others()]}, {"name": "b", "env": [from_optional_key("K", "K")]}]),
        )),
        _ => Lookup::NotInInput,
    }
}

fn any_source() -> impl Strategy<Value = Value> {
    let prefix = proptest::sample::select(vec!["", "P", "P_"]);
    (any::<bool>(), prefix, any::<bool>()).prop_map(|(own, prefix, optional)| {
        let name = if own { "web" } else { "other" };
        json!({"secretRef": {"name": name, "optional": optional}, "prefix": prefix})
    })
}

proptest! {
    #[test]
    fn the_order_of_the_workloads_says_nothing(
        kinds in proptest::collection::vec(any_lookup(), 1..8),
        turn in 0..8_usize,
    ) {
        let mut pairs: Vec<(String, u8)> =
            kinds.iter().enumerate().map(|(index, kind)| (format!("w{index}"), *kind)).collect();
        let of = |pairs: &[(String, u8)]| {
            let names: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
            let lookups: Vec<_> = pairs.iter().map(|(_, kind)| lookup(*kind)).collect();
            named(&names, &lookups)
        };
        let before = of(&pairs);
        let length = pairs.len();
        pairs.rotate_left(turn % length);
        let after = of(&pairs);
        prop_assert_eq!(before.verdict, after.verdict);
        prop_assert_eq!(before.findings, after.findings);
        prop_assert_eq!(before.environment_keys, after.environment_keys);
    }

    /// A reference at the very end always arrives, and a literal there never leaves anything of the key.
    #[test]
    fn the_last_entry_has_the_last_word(sources in proptest::collection::vec(any_source(), 0..6)) {
        let keys = json!([{"name": "K", "envName": "PK"}]);
        let of = |last: Value| {
            let pod = json!({"containers": [{"name": "app", "envFrom": sources, "env": [last]}]});
            told(&judged(&keys, json!({"consumption": "EnvVars"}), &pod))
        };
        prop_assert_eq!(of(from_key("PK", "K")), Vec::<String>::new());
        let fed = sources.iter().any(|source| source["secretRef"]["name"] == "web" && source["prefix"] == "P");
        let reason = if fed { "Shadowed" } else { "ReferenceMissing" };
        prop_assert_eq!(of(literal("PK", "x")), [format!("app K {reason}")]);
    }
}
