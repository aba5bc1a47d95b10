//! What files and folders that memories name are called now in one work tree. Git is asked about names that are gone alone, once for each
//! state of `HEAD` and of what waits for the next commit; where nothing was renamed or removed it is not started. Not here: how git is
//! asked (`search::staleness`), who asks (`local::caller_files`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use event::{EventId, FolderPath, RepoKey, Timestamp};
use memory::FoldMark;
use place::{FileViewpoint, Place};
use search::snapshot::Snapshot;
use search::staleness::{MovedPaths, moved_paths, path_in};

use super::merge_state::{GitPatience, SILENCE_SECONDS};
use super::tree_print::tree_print;

/// Most folders, and most files, of memories that are looked for in the work tree.
const NAMES_MAX: usize = 4_096;

/// Whose names are followed, besides those that a caller names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowedNames {
    /// No others.
    Named,
    /// The folders of memories.
    Folders,
    /// The folders of memories, and the files that these name.
    FoldersAndFiles,
}

/// A name that memories have, with a commit at which it was there.
type NamedPaths = BTreeMap<String, Option<String>>;

/// What is known of one work tree.
#[derive(Debug, Default)]
pub(super) struct MovedState {
    /// The memories whose files were read.
    read: HashSet<EventId>,
    files: NamedPaths,
    /// The folders, with a memory of each, as of one state of all memories.
    folders: Option<(FoldMark, BTreeMap<FolderPath, u32>)>,
    last: Option<MovedLook>,
}

#[derive(Debug)]
struct MovedLook {
    at: Timestamp,
    /// The state of `HEAD`, the branches and the index.
    tree_print: u64,
    /// The names that git was asked about.
    asked: BTreeSet<String>,
    found: Arc<MovedPaths>,
    /// Who waited in vain for git.
    silent_for: Option<GitPatience>,
}

impl MovedState {
    /// Returns what names of a caller, and those of memories of a repository, are called now in a work tree of it.
    pub(super) fn look(
        &mut self,
        place: &Place,
        (repo, snapshot): (&RepoKey, &Snapshot),
        (names, followed): (&[String], FollowedNames),
        (now, patience): (Timestamp, GitPatience),
    ) -> Arc<MovedPaths> {
        let Some(git) = place.git() else { return Arc::default() };
        let index = git.git_dir.join("index").to_string_lossy().into_owned();
        let tree_print = tree_print(place, &[index]);
        let is_recent = |last: &&MovedLook| last.tree_print == tree_print && last.is_recent(now);
        if patience == GitPatience::Hook {
            // A hook does not wait for git, since what it says without it is true as well.
            return self
                .last
                .as_ref()
                .filter(is_recent)
                .map_or_else(Arc::default, |last| Arc::clone(&last.found));
        }
        let mut last = self
            .last
            .take()
            .filter(|last| is_recent(&last))
            .filter(|last| last.silent_for.is_none_or(|silent_for| patience <= silent_for));
        let (mut gone, links) = self.gone_names(place, (repo, snapshot), (names, followed));
        let asked_before =
            |name: &String| last.as_ref().is_some_and(|last| last.asked.contains(name));
        gone.retain(|name, _| !asked_before(name));
        if let Some(known) = last.take_if(|last| gone.is_empty() && last.found.includes(&links)) {
            let found = Arc::clone(&known.found);
            self.last = Some(known);
            return found;
        }
        let (more, silent_for) = match moved_paths(&git.top, &gone, patience.time()) {
            Ok(found) => (found, None),
            Err(_) => (MovedPaths::default(), Some(patience)),
        };
        let known = last.unwrap_or(MovedLook {
            at: now,
            tree_print,
            asked: BTreeSet::new(),
            found: Arc::default(),
            silent_for: None,
        });
        let mut found = MovedPaths::clone(&known.found);
        found.extend(more);
        found.extend(links);
        let found = Arc::new(found);
        let asked = known.asked.into_iter().chain(gone.into_keys()).collect();
        let silent_for = known.silent_for.or(silent_for);
        self.last = Some(MovedLook { asked, found: Arc::clone(&found), silent_for, ..known });
        found
    }

    /// Returns the names that are not there, and the folders that links in their place lead to.
    fn gone_names(
        &mut self,
        place: &Place,
        (repo, snapshot): (&RepoKey, &Snapshot),
        (names, followed): (&[String], FollowedNames),
    ) -> (NamedPaths, MovedPaths) {
        let top = &*place.top;
        let (mut gone, mut links) = (NamedPaths::new(), MovedPaths::default());
        let is_gone = |path: &str| top.join(path).symlink_metadata().is_err();
        if followed >= FollowedNames::Folders {
            let viewpoint = FileViewpoint { top: Some(top), ..FileViewpoint::default() };
            for (folder, number) in self.folders_of(repo, snapshot) {
                let name = folder.as_str();
                if is_gone(name) {
                    let memory = snapshot.memory(*number);
                    gone.insert(name.to_owned(), memory.and_then(|memory| memory.event().commit));
                } else if let Some(target) = viewpoint.folder_behind(name) {
                    links.insert(name.to_owned(), target);
                }
            }
        }
        if followed == FollowedNames::FoldersAndFiles {
            self.read_files(top, (repo, snapshot));
            let files = self.files.iter().filter(|(file, _)| is_gone(file));
            gone.extend(files.map(|(file, commit)| (file.clone(), commit.clone())));
        }
        let named = names.iter().filter_map(|name| path_in(top, name));
        let named = named.filter(|name| !name.is_empty() && is_gone(name));
        for name in named {
            gone.entry(name).or_default();
        }
        (gone, links)
    }

    /// Returns the folders of the memories of a repository, with a memory of each, the oldest.
    fn folders_of(&mut self, repo: &RepoKey, snapshot: &Snapshot) -> &BTreeMap<FolderPath, u32> {
        let known = self.folders.take().filter(|(mark, _)| snapshot.is_marked(mark));
        let read = || {
            let keys = snapshot.keys_of(repo);
            let mut folders = BTreeMap::new();
            for (number, memory) in (0..).zip(snapshot.memories().iter()) {
                let Some(folder) = memory.folder().filter(|_| keys.contains(&memory.repo)) else {
                    continue;
                };
                if folders.len() < NAMES_MAX && !folders.contains_key(folder) {
                    folders.insert(folder.clone(), number);
                }
            }
            (snapshot.mark(), folders)
        };
        let (_, folders) = self.folders.insert(known.unwrap_or_else(read));
        folders
    }

    /// Reads the files of the memories of a repository that were not read before.
    fn read_files(&mut self, top: &Path, (repo, snapshot): (&RepoKey, &Snapshot)) {
        let keys = snapshot.keys_of(repo);
        for memory in snapshot.memories().iter().rev() {
            if self.files.len() >= NAMES_MAX {
                return;
            }
            if !keys.contains(&memory.repo) || !self.read.insert(memory.id.clone()) {
                continue;
            }
            let event = memory.event();
            for file in event.files.iter().filter_map(|file| path_in(top, file)) {
                self.files.entry(file).or_insert_with(|| event.commit.clone());
            }
        }
    }
}

impl MovedLook {
    /// Where git was silent, it is asked again after a while.
    fn is_recent(&self, now: Timestamp) -> bool {
        let age_seconds = now.as_second() - self.at.as_second();
        self.silent_for.is_none() || (0..SILENCE_SECONDS).contains(&age_seconds)
    }
}
