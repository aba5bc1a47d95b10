//! The files and folders that a caller names, as seen from its directory, under all names that they have had. Not here: how a path is
//! read (`place`), which memories are about a file or of a folder (`search::AskedFile`, `search::AskedFolder`).

use std::sync::Arc;

use event::{FolderPath, Problems, RepoKey, quoted};
use memory::Memory;
use place::{FilePresence, FileViewpoint, KeptPath, Place};
use requests::{ApiError, Reply};
use search::snapshot::Snapshot;
use search::staleness::{MovedPaths, path_in};
use search::{AskedFile, AskedFolder, FolderNames};

use super::Local;
use crate::work_trees::merge_state::GitPatience;
use crate::work_trees::moved_state::FollowedNames;

/// Most folders that a notice names.
const NAMED_MAX: usize = 6;

/// What the paths of a question are about.
#[derive(Clone, Copy)]
pub(super) struct PathQuestion<'a> {
    /// The repository; `None` is the caller's own.
    pub(super) repo: Option<&'a RepoKey>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) patience: GitPatience,
}

impl<'a> PathQuestion<'a> {
    /// A question of somebody who waits for the answer.
    pub(super) fn asked(repo: Option<&'a RepoKey>, snapshot: &'a Snapshot) -> Self {
        Self { repo, snapshot, patience: GitPatience::Asker }
    }
}

/// The folders of a question.
#[derive(Default)]
pub(super) struct AskedFolders {
    pub(super) folders: Vec<AskedFolder>,
    /// Those that are nowhere, each in a sentence.
    pub(super) notices: Vec<String>,
}

impl AskedFolders {
    /// Tells whether a memory is of one of them, or none is named.
    pub(super) fn allow(&self, memory: &Memory) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|folder| folder.has(memory))
    }

    /// Says in a reply which of them are nowhere.
    pub(super) fn noted_in(&self, reply: Reply) -> Reply {
        self.notices.iter().fold(reply, |reply, notice| reply::with_notice(reply, notice))
    }
}

impl Local {
    /// Reads the path of a file of a repository; `None` is the caller's own.
    pub(super) fn kept_path(&self, text: &str, repo: Option<&RepoKey>) -> KeptPath {
        self.viewed_from(repo).kept_path(text)
    }

    /// Reads the files that a question is about.
    pub(super) fn asked_files(&self, texts: &[String], asked: PathQuestion<'_>) -> Vec<AskedFile> {
        // The paths of a list are read one by one, so that each keeps what was typed.
        let viewpoint = self.viewed_from(asked.repo);
        let typed = texts.iter().flat_map(|text| viewpoint.split_list(text));
        let kept: Vec<(&str, KeptPath)> =
            typed.map(|typed| (typed, viewpoint.kept_path(typed))).collect();
        if kept.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> = kept.iter().map(|(_, kept)| kept.text.clone()).collect();
        let moved = self.moved(&names, FollowedNames::FoldersAndFiles, asked);
        let kept = kept.into_iter();
        kept.map(|(typed, kept)| self.file_of(typed, &kept, &moved, asked)).collect()
    }

    /// Reads a file that a question is about.
    pub(super) fn asked_file(&self, typed: &str, asked: PathQuestion<'_>) -> AskedFile {
        let kept = self.kept_path(typed, asked.repo);
        let names = [kept.text.clone()];
        let moved = self.moved(&names, FollowedNames::FoldersAndFiles, asked);
        self.file_of(typed, &kept, &moved, asked)
    }

    fn file_of(
        &self,
        typed: &str,
        kept: &KeptPath,
        moved: &MovedPaths,
        asked: PathQuestion<'_>,
    ) -> AskedFile {
        let (Some(place), Some(here)) = (self.place_of(asked.repo), &self.here) else {
            return AskedFile::from(kept.text.as_str());
        };
        let top = &place.top;
        let name = path_in(top, &kept.text);
        let present = match kept.presence {
            FilePresence::Present => Some(kept.text.clone()),
            FilePresence::Missing => name.as_ref().and_then(|name| moved.present_name(name)),
            FilePresence::Unknown => None,
        };
        let Some(path) = present else { return AskedFile::from(kept.text.as_str()) };
        let asked_name = name.filter(|name| *name != path);
        let former = moved.former_names(&path).map(str::to_owned).chain(asked_name).collect();
        let file = AskedFile::in_tree(&path, typed, asked.snapshot.keys_of(here), |end| {
            top.join(end).symlink_metadata().is_ok()
        });
        file.with_other_paths(former)
    }

    /// Returns the package at hand, where it is one of a repository.
    fn package(&self, repo: &RepoKey) -> Option<&FolderPath> {
        let find = || self.place.as_ref().and_then(Place::package);
        let package = || self.package.get_or_init(find).as_ref();
        (self.here.as_ref() == Some(repo)).then(package)?
    }

    /// Returns the package at hand under all names that it has had, where it is one of the repository of a question.
    pub(super) fn package_at_hand(&self, asked: PathQuestion<'_>) -> Option<FolderNames> {
        let package = self.package(asked.repo?)?;
        let moved = self.moved(&[], FollowedNames::Folders, asked);
        Some(names_of(package.clone(), &moved))
    }

