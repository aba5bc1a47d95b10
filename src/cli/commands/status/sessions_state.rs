//! Finds the state of past sessions for `status` and `doctor`. Files are counted, and none is opened that was never read.
//! Not here: the words (`reply`).

use crate::program::Program;
use reply::{SessionsState, StateNote};
use requests::ApiError;
use retriever::failure::session_store_error;
use retriever::resolved_settings::ResolvedSettings;
use retriever::session_permission::SessionPermission;
use retriever::session_rounds::LOOKED_AT;
use sessions::import_scope::ImportScope;
use sessions::session_store::SessionStore;

impl Program<'_> {
    /// Returns the state of past sessions.
    ///
    /// # Errors
    /// [`ApiError::Failed`] if what is kept cannot be read.
    pub(crate) fn sessions_state(
        &self,
        settled: &ResolvedSettings,
    ) -> Result<SessionsState, ApiError> {
        let kept = SessionStore::open(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?;
        let said = SessionPermission::read(kept.as_ref())?;
        let (is_allowed, only) = match &said {
            SessionPermission::NotAsked => (None, Vec::new()),
            SessionPermission::Refused => (Some(false), Vec::new()),
            SessionPermission::AllTools | SessionPermission::OnlyTools(_) => {
                (Some(true), said.tools().unwrap_or_default())
            }
        };
        let tools = match is_allowed {
            Some(false) => <_>::default(),
            _ => {
                let all = self.session_scope(settled, &[])?;
                let scope = ImportScope { tools: only.clone(), ..all };
                self.session_plan(kept.as_ref(), scope)?.tools
            }
        };
        let mut state = SessionsState { is_allowed, only, tools, ..SessionsState::default() };
        state.now_ms = (self.surroundings.clock)().now.as_millisecond();
        if let Some(kept) = kept {
            state.extents = kept.extents().map_err(|error| session_store_error(&error))?;
            state.bytes = kept.bytes_on_disk();
            let looked_at = kept.setting(LOOKED_AT).map_err(|error| session_store_error(&error))?;
            state.looked_at_ms = looked_at.and_then(|at| at.parse().ok());
        }
        Ok(state)
    }

    /// Returns that state in words; where it cannot be found, why.
    pub(crate) fn sessions_note(&self, settled: &ResolvedSettings) -> Option<StateNote> {
        self.sessions_state(settled).map_or_else(
            |error| {
                let says = "their state cannot be told".to_owned();
                Some(StateNote { says, warnings: vec![error.to_string()], command: None })
            },
            |state| state.state_note(),
        )
    }
}
