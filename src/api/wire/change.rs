//! From the arguments of a call to what becomes of memories: verdicts, forgetting, replacement, pins. Not here:
//! what the events do (`local::changes`).

use serde_json::{Map, Value};

use super::fields::Fields;
use super::{IDS, NO_IDS};
use crate::{ChangeRequest, Wanted};
use event::limits::{ID_BYTES_MAX, LESSON_BYTES_MAX};
use event::{Problems, Verdict, quoted};

/// The fields of `memory_feedback`.
pub const FEEDBACK: [&str; 3] = ["ids", "verdict", "note"];
/// The fields of `memory_forget`.
pub const FORGET: [&str; 4] = ["ids", "reason", "superseded_by", "undo"];

/// Reads the arguments of `memory_feedback`.
///
/// # Errors
/// Every problem, each with its field.
pub fn feedback(arguments: Map<String, Value>) -> Result<ChangeRequest, Problems> {
    let mut fields = Fields::of(&FEEDBACK, arguments);
    let ids = ids(&mut fields);
    let word = fields.text("verdict", ID_BYTES_MAX);
    let verdict = word.as_deref().and_then(Verdict::parse);
    if verdict.is_none() {
        let got = word.map_or_else(String::new, |word| format!("; got {}", quoted(&word)));
        let known = Verdict::ALL.map(Verdict::as_str).join(", ");
        fields.lacks("verdict", &format!("must be one of {known}{got}"));
    }
    let note = fields.text("note", LESSON_BYTES_MAX);
    let change = Wanted::Feedback(verdict.unwrap_or(Verdict::Confirmed));
    fields.finish(ChangeRequest { ids, change, note })
}

/// Reads the arguments of `memory_forget`.
///
/// # Errors
/// Every problem, each with its field.
pub fn forget(arguments: Map<String, Value>) -> Result<ChangeRequest, Problems> {
    let mut fields = Fields::of(&FORGET, arguments);
    let ids = ids(&mut fields);
    let by = fields.text("superseded_by", ID_BYTES_MAX);
    let undo = fields.flag("undo").unwrap_or(false);
    if undo && by.is_some() {
        fields.lacks("superseded_by", "does not go with undo, which takes back any forgetting");
    }
    let note = fields.text("reason", LESSON_BYTES_MAX);
    let change = match by {
        _ if undo => Wanted::Restored,
        Some(by) => Wanted::Superseded { by },
        None => Wanted::Forgotten,
    };
    fields.finish(ChangeRequest { ids, change, note })
}

fn ids(fields: &mut Fields) -> Vec<String> {
    let ids = fields.list("ids", &IDS);
    if ids.is_empty() {
        fields.lacks("ids", NO_IDS);
    }
    ids
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_verdict_comes_in_the_forms_that_models_send() {
        for sent in [
            json!({"ids": ["a"], "verdict": "worked"}),
            json!({"ids": "a", "verdict": " Worked ", "note": ""}),
            json!({"ids": "[\"a\"]", "verdict": "WORKED", "note": null}),
        ] {
            let request = feedback(object(&sent)).unwrap();
            let change = Wanted::Feedback(Verdict::Worked);
            assert_eq!(request, ChangeRequest { ids: vec!["a".to_owned()], change, note: None });
        }
    }

    #[test]
    fn what_is_wrong_is_told_at_once_with_what_is_allowed() {
        let problems =
            feedback(object(&json!({"verdict": "good", "id": "a"}))).unwrap_err().to_string();
        for word in [
            "ids: is empty",
            "verdict: must be one of worked, failed, stale, confirmed; got \"good\"",
            "did you mean \"ids\"",
        ] {
            assert!(problems.contains(word), "{word}: {problems}");
        }
        let both = json!({"ids": ["a"], "undo": true, "superseded_by": "b"});
        assert!(forget(object(&both)).unwrap_err().to_string().contains("superseded_by"));
    }

    #[test]
    fn forgetting_is_told_from_replacing_and_from_undoing() {
        let change = |value: Value| forget(object(&value)).unwrap().change;
        assert_eq!(change(json!({"ids": ["a"]})), Wanted::Forgotten);
        assert_eq!(change(json!({"ids": ["a"], "undo": "true"})), Wanted::Restored);
        let by = "b".to_owned();
        assert_eq!(change(json!({"ids": ["a"], "superseded_by": "b"})), Wanted::Superseded { by });
    }
}
