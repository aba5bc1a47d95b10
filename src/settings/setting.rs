//! One setting: what it takes, what it is for, and how messages, pages and schemas name it. Not here: which settings there are
//! (`table`), reading a file (`config`).

use serde_json::json;

/// A setting of the configuration file.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The key; that of a table is before the dot. `*` stands for any name.
    pub key: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it takes.
    pub form: SettingForm,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// A value that is allowed.
    pub example: &'static str,
    /// The variable that wins over the file, if there is one.
    pub variable: Option<&'static str>,
    /// The message for a wrong value, if it is more than what is allowed.
    pub(crate) wrong: Option<&'static str>,
    /// Returns its default, as a file would have it; `None` if the platform decides or there is none.
    pub default: fn() -> Option<toml::Value>,
    /// Describes its value in JSON Schema.
    pub(crate) schema: fn() -> serde_json::Value,
    /// Whether the file of a project may set it.
    pub(crate) is_for_projects: bool,
    /// Whether the replicas of a team must have it alike, to give the same answers.
    pub is_for_replicas: bool,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingForm {
    /// A text.
    Text,
    /// The path of a directory. It decides where something goes, so a file in which it is wrong is refused.
    Directory,
    /// A whole number.
    Number,
    /// On or off.
    Switch,
    /// Several texts.
    List,
    /// Several texts, or one word that stands for all.
    ListOrWord,
}

impl SettingForm {
    /// Returns its type in TOML, in words.
    pub(crate) fn toml_type(self) -> &'static str {
        match self {
            Self::Text | Self::Directory => "a text in quotes",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
            Self::List | Self::ListOrWord => "a list of texts",
        }
    }

    /// Tells whether a value has the right type.
    pub(crate) fn fits(self, value: &toml::Value) -> bool {
        let is_list =
            || value.as_array().is_some_and(|items| items.iter().all(toml::Value::is_str));
        match self {
            Self::Text | Self::Directory => value.is_str(),
            Self::Number => value.is_integer(),
            Self::Switch => value.is_bool(),
            Self::List => is_list(),
            Self::ListOrWord => value.is_str() || is_list(),
        }
    }

    /// Describes the type in JSON Schema.
    pub(crate) fn schema(self) -> serde_json::Value {
        match self {
            Self::Text | Self::Directory => json!({ "type": "string" }),
            Self::Number => json!({ "type": "integer" }),
            Self::Switch => json!({ "type": "boolean" }),
            Self::List => json!({ "type": "array", "items": { "type": "string" } }),
            Self::ListOrWord => {
                json!({ "anyOf": [Self::Text.schema(), Self::List.schema()] })
            }
        }
    }
}

impl Setting {
    /// Returns the example without the part that a command adds.
    pub(crate) fn first_example(&self) -> &'static str {
        self.example.split(' ').next().unwrap_or_default()
    }

    /// Returns the example as a file has it.
    pub(crate) fn toml_example(&self) -> String {
        let first = self.first_example();
        match self.form {
            SettingForm::Text | SettingForm::Directory => format!("{first:?}"),
            SettingForm::Number => first.to_owned(),
            SettingForm::Switch => (first == "on").to_string(),
            SettingForm::List | SettingForm::ListOrWord => {
                format!("{:?}", self.example.split(',').collect::<Vec<_>>())
            }
        }
    }

    /// Returns its key with a usual name, where people choose the name.
    #[must_use]
    pub fn usual_key(&self) -> String {
        let name = if self.key.starts_with("section_budgets.") { "decisions" } else { "old-name" };
        self.key.replace('*', name)
    }

    /// Returns the example as a line of the file, and the table below which it stands.
    pub(crate) fn example_line(&self, key: &str) -> String {
        let example = self.toml_example();
        let Some((table, name)) = key.split_once('.') else { return format!("{key} = {example}") };
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match name.bytes().all(is_bare) {
            true => format!("{name} = {example} below [{table}]"),
            false => format!("{} = {example} below [{table}]", event::quoted(name)),
        }
    }
}
