//! Which repository a call is about: the one it names, or the one of the caller's directory. Not here: which
//! repository a directory belongs to (`place`).

use std::collections::BTreeSet;

use super::Local;
use crate::likeness::{likeness, most_alike};
use event::{Problems, RepoKey};
use place::{NameMatch, Place, RepositoryWord, repository_directory};
use requests::ApiError;
use search::snapshot::Snapshot;
use writer::{UNNAMED, Writer};

/// The error where a call must name a repository and does not.
pub(super) fn unnamed_error() -> ApiError {
    ApiError::Invalid(Problems::one("repo", UNNAMED))
}

/// Finds the key of a repository by its name; `None` means the caller's repository, if it has one.
pub(super) fn repo_or_here(
    local: &Local,
    name: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Option<RepoKey>, ApiError> {
    name.map_or_else(|| Ok(local.here.clone()), |name| named_repo(local, name, snapshot).map(Some))
}

/// The same, where there must be one.
pub(super) fn required_repo(
    local: &Local,
    name: Option<&str>,
    snapshot: &Snapshot,
) -> Result<RepoKey, ApiError> {
    repo_or_here(local, name, snapshot)?.ok_or_else(unnamed_error)
}

/// Finds the key of a repository by its name; `None` where none is named.
pub(super) fn repo_if_named(
    local: &Local,
    name: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Option<RepoKey>, ApiError> {
    name.map(|name| named_repo(local, name, snapshot)).transpose()
}

/// Finds every key of a repository by its name; `None` where none is named.
pub(super) fn keys_if_named(
    local: &Local,
    name: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Option<BTreeSet<RepoKey>>, ApiError> {
    Ok(repo_if_named(local, name, snapshot)?.map(|repo| snapshot.keys_of(&repo)))
}

/// Tells whether there are memories of a repository.
pub(super) fn has_memories(repo: &RepoKey, snapshot: &Snapshot) -> bool {
    snapshot.keys_of(repo).iter().any(|key| snapshot.repos().contains_key(key))
}

/// Finds the key of a repository by its name, its key or its URL.
pub(super) fn named_repo(
    local: &Local,
    name: &str,
    snapshot: &Snapshot,
) -> Result<RepoKey, ApiError> {
    let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
    if RepositoryWord::read(name).is_some() {
        return local.here.clone().ok_or_else(unnamed_error);
    }
    if let Some(place) = given_place(local, name).map_err(refuse)? {
        return place.repository.ok_or_else(unnamed_error);
    }
    let called =
        local.place.as_ref().and_then(|place| place.name_match(name, &local.writer.directory));
    let here = local.here.as_ref().filter(|_| called.is_some());
    if let (Some(here), Some(NameMatch::Repository)) = (here, called) {
        return Ok(here.clone());
    }
    let key = match (RepoKey::parse(name), here) {
        (Ok(key), _) => key,
        (Err(_), Some(here)) => return Ok(here.clone()),
        (Err(error), None) => return Err(refuse(error.to_string())),
    };
    let key = local.writer.config.current(&key);
    let known = snapshot.repos().keys().chain(&local.here);
    match (key.longer(known).as_slice(), here) {
        ([only], _) => Ok((*only).clone()),
        (_, Some(here)) => Ok(here.clone()),
        ([], None) => Ok(key),
        (_, None) if snapshot.repos().contains_key(&key) => Ok(key),
        (several, None) => {
            let list = several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
            Err(refuse(format!("could be {list}; give one of them in full")))
        }
    }
}

/// Finds the keys of all repositories that a name in somebody's text may mean, which refuses nothing.
pub(super) fn named_repos(local: &Local, name: &str, snapshot: &Snapshot) -> Vec<RepoKey> {
    match (named_repo(local, name, snapshot), RepoKey::parse(name)) {
        (Ok(repo), _) => vec![repo],
        (Err(_), Ok(key)) => {
            let key = local.writer.config.current(&key);
            key.longer(snapshot.repos().keys()).into_iter().cloned().collect()
        }
        (Err(_), Err(_)) => Vec::new(),
    }
}

/// Returns the place of a path that is given as a repository.
///
/// # Errors
/// What is allowed.
fn given_place(local: &Local, name: &str) -> Result<Option<Place>, String> {
    if let Some(why) = path_elsewhere(local, name) {
        return Err(why.to_owned());
    }
    let Writer { store, config, directory, .. } = &local.writer;
    let from = Some(&**directory).filter(|directory| directory.is_absolute());
    store.place_of_text(name, from, config)
}

/// Says that a path names nothing here, to a caller on another machine, or to one who may not know of the folders of this one.
pub(super) fn path_elsewhere(local: &Local, name: &str) -> Option<&'static str> {
    let is_elsewhere = local.is_of_others() || local.answers_others;
    let is_path = || repository_directory(name, local.writer.store.machine()).is_some();
    (is_elsewhere && is_path()).then_some(
        "must be a repository, for example github.com/acme/api; a path says nothing here, because this server answers for the \
         folders of its owner alone",
    )
}

/// Asks whether another repository was meant, in a sentence after another one; empty where none is like it.
pub(super) fn similar_names(repo: &RepoKey, snapshot: &Snapshot) -> String {
    nearest(repo, snapshot).map_or_else(String::new, |near| format!(" Did you mean {near}?"))
}

/// Returns the known repository whose short name or whole key is most like that of a repository without memories; nothing if
/// none is like it.
fn nearest<'a>(repo: &RepoKey, snapshot: &'a Snapshot) -> Option<&'a RepoKey> {
    most_alike(snapshot.repos().keys(), |known| {
        let whole = likeness(known.as_str(), repo.as_str());
        whole.max(likeness(known.short_name(), repo.short_name()))
    })
}
