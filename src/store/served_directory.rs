//! The directory that a repository's key hangs on, as it is now: whether it still is what the store remembers of its path, and which
//! key it has where it is not. A path is used again: a project is moved away and another one made in its place, which must not be told
//! what the first one learned. Not here: the record itself (`place_record`), what somebody is asked (`former_repos`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use event::RepoKey;
use guard::secrets::RedactedText;
use place::{
    Place, PlaceSource, VersionControl, commit_of_control_files, common_dir_key,
    control_files_have_commit, folder_key, has_commit,
};

use super::Store;
use super::directory_identity::DirectoryIdentity;
use super::place_record::PlaceRecord;

/// Most repositories that are told apart in one directory.
const REPOSITORIES_MAX: usize = 1_000;

/// Most bytes of git's own log of HEAD that are read: its first line is enough.
const FIRST_LINE_BYTES_MAX: u64 = 1024;

/// What a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryContent {
    /// The files of a git repository.
    Git,
    /// The files of Mercurial, Sapling or Jujutsu, in a folder of theirs at the top.
    ControlFiles,
    /// A project without version control.
    Folder,
}

/// A directory as it is now.
#[derive(Debug, Clone)]
pub(super) struct ServedDirectory {
    /// The directory with the repository's own files, shared by its work trees, or the project's folder.
    pub(super) path: PathBuf,
    pub(super) identity: DirectoryIdentity,
    content: DirectoryContent,
}

impl ServedDirectory {
    /// Returns the directory of a place. `None` where no directory decides its key, or its path holds a secret or is no text.
    pub(super) fn from_place(place: &Place) -> Option<Self> {
        let (path, content) = match (&place.work_tree, &place.because) {
            (Some(tree), _) => {
                let files = tree.repository_files();
                let is_git = tree.control == VersionControl::Git || files.ends_with(".git");
                let content =
                    if is_git { DirectoryContent::Git } else { DirectoryContent::ControlFiles };
                (files, content)
            }
            (
                None,
                PlaceSource::Memories(_)
                | PlaceSource::Mark { .. }
                | PlaceSource::Declared(_)
                | PlaceSource::Folder(_),
            ) => (place.top.clone(), DirectoryContent::Folder),
            _ => return None,
        };
        let text = path.to_str()?;
        let is_plain = RedactedText::stamp(text).as_str() == text;
        is_plain.then(|| Self::look(&path, content)).flatten()
    }

    /// Looks at the folder with the files of Mercurial, Sapling or Jujutsu.
    pub(super) fn control_files(path: &Path) -> Option<Self> {
        Self::look(path, DirectoryContent::ControlFiles)
    }

    /// Looks at the common directory of a git repository.
    pub(super) fn git(path: &Path) -> Option<Self> {
        Self::look(path, DirectoryContent::Git)
    }

    /// Looks at the folder of a project without version control.
    pub(super) fn folder(path: &Path) -> Option<Self> {
        Self::look(path, DirectoryContent::Folder)
    }

    fn look(path: &Path, content: DirectoryContent) -> Option<Self> {
        let identity = DirectoryIdentity::read(path)?;
        Some(Self { path: path.to_owned(), identity, content })
    }

    /// Returns the key that the path gives.
    pub(super) fn path_key(&self) -> RepoKey {
        match self.content {
            DirectoryContent::Git => common_dir_key(&self.path),
            DirectoryContent::ControlFiles => folder_key(self.path.parent().unwrap_or(&self.path)),
            DirectoryContent::Folder => folder_key(&self.path),
        }
    }

