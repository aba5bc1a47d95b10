//! Takes typed values out of a JSON object and notes every problem on the way. It is lenient about form: models send
//! `"5"` for 5, and "" or null for a field that they leave out. It is strict about names.
//! Not here: which fields a call has (`rule`, and the requests).

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::{QuerySyntax, TimePoint};
use event::limits::SHORT_BYTES_MAX;
use event::{Problems, Strength, json_type, list_from_json, unknown_field};
use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};
use learning::signature::error_lines;

/// The arguments of a request, as they are given.
pub type CallArguments = Map<String, Value>;

/// The bounds of a list.
#[derive(Debug, Clone, Copy)]
pub struct ListRule {
    /// Most entries.
    pub items_max: usize,
    /// Longest entry, in bytes.
    pub item_bytes_max: usize,
}

/// The fields of one call, and what is wrong with them so far.
pub struct Fields {
    given: Map<String, Value>,
    problems: Problems,
}

impl Fields {
    /// Takes the arguments of a call that knows the fields `known`. `aliases` pairs names that models and people use
    /// by mistake with the field they mean.
    pub(super) fn new(
        known: &[&str],
        aliases: &[(&str, &str)],
        mut given: Map<String, Value>,
    ) -> Self {
        given.retain(|_, value| !is_absent(value));
        let mut problems = Problems::none();
        for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
            problems.push(unknown_field(name, known, aliases));
        }
        Self { given, problems }
    }

    /// Tells whether a field was given a value that is not blank, and not taken yet.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_blank = |value: &Value| match value {
            Value::Array(entries) => entries.iter().all(is_absent),
            other => is_absent(other),
        };
        self.given.get(name).is_some_and(|value| !is_blank(value))
    }

    /// Takes a text of at most `bytes_max` bytes. Whatever could mislead is dropped, not refused:
    /// agents paste the output of terminals.
    pub(super) fn text(&mut self, name: &str, bytes_max: usize) -> Option<String> {
        let text = match self.given.remove(name)? {
            Value::String(text) => {
                neutralise(&text.replace("\r\n", "\n"), Layout::Block).trim().to_owned()
            }
            other => {
                let message = format!("must be a string, got {}", json_type(&other));
                self.problems.add(name, message);
                return None;
            }
        };
        if text.len() > bytes_max {
            let message = format!(
                "has {} bytes; at most {bytes_max} are allowed: keep the first error and the last lines",
                text.len()
            );
            self.problems.add(name, message);
            return None;
        }
        (!text.is_empty()).then_some(text)
    }

    /// Takes a text to search for. A longer one, such as the log of a CI run, is cut to its telling lines.
    /// Its secrets go first: a password whose name is cut off is a word like any other.
    pub(super) fn query(&mut self, name: &str, bytes_max: usize) -> Option<RedactedText> {
        self.text(name, usize::MAX).map(|text| cut_query(RedactedText::redact(&text), bytes_max))
    }

    /// Tells how the words of a text to search for are read, and leaves it there.
    pub(super) fn syntax(&self, name: &str) -> QuerySyntax {
        self.given.get(name).and_then(Value::as_str).map_or_else(<_>::default, QuerySyntax::of_text)
    }

    /// Takes a list of short texts.
    pub(super) fn list(&mut self, name: &str, rule: &ListRule) -> Vec<String> {
        let Some(value) = self.given.remove(name) else { return Vec::new() };
        let items = match list_from_json(name, value) {
            Ok(items) => items,
            Err(message) => {
                self.problems.add(name, message);
                return Vec::new();
            }
        };
        let mut kept: Vec<String> =
            items.iter().map(|item| neutralise(item, Layout::Line)).collect();
        kept.retain(|item| !item.is_empty());
        if kept.len() > rule.items_max {
            let message =
                format!("has {} entries; at most {} are allowed", kept.len(), rule.items_max);
            self.problems.add(name, message);
        }
        if kept.iter().any(|item| item.len() > rule.item_bytes_max) {
            let message =
                format!("has an entry of more than {} bytes; shorten it", rule.item_bytes_max);
            self.problems.add(name, message);
        }
        kept
    }

    /// Takes a whole number, given as a number or as a string.
    pub(super) fn number(&mut self, name: &str, allowed: RangeInclusive<usize>) -> Option<usize> {
        let value = self.given.remove(name)?;
        let number = whole_number(&value).filter(|number| allowed.contains(number));
        if number.is_none() {
            let (least, most) = (allowed.start(), allowed.end());
            let message = format!(
                "must be a whole number from {least} to {most}, got {}",
                brief_value(&value)
            );
            self.problems.add(name, message);
        }
        number
    }

    /// Takes a share from 0 to 1, given as a number or as a string.
    pub(super) fn share(&mut self, name: &str) -> Option<Strength> {
        let value = self.given.remove(name)?;
        let number = match &value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        let share = number.and_then(Strength::from_share);
        if share.is_none() {
            let message = format!("must be a number from 0 to 1, got {}", brief_value(&value));
            self.problems.add(name, message);
        }
        share
    }

    /// Takes a point in time.
    pub(super) fn point(&mut self, name: &str) -> Option<TimePoint> {
        let text = self.text(name, SHORT_BYTES_MAX)?;
        let point = TimePoint::parse(&text);
        if point.is_none() {
            let message = format!("must be {}, got {:?}", TimePoint::ALLOWED, brief_text(&text));
            self.problems.add(name, message);
        }
        point
    }

    /// Takes true or false, given as such or as a string.
    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.given.remove(name)?;
        let flag = match &value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if flag.is_none() {
            let message = format!("must be true or false, got {}", brief_value(&value));
            self.problems.add(name, message);
        }
        flag
    }

    /// Notes that `name` is needed, unless a problem with it is known already.
    pub(super) fn report_missing(&mut self, name: &str, message: &str) {
        if !self.problems.names(name) {
            self.problems.add(name, message);
        }
    }

    /// Returns `value` when nothing is wrong.
    pub(super) fn finish<T>(self, value: T) -> Result<T, Problems> {
        self.problems.or(value)
    }
}

/// Cuts a text that is too long for a query: to the lines that report its error, or else to its beginning and its end.
fn cut_query(text: RedactedText, bytes_max: usize) -> RedactedText {
    if text.len() <= bytes_max {
        return text;
    }
    if let Some(lines) = text.part(error_lines).filter(|lines| lines.len() <= bytes_max) {
        return lines;
    }
    let half = bytes_max / 2;
    RedactedText::head_and_tail(&text, half, half - 1, "\n")
}

/// Tells whether a value stands for "not given", as models that must name every field write it.
pub fn is_absent(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn whole_number(value: &Value) -> Option<usize> {
    let parse = |text: &str| text.strip_suffix(".0").unwrap_or(text).parse().ok();
    match value {
        Value::Number(number) => parse(&number.to_string()),
        Value::String(text) => parse(text.trim()),
        _ => None,
    }
}

fn brief_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", brief_text(text)),
        Value::Number(number) => number.to_string(),
        other => json_type(other).to_owned(),
    }
}

/// A text of the caller's, short and harmless enough to be repeated in a message.
fn brief_text(text: &str) -> String {
    neutralise(text, Layout::Line).chars().take(40).collect()
}
