//! Changes of existing memories: verdicts, forgetting, replacement, pins. Several tools and commands
//! become one request. Not here: what the events do (`local::change`).

use guard::secrets::RedactedText;
use serde::{Deserialize, Serialize};

use super::bounds::required_ids_rule;
use super::define::request;
use super::fields::Fields;
use super::parameter::Presence;
use super::rule::{Rule, choice, switch, text};
use event::Verdict;
use event::limits::{ID_BYTES_MAX, LESSON_BYTES_MAX};

request! {
    /// A verdict on memories.
    pub struct FeedbackArguments {
        /// The memory: its id, or any unique short form of it
        ids: Vec<String> = required_ids_rule().positional("ID", Presence::Required).for_tools("");
        /// worked, failed, stale or confirmed
        verdict: Verdict = choice().required_or(NO_VERDICT, || Verdict::Confirmed)
            .positional("VERDICT", Presence::Required);
        /// Why, in words
        note: Option<String> = reason().option("note", "TEXT").any_value().for_tools("");
    }
}

request! {
    /// Memories that are forgotten, replaced, or brought back.
    pub struct ForgetArguments {
        /// Ids, or any unique short form of them
        ids: Vec<String> = required_ids_rule().positionals("ID").for_tools("");
        /// Why, in words
        reason: Option<String> = reason().option("reason", "TEXT").any_value().for_tools("");
        /// Id of its replacement
        superseded_by: Option<String> = text(ID_BYTES_MAX);
        /// Undo forgetting, replacement or fading
        undo: Option<bool> = switch().flag("undo", true).for_tools("");
    }
    checked by undo_stands_alone
}

request! {
    /// Memories that another one replaces.
    pub struct SupersedeArguments {
        /// Ids, or any unique short form of them
        ids: Vec<String> = required_ids_rule().positionals("ID");
        /// Why, in words
        reason: Option<String> = reason().option("reason", "TEXT").any_value();
        /// The memory that replaces them
        superseded_by: String = text(ID_BYTES_MAX).option("by", "ID")
            .required("is empty; give the id of the memory that replaces them");
    }
}

request! {
    /// Two memories that do not contradict each other.
    pub struct DistinctArguments {
        /// One of them: its id, or any unique short form of it
        ids: Vec<String> = required_ids_rule().positional("ID", Presence::Required);
        /// The other one
        other: String = text(ID_BYTES_MAX).required("is empty; give the id of the other memory")
            .positional("OTHER", Presence::Required);
        /// Why, in words
        reason: Option<String> = reason().option("reason", "TEXT").any_value();
    }
}

request! {
    /// Memories that do not age, or do again.
    pub struct PinArguments {
        /// Ids, or any unique short form of them
        ids: Vec<String> = required_ids_rule().positionals("ID");
        /// Why, in words
        reason: Option<String> = reason().option("reason", "TEXT").any_value();
        /// Let them age again
        undo: Option<bool> = switch().flag("undo", true);
    }
}

const NO_VERDICT: &str = "must be one of worked, failed, stale, confirmed";

fn reason() -> Rule<Option<String>> {
    text(LESSON_BYTES_MAX)
}

fn undo_stands_alone(request: &ForgetArguments, fields: &mut Fields) {
    if request.undo == Some(true) && request.superseded_by.is_some() {
        let message = "cannot be given together with undo, which takes back any forgetting";
        fields.report_missing("superseded_by", message);
    }
}

/// A change of existing memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRequest {
    /// The memories, by id or any unique short form of it.
    pub ids: Vec<String>,
    /// The change.
    pub change: WantedChange,
    /// Why, in words.
    pub note: Option<String>,
}

/// A change of memories that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedChange {
    /// A verdict.
    Feedback(Verdict),
    /// Another memory, by id or any unique short form of it, replaces it.
    Superseded {
        /// That memory.
        by: String,
    },
    /// It is forgotten.
    Forgotten,
    /// It counts again, whatever took it out.
    Restored,
    /// It does not contradict another memory, by id or any unique short form of it.
    Distinct {
        /// That memory.
        from: String,
    },
    /// It does not age.
    Pinned,
    /// It ages again.
    Unpinned,
}

