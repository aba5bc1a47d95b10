//! The names that a call may send to the team's server: repositories that are shared, and no memory that stays on this machine. Not
//! here: lines of the own log (`delivery`), what is asked (`remote_team`).

use std::sync::Arc;

use crate::own_memories::OwnMemories;
use event::{EventId, RepoKey};
use place::{RepositoryWord, repository_directory};
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
}

impl ShareableNames {
    pub fn new(local: Arc<dyn Api>, store: Store, config: Config) -> Self {
        Self { local, store, config }
    }

    /// Returns the repository of the caller. It is asked each time: a session may move to another folder.
    fn own_repo(&self) -> Option<RepoKey> {
        let known: WhoamiAnswer = self.local.ask_for(&Request::Whoami).ok()?;
        RepoKey::parse(&known.repo).ok()
    }

    /// Returns the repository that a caller names, or the caller's own, if others may know of it.
    pub fn shareable_repo(&self, named: Option<&str>) -> Option<String> {
        let own_repo = self.own_repo();
        let named = named.filter(|named| RepositoryWord::read(named).is_none());
        let key = match named {
            None => own_repo?,
            // The path itself stays on this machine.
            Some(named) if repository_directory(named, self.store.machine()).is_some() => {
                let directory = repository_directory(named, self.store.machine())?;
                self.store.place_at(&directory, &self.config).repository?
            }
            Some(named) => {
                let typed = RepoKey::parse(named).ok()?;
                // As in the own memory, the caller's repository has a short name before others.
                match own_repo
                    .filter(|own_repo| *own_repo == typed || !typed.longer([own_repo]).is_empty())
                {
                    Some(own_repo) => own_repo,
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
