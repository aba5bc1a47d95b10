//! Reads a judge's decision out of its answer. Not here: acting on it.

use serde_json::Value;

use super::chat_request::object_with;

/// What to do with two memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The newer one supersedes the older one.
    SupersedeOld,
    /// The older one holds; the newer one is wrong.
    SupersedeNew,
    /// Both hold.
    KeepBoth,
    /// One new lesson takes the place of both.
    Merge(String),
    /// A person has to decide.
    Unclear,
}

impl Decision {
    /// Returns its name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SupersedeOld => "supersede_old",
            Self::SupersedeNew => "supersede_new",
            Self::KeepBoth => "keep_both",
            Self::Merge(_) => "merge",
            Self::Unclear => "unclear",
        }
    }
}

/// A decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonedDecision {
    /// What to do with the two memories.
    pub decision: Decision,
    /// The reason, in the judge's words.
    pub reason: String,
}

impl ReasonedDecision {
    /// Reads the answer of a server, or of a program that prints the decision alone.
    pub(super) fn read(answer: &str) -> Result<Self, String> {
        let object =
            object_with(&["decision"], answer).ok_or("there is no JSON object in its answer")?;
        let text = |name: &str| {
            object.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default()
        };
        let decision = match text("decision").to_ascii_lowercase().as_str() {
            // The founding systems used these words for the same decisions.
            "supersede_old" | "replace" => Decision::SupersedeOld,
            "supersede_new" | "keep" => Decision::SupersedeNew,
            "keep_both" | "insert" => Decision::KeepBoth,
            "merge" | "update" if !text("lesson").is_empty() => {
                Decision::Merge(text("lesson").to_owned())
            }
            "merge" | "update" => return Err("it decided to merge, and gave no lesson".to_owned()),
            "unclear" | "flag" | "irresolvable" => Decision::Unclear,
            other => return Err(format!("it decided {other:?}, which is no decision")),
        };
        Ok(Self { decision, reason: text("reason").to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_server(content: &str) -> Result<ReasonedDecision, String> {
        let answer =
            json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] });
        ReasonedDecision::read(&answer.to_string())
    }

    // S-JUDGE-2
    #[test]
    fn a_decision_is_found_within_other_text() {
        for text in [
            "{\"decision\": \"supersede_old\", \"reason\": \"it moved\"}",
            "One note says {\"decision\": \"keep\"}; let me think {about this}.\n```json\n{\"decision\": \" Replace \", \"reason\": \"it moved\"}\n```",
        ] {
            let decided = ReasonedDecision {
                decision: Decision::SupersedeOld,
                reason: "it moved".to_owned(),
            };
            assert_eq!(of_server(text), Ok(decided.clone()), "{text}");
            assert_eq!(ReasonedDecision::read(text), Ok(decided), "{text}");
        }
        let merged = of_server("{\"decision\": \"update\", \"lesson\": \"both\"}").unwrap();
        assert_eq!(merged.decision, Decision::Merge("both".to_owned()));
    }

    // S-JUDGE-2
    #[test]
    fn other_answers_are_errors() {
        for text in [
            "",
            "yes",
            "{\"reason\": \"x\"}",
            "{\"decision\": \"delete_all\"}",
            "{\"decision\": \"merge\"}",
        ] {
            assert!(of_server(text).is_err(), "{text}");
        }
    }
}
