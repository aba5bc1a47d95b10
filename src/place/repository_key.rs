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
    pub(crate) fn of_git(&self, repository: &GitRepository, steps: &mut Steps) -> KnownKey {
        self.of_git_clone(repository, CLONES_MAX, steps)
    }

    fn of_git_clone(&self, found: &GitRepository, clones: usize, steps: &mut Steps) -> KnownKey {
        let mut case = IncludeCase {
            machine: self.machine,
            git_dir: Some(&found.git_dir),
            branch: found.head.branch.as_deref(),
            remote_urls: Vec::new(),
        };
        let own = own_settings(&mut case, &found.common_dir, &found.git_dir);
        let remote = RemoteSearch::new(&case, own).best(&found.top, steps);
        self.of_remote(remote, clones, steps).unwrap_or_else(|| self.of_common(found, steps))
    }

    /// Returns the key of a work tree of another program.
    pub(crate) fn of_controlled(&self, found: &ControlledTree, steps: &mut Steps) -> KnownKey {
        self.of_controlled_clone(found, CLONES_MAX, steps)
    }

    fn of_controlled_clone(
        &self,
        found: &ControlledTree,
        clones: usize,
        steps: &mut Steps,
    ) -> KnownKey {
        let git = found.git_dir.as_ref().and_then(|dir| GitRepository::with(&found.main_top, dir));
        if let Some(git) = git {
            let known = self.of_git_clone(&git, clones, steps);
            // Beside git's own folder both programs must say the same.
            if !matches!(known.1, PlaceSource::CommonDir(_)) || git.common_dir.ends_with(".git") {
                return known;
            }
        }
        let named =
            |(name, url): &(String, String)| Setting::named(&format!("remote.{name}.url"), url);
        let own = found.remotes.iter().filter_map(named).collect();
        let case = IncludeCase {
            machine: self.machine,
            git_dir: None,
            branch: None,
            remote_urls: Vec::new(),
        };
        let remote = RemoteSearch::new(&case, own).best(&found.top, steps);
        self.of_remote(remote, clones, steps).unwrap_or_else(|| {
            let main = &found.main_top;
            (of_path(&name_of(main), main), PlaceSource::CommonDir(main.clone()))
        })
    }

    /// Returns the key that a URL gives on this machine.
    pub(crate) fn of_url(&self, name: &str, url: &str, steps: &mut Steps) -> Option<KnownKey> {
        let own = Setting::named(&format!("remote.{name}.url"), url).into_iter().collect();
        let case = IncludeCase {
            machine: self.machine,
            git_dir: None,
            branch: None,
            remote_urls: Vec::new(),
        };
        let remote = RemoteSearch::new(&case, own).best(Path::new(""), steps);
        self.of_remote(remote, 0, steps)
    }

    fn of_remote(&self, remote: RemoteFound, clones: usize, steps: &mut Steps) -> Option<KnownKey> {
        match remote {
            RemoteFound::Shared(SharedRemote { name, url, key }) => {
                Some((key, PlaceSource::Remote { name, url }))
            }
            RemoteFound::Here(path) => self.of_clone(&path, clones.checked_sub(1)?, steps),
            RemoteFound::Nothing => None,
        }
    }

    /// Returns the key of the repository on this machine that another was cloned from, where that one has a remote itself, or is
    /// a bare one, to which all its clones push.
    fn of_clone(&self, from: &Path, clones: usize, steps: &mut Steps) -> Option<KnownKey> {
        let with_ending = PathBuf::from(format!("{}.git", from.display()));
        let mut paths =
            [from, &with_ending].into_iter().filter_map(|path| path.canonicalize().ok());
        paths.find_map(|path| {
            steps.add(|| format!("its remote is {} on this machine", path.display()));
            if let GitAt::Repository(found) = GitAt::of(&path) {
                let known = self.of_git_clone(&found, clones, steps);
                let is_hub = found.top == found.git_dir;
                return (is_hub || !matches!(known.1, PlaceSource::CommonDir(_))).then_some(known);
            }
            let known = self.of_controlled_clone(&ControlledTree::at(&path)?, clones, steps);
            (!matches!(known.1, PlaceSource::CommonDir(_))).then_some(known)
        })
    }

    fn of_common(&self, found: &GitRepository, steps: &mut Steps) -> KnownKey {
        let common = &found.common_dir;
        if let Some(key) = self.stored.key_of_common_dir(common) {
            steps.add(|| format!("the store remembers {key} for {}", common.display()));
            return (key, PlaceSource::Remembered(common.clone()));
        }
        steps.add(|| "it has no remote that other machines could share".to_owned());
        (of_common_dir(common), PlaceSource::CommonDir(common.clone()))
    }

    /// Returns the key of a common directory that cannot be read.
    pub(crate) fn of_pointer_text(&self, common: &Path) -> KnownKey {
        match self.stored.key_of_common_dir(common) {
            Some(key) => (key, PlaceSource::Remembered(common.to_owned())),
            None => (of_common_dir(common), PlaceSource::PointerText(common.to_owned())),
        }
    }
}

/// Returns the key of a common directory: that of the repository's folder and the whole path.
pub(crate) fn of_common_dir(common_dir: &Path) -> RepoKey {
    of_path(&repository_name(common_dir), common_dir)
}

/// Returns the key of a folder.
pub(crate) fn of_folder(folder: &Path) -> RepoKey {
    of_path(&name_of(folder), folder)
}

fn of_path(name: &str, path: &Path) -> RepoKey {
    RepoKey::of_place(name, &distinct_text(path))
}

/// Returns the name of a repository's folder: `api/.git`, `api/.bare` and `api.git` are all `api`.
fn repository_name(common_dir: &Path) -> String {
    let name = name_of(common_dir);
    match common_dir.parent() {
        Some(parent) if name == ".git" => name_of(parent),
        Some(_) | None => name.trim_end_matches(".git").to_owned(),
    }
}
