//! What a store knows of places: which repositories have memories, and what they are called now. Not here: how a place is found
//! (`place`).

use std::path::{Path, PathBuf};

use event::RepoKey;
use place::{KnownDirectory, Locator, Place, PlaceStrength, Steps, StoredPlaces};
use settings::Config;

use super::Store;

impl Store {
    /// Returns the repositories that have a log here.
    #[must_use]
    pub fn known_repos(&self) -> Vec<RepoKey> {
        self.logs().unwrap_or_default().iter().map(|log| Self::repo_of(log)).collect()
    }

    /// Returns the place of a directory.
    #[must_use]
    pub fn place_at(&self, directory: &Path, config: &Config) -> Place {
        let known = KnownPlaces { store: self, config };
        Locator::new(self.machine(), &known, Steps::disabled()).at(directory)
    }

    /// Returns the directory to ask for the repository, of those that are known: the first that belongs to the best place, else
    /// the top of that place.
    #[must_use]
    pub fn project_directory(&self, known: &[KnownDirectory], config: &Config) -> Option<PathBuf> {
        let first = known.first()?;
        let [_, _, ..] = known else { return Some(first.path.clone()) };
        let (best, _) = self.best_place(known, config, Steps::disabled());
        if best.strength() == PlaceStrength::Nothing {
            return Some(first.path.clone());
        }
        let is_of_best = |path: &Path| self.place_at(path, config).repository == best.repository;
        let own = known.iter().find(|directory| is_of_best(&directory.path));
        Some(own.map_or(best.top, |directory| directory.path.clone()))
    }

    /// Returns the place that several directories lead to, and the steps where they are asked for.
    #[must_use]
    pub fn best_place(
        &self,
        directories: &[KnownDirectory],
        config: &Config,
        steps: Steps,
    ) -> (Place, Vec<String>) {
        let known = KnownPlaces { store: self, config };
        let mut locator = Locator::new(self.machine(), &known, steps);
        let place = locator.best(directories);
        (place, locator.steps().texts().to_vec())
    }
}

/// A store's answers about places.
struct KnownPlaces<'a> {
    store: &'a Store,
    config: &'a Config,
}

impl StoredPlaces for KnownPlaces<'_> {
    fn current(&self, key: &RepoKey) -> RepoKey {
        self.config.current(key)
    }

    fn has_memories(&self, key: &RepoKey) -> bool {
        self.store.log_of(key).symlink_metadata().is_ok()
    }

    fn key_of_common_dir(&self, common_dir: &Path) -> Option<RepoKey> {
        self.store.remembered_key(common_dir)
    }

    fn only_named(&self, short_name: &str) -> Option<RepoKey> {
        let typed = RepoKey::parse(short_name).ok()?;
        let known = self.store.known_repos();
        match typed.longer(&known).as_slice() {
            [only] => Some(self.config.current(only)),
            _ => None,
        }
    }
}
