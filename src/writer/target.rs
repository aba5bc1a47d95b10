//! Which repository a draft is for: by its `scope`, its `repo`, or the working directory. Not here: which repository a directory is
//! (`place`), the steps of a write (this crate's root).

use std::path::Path;
use std::sync::Arc;

use event::{Draft, FolderPath, GLOBAL_REPO, MemoryScope, Problems, RepoKey, fits_short_field};
use place::{NameMatch, Place, RepositoryWord};
use settings::Config;
use store::{Store, StoreError};

use crate::served_place::ServedPlace;

/// What tells the repository of a draft.
pub(super) struct TargetSearch<'a> {
    pub(super) store: &'a Store,
    pub(super) config: &'a Config,
    pub(super) directory: &'a Path,
}

impl TargetSearch<'_> {
    /// Resolves the repository of a draft, by its `scope`, its `repo` or the working directory.
    pub(super) fn target_of(
        &self,
        given: Option<&str>,
        applies: MemoryScope,
    ) -> Result<Target, StoreError> {
        let given = given.filter(|given| applies == MemoryScope::Repo || *given != GLOBAL_REPO);
        let given = given.filter(|given| RepositoryWord::read(given).is_none());
        if applies == MemoryScope::Global {
            let problem = given.map(|_| {
                "cannot be combined with scope global, which is for all repositories; leave one out"
            });
            let problem = problem.map(str::to_owned);
            return Ok(Target { problem, ..Target::named(RepoKey::global()) });
        }
        let found = || self.store.place_at(self.directory, self.config);
        let Some(given) = given else {
            let is_nowhere = self.directory.as_os_str().is_empty();
            return Ok(if is_nowhere { Target::nowhere() } else { Self::target_at(found()) });
        };
        let from = Some(self.directory).filter(|directory| directory.is_absolute());
        match self.store.place_of_text(given, from, self.config) {
            Ok(None) => {}
            Ok(Some(place)) => return Ok(Self::target_at(place)),
            Err(problem) => return Ok(Target::wrong(RepoKey::global(), problem)),
        }
        // Scripts write --repo "$(basename "$PWD")"; any other name needs no look at the directory.
        let here = is_bare_name(given).then(found);
        let called = here.as_ref().and_then(|here| here.name_match(given, self.directory));
        let here = here.filter(|_| called.is_some());
        let key = match (RepoKey::parse(given), here) {
            (Ok(key), Some(here)) if called == Some(NameMatch::Folder) => {
                return self.folder_target(&key, here);
            }
            (_, Some(here)) => return Ok(Self::target_at(here)),
            (Ok(key), None) => key,
            (Err(error), None) => {
                return Ok(Target::wrong(RepoKey::from_line(given), error.to_string()));
            }
        };
        match self.store.resolve(&key, self.config) {
            Err(error @ StoreError::Ambiguous { .. }) => {
                Ok(Target::wrong(key, format!("failed to {error}")))
            }
            other => Ok(Target::named(other?)),
        }
    }

    /// Returns the target of a name that a folder at hand has, and perhaps another repository.
    fn folder_target(&self, key: &RepoKey, here: Place) -> Result<Target, StoreError> {
        match self.store.resolve(key, self.config) {
            Ok(repo) if repo != *key => Ok(Target::named(repo)),
            Ok(_) | Err(StoreError::Ambiguous { .. }) => Ok(Self::target_at(here)),
            Err(error) => Err(error),
        }
    }

    fn target_at(place: Place) -> Target {
        let Some(repo) = place.repository.clone() else {
            return Target::in_no_project(&place.top);
        };
        let fitting = |text: Option<String>| text.filter(|text| fits_short_field(text));
        let tree = place.work_tree.as_ref();
        let branch = tree.and_then(|tree| fitting(tree.branch.clone()));
        let commit = tree.and_then(|tree| fitting(tree.commit.clone()));
        let (package, served) = (place.package(), Some(Arc::new(ServedPlace::new(place.clone()))));
        Target { branch, commit, package, place: Some(place), served, ..Target::named(repo) }
    }
}

/// Tells whether a name may be that of a folder, as no key with several segments, with a hash, or with a URL's colon is.
fn is_bare_name(name: &str) -> bool {
    !name.contains(['/', '~', ':'])
}

/// The repository of a draft. All drafts of a batch with the same `repo` share it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) repo: RepoKey,
    /// Why the given `repo` cannot be used. `repo` is only a placeholder then.
    problem: Option<String>,
    branch: Option<String>,
    commit: Option<String>,
    /// The package at hand.
    pub(super) package: Option<FolderPath>,
    /// Where the writer stands, if the repository is known by that.
    pub(super) place: Option<Place>,
    /// The place at hand.
    pub(super) served: Option<Arc<ServedPlace>>,
}

/// The message to a caller whose directory tells no repository; it follows the name of the field.
pub const UNNAMED: &str = "is missing, and no directory tells it, because the working directory does not exist any more, the \
                           connection has none, or it is nobody's project, as the home directory is; name the repository, for \
                           example github.com/acme/api";

impl Target {
    /// The repository is not known. A guess would put the lesson where nobody looks.
    fn nowhere() -> Self {
        Self::wrong(RepoKey::global(), UNNAMED.to_owned())
    }

    /// The directory is nobody's project.
    fn in_no_project(directory: &Path) -> Self {
        let message = format!(
            "is missing, and {} is no project, because a home directory and a folder for temporary files are everybody's; name the \
             repository, for example github.com/acme/api, or give the path of its work tree",
            directory.display()
        );
        Self::wrong(RepoKey::global(), message)
    }

    fn wrong(repo: RepoKey, problem: String) -> Self {
        Self { problem: Some(problem), ..Self::named(repo) }
    }

    fn named(repo: RepoKey) -> Self {
        let (branch, commit, package) = (None, None, None);
        Self { repo, problem: None, branch, commit, package, place: None, served: None }
    }

    /// Returns the repository, where it can be used.
    pub(super) fn into_repo(self) -> Result<RepoKey, Problems> {
        let problem = self.problem.map(|problem| Problems::one("repo", problem));
        problem.map_or(Ok(self.repo), Err)
    }

    pub(super) fn complete(&self, draft: &mut Draft, problems: &mut Problems) {
        if let Some(problem) = &self.problem {
            problems.add("repo", problem.clone());
        }
        draft.repo = None;
        draft.branch = draft.branch.take().or_else(|| self.branch.clone());
        draft.commit = draft.commit.take().or_else(|| self.commit.clone());
    }
}
