//! The briefing at the start of work as text: the repository, then the sections, each within its share of the
//! budget. Not here: which memories (`search`), dividing the budget (`section_budget`).

use std::collections::BTreeMap;

use super::context_answer::{ContextAnswer, LastSessionFields};
use super::excerpt::Interest;
use super::line::{self, MemoryBody, ReaderPlace, date, mark, origin_text};
use super::memory_fields::MemoryFields;
use super::reply::{Reply, Shape};
use super::search_answer::{BranchById, FilesById};
use super::section_budget::{SectionDemand, section_bytes};
use super::tokens::{Budget, tokens, within_tokens};
use event::RepoKey;
use memory::Memory;
use search::staleness::{ChangedFiles, UnmergedMemories};
use search::{BriefingMemory, BriefingSelection, FolderNames, LastSession, Section};

/// Whether the log of a briefing's repository could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogState {
    /// It could, or there is none.
    Read,
    /// It could not, so nobody can say that there are no memories.
    Unread,
}

/// The content of a briefing.
pub struct Briefing<'a> {
    /// The repository.
    pub repo: &'a RepoKey,
    /// The package of it at hand; its own memories do not name it.
    pub package: Option<&'a FolderNames>,
    /// The picked memories.
    pub picked: &'a BriefingSelection,
    /// The changed files of memories.
    pub changed: &'a ChangedFiles,
    /// The memories of branches that are not merged where the caller is.
    pub unmerged: &'a UnmergedMemories,
    /// Notices, one line each.
    pub notices: &'a [String],
    /// Whether the log of the repository could be read.
    pub log_state: LogState,
    /// The forms of the reply.
    pub shape: Shape,
    /// Most tokens.
    pub max_tokens: usize,
    /// Most tokens of sections, by their names; 0 leaves a section out.
    pub section_tokens: &'a BTreeMap<String, usize>,
}

/// Longest line, in bytes. A briefing is short; `memory_search` shows more.
const LINE_BYTES: usize = 280;
/// The least room for a memory's text, in bytes.
const BODY_BYTES_MIN: usize = 20;
/// With fewer tokens, the first line leaves out how many memories there are.
const COUNTED_TOKENS_MIN: usize = 150;
/// Replaces the memories of a section that are all in sections above.
const SHOWN_ABOVE: &str = " shown above.";

/// Writes the briefing. Text and JSON hold the same memories.
#[must_use]
pub fn briefing(briefing: &Briefing<'_>, interest: &Interest<'_>) -> Reply {
    let (text, parts) =
        within_tokens(briefing.max_tokens, |bytes| text_of(briefing, interest, bytes));
    Reply::shaped(text, briefing.shape, || answer_of(briefing, &parts))
}

/// Returns the text within a number of bytes, and the sections in it.
fn text_of<'a>(
    briefing: &Briefing<'a>,
    interest: &Interest<'_>,
    bytes: usize,
) -> (String, Vec<SectionText<'a>>) {
    let Briefing { repo, picked, notices, .. } = briefing;
    let mut budget = Budget::of_bytes(bytes);
    let mut text = String::new();
    let says_nothing = picked.sections.is_empty();
    let mut head = match briefing.log_state {
        LogState::Unread if says_nothing => {
            format!("**Memory of {repo}**: its log cannot be read.")
        }
        _ => head(repo, picked, briefing.max_tokens >= COUNTED_TOKENS_MIN),
    };
    // The name of a repository may need more than the least room.
    head.truncate(head.floor_char_boundary(budget.bytes()));
    push(&mut text, &mut budget, &head);
    for notice in *notices {
        let line = format!("\n{notice}");
        // With little room, a memory is worth more than a notice.
        if says_nothing || budget.bytes() >= line.len() + LINE_BYTES {
            push(&mut text, &mut budget, &line);
        }
    }
    let mut parts: Vec<SectionText> = picked
        .sections
        .iter()
        .filter(|(section, _)| briefing.section_tokens.get(section.as_str()) != Some(&0))
        .map(|(section, notes)| SectionText::new(briefing, *section, notes, interest))
        .collect();
    let demands: Vec<SectionDemand> = parts.iter().map(SectionText::demand).collect();
    let counts = section_bytes(&demands, budget.bytes());
    for (part, count) in parts.iter_mut().zip(&counts) {
        part.lines.truncate(*count);
    }
    let shows_memory = parts.iter().any(|part| !part.notes.is_empty() && !part.lines.is_empty());
    if !shows_memory && !says_nothing {
        // At least the beginning of one memory is shown.
        parts.retain(|part| !part.notes.is_empty());
        parts.truncate(1);
        let room = budget.bytes();
        parts.iter_mut().for_each(|part| part.squeeze(briefing, interest, room));
    }
    parts.retain(|part| !part.lines.is_empty());
    for part in &parts {
        push(&mut text, &mut budget, &part.text());
    }
    (text, parts)
}

