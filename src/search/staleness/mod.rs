//! Whether memories still hold, checked in their work tree: files that are gone or changed, names of code that are
//! gone, commits that are in no history. Reads only.
//!
//! `mentions` finds the files and names of a memory, `tree` reads files, `git` reads history, `base_commits` finds
//! the commit to compare with, `landed_work` whether the work of a lost commit is there in another form, `renames` where a file
//! went, `moved_paths` what files and folders are called now, `confidence` combines the signs; `changed_files` is the short form for replies. Not
//! here: which memories are checked (`api`), words (`reply`).

mod base_commits;
mod branch_tips;
mod changed_files;
mod checked_memory;
mod confidence;
mod git_questions;
mod landed_work;
mod mentions;
mod moved_paths;
mod renames;
mod tree;
mod unmerged_branches;

pub(crate) use checked_memory::last_held;
use checked_memory::{CheckedMemory, ComparisonBase};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use self::base_commits::BaseCommits;
use self::confidence::{StalenessSigns, confidence};
use self::git_questions::{Differences, GitQuestions, is_commit_id};
use self::renames::{RenamedFile, renamed_files};
use event::{AGENT_FILE, FolderPath, Timestamp};
use memory::Memory;
use place::WorkTree;

pub use self::changed_files::{ChangedFiles, changed_since, gone_from, is_written_after};
pub use self::confidence::Symbols;
pub use self::git_questions::GitError;
pub use self::moved_paths::{MovedPaths, moved_paths};
pub use self::tree::{is_gone, path_in};
pub use self::unmerged_branches::{CommitStamp, UnmergedMemories, UnmergedPolicy, unmerged_stamps};

/// Returns when a commit of the repository at `top` was made; `None` for a text that names none.
///
/// # Errors
/// [`GitError`] if git is not there or takes too long.
pub fn commit_time(top: &Path, named: &str) -> Result<Option<Timestamp>, GitError> {
    GitQuestions::at(top).commit_time(named)
}

/// The kinds whose files may be still to be made, or that name none on purpose.
const NOT_ABOUT_FILES: [&str; 2] = ["task", "session"];

/// A memory that may be stale.
#[derive(Debug, Clone)]
pub struct StaleMemory {
    /// The memory.
    pub memory: Arc<Memory>,
    /// The confidence that it is stale, above 0 and at most 1.
    pub confidence: f32,
    /// Its files that are gone.
    pub gone: Vec<String>,
    /// Its files that have changed.
    pub changed: Vec<String>,
    /// Its names of code, looked up in its files.
    pub symbols: Symbols,
    /// Whether the commit it was written at is in no branch and no tag any more.
    pub is_commit_gone: bool,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct StalenessReport {
    /// The stale memories, the surest first; of equals those with more files gone, then the newest.
    pub stale: Vec<StaleMemory>,
    /// The present names of files that were renamed since, by their old ones.
    pub renamed: BTreeMap<String, String>,
    /// The number of memories that name a file or a commit and were checked.
    pub checked: usize,
    /// The number of memories that were not checked, since they are pinned.
    pub pinned: usize,
    /// The numbers of both for each folder in which memories were learned.
    pub of_folders: BTreeMap<FolderPath, (usize, usize)>,
    /// Why git gave no answer.
    pub git_error: Option<GitError>,
}

/// Memories of one repository, with what is to be looked up in a work tree.
pub struct StalenessCheck<'a> {
    top: &'a Path,
    asked: Vec<CheckedMemory<'a>>,
    pinned: usize,
    of_folders: BTreeMap<FolderPath, (usize, usize)>,
}

impl<'a> StalenessCheck<'a> {
    /// Finds the files, names and commits that memories name. `top` is the work tree. Nothing is looked up yet.
    #[must_use]
    pub fn prepare(memories: &'a [Arc<Memory>], top: &'a Path) -> Self {
        let (asked, of_folders) = (Vec::new(), BTreeMap::new());
        let mut found = Self { top, asked, pinned: 0, of_folders };
        for memory in memories {
            if let Some(checked) = checked_of(memory, top) {
                found.add(memory, checked);
            }
        }
        found
    }

