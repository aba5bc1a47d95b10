//! Finds the repository that a typed key means. Not here: paths (`layout`), the key of a directory (`repo`).

use event::{GLOBAL_REPO, RepoKey};
use settings::Config;

use super::StoreError;
use super::layout::{Store, trust};
use super::read_only;

impl Store {
    /// Finds the repository that a typed key means. A key with a log means itself, and so does a key that
    /// abbreviates no other. An abbreviation means the key it abbreviates. Aliases are followed.
    ///
    /// # Errors
    /// [`StoreError::Ambiguous`] if the key abbreviates several keys, [`StoreError::Io`] as in [`Store::logs`].
    pub fn resolve(&self, typed: &RepoKey, config: &Config) -> Result<RepoKey, StoreError> {
        // The short name of a repository can be the same word; the scope of all repositories has precedence.
        if typed.as_str() == GLOBAL_REPO {
            return Ok(typed.clone());
        }
        let current = self.current(typed, config);
        let log = self.log_of(typed);
        if Self::repo_of(&log) == *typed && log.symlink_metadata().is_ok() {
            // A key with a log means itself, so a save need not list hundreds of other logs.
            trust(self.root())?;
            return Ok(current);
        }
        let logs = match self.logs() {
            // A save into this directory fails as well, and then says what to do and which line to keep.
            Err(error) if read_only::is_denied(&error) => return Ok(current),
            logs => logs?,
        };
        let known: Vec<RepoKey> = logs.iter().map(|log| Self::repo_of(log)).collect();
        if current != *typed || known.contains(typed) {
            return Ok(current);
        }
        let mut meant: Vec<RepoKey> =
            typed.longer(&known).into_iter().map(|key| self.current(key, config)).collect();
        meant.dedup();
        match meant.as_slice() {
            [] => Ok(current),
            [only] => Ok(only.clone()),
            several => Err(StoreError::Ambiguous {
                given: typed.to_string(),
                candidates: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{key, store_with};

    #[test]
    fn a_short_name_finds_its_repository_when_it_is_unique() {
        let (_folder, store) =
            store_with(&["github.com+acme+api.jsonl", "github.com+acme+web.jsonl"]);
        let config = Config::default();
        assert_eq!(store.resolve(&key("api"), &config).unwrap(), key("github.com/acme/api"));
        assert_eq!(store.resolve(&key("new"), &config).unwrap(), key("new"));
    }

    // S-REPO-4
    #[test]
    fn a_short_name_of_several_is_refused_with_all_of_them() {
        let (_folder, store) = store_with(&["github.com+a+api.jsonl", "github.com+b+api.jsonl"]);
        let error = store.resolve(&key("api"), &Config::default()).unwrap_err().to_string();
        assert!(error.contains("github.com/a/api or github.com/b/api"), "{error}");
    }

    #[test]
    fn an_exact_name_wins_over_an_abbreviation() {
        let (_folder, store) = store_with(&["api.jsonl", "github.com+a+api.jsonl"]);
        assert_eq!(store.resolve(&key("api"), &Config::default()).unwrap(), key("api"));
    }
}