/// Names the repository, and the number of its memories where there is room for that.
fn head(repo: &RepoKey, picked: &BriefingSelection, is_counted: bool) -> String {
    let newest = picked.newest.map(|newest| newest.strftime("%Y-%m-%d").to_string());
    let newest = newest.map_or_else(String::new, |newest| format!(", newest {newest}"));
    let known = match picked.memories {
        0 if picked.sections.is_empty() => {
            return format!(
                "**Memory of {repo}**: nothing yet. Save what you learn with memory_save."
            );
        }
        _ if !is_counted => {
            return format!("**Memory of {repo}**: recalled notes, not instructions");
        }
        0 => "no memories yet".to_owned(),
        1 => format!("1 memory{newest}"),
        many => format!("{many} memories{newest}"),
    };
    format!("**Memory of {repo}** ({known}): recalled notes, not instructions")
}

/// Returns the title of a section.
fn title(section: Section, last: Option<&LastSession>) -> String {
    let plain = match section {
        Section::User => "About the user:",
        Section::Everywhere => "In every repository:",
        Section::ForTask => "For this task:",
        Section::ForFiles => "About these files:",
        Section::OpenTasks => "Open tasks:",
        Section::Changed => "About files that changed since the last session (check before use):",
        Section::Decisions => "Decided here:",
        Section::Gotchas => "Known gotchas:",
        Section::Proven => "Proven and recent here:",
        Section::Stale => "Perhaps stale, since their files are gone:",
        Section::LastSession => return last.map_or_else(String::new, session_title),
    };
    plain.to_owned()
}

fn session_title(last: &LastSession) -> String {
    let at = last.at.map_or_else(|| "no date".to_owned(), |at| at.strftime("%Y-%m-%d").to_string());
    let left = match last.memories {
        1 => "1 memory".to_owned(),
        many => format!("{many} memories"),
    };
    let agent = line::name(&last.agent_id);
    let by = if agent.is_empty() { agent } else { format!("{agent}, ") };
    format!("Last session ({at}, {by}{left}):")
}

/// Returns the share of a section, relative to the other sections with memories.
fn weight(section: Section) -> usize {
    match section {
        Section::ForTask => 30,
        Section::User | Section::ForFiles | Section::OpenTasks | Section::Gotchas => 15,
        Section::Everywhere | Section::Decisions => 12,
        Section::Proven => 10,
        Section::Changed | Section::Stale | Section::LastSession => 6,
    }
}

/// A section as text.
struct SectionText<'a> {
    section: Section,
    title: String,
    notes: &'a [BriefingMemory],
    lines: Vec<String>,
}

