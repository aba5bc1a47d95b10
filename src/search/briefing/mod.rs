//! Picks the memories of a briefing, pure: each in the first section that fits, none twice, none that reads like an
//! instruction. Not here: how many have room, and words (`reply`); whether a file exists, which the caller knows.

mod files;
mod last_session;
mod order;
mod outdated;
mod package_order;
mod repeats;
mod tasks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::order::{RankedMemory, best_first};
use self::outdated::CurrentNotes;
use self::package_order::{neighbours_last, of_package};
use self::repeats::Repeats;
use super::asked_file::AskedFile;
use super::folder_names::FolderNames;
use super::prior;
use super::staleness::{UnmergedMemories, UnmergedPolicy, last_held};
use crate::snapshot::Snapshot;
use event::{AGENT_FILE, FolderPath, RepoKey, SESSION_RECORD, Timestamp};
use memory::Memory;

pub use self::last_session::LastSession;
pub use self::package_order::PackagePolicy;

/// The occasion of a briefing.
pub struct Occasion<'a> {
    /// The repository, under all of its names.
    pub repos: &'a BTreeSet<RepoKey>,
    /// The package of the repository at hand; what was learned in the packages beside it comes last.
    pub package: Option<&'a FolderNames>,
    /// What is done with the memories of those packages.
    pub package_policy: PackagePolicy,
    /// The time.
    pub now: Timestamp,
    /// The hits for the task, best first.
    pub for_task: &'a [Arc<Memory>],
    /// The caller's files.
    pub files: &'a [AskedFile],
    /// The rule files of the repository that the client loads by itself, as paths from its top: rules imported from them
    /// are not shown.
    pub loaded: &'a [String],
    /// The caller's session, where it is known: its own memories are not shown.
    pub own_session: Option<&'a str>,
    /// The memories of branches that are not merged where the caller is.
    pub unmerged: &'a UnmergedMemories,
    /// What is done with these.
    pub unmerged_policy: UnmergedPolicy,
    /// Tells whether a file of the repository is known not to be there any more.
    pub is_gone: &'a dyn Fn(&str) -> bool,
    /// Tells whether a folder of the repository is known not to be there any more.
    pub is_folder_gone: &'a dyn Fn(&FolderPath) -> bool,
    /// Tells whether a file of the repository is known to be written after a time.
    pub is_written_after: &'a dyn Fn(&str, Timestamp) -> bool,
}

/// The parts of a briefing, in the order of their value to somebody who is about to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Who the user is and what the user prefers, in every repository.
    User,
    /// What holds in every repository.
    Everywhere,
    /// Memories for the task, of any repository.
    ForTask,
    /// Memories about the caller's files.
    ForFiles,
    /// Open tasks.
    OpenTasks,
    /// Memories about files that changed after the last session.
    Changed,
    /// Decisions, conventions and the like, newest first.
    Decisions,
    /// Errors and patterns of this repository.
    Gotchas,
    /// Other proven and recent memories.
    Proven,
    /// Memories about files that are gone.
    Stale,
    /// Memories of the session before this one that are not in a section above.
    LastSession,
}

impl Section {
    /// All sections, in order.
    pub const ALL: [Self; 11] = [
        Self::User,
        Self::Everywhere,
        Self::ForTask,
        Self::ForFiles,
        Self::OpenTasks,
        Self::Changed,
        Self::Decisions,
        Self::Gotchas,
        Self::Proven,
        Self::Stale,
        Self::LastSession,
    ];

    /// Returns its name in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Everywhere => "everywhere",
            Self::ForTask => "for_task",
            Self::ForFiles => "for_files",
            Self::OpenTasks => "open_tasks",
            Self::Changed => "changed_since",
            Self::Decisions => "decisions",
            Self::Gotchas => "gotchas",
            Self::Proven => "proven",
            Self::Stale => "stale",
            Self::LastSession => "last_session",
        }
    }
}

/// A memory of a briefing.
#[derive(Debug, Clone)]
pub struct BriefingMemory {
    /// The memory.
    pub memory: Arc<Memory>,
    /// Its files that are gone.
    pub gone: Vec<String>,
}

