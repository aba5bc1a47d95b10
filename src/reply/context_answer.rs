//! What a briefing holds, for programs. Not here: the same as text (`briefing`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::memory_fields::MemoryFields;
use super::search_answer::{BranchById, FilesById};
use search::Section;

/// The briefing at the start of work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextAnswer {
    /// The key of the repository.
    #[serde(default)]
    pub repo: String,
    /// How many memories it has.
    #[serde(default)]
    pub known: usize,
    /// When the newest of them was written.
    #[serde(default)]
    pub newest: Option<String>,
    /// What else a reader must know, in sentences.
    #[serde(default)]
    pub notices: Vec<String>,
    /// The memories by section.
    #[serde(flatten)]
    pub sections: BriefingSections,
    /// The last session in the repository, apart from that of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_session: Option<LastSessionFields>,
    /// The files of memories that are gone, by the id of the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<FilesById>,
    /// The files of memories that changed since these were last confirmed, by the id of the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<FilesById>,
    /// The branches of memories that are not merged in the caller's work tree, by the id of the memory; absent where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<BranchById>,
    /// What the server of the team says to the same question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<Map<String, Value>>,
    /// The past time that the answer is of; absent for the present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

impl Answer for ContextAnswer {}

/// The memories of a briefing by section. A section without any is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BriefingSections {
    /// About the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Vec<MemoryFields>>,
    /// For every repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everywhere: Option<Vec<MemoryFields>>,
    /// For the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_task: Option<Vec<MemoryFields>>,
    /// About the files of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_files: Option<Vec<MemoryFields>>,
    /// Open tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_tasks: Option<Vec<MemoryFields>>,
    /// About files that changed since the last session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_since: Option<Vec<MemoryFields>>,
    /// What was decided in the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<MemoryFields>>,
    /// Known gotchas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gotchas: Option<Vec<MemoryFields>>,
    /// What is proven or recent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<Vec<MemoryFields>>,
    /// What may be stale, since its files are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Vec<MemoryFields>>,
    /// What the last session saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_last_session: Option<Vec<MemoryFields>>,
}

impl BriefingSections {
    pub(super) fn section_mut(&mut self, section: Section) -> &mut Option<Vec<MemoryFields>> {
        match section {
            Section::User => &mut self.user,
            Section::Everywhere => &mut self.everywhere,
            Section::ForTask => &mut self.for_task,
            Section::ForFiles => &mut self.for_files,
            Section::OpenTasks => &mut self.open_tasks,
            Section::Changed => &mut self.changed_since,
            Section::Decisions => &mut self.decisions,
            Section::Gotchas => &mut self.gotchas,
            Section::Proven => &mut self.proven,
            Section::Stale => &mut self.stale,
            Section::LastSession => &mut self.of_last_session,
        }
    }
}

/// The last session in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastSessionFields {
    /// Its id.
    pub session_id: String,
    /// Its agent.
    pub agent_id: String,
    /// How many memories it saved.
    pub memories: usize,
    /// When the last of them was written.
    pub newest: Option<String>,
}
