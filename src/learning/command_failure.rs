//! A command that failed, and what happened since. Hooks keep both in the file of a session, which other versions of the
//! program read, so the form in which they are written stays. Not here: the file (`clients::hooks`), what follows from
//! it (`learn`).

use serde::{Deserialize, Serialize};

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFailure {
    /// When, in seconds.
    pub at: i64,
    /// The command.
    pub command: String,
    /// Its goal.
    pub goal: String,
    /// The relevant lines of its output.
    pub excerpt: String,
    /// The words of its signature.
    pub words: String,
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
    Ran(String),
    /// A file was changed.
    Changed(String),
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
        let steps = [SessionStep::Ran("a".to_owned()), SessionStep::Changed("b".to_owned())];
        assert_eq!(serde_json::to_string(&steps).unwrap(), r#"[{"ran":"a"},{"changed":"b"}]"#);
    }
}
