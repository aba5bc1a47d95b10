//! The folder of a draft, where that is a package of its repository: the one that the caller states, else the package he stands in, else
//! the one in which all files of the draft lie. Not here: what a package is (`place`), the form of a folder (`event::FolderPath`).

use std::path::Path;

use event::{Draft, IMPORTED, RepoKey};
use place::{FilePresence, FileViewpoint};
use settings::Config;
use store::Store;

use crate::target::Target;

/// Gives the folder of a draft the form in which it is kept, or finds it. Returns one that was stated and is nowhere.
pub(super) fn keep_folder(
    draft: &mut Draft,
    target: &Target,
    directory: &Path,
    (store, config): (&Store, &Config),
) -> Option<String> {
    if target.repo == RepoKey::global() {
        draft.folder = None;
        return None;
    }
    // What another program wrote says folders from the top on, whoever imports it; an event about a memory has none of its own.
    let is_settled = draft.is_folder_kept
        || draft.source.as_deref() == Some(IMPORTED)
        || draft.memory_id.is_some();
    if is_settled {
        return None;
    }
    let Some(stated) = draft.folder.take() else {
        let folder = target
            .package
            .clone()
            .or_else(|| target.place.as_ref()?.package_of_files(&draft.files));
        draft.folder = folder.map(|folder| folder.as_str().to_owned());
        return None;
    };
    if stated.trim().is_empty() {
        return None;
    }
    let (folder, presence) = kept_folder(&stated, &target.repo, directory, (store, config));
    draft.folder = Some(folder.clone());
    (presence == FilePresence::Missing).then_some(folder)
}

/// Reads the path of a folder as somebody in a directory gives it.
fn kept_folder(
    stated: &str,
    repo: &RepoKey,
    directory: &Path,
    (store, config): (&Store, &Config),
) -> (String, FilePresence) {
    let place = directory.is_absolute().then(|| store.place_at(directory, config));
    let place = place.filter(|place| place.repository.as_ref() == Some(repo));
    let viewpoint = FileViewpoint::new(place.as_ref(), directory, store.machine().home.as_deref());
    let kept = viewpoint.kept_folder(stated);
    (kept.text, kept.presence)
}
