//! Reads typed values from a JSON object of a set. A value that is missing or has another type is reported with
//! its place and field. Not here: which fields a format has.

use serde_json::{Map, Value};

use crate::EvalError;
use event::json_type;

/// An object and its place in the file.
pub(super) struct SetObject<'a> {
    pub(super) place: String,
    map: &'a Map<String, Value>,
}

impl<'a> SetObject<'a> {
    pub(super) fn from_value(place: String, value: &'a Value) -> Result<Self, EvalError> {
        match value {
            Value::Object(map) => Ok(Self { place, map }),
            other => {
                let message = format!("must be an object, got {}", json_type(other));
                Err(EvalError::form(place, "JSON", message))
            }
        }
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.map.get(field).is_some_and(|value| !value.is_null())
    }

    pub(super) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// Returns a required text. `example` is used in the error.
    pub(super) fn text(&self, field: &str, example: &str) -> Result<&'a str, EvalError> {
        match self.map.get(field) {
            Some(Value::String(text)) => Ok(text),
            other => Err(self.wrong(field, "a string", other, example)),
        }
    }

    /// Returns an optional text.
    pub(super) fn optional(&self, field: &str, example: &str) -> Result<Option<String>, EvalError> {
        if !self.has(field) {
            return Ok(None);
        }
        let text = self.text(field, example)?.to_owned();
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// Returns a required array.
    pub(super) fn list(&self, field: &str, example: &str) -> Result<&'a [Value], EvalError> {
        match self.map.get(field) {
            Some(Value::Array(items)) => Ok(items),
            other => Err(self.wrong(field, "an array", other, example)),
        }
    }

    /// Returns a required array of strings.
    pub(super) fn texts(&self, field: &str, example: &str) -> Result<Vec<&'a str>, EvalError> {
        let items = self.list(field, example)?;
        let wrong = |item| self.wrong(field, "an array of strings, not of", Some(item), example);
        items.iter().map(|item| item.as_str().ok_or_else(|| wrong(item))).collect()
    }

    /// Returns a required array of objects.
    pub(super) fn objects(
        &self,
        field: &str,
        example: &str,
    ) -> Result<Vec<SetObject<'a>>, EvalError> {
        let items = (0..).zip(self.list(field, example)?);
        items.map(|(place, item)| self.inner(field, place, item)).collect()
    }

    /// Returns a required object.
    pub(super) fn object(&self, field: &str, example: &str) -> Result<SetObject<'a>, EvalError> {
        match self.map.get(field) {
            Some(value @ Value::Object(_)) => {
                SetObject::from_value(format!("{}.{field}", self.place), value)
            }
            other => Err(self.wrong(field, "an object", other, example)),
        }
    }

    /// Wraps the object at an index of an array in this one.
    pub(super) fn inner(
        &self,
        field: &str,
        place: usize,
        value: &'a Value,
    ) -> Result<SetObject<'a>, EvalError> {
        SetObject::from_value(format!("{}.{field}[{place}]", self.place), value)
    }

    fn wrong(&self, field: &str, allowed: &str, got: Option<&Value>, example: &str) -> EvalError {
        let got = got.map_or("nothing", json_type);
        let message = format!("must be {allowed}, got {got}; for example {example}");
        EvalError::form(&self.place, field, message)
    }
}
