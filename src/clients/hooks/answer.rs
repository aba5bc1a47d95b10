//! The answer formats of the clients, and which events accept an answer. Not here: what the answer says.

use serde_json::json;

use super::hook_input::HookEvent;

/// How a client wants an answer written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFormat {
    /// `hookSpecificOutput` with the event's name: Claude Code, Codex, Gemini CLI, Qwen Code, Droid, and others that
    /// adopted this format.
    Specific,
    /// Cursor.
    Cursor,
    /// Copilot CLI.
    Copilot,
    /// Cline.
    Cline,
    /// Our plugin for OpenCode, which passes the text on at every event.
    OpenCode,
}

impl AnswerFormat {
    /// Returns the format of an agent, by its name in the table of clients. Unknown agents get the format of Claude
    /// Code, which many others adopted.
    #[must_use]
    pub fn for_agent(agent: &str) -> Self {
        match agent {
            "cursor" => Self::Cursor,
            "copilot" => Self::Copilot,
            "cline" => Self::Cline,
            "opencode" => Self::OpenCode,
            _ => Self::Specific,
        }
    }

    /// Tells whether the client passes an answer to this event on to the model. Otherwise nothing needs to be looked
    /// up.
    #[must_use]
    pub fn reaches_model(self, event: &HookEvent) -> bool {
        match (self, event) {
            (_, HookEvent::Start(_) | HookEvent::ToolFailed(_)) => true,
            (Self::Cursor, HookEvent::Prompt(_)) => false,
            (_, HookEvent::Prompt(_)) => true,
            (Self::Cline | Self::OpenCode, HookEvent::Compact) => true,
            (_, HookEvent::Compact | HookEvent::ToolSucceeded(_) | HookEvent::End) => false,
        }
    }

    /// Returns the answer with its line break. `event` is the client's own name for the event.
    #[must_use]
    pub fn answer(self, event: &str, text: &str) -> String {
        let json = match self {
            Self::Specific | Self::OpenCode => {
                json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
            }
            Self::Cursor => json!({ "additional_context": text }),
            Self::Copilot => json!({ "additionalContext": text }),
            Self::Cline => json!({ "cancel": false, "contextModification": text }),
        };
        format!("{json}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-1
    #[test]
    fn each_client_gets_its_own_format() {
        for (agent, expected) in [
            (
                "claude-code",
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a\nb"}}"#,
            ),
            ("codex", r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a\nb"}}"#),
            (
                "gemini",
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a\nb"}}"#,
            ),
            (
                "somebody-new",
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a\nb"}}"#,
            ),
            ("cursor", r#"{"additional_context":"a\nb"}"#),
            ("copilot", r#"{"additionalContext":"a\nb"}"#),
            ("cline", r#"{"cancel":false,"contextModification":"a\nb"}"#),
            (
                "opencode",
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"a\nb"}}"#,
            ),
        ] {
            assert_eq!(
                AnswerFormat::for_agent(agent).answer("E", "a\nb"),
                format!("{expected}\n"),
                "{agent}"
            );
        }
    }

    #[test]
    fn no_answer_where_the_model_does_not_get_it() {
        let prompt = HookEvent::Prompt("x".into());
        assert!(
            AnswerFormat::Specific.reaches_model(&prompt)
                && !AnswerFormat::Cursor.reaches_model(&prompt)
        );
        assert!(
            !AnswerFormat::Specific.reaches_model(&HookEvent::Compact)
                && AnswerFormat::OpenCode.reaches_model(&HookEvent::Compact)
        );
        assert!(
            [AnswerFormat::Specific, AnswerFormat::Cline]
                .iter()
                .all(|form| !form.reaches_model(&HookEvent::End))
        );
    }
}
