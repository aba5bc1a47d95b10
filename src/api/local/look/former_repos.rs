//! What the repository at hand was before, for whoever is asked whether both are one. Not here: finding it (`store`).

use event::RepoKey;
use search::snapshot::Snapshot;
use store::FormerRepo;

use crate::local::Local;

/// Returns the repositories that the caller's may have been, each with its number of memories. Those that are joined already are
/// left out.
pub(crate) fn former_repos(local: &Local, snapshot: &Snapshot) -> Vec<(FormerRepo, usize)> {
    let (Some(here), Some(place)) = (&local.here, &local.place) else { return Vec::new() };
    let known: Vec<RepoKey> = snapshot.repos().keys().cloned().collect();
    let joined = snapshot.keys_of(here);
    let policy = &local.writer.config.sync;
    let found = local.writer.store.former_repos(place, here, &known, policy);
    let unjoined = found.into_iter().filter(|former| !joined.contains(&former.repo));
    unjoined
        .map(|former| {
            let memories = snapshot.repos().get(&former.repo).copied().unwrap_or_default();
            (former, memories)
        })
        .collect()
}

/// Returns a sentence for each, with the command that joins it.
pub(crate) fn former_sentences(local: &Local, snapshot: &Snapshot) -> Vec<String> {
    let Some(here) = &local.here else { return Vec::new() };
    let found = former_repos(local, snapshot);
    found.iter().map(|(former, memories)| former.sentence(here, Some(*memories))).collect()
}

/// Returns the sentences for a briefing, and remembers that they were said: somebody is asked once.
pub(crate) fn first_briefing_sentences(local: &Local, snapshot: &Snapshot) -> Vec<String> {
    let (Some(here), Some(place)) = (&local.here, &local.place) else { return Vec::new() };
    let store = &local.writer.store;
    let found = former_repos(local, snapshot);
    if !found.is_empty() {
        if store.was_asked(place) {
            return Vec::new();
        }
        store.remember_question(place, local.core.now());
    }
    found.iter().map(|(former, memories)| former.sentence(here, Some(*memories))).collect()
}
