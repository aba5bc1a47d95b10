//! Turns a JSON object, as programs and models send it, into a draft. Field names are strict, value forms are
//! lenient: a list may also come as one string. Not here: rules about values (`validate`).

use serde_json::{Map, Value};

use super::audience::PRIVATE;
use super::confidence::CONFIDENCE;
use super::folder_path::FOLDER;
use super::{Draft, Problems, UnknownField, unknown_field};

/// Every field a caller may give, in the order of the line.
pub(super) const NAMES: [&str; 22] = [
    "id",
    "timestamp",
    "agent_id",
    "repo",
    "event_type",
    "context",
    "command",
    "lesson",
    "success_rate",
    "tags",
    "symptoms",
    "files",
    "commit",
    "branch",
    "session_id",
    "host",
    "source",
    "confidence",
    "expires",
    "scope",
    FOLDER,
    "private",
];

/// Names that people and models use by mistake, and the fields they mean.
const MEANT: [(&str, &str); 18] = [
    ("type", "event_type"),
    ("kind", "event_type"),
    ("agent", "agent_id"),
    ("session", "session_id"),
    ("tag", "tags"),
    ("symptom", "symptoms"),
    ("error", "symptoms"),
    ("file", "files"),
    ("package", "folder"),
    ("directory", "folder"),
    ("text", "lesson"),
    ("content", "lesson"),
    ("memory", "lesson"),
    ("success", "success_rate"),
    ("rate", "success_rate"),
    ("repository", "repo"),
    ("project", "repo"),
    ("time", "timestamp"),
];

/// Returns the name if no field of a draft has it, with the field that was probably meant.
#[must_use]
pub fn unknown_draft_field(name: &str) -> Option<UnknownField> {
    (!NAMES.contains(&name)).then(|| UnknownField::new(name, &NAMES, &MEANT))
}

/// Reads a draft from one JSON object. Every unknown field and every value of a wrong type becomes a problem of
/// the draft that says what is allowed.
#[must_use]
pub fn draft_from_json(object: Map<String, Value>) -> Draft {
    let mut draft = Draft::default();
    let mut problems = Problems::none();
    for (name, value) in object {
        if value.is_null() {
            continue;
        }
        if let Some(place) = text_field(&mut draft, &name) {
            match value {
                Value::String(text) => *place = Some(text),
                Value::Number(number) if name == CONFIDENCE => *place = Some(number.to_string()),
                other => problems.add(name, format!("must be a string, got {}", type_name(&other))),
            }
        } else if let Some(place) = list_field(&mut draft, &name) {
            match strings(&name, value) {
                Ok(list) => *place = list,
                Err(message) => problems.add(name, message),
            }
        } else if name == PRIVATE {
            match switch(&value) {
                Some(is_on) => draft.private = is_on,
                None => problems.add(name, "must be true or false"),
            }
        } else {
            problems.push(unknown_field(&name, &NAMES, &MEANT));
        }
    }
    Draft { problems, ..draft }
}

fn text_field<'a>(draft: &'a mut Draft, name: &str) -> Option<&'a mut Option<String>> {
    Some(match name {
        "id" => &mut draft.id,
        "timestamp" => &mut draft.timestamp,
        "agent_id" => &mut draft.agent_id,
        "repo" => &mut draft.repo,
        "event_type" => &mut draft.event_type,
        "context" => &mut draft.context,
        "command" => &mut draft.command,
        "lesson" => &mut draft.lesson,
        "success_rate" => &mut draft.success_rate,
        "commit" => &mut draft.commit,
        "branch" => &mut draft.branch,
        "session_id" => &mut draft.session_id,
        "host" => &mut draft.host,
        "source" => &mut draft.source,
        "confidence" => &mut draft.confidence,
        "expires" => &mut draft.expires,
        "scope" => &mut draft.scope,
        FOLDER => &mut draft.folder,
        _ => return None,
    })
}

fn list_field<'a>(draft: &'a mut Draft, name: &str) -> Option<&'a mut Vec<String>> {
    Some(match name {
        "tags" => &mut draft.tags,
        "symptoms" => &mut draft.symptoms,
        "files" => &mut draft.files,
        _ => return None,
    })
}

/// Reads true or false, also as a word.
fn switch(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.trim().to_ascii_lowercase().parse().ok())
}

/// Reads a list of strings from an array, from an array written as a string, or from one string. `tags` and
/// `files` are split at commas. An error text may contain commas, so `symptoms` are not split.
pub fn strings(name: &str, value: Value) -> Result<Vec<String>, String> {
    let wrong =
        |found: &str| format!("must be an array of strings such as [\"npm\",\"ci\"], got {found}");
    match value {
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::String(text) => Ok(text),
                other => Err(wrong(&format!("an array with {}", type_name(&other)))),
            })
            .collect(),
        Value::String(text) if text.trim_start().starts_with('[') => {
            match serde_json::from_str(&text) {
                Ok(Value::Array(items)) => strings(name, Value::Array(items)),
                Ok(_) | Err(_) => Ok(vec![text]),
            }
        }
        Value::String(text) if name == "symptoms" => Ok(vec![text]),
        Value::String(text) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
        other => Err(wrong(type_name(&other))),
    }
}

/// Returns the name of a JSON type with its article.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Draft, Problems> {
        let Ok(Value::Object(object)) = serde_json::from_str(text) else { panic!("{text}") };
        let draft = draft_from_json(object);
        draft.problems.clone().or(draft)
    }

    #[test]
    fn a_list_may_come_in_several_forms() {
        for tags in [r#"["npm","ci"]"#, r#""npm, ci""#, r#""[\"npm\",\"ci\"]""#] {
            assert_eq!(
                read(&format!(r#"{{"tags":{tags}}}"#)).unwrap().tags,
                ["npm", "ci"],
                "{tags}"
            );
        }
        assert_eq!(read(r#"{"symptoms":"a, b"}"#).unwrap().symptoms, ["a, b"]);
    }

    #[test]
    fn unknown_fields_are_refused_with_the_likely_one() {
        for (given, meant) in
            [("type", "event_type"), ("Session_ID", "session_id"), ("less", "lesson")]
        {
            let message = read(&format!(r#"{{"{given}":"x"}}"#)).unwrap_err().to_string();
            assert!(message.contains(&format!("did you mean {meant:?}")), "{message}");
        }
        assert!(
            read(r#"{"q":"x"}"#).unwrap_err().to_string().contains("the fields are id, timestamp")
        );
    }

    #[test]
    fn wrong_types_are_all_named() {
        let problems = read(r#"{"lesson":5,"tags":{},"files":[1],"context":null}"#).unwrap_err();
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["lesson", "tags", "files"]);
        assert!(problems.to_string().contains("lesson: must be a string, got a number"));
    }
}