    fn add(&mut self, memory: &Memory, checked: CheckedMemory<'a>) {
        let (mut asked_of_folder, mut pinned_of_folder) = (0, 0);
        if memory.lifecycle().is_pinned {
            self.pinned += 1;
            pinned_of_folder = 1;
        } else {
            self.asked.push(checked);
            asked_of_folder = 1;
        }
        if let Some(folder) = memory.folder() {
            let (asked, pinned) = self.of_folders.entry(folder.clone()).or_default();
            *asked += asked_of_folder;
            *pinned += pinned_of_folder;
        }
    }

    /// Returns the files that they name, from the top of the work tree on: those of the first memories first. A file may be
    /// named several times.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().flat_map(|checked| checked.paths.iter().map(String::as_str))
    }

    /// Checks them. `git` is the repository as found without git; without one, only files that are gone are reported.
    #[must_use]
    pub fn run(&self, git: Option<&WorkTree>) -> StalenessReport {
        let (checked, pinned) = (self.asked.len(), self.pinned);
        let of_folders = self.of_folders.clone();
        let mut report = StalenessReport { checked, pinned, of_folders, ..<_>::default() };
        let history = git.ok_or(GitError::NoRepository).and_then(|at| {
            let git = GitQuestions::at(self.top);
            BaseCommits::resolve(&git, &self.asked, at).map(|bases| (git, bases))
        });
        let mut reading = tree::TreeReader::new(self.top);
        let stale = match history {
            Ok((git, bases)) => {
                let found = by_history(&self.asked, &git, &bases, &mut reading);
                (report.git_error, report.renamed) = (found.silence, found.renamed);
                found.stale
            }
            Err(silence) => {
                report.git_error = Some(silence);
                self.asked.iter().filter_map(|asked| by_sight(asked, self.top)).collect()
            }
        };
        report.stale = stale;
        report.stale.sort_by(|a, b| {
            // A deleted file is a stronger sign than a changed one.
            let surest = |stale: &StaleMemory| {
                (stale.gone.len(), stale.memory.timestamp, stale.memory.id.clone())
            };
            b.confidence.total_cmp(&a.confidence).then_with(|| surest(b).cmp(&surest(a)))
        });
        report
    }
}

fn checked_of<'a>(memory: &'a Arc<Memory>, top: &Path) -> Option<CheckedMemory<'a>> {
    if NOT_ABOUT_FILES.contains(&memory.provenance.kind.as_str()) {
        return None;
    }
    let event = memory.event();
    // Changes of an agent file are imported again.
    if event.tags.iter().any(|tag| tag == AGENT_FILE) {
        return None;
    }
    let paths = mentions::paths(&event, top);
    let commit = event.commit.filter(|commit| is_commit_id(commit));
    if paths.is_empty() && commit.is_none() {
        return None;
    }
    let base = ComparisonBase::for_memory(memory, commit.as_deref());
    Some(CheckedMemory { memory, paths, base, commit })
}

/// What git says about memories.
#[derive(Default)]
struct HistoryFindings {
    stale: Vec<StaleMemory>,
    renamed: BTreeMap<String, String>,
    silence: Option<GitError>,
}

