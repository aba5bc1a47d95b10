//! Why two memories may contradict each other. Not here: finding the signs (`evidence`).

/// Why two memories may contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContradictionSign {
    /// They say the same in other words.
    Repeats,
    /// The newer says that something is not as it was.
    Changes,
    /// One of them says "not".
    Negates,
    /// One uses the opposite of a word of the other.
    Opposes,
    /// They name other numbers.
    Counts,
}

impl ContradictionSign {
    /// Its name in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repeats => "says the same",
            Self::Changes => "the newer says that things changed",
            Self::Negates => "one says \"not\"",
            Self::Opposes => "opposite words",
            Self::Counts => "other numbers",
        }
    }
}
