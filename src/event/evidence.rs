//! What later events say of the worth of a memory, and the one source that needs such evidence before it is
//! believed. Not here: adding it up (`retriever::projection`).

/// The `source` of what a hook wrote down by itself. Set by the program, never by a text.
pub const HOOK: &str = "hook";

/// The `source` of what was taken over from elsewhere.
pub const IMPORTED: &str = "imported";

/// The tag of what people wrote down for agents in a file, and what was taken over from there.
pub const AGENT_FILE: &str = "agent-file";

/// The `event_type` of an event that passes a verdict on a memory.
pub const FEEDBACK: &str = "feedback";

/// What somebody found who did as a memory says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Verdict {
    /// It helped.
    Worked,
    /// It did not.
    Failed,
    /// It did once, and does no longer.
    Stale,
    /// It is so, whether anybody needed it or not.
    Confirmed,
}

impl Verdict {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 4] = [Self::Worked, Self::Failed, Self::Stale, Self::Confirmed];

    /// Returns the word as it stands in a line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worked => "worked",
            Self::Failed => "failed",
            Self::Stale => "stale",
            Self::Confirmed => "confirmed",
        }
    }

    /// Reads the word of a line; a reader that does not know it changes nothing because of it.
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
