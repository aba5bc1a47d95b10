//! The files that a caller names, as seen from its directory. Not here: how a path is read (`place`), which memories are about a
//! file (`search::AskedFile`).

use event::{FolderPath, Problems, RepoKey, quoted};
use place::{FilePresence, FileViewpoint, KeptPath, Place};
use requests::ApiError;
use search::snapshot::Snapshot;
use search::{AskedFile, AskedFolder};

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

    /// Returns the package at hand, where it is one of a repository.
    pub(super) fn package(&self, repo: &RepoKey) -> Option<&FolderPath> {
        let find = || self.place.as_ref().and_then(Place::package);
        let package = || self.package.get_or_init(find).as_ref();
        (self.here.as_ref() == Some(repo)).then(package)?
    }

    /// Reads the folders that a question is about. The top of a repository has everything, so it is no condition.
    pub(super) fn asked_folders(
        &self,
        texts: &[String],
        repo: Option<&RepoKey>,
        snapshot: &Snapshot,
    ) -> Result<Vec<AskedFolder>, ApiError> {
        let folders = texts.iter().map(|text| self.asked_folder(text, repo, snapshot));
        Ok(folders.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Reads a folder that a question is about; `None` for the top of the repository.
    pub(super) fn asked_folder(
        &self,
        typed: &str,
        repo: Option<&RepoKey>,
        snapshot: &Snapshot,
    ) -> Result<Option<AskedFolder>, ApiError> {
        let kept = self.kept_path(typed, repo);
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
        let is_own = kept.presence == FilePresence::Present && self.place_of(repo).is_some();
        let keys = self.here.as_ref().filter(|_| is_own).map(|here| snapshot.keys_of(here));
        Ok(Some(AskedFolder { path, keys }))
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