    /// Reads the folders that a question is about. The top of a repository has everything, so it is no condition.
    pub(super) fn asked_folders(
        &self,
        texts: &[String],
        asked: PathQuestion<'_>,
    ) -> Result<AskedFolders, ApiError> {
        let mut all = AskedFolders::default();
        for typed in texts {
            let Some(folder) = self.asked_folder(typed, asked)? else { continue };
            all.notices.extend(self.unknown_notice(typed, &folder, asked));
            all.folders.push(folder);
        }
        Ok(all)
    }

    /// Reads a folder that a question is about; `None` for the top of the repository.
    fn asked_folder(
        &self,
        typed: &str,
        asked: PathQuestion<'_>,
    ) -> Result<Option<AskedFolder>, ApiError> {
        let kept = self.viewed_from(asked.repo).kept_folder(typed);
        let text = kept.text.trim_start_matches("./").trim_end_matches('/');
        if matches!(text, "" | ".") {
            return Ok(None);
        }
        let Some(path) = FolderPath::parse(text) else {
            let why = format!(
                "must be a folder below the top of the repository, such as packages/web; got {}",
                quoted(typed)
            );
            return Err(Problems::one("folder", why).into());
        };
        let moved = self.moved(&[text.to_owned()], FollowedNames::Folders, asked);
        let is_moved = moved.present_name(text).is_some();
        let is_there = kept.presence == FilePresence::Present || is_moved;
        let is_own = is_there && self.place_of(asked.repo).is_some();
        let keys = self.here.as_ref().filter(|_| is_own).map(|here| asked.snapshot.keys_of(here));
        Ok(Some(AskedFolder { names: names_of(path, &moved), keys }))
    }

    /// Tells whether a folder of a word in a query is there, or a memory is of it.
    pub(super) fn is_folder_known(&self, typed: &str, snapshot: &Snapshot) -> bool {
        let asked = PathQuestion::asked(None, snapshot);
        let folder = self.asked_folder(typed, asked).ok().flatten();
        folder.is_some_and(|folder| self.is_known(&folder, asked))
    }

    fn is_known(&self, folder: &AskedFolder, asked: PathQuestion<'_>) -> bool {
        let place = self.place_of(asked.repo).filter(|_| folder.keys.is_some());
        place.is_some_and(|place| place.top.join(folder.names.present().as_str()).is_dir())
            || asked.snapshot.memories().iter().any(|memory| folder.has(memory))
    }

    /// Says that a folder is nowhere, and of which folders there are memories.
    fn unknown_notice(
        &self,
        typed: &str,
        folder: &AskedFolder,
        asked: PathQuestion<'_>,
    ) -> Option<String> {
        if self.is_known(folder, asked) {
            return None;
        }
        let repo = asked.repo.or(self.here.as_ref());
        let keys = repo.map(|repo| asked.snapshot.keys_of(repo));
        let is_of = |repo: &RepoKey| keys.as_ref().is_none_or(|keys| keys.contains(repo));
        let memories = asked.snapshot.memories().iter().filter(|memory| is_of(&memory.repo));
        let mut known: Vec<&str> =
            memories.filter_map(|memory| Some(memory.folder()?.as_str())).collect();
        known.sort_unstable();
        known.dedup();
        let within = repo.map_or_else(String::new, |repo| format!(" in {repo}"));
        let begin = format!("Note: no folder {} is known{within}", quoted(typed));
        let more = known.len().saturating_sub(NAMED_MAX);
        known.truncate(NAMED_MAX);
        Some(match (known.is_empty(), more) {
            (true, _) => format!("{begin}, and no memory{within} is of one."),
            (false, 0) => format!("{begin}; memories are of {}.", known.join(", ")),
            (false, _) => format!("{begin}; memories are of {} and {more} more.", known.join(", ")),
        })
    }

    /// Returns what names, and those of memories, are called now in the caller's work tree.
    pub(super) fn moved(
        &self,
        names: &[String],
        followed: FollowedNames,
        asked: PathQuestion<'_>,
    ) -> Arc<MovedPaths> {
        let (Some(place), Some(here)) = (self.place_of(asked.repo), &self.here) else {
            return Arc::default();
        };
        let tree = self.core.work_trees.at(&place.top).filter(|tree| tree.repo() == here);
        let moment = ((self.core.clock)().now, asked.patience);
        tree.map_or_else(Arc::default, |tree| {
            tree.moved(place, asked.snapshot, (names, followed), moment)
        })
    }

    /// Returns the caller's place, where it is one of a repository.
    fn place_of(&self, repo: Option<&RepoKey>) -> Option<&Place> {
        let is_here = repo.is_none() || repo == self.here.as_ref();
        self.place.as_ref().filter(|_| is_here)
    }

    fn viewed_from(&self, repo: Option<&RepoKey>) -> FileViewpoint<'_> {
        let home = self.core.store.machine().home.as_deref();
        FileViewpoint::new(self.place_of(repo), &self.writer.directory, home)
    }
}

/// Returns a folder under all names that it has had.
fn names_of(folder: FolderPath, moved: &MovedPaths) -> FolderNames {
    let present = moved.present_name(folder.as_str()).and_then(|name| FolderPath::parse(&name));
    let asked = present.is_some().then(|| folder.clone());
    let present = present.unwrap_or(folder);
    let former = moved.former_names(present.as_str()).filter_map(FolderPath::parse);
    let others = former.chain(asked).collect();
    FolderNames::new(present, others)
}
