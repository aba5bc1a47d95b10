//! The style of a JSON text: its indentation, line ends and spaces. What we add is written in the same style. Not
//! here: where it is added.

use jsonc_parser::common::Ranged as _;
use serde_json::Value;

use super::tree::Tree;

/// The style of a text.
pub(super) struct JsonStyle {
    /// One step of indentation.
    indent: String,
    eol: &'static str,
    /// Whether the whole text is on one line.
    minified: bool,
    /// The space after a comma or a colon on one line.
    space: &'static str,
}

/// The longest step of indentation. More white space is alignment.
const INDENT_MAX: usize = 8;

impl JsonStyle {
    pub(super) fn detect(tree: &Tree<'_>) -> Self {
        let text = tree.text;
        let first = tree.root.as_object().and_then(|root| root.properties.first());
        let body = tree.root.text(text);
        let minified = first.is_some() && !body.contains('\n');
        let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent = first.and_then(|first| line_before(text, first.start()));
        let indent = indent.filter(|indent| !indent.is_empty() && indent.len() <= INDENT_MAX);
        let colon = first.and_then(|first| text.get(..first.value.start()));
        let tight = minified && colon.is_some_and(|head| !head.ends_with(' '));
        Self {
            indent: indent.unwrap_or("  ").to_owned(),
            eol,
            minified,
            space: if tight { "" } else { " " },
        }
    }

    pub(super) fn is_minified(&self) -> bool {
        self.minified
    }

    /// What is between two items on one line, after the comma.
    pub(super) fn space(&self) -> &'static str {
        self.space
    }

    /// The number of steps by which the line of a position is indented.
    pub(super) fn depth_at(&self, text: &str, place: usize) -> usize {
        let line = text.get(..place).unwrap_or_default();
        let line = line.rsplit('\n').next().unwrap_or_default();
        let white = line.len() - line.trim_start_matches([' ', '\t']).len();
        white / self.indent.len().max(1)
    }

    /// A line break and the indentation of the next line.
    pub(super) fn line(&self, depth: usize) -> String {
        format!("{}{}", self.eol, self.indent.repeat(depth))
    }

    /// The name of a member with its colon.
    pub(super) fn name(&self, key: &str, is_inline: bool) -> String {
        let space = if is_inline { self.space } else { " " };
        format!("{}:{space}", Value::from(key))
    }

    /// A value on several lines, if it has parts.
    pub(super) fn render(&self, value: &Value, depth: usize) -> String {
        if self.minified {
            return self.inline(value);
        }
        match value {
            Value::Object(members) if !members.is_empty() => {
                let lines = members.iter().map(|(key, value)| {
                    let name = self.name(key, false);
                    format!("{}{name}{}", self.line(depth + 1), self.render(value, depth + 1))
                });
                format!("{{{}{}}}", lines.collect::<Vec<_>>().join(","), self.line(depth))
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                let lines = items.iter().map(|item| {
                    format!("{}{}", self.line(depth + 1), self.render(item, depth + 1))
                });
                format!("[{}{}]", lines.collect::<Vec<_>>().join(","), self.line(depth))
            }
            other => self.inline(other),
        }
    }

    /// A value on one line.
    pub(super) fn inline(&self, value: &Value) -> String {
        let separator = format!(",{}", self.space);
        match value {
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}{}", self.name(key, true), self.inline(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(&separator))
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.inline(item));
                format!("[{}]", items.collect::<Vec<_>>().join(&separator))
            }
            scalar => scalar.to_string(),
        }
    }
}

/// The white space before a position, if nothing else is before it on its line.
fn line_before(text: &str, place: usize) -> Option<&str> {
    let (_, line) = text.get(..place)?.rsplit_once('\n')?;
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}
