//! Whom a team's member trusts: whose actions count, whose trees must be signed, and which fields leave this machine. Not here: the
//! other settings of `[sync]` (`sync_policy`).

use event::StoreOrigin;
use serde_json::json;
use toml::Value;

use super::setting::SettingForm;
use super::value_kinds::{Switch, Texts, ValueKind, WrongValue, texts_of, written_list};

/// Whose actions (forget, supersede, pin and the like) count like our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamTrust {
    /// Those of these origins.
    Origins(Vec<StoreOrigin>),
    /// Those of every origin.
    Full,
}

impl Default for TeamTrust {
    fn default() -> Self {
        Self::Origins(Vec::new())
    }
}

impl ValueKind for TeamTrust {
    type Value = Self;
    const FORM: SettingForm = SettingForm::ListOrWord;

    /// Reads whole origins. What is shown of one could be the beginning of several.
    fn read(value: &Value) -> Result<Self, WrongValue> {
        if let Some(word) = value.as_str() {
            return if word == "full" { Ok(Self::Full) } else { Err(WrongValue::quoting(word)) };
        }
        let named = Texts::read(value)?;
        if named.iter().any(|name| name == "full") {
            return Ok(Self::Full);
        }
        let read = named
            .iter()
            .map(|text| StoreOrigin::parse(text.trim()).ok_or_else(|| WrongValue::quoting(text)));
        read.collect::<Result<_, _>>().map(Self::Origins)
    }

    fn write(value: &Self) -> Option<Value> {
        match value {
            Self::Full => Some("full".into()),
            Self::Origins(origins) => written_list(
                &origins.iter().map(|origin| origin.as_str().to_owned()).collect::<Vec<_>>(),
            ),
        }
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [{ "const": "full" }, SettingForm::List.schema()] })
    }
}

/// Whether trees of other origins must be signed. One that signed once must go on in either case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SignatureRule {
    /// An origin may sign.
    #[default]
    Optional,
    /// Every origin must.
    Required,
}

impl ValueKind for SignatureRule {
    type Value = Self;
    const FORM: SettingForm = SettingForm::Switch;

    fn read(value: &Value) -> Result<Self, WrongValue> {
        let read = Switch::read(value)?;
        Ok(if read == Switch::On { Self::Required } else { Self::Optional })
    }

    fn write(value: &Self) -> Option<Value> {
        Some(Value::Boolean(*value == Self::Required))
    }
}

/// Fields that can be left out of what is shared: those in which copies of one event may differ (S-READ-3).
pub struct SharedFields;

const STRIP: [&str; 4] = ["branch", "commit", "host", "session_id"];

impl ValueKind for SharedFields {
    type Value = Vec<String>;
    const FORM: SettingForm = SettingForm::List;

    fn read(value: &Value) -> Result<Vec<String>, WrongValue> {
        texts_of(value, |text| STRIP.contains(&text))
    }

    fn write(value: &Vec<String>) -> Option<Value> {
        written_list(value)
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "array", "items": { "enum": STRIP } })
    }
}
