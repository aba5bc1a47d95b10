//! What a call may name to the team's server: a repository that others may know of, and no memory that stays. Not here: lines of
//! the own log (`delivery`), what is asked (`remote_team`).

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::own_memories::OwnMemories;
use event::{EventId, RepoKey};
use requests::Request;
use requests::{Api, ApiError};
use settings::Config;
use store::Store;

/// What this machine knows of the names in a call.
pub struct ShareableNames {
    local: Arc<dyn Api>,
    store: Store,
    config: Config,
    /// The repository of the caller, once it is known.
    here: OnceLock<Option<RepoKey>>,
}

impl ShareableNames {
    pub fn new(local: Arc<dyn Api>, store: Store, config: Config) -> Self {
        Self { local, store, config, here: OnceLock::new() }
    }

    /// Returns the repository of the caller. A failure is not remembered.
    fn here(&self) -> Option<&RepoKey> {
        let ask = || {
            let known = self.local.ask(&Request::Whoami)?;
            let key = known.json.get("repo").and_then(Value::as_str);
            Ok::<_, ApiError>(key.and_then(|key| RepoKey::parse(key).ok()))
        };
        remembered(&self.here, ask)?.as_ref()
    }

    /// Returns the repository that a caller names, or the caller's own, if others may know of it.
    pub fn shareable_repo(&self, named: Option<&str>) -> Option<String> {
        let here = self.here();
        let key = match named {
            None => here?.clone(),
            Some(named) => {
                let typed = RepoKey::parse(named).ok()?;
                // As in the own memory, the caller's repository has a short name before others.
                match here.filter(|here| **here == typed || !typed.longer([*here]).is_empty()) {
                    Some(here) => here.clone(),
                    None => self.store.resolve(&typed, &self.config).ok()?,
                }
            }
        };
        self.config.sync.receives(&key).then(|| key.to_string())
    }

    /// Tells whether this is a memory that stays on this machine.
    ///
    /// # Errors
    /// It cannot be told: the own memory cannot be asked now, or the name is unclear.
    pub fn is_own_memory(&self, memory: &str) -> Result<bool, ApiError> {
        let shown = match self.local.ask(&Request::Show([memory.to_owned()].to_vec())) {
            Ok(shown) => shown,
            Err(ApiError::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let text = |path: &str| shown.json.pointer(path).and_then(Value::as_str);
        let repo = text("/memories/0/repo").and_then(|repo| RepoKey::parse(repo).ok());
        let is_shared = repo.is_some_and(|repo| self.config.sync.receives(&repo));
        let id = text("/memories/0/id").and_then(EventId::foreign);
        let is_own = |id| OwnMemories::default().contains_any(&[id], &self.store).unwrap_or(true);
        // What cannot be read may stay.
        Ok(!is_shared || id.is_none_or(is_own))
    }
}

/// Returns what is known, or what is found out now. A failure is not remembered.
fn remembered<T, E>(known: &OnceLock<T>, ask: impl FnOnce() -> Result<T, E>) -> Option<&T> {
    match known.get() {
        Some(known) => Some(known),
        None => ask().ok().map(|found| known.get_or_init(|| found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REMOTE-3
    #[test]
    fn a_failure_is_not_remembered() {
        let known = OnceLock::new();
        assert_eq!(remembered(&known, || Err::<u8, _>("the memory is not ready")), None);
        assert_eq!(remembered(&known, || Ok::<_, ()>(1)), Some(&1));
        assert_eq!(remembered(&known, || Ok::<_, ()>(2)), Some(&1));
    }
}
