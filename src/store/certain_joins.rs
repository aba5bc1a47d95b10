//! Joins of repositories that are certain: a directory without a remote got one, so both keys are the same repository. Not here: what
//! is only asked about (`former_repos`).

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::Path;

use event::RepoKey;
use place::common_dir_key;
use settings::Config;

use super::Store;
use super::layout::CertainJoins;
use super::place_record::PlaceRecord;

impl Store {
    /// Returns the current key of a repository: aliases of the settings are followed, and certain joins. Only the key of a directory
    /// can be joined, so for any other nothing is read.
    #[must_use]
    pub fn current(&self, key: &RepoKey, config: &Config) -> RepoKey {
        let current = config.current(key);
        let joined =
            current.is_of_one_machine().then(|| self.known_joins().get(&current)).flatten();
        match joined.map(|joined| config.current(joined)) {
            Some(joined) => joined,
            None => current,
        }
    }

    /// Adds the joins that are certain to the aliases of the settings; what the user's settings say wins.
    #[must_use]
    pub fn with_certain_joins(&self, mut config: Config) -> Config {
        for (old, new) in self.known_joins() {
            let is_circle = config.current(new) == *old;
            if !is_circle {
                config.aliases.entry(old.clone()).or_insert_with(|| new.clone());
            }
        }
        config
    }

    /// Returns the joins that are certain. Without memories under the key of a directory there are none, and a key without memories
    /// needs none: each one is a setting by which processes find each other.
    #[must_use]
    pub fn certain_joins(&self) -> CertainJoins {
        let logs = self.logs_of_directories();
        if logs.is_empty() {
            return BTreeMap::new();
        }
        let records = self.place_records();
        let mut by_directory: BTreeMap<&Path, Vec<&PlaceRecord>> = BTreeMap::new();
        for record in &records {
            by_directory.entry(&record.directory).or_default().push(record);
        }
        let mut joins = BTreeMap::new();
        for (directory, records) in by_directory {
            let Some(first) = records.first() else { continue };
            for record in records.iter().filter(|record| !record.repo.is_of_one_machine()) {
                let same = records.iter().filter(|other| record.is_same_repository(other));
                let keys = same.map(|other| other.repo.clone()).filter(RepoKey::is_of_one_machine);
                let path_key = record.is_same_repository(first).then(|| common_dir_key(directory));
                for key in keys.chain(path_key) {
                    if logs.contains(&OsString::from(key.file_name())) {
                        joins.entry(key).or_insert_with(|| record.repo.clone());
                    }
                }
            }
        }
        joins
    }

    /// Returns the names of the logs whose key is made of a directory.
    fn logs_of_directories(&self) -> HashSet<OsString> {
        let entries = std::fs::read_dir(self.root()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        names.filter(|name| name.as_encoded_bytes().contains(&b'~')).collect()
    }
}
