//! Finds the state of past sessions for `status` and `doctor`. Files are counted, and none is opened that was never read.
//! Not here: the words (`reply`).

use super::session_consent::{LOOKED_AT, NO, YES, consent};
use super::{Program, ResolvedSettings, unkept};
use api::ApiError;
use reply::SessionsState;
use sessions::session_store::SessionStore;

impl Program<'_> {
    /// Returns the state of past sessions.
    ///
    /// # Errors
    /// [`ApiError::Failed`] if what is kept cannot be read.
    pub(super) fn sessions_state(
        &self,
        settled: &ResolvedSettings,
    ) -> Result<SessionsState, ApiError> {
        let kept = SessionStore::open(&settled.sessions_dir).map_err(|error| unkept(&error))?;
        let is_allowed = match consent(kept.as_ref())?.as_deref() {
            Some(YES) => Some(true),
            Some(NO) => Some(false),
            _ => None,
        };
        let tools = match is_allowed {
            Some(false) => <_>::default(),
            _ => self.session_plan(kept.as_ref(), self.session_scope(settled, &[])?)?.tools,
        };
        let mut state = SessionsState { is_allowed, tools, ..SessionsState::default() };
        state.now_ms = (self.surroundings.clock)().now.as_millisecond();
        if let Some(kept) = kept {
            state.extents = kept.extents().map_err(|error| unkept(&error))?;
            state.bytes = kept.bytes_on_disk();
            let looked_at = kept.setting(LOOKED_AT).map_err(|error| unkept(&error))?;
            state.looked_at_ms = looked_at.and_then(|at| at.parse().ok());
        }
        Ok(state)
    }
}