    /// Tells whether a record of this path is about what lies here now. A repository that was cloned anew has the commits of the one
    /// before it; without commits the identity of the directory decides. `is_moved` tells whether a folder without version control
    /// lies elsewhere now: one that was only made anew, as tools do that unpack or restore it, is the same to its user.
    pub(super) fn is_of(
        &self,
        record: &PlaceRecord,
        is_moved: &dyn Fn(&PlaceRecord) -> bool,
    ) -> bool {
        let is_directory = self.identity.is_same(&record.identity);
        if is_directory && self.identity.is_sure(&record.identity) {
            return true;
        }
        match (self.content, &record.first_commit) {
            (DirectoryContent::Folder, _) => is_directory || !is_moved(record),
            (DirectoryContent::Git | DirectoryContent::ControlFiles, Some(commit)) => {
                self.has_commit(commit).unwrap_or(is_directory)
            }
            (DirectoryContent::Git | DirectoryContent::ControlFiles, None) => is_directory,
        }
    }

    /// Returns a commit by which the repository is known again: that of an earlier record if it still has it, else the first at
    /// which its HEAD stood, by the first line of git's own log.
    pub(super) fn known_commit(
        &self,
        records: &[PlaceRecord],
        head: Option<&str>,
    ) -> Option<String> {
        let first = || match self.content {
            DirectoryContent::Git => first_of_log(&self.path).or_else(|| head.map(str::to_owned)),
            DirectoryContent::ControlFiles => commit_of_control_files(&self.path),
            DirectoryContent::Folder => None,
        };
        let before = records.iter().filter_map(|record| record.first_commit.as_ref());
        let mut before = before.filter(|commit| self.has_commit(commit) == Some(true));
        before.next().cloned().or_else(first)
    }

    /// Tells whether the repository has a commit; `None` where its files cannot tell.
    fn has_commit(&self, commit: &str) -> Option<bool> {
        match self.content {
            DirectoryContent::Git => has_commit(&self.path, commit),
            DirectoryContent::ControlFiles => control_files_have_commit(&self.path, commit),
            DirectoryContent::Folder => None,
        }
    }
}

impl Store {
    /// Returns the key that a directory has by what the store remembers of its path, where that is not the one which the path gives:
    /// the key that its repository had when it was last seen with a remote, or one of its own, where another one lay there before.
    pub(super) fn remembered_key(
        &self,
        served: &ServedDirectory,
        records: &[PlaceRecord],
        is_moved: &dyn Fn(&PlaceRecord) -> bool,
    ) -> Option<RepoKey> {
        let path_key = served.path_key();
        if let Some(last) = records.iter().rev().find(|record| served.is_of(record, is_moved)) {
            return (last.repo != path_key).then(|| last.repo.clone());
        }
        let has_log = |key: &RepoKey| self.log_of(key).symlink_metadata().is_ok();
        let is_used = |key: &RepoKey| records.iter().any(|one| one.repo == *key) || has_log(key);
        if records.is_empty() || !is_used(&path_key) {
            return None;
        }
        let mut numbered = (2..=REPOSITORIES_MAX).map(|number| numbered_key(&path_key, number));
        numbered.find(|key| !is_used(key))
    }

    /// Tells whether what a record is about lies in another directory now.
    pub(super) fn is_moved(record: &PlaceRecord, all: &[PlaceRecord]) -> bool {
        let mut others = all.iter().filter(|other| other.directory != record.directory);
        others.any(|other| {
            other.identity.is_same(&record.identity)
                && DirectoryIdentity::read(&other.directory)
                    .is_some_and(|now| now.is_same(&record.identity))
        })
    }
}

/// Returns the key of the second, third … repository in a directory.
fn numbered_key(first: &RepoKey, number: usize) -> RepoKey {
    let (name, _) = first.as_str().split_once('~').unwrap_or((first.as_str(), ""));
    RepoKey::from_place(name, &format!("{first} {number}"))
}

/// Returns the first commit at which HEAD stood.
fn first_of_log(common_dir: &Path) -> Option<String> {
    let path = common_dir.join("logs/HEAD");
    let file =
        path.metadata().is_ok_and(|found| found.is_file()).then(|| File::open(path).ok())??;
    let mut bytes = Vec::new();
    file.take(FIRST_LINE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let line = String::from_utf8_lossy(&bytes);
    let commit = line.split(' ').nth(1)?;
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit.to_owned())
}

#[cfg(test)]
mod tests;