/// The picked memories, more than have room.
#[derive(Debug, Default)]
pub struct BriefingSelection {
    /// The number of active memories of the repository.
    pub memories: usize,
    /// The time of the newest of them.
    pub newest: Option<Timestamp>,
    /// The sections with memories, in order.
    pub sections: Vec<(Section, Vec<BriefingMemory>)>,
    /// The session before this one.
    pub last_session: Option<LastSession>,
}

/// Most memories of a section: twice what usually has room.
const USER_MAX: usize = 6;
const EVERYWHERE_MAX: usize = 6;
const FOR_TASK_MAX: usize = 8;
const FOR_FILES_MAX: usize = 6;
const OPEN_TASKS_MAX: usize = 6;
const CHANGED_MAX: usize = 3;
const DECISIONS_MAX: usize = 6;
const GOTCHAS_MAX: usize = 12;
const PROVEN_MAX: usize = 12;
const STALE_MAX: usize = 4;
const LAST_SESSION_MAX: usize = 2;

/// Most memories whose files are looked for changes.
const CHECKED_MAX: usize = 200;

/// Most checks whether a file exists or changed: each may wait for a disk.
const LOOKS_MAX: usize = 64;

/// The kinds of the section of decisions.
const DECIDED: [&str; 4] = ["decision", "convention", "principle", "preference"];
/// The kinds that tell of the user where they apply everywhere.
const OF_USER: [&str; 2] = ["fact", "preference"];
/// The source of what a person wrote.
const HUMAN: &str = "human";
/// The kinds of the section of gotchas.
const GOTCHA: [&str; 2] = ["error", "pattern"];
/// The kind of tasks.
const TASK: &str = "task";

/// Picks the memories of a briefing.
#[must_use]
pub fn pick(snapshot: &Snapshot, occasion: &Occasion<'_>) -> BriefingSelection {
    let here = RepoMemories::collect(snapshot, occasion);
    let last = last_session::newest_session(&here.of_sessions, occasion.own_session);
    let since = last.as_ref().and_then(|(session, _)| session.at);
    let held = since.map(|since| here.with_files(since));
    let about_files = files::memories_about_files(snapshot, occasion);
    let newer = CurrentNotes::find(snapshot, &here, &about_files, occasion);
    let mut picker = Picker { occasion, newer, shown: Repeats::default(), looks_left: LOOKS_MAX };
    let mut stale = Vec::new();
    let mut sections = vec![
        (Section::User, picker.pick(USER_MAX, best_first(here.of_user))),
        (Section::Everywhere, picker.pick(EVERYWHERE_MAX, best_first(here.everywhere))),
        (Section::ForTask, picker.pick(FOR_TASK_MAX, occasion.for_task.iter())),
        (Section::ForFiles, picker.pick(FOR_FILES_MAX, best_first(about_files))),
        (Section::OpenTasks, picker.pick_as_they_are(OPEN_TASKS_MAX, tasks::open(here.tasks))),
    ];
    if let (Some(since), Some(held)) = (since, held) {
        sections.push((Section::Changed, picker.changed(since, held)));
    }
    let others = [
        (Section::Decisions, DECISIONS_MAX, here.decided),
        (Section::Gotchas, GOTCHAS_MAX, here.gotchas),
        (Section::Proven, PROVEN_MAX, here.others),
    ];
    for (section, limit, ranked) in others {
        sections.push((section, picker.take_fresh(limit, best_first(ranked), &mut stale)));
    }
    sections.push((Section::Stale, stale));
    let learned = last.as_ref().map_or(&[][..], |(_, learned)| learned);
    sections.push((
        Section::LastSession,
        picker.pick_as_they_are(LAST_SESSION_MAX, learned.iter().copied()),
    ));
    // The last session is named even if all its memories are in sections above.
    let has_session = last.is_some();
    sections.retain(|(section, notes)| {
        !notes.is_empty() || (*section == Section::LastSession && has_session)
    });
    BriefingSelection {
        memories: here.memories,
        newest: here.newest,
        sections,
        last_session: last.map(|(session, _)| session),
    }
}

/// The memories of the repository by section.
#[derive(Default)]
struct RepoMemories<'a> {
    memories: usize,
    newest: Option<Timestamp>,
    of_user: Vec<RankedMemory<'a>>,
    everywhere: Vec<RankedMemory<'a>>,
    tasks: Vec<RankedMemory<'a>>,
    decided: Vec<RankedMemory<'a>>,
    gotchas: Vec<RankedMemory<'a>>,
    others: Vec<RankedMemory<'a>>,
    of_sessions: Vec<&'a Arc<Memory>>,
}