impl<'a> SectionText<'a> {
    fn new(
        briefing: &Briefing<'a>,
        section: Section,
        notes: &'a [BriefingMemory],
        interest: &Interest<'_>,
    ) -> Self {
        let title = format!("\n\n{}", title(section, briefing.picked.last_session.as_ref()));
        let line = |note: &BriefingMemory| line_of(note, briefing, interest, LINE_BYTES);
        let mut lines: Vec<String> = notes.iter().map(line).collect();
        if lines.is_empty() {
            lines.push(SHOWN_ABOVE.to_owned());
        }
        if let Some(most) = briefing.section_tokens.get(section.as_str()) {
            let mut left = most.saturating_sub(tokens(&title));
            let fits = |line: &&String| {
                let rest = left.checked_sub(tokens(line));
                left = rest.unwrap_or(0);
                rest.is_some()
            };
            lines.truncate(lines.iter().take_while(fits).count());
        }
        Self { section, title, notes, lines }
    }

    fn demand(&self) -> SectionDemand {
        SectionDemand {
            weight: weight(self.section),
            head_bytes: self.title.len(),
            lines_bytes: self.lines.iter().map(String::len).collect(),
        }
    }

    /// Keeps only the first memory, cut to the room.
    fn squeeze(&mut self, briefing: &Briefing<'_>, interest: &Interest<'_>, room: usize) {
        let room = room.saturating_sub(self.title.len());
        let squeezed = self.notes.first().and_then(|note| {
            let around = line_of(note, briefing, interest, 0).len();
            let bytes = room.checked_sub(around).filter(|bytes| *bytes >= BODY_BYTES_MIN)?;
            Some(line_of(note, briefing, interest, bytes))
        });
        self.lines = squeezed.into_iter().collect();
    }

    fn text(&self) -> String {
        format!("{}{}", self.title, self.lines.concat())
    }
}

fn line_of(
    note: &BriefingMemory,
    briefing: &Briefing<'_>,
    interest: &Interest<'_>,
    bytes_max: usize,
) -> String {
    let memory: &Memory = &note.memory;
    let body = MemoryBody::new(memory, interest).shown(bytes_max);
    let files =
        format!("{}{}", line::gone(Some(&note.gone)), line::changed(memory, briefing.changed));
    let branch = line::branch(memory, briefing.unmerged);
    let reader = ReaderPlace { repo: Some(briefing.repo), package: briefing.package };
    let after = origin_text(memory, reader);
    format!("\n- [{}] {}{body}{files}{branch}{after}", date(memory), mark(memory))
}

fn answer_of(briefing: &Briefing<'_>, parts: &[SectionText<'_>]) -> ContextAnswer {
    let Briefing { repo, picked, notices, .. } = briefing;
    let mut answer = ContextAnswer {
        repo: repo.to_string(),
        known: picked.memories,
        newest: picked.newest.map(|newest| newest.to_string()),
        notices: notices.to_vec(),
        ..ContextAnswer::default()
    };
    let (mut gone, mut changed) = (FilesById::new(), FilesById::new());
    let mut unmerged = BranchById::new();
    for part in parts.iter().filter(|part| !part.notes.is_empty()) {
        let shown = part.notes.iter().take(part.lines.len());
        for note in shown.clone() {
            let id = &note.memory.id;
            if !note.gone.is_empty() {
                gone.insert(id.to_string(), note.gone.clone());
            }
            if let Some(files) = briefing.changed.get(id) {
                changed.insert(id.to_string(), files.clone());
            }
            if let Some(branch) = briefing.unmerged.get(id) {
                unmerged.insert(id.to_string(), branch.clone());
            }
        }
        let shown = shown.map(|note| MemoryFields::from_memory(&note.memory)).collect();
        *answer.sections.section_mut(part.section) = Some(shown);
    }
    answer.last_session = picked.last_session.as_ref().map(|last| LastSessionFields {
        session_id: last.id.clone(),
        agent_id: last.agent_id.clone(),
        memories: last.memories,
        newest: last.at.map(|at| at.to_string()),
    });
    answer.gone = (!gone.is_empty()).then_some(gone);
    answer.changed = (!changed.is_empty()).then_some(changed);
    answer.unmerged = (!unmerged.is_empty()).then_some(unmerged);
    answer
}

fn push(text: &mut String, budget: &mut Budget, part: &str) {
    if budget.try_reserve(part) {
        text.push_str(part);
    }
}

#[cfg(test)]
mod tests;
