//! Which repository a call is about: the one it names, or the one of the caller's directory. Not here: which
//! repository a directory belongs to (`store::repo`).

use super::Local;
use crate::ApiError;
use event::{Problems, RepoKey};
use search::snapshot::Snapshot;

/// The message where a call must name a repository and does not.
pub(super) const UNNAMED: &str = "is missing; this connection has no directory that tells it: give the repository's short name, key or URL";

pub(super) fn unnamed() -> ApiError {
    ApiError::Invalid(Problems::one("repo", UNNAMED))
}

/// Finds the key of a repository by its name; `None` means the caller's repository, if it has one.
pub(super) fn repo_or_here(
    local: &Local,
    name: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Option<RepoKey>, ApiError> {
    name.map_or_else(|| Ok(local.here.clone()), |name| named(local, name, snapshot).map(Some))
}

/// Finds the key of a repository by its name, its key or its URL.
pub(super) fn named(local: &Local, name: &str, snapshot: &Snapshot) -> Result<RepoKey, ApiError> {
    let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
    let key = RepoKey::parse(name).map_err(|error| refuse(error.to_string()))?;
    let key = local.writer.config.current(&key);
    let known = snapshot.repos().keys().chain(&local.here);
    match key.longer(known).as_slice() {
        [only] => Ok((*only).clone()),
        [] => Ok(key),
        _ if snapshot.repos().contains_key(&key) => Ok(key),
        several => {
            let list = several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
            Err(refuse(format!("could be {list}; give one of them in full")))
        }
    }
}
