//! Saving an event, and the fields of it that a model sees. Not here: the rules about an event (`event::validate`),
//! which reports every problem itself.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::fields::is_absent;
use super::parameter::{Parameter, ParameterValues, ToolForm};
use event::{Draft, draft_from_json};
use guard::text::without_escapes;

/// Returns the parameters of `memory_save`. The agent and its session are known without the model, which would only
/// guess them; they are understood all the same.
#[must_use]
pub fn parameters() -> Vec<Parameter> {
    let kinds = "Guessed unless given: error, success, pattern, fact, decision, principle, procedure, convention, \
                 preference or task";
    vec![
        field("event_type", kinds, ParameterValues::Text),
        required("lesson", "What to do next time, 1-2 sentences"),
        field("context", "What was tried, what went wrong", ParameterValues::Text),
        field("command", "Command that helped", ParameterValues::Text),
        field("symptoms", "Exact error text as seen", ParameterValues::List),
        Parameter { other_names: &["tag"], ..field("tags", "", ParameterValues::List) },
        Parameter { other_names: &["file"], ..field("files", "", ParameterValues::List) },
        field("success_rate", "Worked, e.g. 9/10", ParameterValues::Text),
        field("repo", "Default: current; or global", ParameterValues::Text),
        Parameter {
            tool: ToolForm::Unlisted,
            other_names: &["folders", "package"],
            ..field("folder", "The package it is of", ParameterValues::Text)
        },
    ]
}

fn required(name: &'static str, text: &'static str) -> Parameter {
    Parameter { is_required: true, ..field(name, text, ParameterValues::Text) }
}

fn field(name: &'static str, text: &'static str, values: ParameterValues) -> Parameter {
    let (tool, command) = (ToolForm::Described, None);
    let (aliases, other_names, default, is_required) = (&[], &[], None, false);
    Parameter { name, aliases, other_names, text, values, default, is_required, tool, command }
}

/// Reads the arguments of `memory_save`: the fields of an event. What is empty counts as left out, and the colours of a terminal
/// are no part of a text that was pasted from one.
#[must_use]
pub fn draft(mut arguments: Map<String, Value>) -> Draft {
    arguments.values_mut().for_each(remove_escapes);
    arguments.retain(|_, value| !is_absent(value));
    draft_from_json(arguments)
}

fn remove_escapes(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(plain) = without_escapes(text) {
                *text = plain;
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(remove_escapes),
        _ => {}
    }
}
