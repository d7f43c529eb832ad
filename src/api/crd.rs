//! The definitions of the kinds as plain data: brought into the form that the API server stores, ready to be printed.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use serde_json::{Number, Value, json};

use super::Kind;

/// The longest name of an object.
const MAX_NAME: i64 = 253;

/// The kind's definition as it is installed, with the same bytes on every run.
///
/// # Errors
/// Never for the four kinds; the error is that of the serialization.
pub fn to_value(kind: Kind) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(kind.crd())?;
    whole_numbers(&mut value);
    Ok(value)
}

/// Brings a derived definition into the shape we ship.
///
/// Nothing may be null: an optional field is one that may be left out. The derive would also let it be null, which
/// means the same to a person but not to a tool that compares what was applied with what is stored. `status` has no
/// defaults, because nobody but the controller writes it. A description is one line for each paragraph. The title is
/// dropped: it says the kind a second time.
pub(super) fn normalise(crd: &mut CustomResourceDefinition) {
    let schemas = crd.spec.versions.iter_mut().filter_map(|version| version.schema.as_mut());
    for root in schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut()) {
        visit(root, &mut |node| {
            node.nullable = None;
            node.title = None;
            node.description = node.description.take().map(|text| unwrapped(&text));
            if let Some(values) = node.enum_.as_mut() {
                values.retain(|value| !value.0.is_null());
            }
        });
        let judges_name = root
            .x_kubernetes_validations
            .iter()
            .flatten()
            .any(|rule| rule.rule.contains("self.metadata.name"));
        let properties = root.properties.get_or_insert_default();
        if let Some(status) = properties.get_mut("status") {
            visit(status, &mut |node| node.default = None);
        }
        if judges_name {
            // Without a bound the API server takes a rule on the name for too costly.
            properties.insert("metadata".to_owned(), bounded_name());
        }
    }
}

/// All that the API server lets a schema say about `metadata`.
fn bounded_name() -> JSONSchemaProps {
    let name = JSONSchemaProps {
        type_: Some("string".to_owned()),
        max_length: Some(MAX_NAME),
        ..JSONSchemaProps::default()
    };
    JSONSchemaProps {
        type_: Some("object".to_owned()),
        properties: Some([("name".to_owned(), name)].into()),
        ..JSONSchemaProps::default()
    }
}

fn visit(node: &mut JSONSchemaProps, change: &mut impl FnMut(&mut JSONSchemaProps)) {
    change(node);
    for child in node.properties.iter_mut().flat_map(|properties| properties.values_mut()) {
        visit(child, change);
    }
    match node.items.as_mut() {
        Some(JSONSchemaPropsOrArray::Schema(item)) => visit(item, change),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(|item| visit(item, change)),
        None => {}
    }
}

/// Undoes the line breaks that the source has inside a paragraph.
fn unwrapped(text: &str) -> String {
    let paragraphs =
        text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Writes `0.0` as `0`, as the API server stores it.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let holder = json!({ "number": &*number });
            if let Some(whole) = super::raw::integer(Some(&holder), "number") {
                *number = Number::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_whole_numbers_and_nothing_is_nullable() {
        for kind in Kind::ALL {
            let text = to_value(kind).unwrap().to_string();
            assert!(!text.contains(".0,") && !text.contains(".0}"), "{kind} prints a fraction");
            assert!(!text.contains("nullable"), "{kind} has a field that may be null");
        }
    }

    #[test]
    fn a_description_keeps_its_paragraphs() {
        assert_eq!(unwrapped("One\n two.\n\nThree\nfour."), "One two.\n\nThree four.");
    }
}
