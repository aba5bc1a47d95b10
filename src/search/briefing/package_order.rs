//! The packages of a repository in a briefing: what was learned in the packages beside the one at hand comes last, or not at all. Not
//! here: which package is at hand (`place`), the order otherwise (`order`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Occasion;
use event::FolderPath;
use memory::Memory;

/// What a briefing does with memories of the packages beside the one at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PackagePolicy {
    /// They come behind all others.
    #[default]
    Last,
    /// They are left out, since somebody named a package.
    LeftOut,
}

/// Leaves out the memories of packages beside the one that somebody named.
pub(super) fn of_package<'a>(
    occasion: &Occasion<'_>,
    candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
) -> Box<dyn Iterator<Item = &'a Arc<Memory>> + 'a> {
    match occasion.package_policy {
        PackagePolicy::Last => Box::new(candidates),
        PackagePolicy::LeftOut => neighbours_last(occasion, candidates),
    }
}

/// Puts the memories of packages beside the one at hand behind all others, or leaves them out. Those of a folder that is gone stay:
/// a package may have another name now.
pub(super) fn neighbours_last<'a>(
    occasion: &Occasion<'_>,
    candidates: impl Iterator<Item = &'a Arc<Memory>> + 'a,
) -> Box<dyn Iterator<Item = &'a Arc<Memory>> + 'a> {
    let Occasion { package, package_policy, repos, is_folder_gone, .. } = occasion;
    let Some(package) = package else { return Box::new(candidates) };
    let mut gone: BTreeMap<FolderPath, bool> = BTreeMap::new();
    let mut is_neighbour = |memory: &&'a Arc<Memory>| {
        let folder = memory
            .folder()
            .filter(|folder| package.is_beside(folder) && repos.contains(&memory.repo));
        folder.is_some_and(|folder| match package_policy {
            PackagePolicy::Last => {
                let is_gone = || is_folder_gone(folder);
                !*gone.entry(folder.clone()).or_insert_with(is_gone)
            }
            PackagePolicy::LeftOut => true,
        })
    };
    let (neighbours, others): (Vec<_>, Vec<_>) =
        candidates.partition(|memory| is_neighbour(memory));
    match package_policy {
        PackagePolicy::Last => Box::new(others.into_iter().chain(neighbours)),
        PackagePolicy::LeftOut => Box::new(others.into_iter()),
    }
}
