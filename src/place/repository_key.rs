//! The key of a repository that was found: by its best remote, by the repository on this machine that it was cloned from, by what
//! the store remembers, or by its common directory. Not here: finding a repository (`locate`).

use std::path::{Path, PathBuf};

use event::RepoKey;

use crate::git_repository::{GitAt, GitRepository};
use crate::git_settings::IncludeCase;
use crate::machine::Machine;
use crate::other_control::ControlledTree;
use crate::place::PlaceSource;
use crate::remote::{RemoteFound, RemoteSearch, SharedRemote, own_settings};
use crate::setting_text::Setting;
use crate::small_file::{distinct_text, name_of};
use crate::steps::Steps;
use crate::stored_places::StoredPlaces;
use crate::work_tree::VersionControl;

/// How many clones of clones are followed.
const CLONES_MAX: usize = 4;

/// A key and how it is known.
pub(crate) type KnownKey = (RepoKey, PlaceSource);

/// Makes keys of repositories.
pub(crate) struct KeyFinder<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) stored: &'a dyn StoredPlaces,
}

impl KeyFinder<'_> {
    /// Returns the key of a git repository.
    pub(crate) fn git_key(&self, repository: &GitRepository, steps: &mut Steps) -> KnownKey {
        self.git_clone_key(repository, CLONES_MAX, steps)
    }

    fn git_clone_key(&self, found: &GitRepository, clones: usize, steps: &mut Steps) -> KnownKey {
        let mut case = IncludeCase {
            machine: self.machine,
            git_dir: Some(&found.git_dir),
            branch: found.head.branch.as_deref(),
            remote_urls: Vec::new(),
        };
        let own = own_settings(&mut case, &found.common_dir, &found.git_dir);
        let remote = RemoteSearch::new(&case, own).best(&found.top, steps);
        self.remote_key(remote, clones, steps)
            .unwrap_or_else(|| self.remembered_or_common_key(found, steps))
    }

    /// Returns the key of a work tree of another program.
    pub(crate) fn controlled_key(&self, found: &ControlledTree, steps: &mut Steps) -> KnownKey {
        self.controlled_clone_key(found, CLONES_MAX, steps)
    }

    fn controlled_clone_key(
        &self,
        found: &ControlledTree,
        clones: usize,
        steps: &mut Steps,
    ) -> KnownKey {
        let git = found.git_dir.as_ref().and_then(|dir| GitRepository::open(&found.main_top, dir));
        if let Some(git) = git {
            let known = self.git_clone_key(&git, clones, steps);
            // Beside git's own folder both programs must say the same.
            if !matches!(known.1, PlaceSource::CommonDir(..)) || git.common_dir.ends_with(".git") {
                return known;
            }
        }
        let named =
            |(name, url): &(String, String)| Setting::from_name(&format!("remote.{name}.url"), url);
        let own = found.remotes.iter().filter_map(named).collect();
        let case = IncludeCase {
            machine: self.machine,
            git_dir: None,
            branch: None,
            remote_urls: Vec::new(),
        };
        let remote = RemoteSearch::new(&case, own).best(&found.top, steps);
        self.remote_key(remote, clones, steps)
            .unwrap_or_else(|| self.remembered_or_folder_key(found, steps))
    }

    fn remembered_or_folder_key(&self, found: &ControlledTree, steps: &mut Steps) -> KnownKey {
        let main = &found.main_top;
        let key = self.stored.key_of_control_files(&main.join(found.control.files_name()));
        if let Some(key) = &key {
            steps.add(|| format!("the store remembers {key} for {}", main.display()));
        }
        match key {
            Some(key) if !key.is_of_one_machine() => (key, PlaceSource::Remembered(main.clone())),
            key => {
                let key = key.unwrap_or_else(|| folder_key(main));
                (key, PlaceSource::CommonDir(found.control, main.clone()))
            }
        }
    }

    /// Returns the key that a URL gives on this machine.
    pub(crate) fn url_key(&self, name: &str, url: &str, steps: &mut Steps) -> Option<KnownKey> {
        let own = Setting::from_name(&format!("remote.{name}.url"), url).into_iter().collect();
        let case = IncludeCase {
            machine: self.machine,
            git_dir: None,
            branch: None,
            remote_urls: Vec::new(),
        };
        let remote = RemoteSearch::new(&case, own).best(Path::new(""), steps);
        self.remote_key(remote, 0, steps)
    }

    fn remote_key(
        &self,
        remote: RemoteFound,
        clones: usize,
        steps: &mut Steps,
    ) -> Option<KnownKey> {
        match remote {
            RemoteFound::Shared(SharedRemote { name, url, key }) => {
                Some((key, PlaceSource::Remote { name, url }))
            }
            RemoteFound::Here(path) => self.clone_source_key(&path, clones.checked_sub(1)?, steps),
            RemoteFound::Nothing => None,
        }
    }

    /// Returns the key of the repository on this machine that another was cloned from, where that one has a remote itself, or is
    /// a bare one, to which all its clones push.
    fn clone_source_key(&self, from: &Path, clones: usize, steps: &mut Steps) -> Option<KnownKey> {
        let with_ending = PathBuf::from(format!("{}.git", from.display()));
        let mut paths =
            [from, &with_ending].into_iter().filter_map(|path| path.canonicalize().ok());
        paths.find_map(|path| {
            steps.add(|| format!("its remote is {} on this machine", path.display()));
            if let GitAt::Repository(found) = GitAt::look(&path) {
                let known = self.git_clone_key(&found, clones, steps);
                let is_hub = found.top == found.git_dir;
                return (is_hub || !matches!(known.1, PlaceSource::CommonDir(..))).then_some(known);
            }
            let known = self.controlled_clone_key(&ControlledTree::look(&path)?, clones, steps);
            (!matches!(known.1, PlaceSource::CommonDir(..))).then_some(known)
        })
    }

    fn remembered_or_common_key(&self, found: &GitRepository, steps: &mut Steps) -> KnownKey {
        let common = &found.common_dir;
        match self.stored.key_of_common_dir(common) {
            Some(key) if !key.is_of_one_machine() => {
                steps.add(|| format!("the store remembers {key} for {}", common.display()));
                (key, PlaceSource::Remembered(common.clone()))
            }
            key => {
                steps.add(|| "it has no remote that other machines could share".to_owned());
                if let Some(key) = &key {
                    steps.add(|| format!("another repository lay there before, so this is {key}"));
                }
                let key = key.unwrap_or_else(|| common_dir_key(common));
                (key, PlaceSource::CommonDir(VersionControl::Git, common.clone()))
            }
        }
    }

    /// Returns the key of a folder without version control.
    pub(crate) fn folder_key(&self, folder: &Path) -> RepoKey {
        self.stored.key_of_folder(folder).unwrap_or_else(|| folder_key(folder))
    }

    /// Returns the key of a common directory that cannot be read.
    pub(crate) fn pointer_key(&self, common: &Path) -> KnownKey {
        match self.stored.key_of_common_dir(common) {
            Some(key) => (key, PlaceSource::Remembered(common.to_owned())),
            None => (common_dir_key(common), PlaceSource::PointerText(common.to_owned())),
        }
    }
}

/// Returns the key of a common directory: that of the repository's folder and the whole path. A repository has this key while it has
/// no remote that other machines could share.
#[must_use]
pub fn common_dir_key(common_dir: &Path) -> RepoKey {
    path_key(&repository_name(common_dir), common_dir)
}

/// Returns the key of a folder: that of its name and the whole path.
#[must_use]
pub fn folder_key(folder: &Path) -> RepoKey {
    path_key(&name_of(folder), folder)
}

fn path_key(name: &str, path: &Path) -> RepoKey {
    RepoKey::from_place(name, &distinct_text(path))
}

/// Returns the name of a repository's folder: `api/.git`, `api/.bare` and `api.git` are all `api`.
fn repository_name(common_dir: &Path) -> String {
    let name = name_of(common_dir);
    match common_dir.parent() {
        Some(parent) if name == ".git" => name_of(parent),
        Some(_) | None => name.trim_end_matches(".git").to_owned(),
    }
}
