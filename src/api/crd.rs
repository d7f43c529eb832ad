//! The definitions of the kinds as plain data: brought into the form the API server stores, and printed.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};

/// Brings a derived definition into the shape we ship: nothing may be null, and `status` has no defaults.
///
/// An optional field is one that may be left out. The derive would also let it be null, which means the same to a
/// person but not to a tool that compares what was applied with what is stored.
pub(super) fn normalise(crd: &mut CustomResourceDefinition) {
    let schemas = crd.spec.versions.iter_mut().filter_map(|version| version.schema.as_mut());
    for schema in schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut()) {
        visit(schema, &mut |node| {
            node.nullable = None;
            if let Some(values) = node.enum_.as_mut() {
                values.retain(|value| !value.0.is_null());
            }
        });
        if let Some(status) = schema.properties.as_mut().and_then(|properties| properties.get_mut("status")) {
            visit(status, &mut |node| node.default = None);
        }
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
