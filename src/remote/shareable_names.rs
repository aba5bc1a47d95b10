//! The names that a call may send to the team's server: repositories that are shared, and no memory that stays on this machine. Not
//! here: lines of the own log (`delivery`), what is asked (`remote_team`).

use std::sync::{Arc, OnceLock};

use crate::own_memories::OwnMemories;
use event::{EventId, RepoKey};
use reply::{ShownMemories, WhoamiAnswer};
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
    own_repo: OnceLock<Option<RepoKey>>,
}

impl ShareableNames {
    pub fn new(local: Arc<dyn Api>, store: Store, config: Config) -> Self {
        Self { local, store, config, own_repo: OnceLock::new() }
    }

    /// Returns the repository of the caller. A failure is not remembered.
    fn own_repo(&self) -> Option<&RepoKey> {
        let ask = || {
            let known: WhoamiAnswer = self.local.ask_for(&Request::Whoami)?;
            Ok::<_, ApiError>(RepoKey::parse(&known.repo).ok())
        };
        get_or_ask(&self.own_repo, ask)?.as_ref()
    }

    /// Returns the repository that a caller names, or the caller's own, if others may know of it.
    pub fn shareable_repo(&self, named: Option<&str>) -> Option<String> {
        let own_repo = self.own_repo();
        let key = match named {
            None => own_repo?.clone(),
            Some(named) => {
                let typed = RepoKey::parse(named).ok()?;
                // As in the own memory, the caller's repository has a short name before others.
                match own_repo
                    .filter(|own_repo| **own_repo == typed || !typed.longer([*own_repo]).is_empty())
                {
                    Some(own_repo) => own_repo.clone(),
                    None => self.store.resolve(&typed, &self.config).ok()?,
                }
            }
        };
        self.config.sync.receives(&key).then(|| key.to_string())
    }

    /// Tells whether this is a memory that stays on this machine.
    ///
    /// # Errors
    /// The own memory cannot be asked now, or the name is unclear.
    pub fn is_own_memory(&self, memory: &str) -> Result<bool, ApiError> {
        let shown = match self.local.ask(&Request::Show([memory.to_owned()].to_vec())) {
            Ok(shown) => shown,
            Err(ApiError::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let shown = shown.answer::<ShownMemories>().ok();
        let memory = shown.and_then(|shown| shown.memories.into_iter().next());
        let event = memory.map(|memory| memory.memory.event);
        let repo = event.as_ref().and_then(|event| RepoKey::parse(&event.repo).ok());
        let is_shared = repo.is_some_and(|repo| self.config.sync.receives(&repo));
        let id = event.and_then(|event| EventId::foreign(&event.id));
        let is_own = |id| OwnMemories::default().contains_any(&[id], &self.store).unwrap_or(true);
        // What cannot be read may stay.
        Ok(!is_shared || id.is_none_or(is_own))
    }
}

/// Returns what is known, or what is found out now. A failure is not remembered.
fn get_or_ask<T, E>(known: &OnceLock<T>, ask: impl FnOnce() -> Result<T, E>) -> Option<&T> {
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
        assert_eq!(get_or_ask(&known, || Err::<u8, _>("the memory is not ready")), None);
        assert_eq!(get_or_ask(&known, || Ok::<_, ()>(1)), Some(&1));
        assert_eq!(get_or_ask(&known, || Ok::<_, ()>(2)), Some(&1));
    }
}
