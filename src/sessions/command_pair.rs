//! A failed command with what worked, and the classes of candidates. Not here: finding pairs (`candidates`), judging them
//! (`candidate_gates`).

use super::work_trail::TrailCommand;

/// What kind of candidate it is, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateClass {
    /// The command worked after another one had run.
    StepBetween,
    /// Another form of the command worked.
    OtherForm,
    /// A person directed the agent how things are done here.
    Direction,
    /// A person decided between things.
    Choice,
}

/// A failed command, and what worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPair {
    /// Which of the two kinds.
    pub class: CandidateClass,
    /// Where the failure is.
    pub ordinal: u32,
    /// When it was, if known.
    pub at_ms: Option<i64>,
    /// The command that failed.
    pub failed: TrailCommand,
    /// The excerpt of its output.
    pub output: String,
    /// The command that worked.
    pub worked: TrailCommand,
    /// The commands that worked between the two.
    pub between: Vec<TrailCommand>,
}
