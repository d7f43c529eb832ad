//! Short forms of what would make a file long, or true at one time only.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// Replaces, anywhere in `value`,
///
/// - `{$repeat: X, $times: N}` by the text X written N times;
/// - `{$each: X, $times: N}` by a list of N items X, in which `$n` is the item's number, from 1;
/// - `$(now)`, `$(now-24h)`, `$(now+4m)` in a text by that time in UTC; `$(now-24h|+02:00)` by the same time in another
///   offset, and `$(now-24h|)` by its digits alone, without a zone.
pub fn expand(value: Value, now: Timestamp) -> Value {
    match value {
        Value::String(text) => Value::String(times(&text, now)),
        Value::Array(items) => items.into_iter().map(|item| expand(item, now)).collect(),
        Value::Object(map) => {
            let count = map.get("$times").and_then(Value::as_u64).unwrap_or_default();
            match (map.get("$repeat"), map.get("$each")) {
                (Some(Value::String(text)), None) => {
                    Value::String(text.repeat(usize::try_from(count).unwrap()))
                }
                (None, Some(item)) => (1..=count).map(|number| expand(numbered(item, number), now)).collect(),
                _ => {
                    let entries = map.into_iter().map(|(key, value)| (key, expand(value, now)));
                    Value::Object(entries.collect::<Map<_, _>>())
                }
            }
        }
        other => other,
    }
}

fn numbered(item: &Value, number: u64) -> Value {
    serde_json::from_str(&item.to_string().replace("$n", &number.to_string())).unwrap()
}

fn times(text: &str, now: Timestamp) -> String {
    let Some((before, rest)) = text.split_once("$(now") else { return text.to_owned() };
    let (inside, after) = rest.split_once(')').expect("a time ends with a bracket");
    let (shift, zone) = inside.split_once('|').map_or((inside, None), |(shift, zone)| (shift, Some(zone)));
    let shift: SignedDuration = if shift.is_empty() { SignedDuration::ZERO } else { parse(shift) };
    let time = now.checked_add(shift).unwrap();
    let shown = match zone {
        None => time.to_string(),
        Some("") => time.to_string().trim_end_matches('Z').to_owned(),
        Some(zone) => {
            let (hours, minutes) = zone.split_once(':').expect("an offset has hours and minutes");
            let sign = if hours.starts_with('-') { -1 } else { 1 };
            let seconds = hours.parse::<i32>().unwrap() * 3600 + sign * minutes.parse::<i32>().unwrap() * 60;
            let offset = Offset::from_seconds(seconds).unwrap();
            format!("{}{zone}", offset.to_datetime(time))
        }
    };
    format!("{before}{shown}{}", times(after, now))
}

fn parse(shift: &str) -> SignedDuration {
    let nanoseconds = covenant::go::duration::parse(shift).unwrap().nanoseconds();
    SignedDuration::from_nanos(nanoseconds)
}
