//! The arguments of a tool as clients send them: with fields of their own, with 0 for a number that nobody gave, with more than
//! there is. Such a call is answered all the same, and its answer says what was not taken as it was given. Not here: reading the
//! values that are left (`fields`), which also refuses what has no meaning.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::fields::{CallArguments, is_absent};
use crate::parameter::{Face, Parameter, ParameterValues};
use crate::tool::VerbTool;
use crate::verb::Verb;
use event::{UnknownField, unknown_draft_field};

/// Most names of unknown fields in a note: a client may send any number of them.
const NAMES_MAX: usize = 8;

/// The arguments of one call.
pub struct ToolArguments {
    /// Those that the tool knows.
    pub arguments: CallArguments,
    /// What was not taken as it was given, for the answer.
    pub note: Option<String>,
}

impl ToolArguments {
    /// Takes what a tool knows out of what a client sent.
    #[must_use]
    pub fn read(verb: &Verb, tool: &VerbTool, given: CallArguments) -> Self {
        let mut parameters = (tool.parameters)();
        parameters.retain(|parameter| parameter.is_offered(Face::Tool));
        let (mut arguments, mut unknown, mut notes) =
            (CallArguments::new(), Vec::new(), Vec::new());
        for (name, value) in with_own_names(&parameters, given) {
            if let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) {
                let (fitting, note) = fitting_value(parameter, value);
                arguments.extend(fitting.map(|value| (name, value)));
                notes.extend(note);
            } else if let Some(field) = unknown_field_of(verb, &parameters, &name) {
                unknown.extend((!is_absent(&value)).then_some(field));
            } else {
                arguments.insert(name, value);
            }
        }
        notes.extend(unknown_note(&unknown));
        Self { arguments, note: (!notes.is_empty()).then(|| notes.join("\n")) }
    }
}

/// Gives each field the name that the tool has for it: `folder` is `folders`, and a list of one `folders` is `folder`. What the tool has
/// under both names, or under several others, stays as it is.
fn with_own_names(parameters: &[Parameter], given: CallArguments) -> CallArguments {
    let count = |parameter: &Parameter| {
        let is_of = |name: &&String| {
            **name == parameter.name || parameter.other_names.contains(&name.as_str())
        };
        given.keys().filter(is_of).count()
    };
    let alone: Vec<&Parameter> = parameters.iter().filter(|one| count(one) == 1).collect();
    let own_name = |(name, value): (String, Value)| {
        let meant = alone.iter().find(|one| one.other_names.contains(&name.as_str()));
        match meant.and_then(|one| Some((one.name.to_owned(), value_for(one, &value)?))) {
            Some(named) => named,
            None => (name, value),
        }
    };
    given.into_iter().map(own_name).collect()
}

