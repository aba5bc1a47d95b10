//! A failed command with what worked, and the classes of candidates. Not here: finding pairs (`candidates`), judging them
//! (`candidate_gates`).

use guard::secrets::RedactedText;
use learning::commands::directory;
use learning::shell_set_up::new_set_up;

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

impl CommandPair {
    /// Tells whether the same command worked in another folder of the work tree.
    #[must_use]
    pub fn is_moved_inside(&self) -> bool {
        let place = directory(&self.worked.line);
        place
            .as_deref()
            .is_some_and(|place| !place.starts_with(['/', '~', '$']) && !place.starts_with(".."))
            && place != directory(&self.failed.line)
            && self.failed.essence == self.worked.essence
    }

    /// Returns the command that worked: as it ran, where that is in another folder or prepares the shell.
    #[must_use]
    pub fn worked_as_it_ran(&self) -> &RedactedText {
        let is_prepared = !new_set_up(&self.failed.line, &self.worked.line).is_empty();
        if is_prepared || self.is_moved_inside() { &self.worked.line } else { &self.worked.core }
    }
}