/// Judges memories by the differences between their base commits and the checked-out one.
fn by_history(
    asked: &[CheckedMemory<'_>],
    git: &GitQuestions,
    bases: &BaseCommits,
    reading: &mut tree::TreeReader<'_>,
) -> HistoryFindings {
    let mut of_commit: BTreeMap<&str, Vec<&CheckedMemory<'_>>> = BTreeMap::new();
    let mut differing: Vec<(&CheckedMemory<'_>, Differences)> = Vec::new();
    for checked in asked {
        match bases.commit(&checked.base) {
            Some(commit) => of_commit.entry(commit).or_default().push(checked),
            None => differing.push((checked, Differences::default())),
        }
    }
    let mut findings = HistoryFindings::default();
    let mut with_gone = BTreeSet::new();
    for (commit, same) in of_commit {
        let paths = same.iter().flat_map(|checked| checked.paths.iter().map(String::as_str));
        let differences = match findings.silence {
            None => git.differences(commit, paths.collect()).unwrap_or_else(|why| {
                findings.silence = Some(why);
                Differences::default()
            }),
            // The time for git is over.
            Some(_) => Differences::default(),
        };
        if !differences.gone.is_empty() {
            with_gone.insert(commit);
        }
        differing.extend(same.into_iter().map(|one| (one, differences.among(&one.paths))));
    }
    let renames = renames_of(git, &differing, &with_gone);
    let judged = differing.into_iter();
    let judged =
        judged.filter_map(|(checked, found)| judge(checked, bases, found, &renames, reading));
    findings.stale = judged.collect();
    findings.renamed = renames.into_iter().map(|(old, file)| (old, file.path)).collect();
    findings
}

/// Follows the renames of files that are gone. Where git does not answer in time, they are gone.
fn renames_of(
    git: &GitQuestions,
    differing: &[(&CheckedMemory<'_>, Differences)],
    commits: &BTreeSet<&str>,
) -> BTreeMap<String, RenamedFile> {
    let gone = differing.iter().flat_map(|(_, found)| &found.gone);
    let gone: BTreeSet<String> = gone.map(|file| file.path.clone()).collect();
    if gone.is_empty() {
        return BTreeMap::new();
    }
    let ends = std::iter::once("HEAD").chain(commits.iter().copied());
    let base = landed_work::common_base(git, ends);
    let renamed = base.and_then(|base| renamed_files(git, gone, base.as_deref()));
    renamed.unwrap_or_default()
}

fn judge(
    asked: &CheckedMemory<'_>,
    bases: &BaseCommits,
    differences: Differences,
    renames: &BTreeMap<String, RenamedFile>,
    reading: &mut tree::TreeReader<'_>,
) -> Option<StaleMemory> {
    let Differences { gone: missing, mut changed } = differences;
    let mut gone = Vec::new();
    for file in missing {
        match renames.get(&file.path) {
            None => gone.push(file.path),
            // Under its new name it may be as it was.
            Some(renamed) if renamed.blob == file.blob || changed.contains(&renamed.path) => {}
            Some(renamed) => changed.push(renamed.path.clone()),
        }
    }
    let is_commit_gone = asked.commit.as_deref().is_some_and(|commit| bases.is_gone(commit));
    let names =
        if changed.is_empty() { Vec::new() } else { mentions::names(&asked.memory.event()) };
    let symbols = if names.is_empty() {
        Symbols::NotApplicable
    } else {
        let present = asked.paths.iter().filter(|path| !gone.contains(path));
        let now = present.map(|path| renames.get(path).map_or(path, |renamed| &renamed.path));
        Symbols::look_up(names, &reading.texts(now))
    };
    let signs = StalenessSigns {
        files: asked.paths.len(),
        changed_files: (gone.len() + changed.len()).min(asked.paths.len()),
        is_commit_gone,
    };
    let confidence = confidence(&signs, &symbols);
    let memory = Arc::clone(asked.memory);
    (confidence > 0.0).then_some(StaleMemory {
        memory,
        confidence,
        gone,
        changed,
        symbols,
        is_commit_gone,
    })
}

/// Judges a memory by its files alone. The time of a deletion is unknown, so a later confirmation counts.
fn by_sight(asked: &CheckedMemory<'_>, top: &Path) -> Option<StaleMemory> {
    if asked.memory.verdicts().last_good.is_some() {
        return None;
    }
    let gone: Vec<String> = asked.paths.iter().filter(|path| is_gone(top, path)).cloned().collect();
    let signs = StalenessSigns {
        files: asked.paths.len(),
        changed_files: gone.len(),
        is_commit_gone: false,
    };
    let confidence = confidence(&signs, &Symbols::NotApplicable);
    (confidence > 0.0).then(|| StaleMemory {
        memory: Arc::clone(asked.memory),
        confidence,
        gone,
        changed: Vec::new(),
        symbols: Symbols::NotApplicable,
        is_commit_gone: false,
    })
}

#[cfg(test)]
mod tests;