impl<'a> RepoMemories<'a> {
    /// Uses the fields in memory, and reads no record.
    fn collect(snapshot: &'a Snapshot, occasion: &Occasion<'_>) -> Self {
        let mut here = Self::default();
        // Memories of one repository are mostly adjacent.
        let mut last: Option<(&RepoKey, bool)> = None;
        for memory in snapshot.memories().iter() {
            let is_here = match last {
                Some((repo, is_here)) if *repo == memory.repo => is_here,
                _ => occasion.repos.contains(&memory.repo),
            };
            last = Some((&memory.repo, is_here));
            if memory.is_global() {
                here.add_global(memory, occasion.now);
            } else if is_here {
                here.add(memory, occasion.now);
            }
        }
        here
    }

    /// Of what applies everywhere, a briefing shows what nobody would search for.
    fn add_global(&mut self, memory: &'a Arc<Memory>, now: Timestamp) {
        let kind = memory.provenance.kind.as_str();
        if memory.is_inactive(now) {
        } else if OF_USER.contains(&kind) {
            self.of_user.push(RankedMemory::by_age(memory));
        } else if DECIDED.contains(&kind) {
            self.everywhere.push(RankedMemory::by_age(memory));
        }
    }

    /// Returns the memories whose files may have changed after `since`, newest first: what was learned later knows.
    fn with_files(&self, since: Timestamp) -> impl Iterator<Item = &'a Arc<Memory>> + use<'a> {
        let ranked = [&self.decided, &self.gotchas, &self.others].into_iter().flatten();
        let held = ranked.map(|ranked| ranked.memory);
        let held = held.filter(move |memory| last_held(memory).is_some_and(|held| held <= since));
        best_first(held.map(RankedMemory::by_age).collect()).take(CHECKED_MAX)
    }

    fn add(&mut self, memory: &'a Arc<Memory>, now: Timestamp) {
        // Inactive memories are neither shown nor counted.
        if memory.is_inactive(now) {
            return;
        }
        self.memories += 1;
        self.newest = self.newest.max(memory.timestamp);
        if memory.provenance.session_id.as_ref().is_some_and(|session| !session.is_empty()) {
            self.of_sessions.push(memory);
        }
        match memory.provenance.kind.as_str() {
            TASK => self.tasks.push(RankedMemory::by_age(memory)),
            SESSION_RECORD => {}
            kind if DECIDED.contains(&kind) => self.decided.push(RankedMemory::by_age(memory)),
            kind if GOTCHA.contains(&kind) => {
                self.gotchas.push(RankedMemory::by_worth(memory, now));
            }
            _ => self.others.push(RankedMemory::by_worth(memory, now)),
        }
    }
}

/// Picks memories for one section after the other.
struct Picker<'a> {
    occasion: &'a Occasion<'a>,
    newer: CurrentNotes,
    shown: Repeats,
    looks_left: usize,
}

