//! Which reports are up to date, and until when.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;

#[test]
fn the_generation_that_was_synced() {
    let version = |version: Value| json!({"metadata": {"generation": 12}, "status": {"syncedResourceVersion": version}});
    let of_policy = |policy: &str, version: Value| json!({"spec": {"refreshPolicy": policy}, "status": {"syncedResourceVersion": version}});
    check(vec![
        ("this one", version(json!("12-abc")), READY),
        ("with more dashes", version(json!("12-a-b")), READY),
        ("an older one", version(json!("11-abc")), STALE),
        ("one that is none yet", version(json!("13-abc")), STALE),
        ("no dash", version(json!("12")), STALE),
        ("no number", version(json!("-12")), STALE),
        ("a sign", version(json!("+12-abc")), STALE),
        ("a space", version(json!(" 12-abc")), STALE),
        ("no number that fits", version(json!("99999999999999999999-abc")), STALE),
        ("not a text", version(json!(12)), STALE),
        ("not said", version(Value::Null), STALE),
        ("no generation to compare with", json!({"metadata": {"generation": null}}), STALE),
        ("CreatedOnce syncs no other", of_policy("CreatedOnce", json!("0-abc")), READY),
        ("nor needs it said", of_policy("CreatedOnce", Value::Null), READY),
        ("OnChange syncs each", of_policy("OnChange", json!("0-abc")), STALE),
        ("OnChange must say it", of_policy("OnChange", Value::Null), STALE),
    ]);
}

#[test]
fn the_time_of_the_last_refresh() {
    let at = |time: Value| json!({"status": {"refreshTime": time}});
    let never = |change: Value| {
        let mut object = json!({"status": {"refreshTime": "2020-01-01T00:00:00Z"}});
        merged(&mut object, change);
        object
    };
    check(vec![
        ("an hour and six minutes ago", at(json!("2026-10-10T07:24:00Z")), READY),
        ("a second more", at(json!("2026-10-10T07:23:59Z")), STALE),
        ("in another zone", at(json!("2026-10-10T09:24:00+02:00")), READY),
        ("in the future", at(json!("2026-10-10T09:00:00Z")), READY),
        ("beyond all time", at(json!("9999-12-31T23:59:59Z")), READY),
        ("not said", at(Value::Null), STALE),
        ("no RFC 3339", at(json!("2026-10-10 08:30:00")), STALE),
        ("a number", at(json!(1_791_000_000)), STALE),
        ("interval 0 is never overdue", never(json!({"spec": {"refreshInterval": "0"}})), READY),
        ("nor is 0s", never(json!({"spec": {"refreshInterval": "0s"}})), READY),
        ("nor one below", never(json!({"spec": {"refreshInterval": "-1h"}})), READY),
        (
            "with interval 0 no time is needed",
            json!({"spec": {"refreshInterval": "0"}, "status": {"refreshTime": null}}),
            READY,
        ),
        ("OnChange is never overdue", never(json!({"spec": {"refreshPolicy": "OnChange"}})), READY),
        ("nor is CreatedOnce", never(json!({"spec": {"refreshPolicy": "CreatedOnce"}})), READY),
        ("Periodic is", never(json!({"spec": {"refreshPolicy": "Periodic"}})), STALE),
        (
            "a policy that is not known is held to it",
            never(json!({"spec": {"refreshPolicy": "Sometimes"}})),
            STALE,
        ),
        ("an interval that is no Go duration", json!({"spec": {"refreshInterval": "30d"}}), STALE),
        ("an empty interval", json!({"spec": {"refreshInterval": ""}}), STALE),
        ("an interval longer than time", never(json!({"spec": {"refreshInterval": "2562047h"}})), READY),
        (
            "an interval that OnChange ignores",
            json!({"spec": {"refreshPolicy": "OnChange", "refreshInterval": "30d"}}),
            READY,
        ),
    ]);
}

/// Fresh up to and at an instant, overdue a nanosecond later, which is when it has to be looked at again.
#[test]
fn the_instant_at_which_it_becomes_overdue() {
    for (interval, latest) in [
        (json!("1h"), "2026-10-10T09:36:00Z"),
        (Value::Null, "2026-10-10T09:36:00Z"),
        (json!(60), "2026-10-10T09:36:00Z"),
        (json!("50m"), "2026-10-10T09:25:00Z"),
        (json!("49m59s"), "2026-10-10T09:24:59Z"),
        (json!("50m10s"), "2026-10-10T09:25:11Z"),
        (json!("10s"), "2026-10-10T08:35:10Z"),
        (json!("1ns"), "2026-10-10T08:35:00.000000001Z"),
        (json!("1h1ns"), "2026-10-10T09:36:00.000000001Z"),
        (json!("24h"), "2026-10-11T10:54:00Z"),
        (json!("1.5h"), "2026-10-10T10:09:00Z"),
        (json!("720h"), "2026-11-12T08:30:00Z"),
    ] {
        let object = with(json!({"spec": {"refreshInterval": interval}}));
        let facts = || Lookup::Found(ExternalSecretFacts::of_object(&object));
        let overdue = latest.parse::<Timestamp>().unwrap() + SignedDuration::from_nanos(1);
        for now in [NOW, latest] {
            let producer = judged_at(facts(), owned(), now);
            assert_eq!(
                (said(&producer), producer.next_change),
                (READY, Some(overdue)),
                "{interval} at {now}"
            );
        }
        let producer = judged_at(facts(), owned(), &overdue.to_string());
        assert_eq!((said(&producer), producer.next_change), (STALE, None), "{interval}");
        assert!(producer.verdict.message.contains("refreshInterval"), "{}", producer.verdict.message);
    }
    for never in [
        json!({"spec": {"refreshInterval": "0"}}),
        json!({"spec": {"refreshPolicy": "OnChange"}}),
        json!({"spec": {"refreshPolicy": "CreatedOnce"}}),
        json!({"status": {"refreshTime": "9999-12-30T00:00:00Z"}, "spec": {"refreshInterval": "2000000h"}}),
        ready("False", "SecretSyncedError"),
    ] {
        assert_eq!(judged(&with(never.clone()), owned()).next_change, None, "{never}");
    }
}