/// In whose name an event about a memory is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// The person or agent that runs the program.
    Caller,
    /// A model; its client may have told its name and session.
    Model {
        /// The client's name.
        client: Option<RedactedText>,
        /// The session.
        session: Option<RedactedText>,
    },
}

impl Voice {
    /// Returns the name of the client, where a model speaks and its client told one.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Caller => None,
            Self::Model { client, .. } => client.as_deref(),
        }
    }
}

impl From<FeedbackArguments> for ChangeRequest {
    fn from(FeedbackArguments { ids, verdict, note }: FeedbackArguments) -> Self {
        Self { ids, change: WantedChange::Feedback(verdict), note }
    }
}

impl From<ForgetArguments> for ChangeRequest {
    fn from(ForgetArguments { ids, reason, superseded_by, undo }: ForgetArguments) -> Self {
        let change = match superseded_by {
            _ if undo == Some(true) => WantedChange::Restored,
            Some(by) => WantedChange::Superseded { by },
            None => WantedChange::Forgotten,
        };
        Self { ids, change, note: reason }
    }
}

impl From<SupersedeArguments> for ChangeRequest {
    fn from(SupersedeArguments { ids, reason, superseded_by: by }: SupersedeArguments) -> Self {
        Self { ids, change: WantedChange::Superseded { by }, note: reason }
    }
}

impl From<DistinctArguments> for ChangeRequest {
    fn from(DistinctArguments { ids, other: from, reason }: DistinctArguments) -> Self {
        Self { ids, change: WantedChange::Distinct { from }, note: reason }
    }
}

impl From<PinArguments> for ChangeRequest {
    fn from(PinArguments { ids, reason, undo }: PinArguments) -> Self {
        let change = if undo == Some(true) { WantedChange::Unpinned } else { WantedChange::Pinned };
        Self { ids, change, note: reason }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::define::ApiRequest;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_verdict_is_read_in_every_form_that_models_send() {
        for sent in [
            json!({"ids": ["a"], "verdict": "worked"}),
            json!({"ids": "a", "verdict": " Worked ", "note": ""}),
            json!({"ids": "[\"a\"]", "verdict": "WORKED", "note": null}),
        ] {
            let request: ChangeRequest =
                FeedbackArguments::from_tool(object(&sent)).unwrap().into();
            let change = WantedChange::Feedback(Verdict::Worked);
            assert_eq!(request, ChangeRequest { ids: vec!["a".to_owned()], change, note: None });
        }
    }

    #[test]
    fn all_problems_are_reported_with_the_allowed_values() {
        let wrong = json!({"verdict": "good", "id": "a"});
        let problems = FeedbackArguments::from_tool(object(&wrong)).unwrap_err().to_string();
        for word in [
            "ids: is empty",
            "verdict: must be one of worked, failed, stale, confirmed; got \"good\"",
            "did you mean \"ids\"",
        ] {
            assert!(problems.contains(word), "{word}: {problems}");
        }
        let known = Verdict::ALL.map(Verdict::as_str).join(", ");
        assert!(NO_VERDICT.ends_with(&known));
        let both = json!({"ids": ["a"], "undo": true, "superseded_by": "b"});
        let problems = ForgetArguments::from_tool(object(&both)).unwrap_err().to_string();
        assert!(problems.contains("superseded_by"), "{problems}");
    }

    #[test]
    fn forget_replace_and_undo_become_different_changes() {
        let change = |value: Value| {
            ChangeRequest::from(ForgetArguments::from_tool(object(&value)).unwrap()).change
        };
        assert_eq!(change(json!({"ids": ["a"]})), WantedChange::Forgotten);
        assert_eq!(change(json!({"ids": ["a"], "undo": "true"})), WantedChange::Restored);
        let by = "b".to_owned();
        assert_eq!(
            change(json!({"ids": ["a"], "superseded_by": "b"})),
            WantedChange::Superseded { by }
        );
    }
}