impl Picker<'_> {
    /// Takes the first memories that were not taken yet, each in its current version.
    fn pick<'a>(
        &mut self,
        limit: usize,
        candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
    ) -> Vec<BriefingMemory> {
        self.take(limit, candidates, Self::current)
    }

    /// Takes the first memories that were not taken yet: what is to be done and what a session learned stands for itself.
    fn pick_as_they_are<'a>(
        &mut self,
        limit: usize,
        candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
    ) -> Vec<BriefingMemory> {
        self.take(limit, candidates, |_, memory| Arc::clone(memory))
    }

    fn take<'a>(
        &mut self,
        limit: usize,
        candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
        version: impl Fn(&Self, &Arc<Memory>) -> Arc<Memory>,
    ) -> Vec<BriefingMemory> {
        let mut notes = Vec::new();
        for memory in self.merged_first(of_package(self.occasion, candidates)) {
            if notes.len() >= limit {
                break;
            }
            let memory = version(self, memory);
            if self.is_new(&memory) {
                let gone = self.gone(&memory).files;
                notes.push(BriefingMemory { memory, gone });
            }
        }
        notes
    }

    /// Puts memories of branches that are not merged here behind all others, or leaves them out.
    fn merged_first<'a>(
        &self,
        candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
    ) -> Box<dyn Iterator<Item = &'a Arc<Memory>> + 'a> {
        let Occasion { unmerged, unmerged_policy, .. } = self.occasion;
        if unmerged.is_empty() {
            return Box::new(candidates);
        }
        let is_merged = |memory: &&'a Arc<Memory>| !unmerged.contains_key(&memory.id);
        let (merged, others): (Vec<_>, Vec<_>) = candidates.partition(is_merged);
        match unmerged_policy {
            UnmergedPolicy::Marked => Box::new(merged.into_iter().chain(others)),
            UnmergedPolicy::LeftOut => Box::new(merged.into_iter()),
        }
    }

    /// Tells whether a memory may be shown and is new, and notes it.
    fn is_new(&mut self, memory: &Memory) -> bool {
        !self.is_loaded(memory) && self.shown.is_new(memory, self.occasion.now)
    }

    /// Tells whether the client loads the rule by itself: it was imported from such a file.
    fn is_loaded(&self, memory: &Memory) -> bool {
        let Occasion { loaded, repos, .. } = self.occasion;
        if loaded.is_empty() || !repos.contains(&memory.repo) {
            return false;
        }
        let event = memory.event();
        let is_rule = event.tags.iter().any(|tag| tag == AGENT_FILE);
        is_rule && event.files.first().is_some_and(|file| loaded.contains(file))
    }

    /// Takes the first memories with a file that was written after `since`.
    fn changed<'a>(
        &mut self,
        since: Timestamp,
        candidates: impl Iterator<Item = &'a Arc<Memory>>,
    ) -> Vec<BriefingMemory> {
        let is_written_after = self.occasion.is_written_after;
        let mut is_changed = |memory: &Memory| {
            let files = memory.event().files;
            let looks = files.len().min(self.looks_left);
            self.looks_left -= looks;
            files.iter().take(looks).any(|file| is_written_after(file, since))
        };
        let changed: Vec<&Arc<Memory>> =
            candidates.filter(|memory| is_changed(memory)).take(CHANGED_MAX).collect();
        self.pick(CHANGED_MAX, changed.into_iter())
    }

    /// Takes the first memories that were not taken yet; those whose files are all gone are stale.
    fn take_fresh<'a>(
        &mut self,
        limit: usize,
        candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
        stale: &mut Vec<BriefingMemory>,
    ) -> Vec<BriefingMemory> {
        let mut notes = Vec::new();
        for memory in self.merged_first(neighbours_last(self.occasion, candidates)) {
            if notes.len() >= limit {
                break;
            }
            let memory = self.current(memory);
            if !self.is_new(&memory) {
                continue;
            }
            let Gone { files: gone, all } = self.gone(&memory);
            let note = BriefingMemory { memory, gone };
            match all {
                All::Gone if stale.len() < STALE_MAX => stale.push(note),
                All::Gone => {}
                All::Not => notes.push(note),
            }
        }
        notes
    }

    /// Returns which files of a memory are gone. A file of a task may not exist yet, and files of other repositories
    /// are elsewhere.
    fn gone(&mut self, memory: &Memory) -> Gone {
        let none = Gone { files: Vec::new(), all: All::Not };
        let is_task = memory.provenance.kind.as_str() == TASK;
        if is_task || !self.occasion.repos.contains(&memory.repo) {
            return none;
        }
        let files = memory.event().files;
        if files.is_empty() || files.len() > self.looks_left {
            return none;
        }
        self.looks_left -= files.len();
        let gone: Vec<String> =
            files.iter().filter(|file| (self.occasion.is_gone)(file)).cloned().collect();
        let all = if gone.len() == files.len() { All::Gone } else { All::Not };
        Gone { files: gone, all }
    }
}

/// The missing files of a memory.
struct Gone {
    files: Vec<String>,
    all: All,
}

/// Whether all files of a memory are gone.
enum All {
    Gone,
    Not,
}

/// Returns how useful a memory is likely to be for any task.
fn worth(memory: &Memory, now: Timestamp) -> f32 {
    prior::freshness(memory.timestamp, now) + prior::believed_success(memory, now)
}
