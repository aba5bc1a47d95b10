//! What a store knows of places: which repositories have memories, and what they are called now. Not here: how a place is found
//! (`place`).

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use event::RepoKey;
use place::{KnownDirectory, Locator, Place, PlaceStrength, Steps, StoredPlaces};
use settings::Config;

use super::Store;
use super::place_record::{PlaceRecord, PlaceText};
use super::served_directory::ServedDirectory;

impl Store {
    /// Returns the repositories that have a log here.
    #[must_use]
    pub fn known_repos(&self) -> Vec<RepoKey> {
        self.logs().unwrap_or_default().iter().map(|log| Self::repo_of(log)).collect()
    }

    /// Returns the place of a directory.
    #[must_use]
    pub fn place_at(&self, directory: &Path, config: &Config) -> Place {
        let known = KnownPlaces::new(self, config);
        Locator::new(self.machine(), &known, Steps::disabled()).at(directory)
    }

    /// Returns the directory to ask for the repository, of those that are known: the first that belongs to the best place, else
    /// the top of that place.
    #[must_use]
    pub fn project_directory(&self, known: &[KnownDirectory], config: &Config) -> Option<PathBuf> {
        let first = known.first()?;
        // A hook's directory is mostly that of its process, and the one that the client declares.
        if known.iter().all(|other| other.path == first.path) {
            return Some(first.path.clone());
        }
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
        let known = KnownPlaces::new(self, config);
        let mut locator = Locator::new(self.machine(), &known, steps);
        let place = locator.best(directories);
        (place, locator.steps().texts().to_vec())
    }
}

/// A store's answers about places.
struct KnownPlaces<'a> {
    store: &'a Store,
    config: &'a Config,
    /// What is remembered of directories, once somebody asks. A repository with a remote needs none of it.
    remembered: OnceCell<PlaceText>,
}

impl<'a> KnownPlaces<'a> {
    fn new(store: &'a Store, config: &'a Config) -> Self {
        Self { store, config, remembered: OnceCell::new() }
    }

    fn remembered(&self) -> &PlaceText {
        self.remembered.get_or_init(|| self.store.place_text())
    }

    /// Returns the key of a directory where it is not the one of its path. `look` is asked for directories alone of which something is
    /// remembered: each folder above a project without version control is tried.
    fn key_of(&self, path: &Path, look: fn(&Path) -> Option<ServedDirectory>) -> Option<RepoKey> {
        let records = self.remembered().of_directory(path);
        let served = (!records.is_empty()).then(|| look(path)).flatten()?;
        self.store.remembered_key(&served, &records, &|record| self.is_moved(record))
    }

    /// Tells whether a project lies elsewhere now: its directory does, or an alias gives its memories to another directory.
    fn is_moved(&self, record: &PlaceRecord) -> bool {
        let current = self.config.current(&record.repo);
        let is_joined = current != record.repo && current.is_of_one_machine();
        is_joined || Store::is_moved(record, &self.remembered().all())
    }
}

impl StoredPlaces for KnownPlaces<'_> {
    fn current(&self, key: &RepoKey) -> RepoKey {
        self.store.current(key, self.config)
    }

    fn has_memories(&self, key: &RepoKey) -> bool {
        self.store.log_of(key).symlink_metadata().is_ok()
    }

    fn key_of_common_dir(&self, common_dir: &Path) -> Option<RepoKey> {
        self.key_of(common_dir, ServedDirectory::git)
    }

    fn key_of_control_files(&self, files: &Path) -> Option<RepoKey> {
        self.key_of(files, ServedDirectory::control_files)
    }

    fn key_of_folder(&self, folder: &Path) -> Option<RepoKey> {
        self.key_of(folder, ServedDirectory::folder)
    }

    fn only_named(&self, short_name: &str) -> Option<RepoKey> {
        let typed = RepoKey::parse(short_name).ok()?;
        let known = self.store.known_repos();
        match typed.longer(&known).as_slice() {
            [only] => Some(self.store.current(only, self.config)),
            _ => None,
        }
    }
}
