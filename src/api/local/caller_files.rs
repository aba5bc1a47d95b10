//! The files that a caller names, as seen from its directory. Not here: how a path is read (`place`), which memories are about a
//! file (`search::AskedFile`).

use event::RepoKey;
use place::{FilePresence, FileViewpoint, KeptPath, Place};
use search::AskedFile;
use search::snapshot::Snapshot;

use super::Local;

impl Local {
    /// Reads the path of a file of a repository; `None` is the caller's own.
    pub(super) fn kept_path(&self, text: &str, repo: Option<&RepoKey>) -> KeptPath {
        self.viewed_from(repo).kept_path(text)
    }

    /// Reads the files that a question is about.
    pub(super) fn asked_files(
        &self,
        texts: &[String],
        repo: Option<&RepoKey>,
        snapshot: &Snapshot,
    ) -> Vec<AskedFile> {
        let mut asked = Vec::new();
        for text in texts {
            // The paths of a list are read one by one, so that each keeps what was typed.
            let typed = self.viewed_from(repo).split_list(text);
            asked.extend(typed.into_iter().map(|typed| self.asked_file(typed, repo, snapshot)));
        }
        asked
    }

    /// Reads a file that a question is about.
    pub(super) fn asked_file(
        &self,
        typed: &str,
        repo: Option<&RepoKey>,
        snapshot: &Snapshot,
    ) -> AskedFile {
        let kept = self.kept_path(typed, repo);
        let place = self.place_of(repo);
        let (Some(place), Some(here)) = (place, &self.here) else {
            return AskedFile::from(kept.text);
        };
        if kept.presence != FilePresence::Present {
            return AskedFile::from(kept.text);
        }
        let top = &place.top;
        AskedFile::in_tree(&kept.text, typed, snapshot.keys_of(here), |end| {
            top.join(end).symlink_metadata().is_ok()
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
