//! The schemas of answers in the OpenAPI document: made from the types, in the words of JSON Schema that clients need. Not here: the types
//! (`reply`), the document (`openapi`).

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Where they stand in the document.
const ANSWERS: &str = "/components/schemas";

/// Makes the schemas of answers, as a server writes them: each type once, under its name.
pub(super) fn answer_schemas() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let place = |settings: &mut SchemaSettings| settings.definitions_path = ANSWERS.into();
    settings.with(place).with_transform(RecursiveTransform(as_written)).into_generator()
}

/// Says of a schema what a client needs: a field that need not be there is never null, and what a reader of older servers takes for
/// a missing field, or how we hold a number, is nobody else's concern.
fn as_written(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in properties.into_iter().flatten() {
        let Some(field) = field.as_object_mut() else { continue };
        field.shift_remove("default");
        if required.iter().all(|one| one != name) {
            without_null(field);
        }
    }
    if schema.get("format").and_then(Value::as_str).is_some_and(|how| how.starts_with("uint")) {
        schema.remove("format");
    }
}

fn without_null(field: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = field.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            field.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(kinds)) = field.get_mut("anyOf") {
        kinds.retain(|kind| kind.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(kind)] = kinds.as_slice() {
            let kind = kind.clone();
            field.shift_remove("anyOf");
            field.extend(kind);
        }
    }
}
