//! The evidence of later events on the reliability of a memory, and the one source that needs such evidence before
//! it counts. Not here: counting the evidence (`memory`).

/// The `source` of a memory that a hook wrote by itself. The program sets it; no caller can.
pub const HOOK: &str = "hook";

/// The `source` of an imported memory.
pub const IMPORTED: &str = "imported";

/// The tag of rules that people wrote for agents in a file, and of memories imported from such a file.
pub const AGENT_FILE: &str = "agent-file";

/// The kind of the record that hooks keep of a session. Searches and lists of the newest leave it out, unless it is asked for.
pub const SESSION_RECORD: &str = "session";

/// The `event_type` of an event that passes a verdict on a memory.
pub const FEEDBACK: &str = "feedback";

/// The verdict of somebody who used a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Verdict {
    /// The memory helped.
    Worked,
    /// The memory did not help.
    Failed,
    /// The memory helped once and no longer does.
    Stale,
    /// The memory is true, whether or not anybody needed it.
    Confirmed,
}

impl Verdict {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 4] = [Self::Worked, Self::Failed, Self::Stale, Self::Confirmed];

    /// Returns the word of a line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worked => "worked",
            Self::Failed => "failed",
            Self::Stale => "stale",
            Self::Confirmed => "confirmed",
        }
    }

    /// Reads the word of a line. A reader that does not know the word ignores the event.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::ALL.into_iter().find(|verdict| text.eq_ignore_ascii_case(verdict.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_as_it_was_written_and_nothing_else_is_one() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::parse(verdict.as_str()), Some(verdict));
        }
        assert_eq!(Verdict::parse(" Worked "), Some(Verdict::Worked));
        assert_eq!(Verdict::parse("worked?"), None);
    }
}