/// Returns a value as one of a parameter; `None` where it is none, as several texts are not one.
fn value_for(parameter: &Parameter, value: &Value) -> Option<Value> {
    match (&parameter.values, value) {
        (ParameterValues::List, Value::String(_) | Value::Array(_))
        | (ParameterValues::Text, Value::String(_)) => Some(value.clone()),
        (ParameterValues::Text, Value::Array(entries)) => match entries.as_slice() {
            [Value::String(only)] => Some(only.clone().into()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a field that the tool does not know. A save knows more fields than it lists.
fn unknown_field_of(verb: &Verb, parameters: &[Parameter], name: &str) -> Option<UnknownField> {
    if verb.takes_more {
        return unknown_draft_field(name);
    }
    let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
    let aliases = parameters
        .iter()
        .flat_map(|parameter| parameter.aliases.iter().map(|alias| (*alias, parameter.name)));
    Some(UnknownField::new(name, &known, &aliases.collect::<Vec<_>>()))
}

/// Returns the value within the bounds of its parameter, none where it stands for \"not given\", and a note where it was changed.
fn fitting_value(parameter: &Parameter, value: Value) -> (Option<Value>, Option<String>) {
    let ParameterValues::Whole(allowed) = &parameter.values else { return (Some(value), None) };
    match number_of(&value) {
        Some(0.0) if *allowed.start() > 0 => (None, None),
        Some(number) if exceeds(number, allowed) => {
            let most = *allowed.end();
            let note = format!("Note: {} is at most {most}, so {most} was taken.", parameter.name);
            (Some(most.into()), Some(note))
        }
        _ => (Some(value), None),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no bound of a parameter has so many digits")]
fn exceeds(number: f64, allowed: &RangeInclusive<usize>) -> bool {
    number > *allowed.end() as f64
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}

fn unknown_note(unknown: &[UnknownField]) -> Option<String> {
    let name = |field: &UnknownField| match &field.meant {
        Some(meant) => format!("{:?} (did you mean {meant:?}?)", field.shown),
        None => format!("{:?}", field.shown),
    };
    let mut names: Vec<String> = unknown.iter().take(NAMES_MAX).map(name).collect();
    let more = unknown.len().saturating_sub(NAMES_MAX);
    names.extend((more > 0).then(|| format!("and {more} more")));
    let noun = if unknown.len() == 1 { "field was" } else { "fields were" };
    (!names.is_empty()).then(|| format!("Note: unknown {noun} ignored: {}.", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::VERBS;
    use serde_json::json;

    fn read(tool: &str, given: Value) -> (Value, String) {
        let mut rows = VERBS.iter().filter_map(|verb| Some((verb, verb.tool?)));
        let (verb, tool) = rows.find(|(_, row)| row.name == tool).unwrap();
        let Value::Object(given) = given else { panic!("an object") };
        let read = ToolArguments::read(verb, &tool, given);
        (read.arguments.into(), read.note.unwrap_or_default())
    }

    // S-MCP-14
    #[test]
    fn fields_that_clients_add_are_ignored_with_a_note() {
        for (tool, own) in [
            (crate::tool::SEARCH, json!({"query": "x"})),
            (crate::tool::SAVE, json!({"lesson": "x", "commit": "abc"})),
            (crate::tool::ANALYZE, json!({"topic": "gaps"})),
        ] {
            let mut given = own.clone();
            given["toolCallId"] = "call_1".into();
            given["chatInput"] = json!({"deep": [1]});
            given["empty"] = Value::Null;
            let (taken, note) = read(tool, given);
            assert_eq!(taken, own);
            assert!(note.starts_with("Note: unknown fields were ignored: "), "{note}");
            assert!(note.contains("\"chatInput\"") && note.contains("\"toolCallId\""), "{note}");
        }
        let (_, note) = read(crate::tool::SEARCH, json!({"q": "x"}));
        assert_eq!(note, "Note: unknown field was ignored: \"q\" (did you mean \"query\"?).");
        let many: CallArguments = (0..30).map(|n| (format!("x{n}"), json!(1))).collect();
        let (_, note) = read(crate::tool::CONTEXT, many.into());
        assert!(note.ends_with(", and 22 more."), "{note}");
    }

    // S-MCP-14
    #[test]
    fn a_filter_has_the_names_that_people_use_for_it() {
        use crate::tool::{CONTEXT, SAVE, SEARCH, STALE};
        for (tool, given, taken) in [
            (SEARCH, json!({"folder": "../api"}), json!({"folders": "../api"})),
            (SEARCH, json!({"package": "api"}), json!({"folders": "api"})),
            (
                SEARCH,
                json!({"file": ["a.ts"], "tag": "npm"}),
                json!({"files": ["a.ts"], "tags": "npm"}),
            ),
            (SEARCH, json!({"kind": "error"}), json!({"kinds": "error"})),
            (STALE, json!({"folder": "api"}), json!({"folders": "api"})),
            (
                CONTEXT,
                json!({"folders": ["../api"], "file": "a"}),
                json!({"files": "a", "folder": "../api"}),
            ),
            (CONTEXT, json!({"package": "api"}), json!({"folder": "api"})),
            (SAVE, json!({"lesson": "x", "file": "a.ts"}), json!({"lesson": "x", "files": "a.ts"})),
            (
                SAVE,
                json!({"lesson": "x", "package": "web"}),
                json!({"lesson": "x", "folder": "web"}),
            ),
        ] {
            assert_eq!(read(tool, given.clone()), (taken, String::new()), "{given}");
        }
        let (taken, note) = read(SEARCH, json!({"folders": ["web"], "folder": "api"}));
        assert_eq!(taken, json!({"folders": ["web"]}), "nobody knows which is meant");
        assert!(note.contains("\"folder\" (did you mean \"folders\"?)"), "{note}");
        let (taken, note) = read(CONTEXT, json!({"folders": ["web", "api"]}));
        assert!(taken == json!({}) && note.contains("did you mean \"folder\"?"), "{note}");
        let (taken, _) = read(SEARCH, json!({"queries": "x", "folder": 7, "id": "call_1"}));
        assert_eq!(taken, json!({}), "what clients add names no memory");
    }

    // S-MCP-14
    #[test]
    fn zero_is_not_given_and_too_much_is_the_most() {
        for zero in [json!(0), json!("0"), json!(0.0)] {
            let (taken, note) =
                read(crate::tool::SEARCH, json!({"query": "x", "limit": zero, "max_tokens": zero}));
            assert_eq!((taken, note.as_str()), (json!({"query": "x"}), ""));
        }
        for much in [json!(99), json!("1e30"), json!(1e9), json!(u64::MAX)] {
            let (taken, note) = read(crate::tool::SEARCH, json!({"limit": much}));
            assert_eq!(taken, json!({"limit": 20}));
            assert_eq!(note, "Note: limit is at most 20, so 20 was taken.");
        }
        let (taken, _) = read(crate::tool::SEARCH, json!({"min_relevance": 0, "limit": -1}));
        assert_eq!(taken, json!({"min_relevance": 0, "limit": -1}), "a meaning, and none");
    }
}
