//! `docs/settings.schema.json`: the settings in JSON Schema, for editors of TOML. Not here: the page for people (`settings_page`).

use serde_json::{Map, Value, json};

use super::config_table::ConfigTable;
use super::section_budgets::BRIEFING_SECTIONS;
use super::setting::Setting;

/// Returns the schema of the configuration file.
#[must_use]
pub fn settings_schema() -> Value {
    let mut properties = Map::new();
    for setting in Setting::all().filter(|setting| !setting.key.contains('.')) {
        properties.insert(setting.key.to_owned(), value_schema(setting));
    }
    for &table in ConfigTable::ALL {
        let schema = schema_of(table);
        let schema = match properties.shift_remove(table.as_str()) {
            Some(value) => json!({ "anyOf": [value, schema] }),
            None => schema,
        };
        properties.insert(table.as_str().to_owned(), schema);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The settings of agent-knowledge",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn schema_of(table: ConfigTable) -> Value {
    let start = format!("{}.", table.as_str());
    let settings =
        || Setting::all().filter_map(|setting| Some((setting.key.strip_prefix(&*start)?, setting)));
    let named = settings().filter(|(name, _)| *name != "*");
    let properties: Map<_, _> =
        named.map(|(name, setting)| (name.to_owned(), value_schema(setting))).collect();
    let others =
        settings().find(|(name, _)| *name == "*").map(|(_, setting)| value_schema(setting));
    let mut schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("description".to_owned(), json!(table.about())),
        ("properties".to_owned(), json!(properties)),
        ("additionalProperties".to_owned(), others.unwrap_or(Value::Bool(false))),
    ]);
    if table == ConfigTable::SectionBudgets {
        schema.insert("propertyNames".to_owned(), json!({ "enum": BRIEFING_SECTIONS }));
    }
    schema.into()
}

/// Returns the schema of one value, with what people read of it.
fn value_schema(setting: &Setting) -> Value {
    let mut schema = match (setting.schema)() {
        Value::Object(schema) => schema,
        other => return other,
    };
    schema.insert("description".to_owned(), setting.about.into());
    schema.extend((setting.default)().map(|default| ("default".to_owned(), json!(default))));
    let example = format!("x = {}", setting.toml_example()).parse::<toml::Table>();
    let examples = example
        .map_or_else(|_| Vec::new(), |table| table.into_iter().map(|(_, value)| value).collect());
    schema.insert("examples".to_owned(), json!(examples));
    schema.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CONFIG-1
    #[test]
    fn every_setting_has_its_schema() {
        let schema = settings_schema();
        for setting in Setting::all() {
            let path = format!(
                "/properties/{}",
                setting.key.replace(".*", "").replace('.', "/properties/")
            );
            let inner = path.replacen("/embedding/", "/embedding/anyOf/1/", 1);
            let found = schema.pointer(&inner).unwrap_or_else(|| panic!("{}", setting.key));
            assert!(found.is_object(), "{}", setting.key);
        }
        let batch = &schema["properties"]["embedding"]["anyOf"][1]["properties"]["batch"];
        assert_eq!((&batch["maximum"], &batch["default"]), (&json!(512), &json!(32)));
        let provider = &schema["properties"]["rerank"]["properties"]["provider"]["enum"];
        assert!(provider.as_array().unwrap().contains(&json!("jina")), "{provider}");
    }
}
