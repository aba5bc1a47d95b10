//! A command that failed, and what happened since, without secrets. Hooks keep both in the file of a session, which other versions of the
//! program read, so the form in which they are written stays. Not here: the file (`clients::hooks`), what follows from
//! it (`session_lesson`).

use guard::secrets::RedactedText;
use serde::{Deserialize, Serialize};

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFailure {
    /// When, in seconds.
    pub at: i64,
    /// The command.
    pub command: RedactedText,
    /// Its goal.
    pub goal: RedactedText,
    /// The relevant lines of its output.
    pub excerpt: RedactedText,
    /// The words of its signature.
    pub words: RedactedText,
    /// The fingerprint of the command with all its secrets.
    #[serde(default)]
    pub fingerprint: u64,
    /// The steps since.
    #[serde(skip)]
    pub since: Vec<SessionStep>,
}

/// A step of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStep {
    /// A command succeeded.
    Ran(RedactedText),
    /// A file was changed.
    Changed(RedactedText),
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-9
    #[test]
    fn other_versions_read_what_is_written() {
        let line = r#"{"at":5,"command":"npm i","goal":"npm install","excerpt":"e","words":"w"}"#;
        let failure: CommandFailure = serde_json::from_str(line).unwrap();
        assert_eq!((failure.at, failure.fingerprint, failure.since.len()), (5, 0, 0));
        let written = serde_json::to_string(&failure).unwrap();
        assert_eq!(written, line.replace('}', r#","fingerprint":0}"#));
        let steps = [SessionStep::Ran("a".into()), SessionStep::Changed("b".into())];
        assert_eq!(serde_json::to_string(&steps).unwrap(), r#"[{"ran":"a"},{"changed":"b"}]"#);
    }
}
