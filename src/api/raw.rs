//! Lenient reading of raw JSON: what has the wrong type reads as absent, and `null` is the same as omitted.
//!
//! The effective views stand on these few functions. Reporting a wrong type is the work of the rules.

use serde_json::Value;

/// An item of a list together with its place in the written list, so that a finding can name its field path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed<T> {
    /// Place in the written list, counted from 0; items of the wrong type are left out but still counted.
    pub index: usize,
    /// The item itself.
    pub value: T,
}

/// The field `name` of an object; absent when `parent` is absent or no object, or when the field is `null`.
pub fn field<'a>(parent: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    parent?.as_object()?.get(name).filter(|value| !value.is_null())
}

/// The field `name` if it is an object.
pub fn object<'a>(parent: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    field(parent, name).filter(|value| value.is_object())
}

/// The field `name` if it is a string.
pub fn text<'a>(parent: Option<&'a Value>, name: &str) -> Option<&'a str> {
    field(parent, name).and_then(Value::as_str)
}

/// The field `name` if it is a boolean.
pub fn flag(parent: Option<&Value>, name: &str) -> Option<bool> {
    field(parent, name).and_then(Value::as_bool)
}

/// The field `name` if it is a whole number of 64 bits. `16.0` counts as 16, as it does for the API server.
pub fn integer(parent: Option<&Value>, name: &str) -> Option<i64> {
    let value = field(parent, name)?;
    value.as_i64().or_else(|| whole(value.as_f64()?))
}

fn whole(number: f64) -> Option<i64> {
    // Beyond 2^53 a floating-point number no longer names one whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within ±2^53")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// The items of the list `name`, each with its index; empty when the field is absent or no list.
pub fn items<'a>(parent: Option<&'a Value>, name: &str) -> impl Iterator<Item = Indexed<&'a Value>> {
    let list = field(parent, name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().enumerate().map(|(index, value)| Indexed { index, value })
}

/// The string items of the list `name`, each with its index in the written list.
pub fn texts<'a>(parent: Option<&'a Value>, name: &str) -> Vec<Indexed<&'a str>> {
    items(parent, name)
        .filter_map(|item| Some(Indexed { index: item.index, value: item.value.as_str()? }))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_type_reads_as_absent() {
        let value = json!({"text": 1, "flag": "true", "number": "1", "list": {}, "object": [], "null": null});
        let parent = Some(&value);
        assert_eq!(text(parent, "text"), None);
        assert_eq!(flag(parent, "flag"), None);
        assert_eq!(integer(parent, "number"), None);
        assert_eq!(items(parent, "list").count(), 0);
        assert_eq!(object(parent, "object"), None);
        assert_eq!(field(parent, "null"), None);
        assert_eq!(text(Some(&json!("no object")), "text"), None);
        assert_eq!(text(None, "text"), None);
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        let value = json!({"a": 16.0, "b": 16.5, "c": 1e300, "d": -3, "e": u64::MAX});
        let parent = Some(&value);
        assert_eq!(integer(parent, "a"), Some(16));
        assert_eq!(integer(parent, "b"), None);
        assert_eq!(integer(parent, "c"), None);
        assert_eq!(integer(parent, "d"), Some(-3));
        assert_eq!(integer(parent, "e"), None);
    }

    #[test]
    fn items_keep_their_place_in_the_written_list() {
        let value = json!({"list": ["a", 1, null, "b"]});
        let read = texts(Some(&value), "list");
        assert_eq!(read, [Indexed { index: 0, value: "a" }, Indexed { index: 3, value: "b" }]);
    }
}
