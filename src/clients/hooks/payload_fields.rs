//! Lookups in the JSON object that a client hands to a hook. Not here: what the fields mean (`hook_input`, `outcome`).

use event::from_json;
use serde_json::{Map, Value};

/// Returns the first of these fields that is a string.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

/// Returns an object, also if it was encoded as a string.
pub(super) fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            from_json(text).ok()?.as_object().cloned()
        }
        _ => None,
    }
}

/// Returns a name in lower case with letters and digits only, since clients spell the same name differently.
pub(super) fn plain_name(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}
