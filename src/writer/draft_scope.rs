//! Where a draft applies: in one repository or in all, and whether the directory decides which. Not here: finding the repository
//! (`Writer`).

use event::{Draft, GLOBAL_REPO, MemoryScope};
use place::RepositoryWord;

/// Gives a draft for the repository `global` the scope that this means.
pub(crate) fn draft_for_all(draft: Draft) -> Draft {
    let is_for_all = draft.repo.as_deref().is_some_and(|repo| repo.trim() == GLOBAL_REPO);
    match is_for_all && draft.scope.is_none() && draft.change.is_none() {
        true => Draft { scope: Some(GLOBAL_REPO.to_owned()), ..draft },
        false => draft,
    }
}

/// Returns where a draft applies. A wrong word is reported when the draft is validated.
pub(crate) fn applies(draft: &Draft) -> MemoryScope {
    draft.scope.as_deref().and_then(MemoryScope::parse).unwrap_or_default()
}

/// Tells whether the directory decides where a draft goes.
#[must_use]
pub fn takes_directory(draft: &Draft) -> bool {
    let names_none = |repo: &String| RepositoryWord::read(repo).is_some();
    draft.repo.as_ref().is_none_or(names_none) && applies(draft) == MemoryScope::Repo
}
