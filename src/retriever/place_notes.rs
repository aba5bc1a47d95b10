//! What is said about the repository at hand beside its memories: what it was before, and that a team does not get it. Not here: finding
//! either (`store`), lists of everything that is wrong (`upkeep::doctor`).

use crate::resolved_settings::ResolvedSettings;
use crate::startup::Retriever;
use event::RepoKey;
use place::Steps;
use reply::StateNote;
use settings::SyncPolicy;
use store::Store;
use writer::project_directory::known_directories;

impl Retriever<'_> {
    /// Returns what the repository at hand may have been before. `None` where there is nothing to ask.
    pub fn former_note(&self, settled: &ResolvedSettings) -> Option<StateNote> {
        let (store, config) = (&settled.store, &settled.config);
        let place = store.place_at(&self.working_directory()?, config);
        let here = place.repository.as_ref()?;
        // What is joined already counts under its new key, as in a briefing.
        let known: Vec<RepoKey> =
            store.known_repos().iter().map(|repo| config.current(repo)).collect();
        // A fork that its owner keeps for himself has the name of the team's for ever; the first briefing asks about that.
        let found = store.former_repos(&place, here, &known, &SyncPolicy::default());
        let warnings: Vec<String> =
            found.iter().map(|former| former.sentence(here, None)).collect();
        let says = format!("this directory is {here}");
        (!warnings.is_empty()).then_some(StateNote { says, warnings, command: None })
    }

    /// Returns the steps from what is known to the place at hand.
    pub fn place_steps(&self, settled: &ResolvedSettings) -> Vec<String> {
        let (start, lookup) = (&self.surroundings.directory, self.surroundings.lookup);
        let known = known_directories(None, start, &settled.store, lookup);
        let (place, mut steps) =
            settled.store.best_place(&known, &settled.config, Steps::enabled());
        steps.push(format!("so it is known by {}", place.because));
        steps
    }

    /// Says that the repository at hand is not shared with the team, and which one of a like name is.
    pub fn unshared_notice(
        &self,
        settled: &ResolvedSettings,
        policy: &SyncPolicy,
    ) -> Option<String> {
        let (store, config) = (&settled.store, &settled.config);
        let here = store.place_at(&self.working_directory()?, config).repository?;
        let is_like = |key: &&RepoKey| {
            key.short_name() == here.short_name() && policy.shares(key) && **key != here
        };
        let known = repos_with_team(store);
        let like = known.iter().find(is_like);
        let advice = like.map_or_else(
            || "name its key in sync.share, if the team should have it".to_owned(),
            |like| {
                format!("{like}, which has the same name, is; if both are one: agent-knowledge config set aliases.{here} {like}")
            },
        );
        (!policy.share.is_empty() && !policy.shares(&here))
            .then(|| format!("{here}, the repository of this directory, is not shared; {advice}"))
    }
}

/// Returns the repositories with memories, those of the team too.
fn repos_with_team(store: &Store) -> Vec<RepoKey> {
    let mirrors = store.mirrors().unwrap_or_default();
    let team = mirrors.iter().map(|log| Store::repo_of(log));
    store.known_repos().into_iter().chain(team).collect()
}
