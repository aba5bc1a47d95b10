//! `sessions forget`: removes what is kept of sessions. Not here: the removal (`sessions`).

use std::path::{Component, Path, PathBuf};

use clap::{ArgGroup, Args};
use serde_json::json;

use crate::args::output_format::OutputFormat;
use crate::commands::sessions::names::{
    SESSION_ADDRESS, find_session, open_session_store, parse_time_ms,
};
use crate::program::Program;
use requests::{ApiError, Reply};
use retriever::failure::session_store_error;
use retriever::resolved_settings::ResolvedSettings;
use sessions::session_store::SessionStore;
use sessions::session_writes::ForgetTarget;

/// `sessions forget`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("forgotten").required(true).args(["what", "before"]))]
pub struct ForgetSessions {
    /// A session by its id, or a directory in which sessions began
    #[arg(value_name = "ID|PATH")]
    pub what: Option<String>,
    /// All that ended before this: a time, a day or an age, such as 2026-03-01 or 90d
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Program<'_> {
    pub(crate) fn forget_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ForgetSessions,
    ) -> Result<Reply, ApiError> {
        let now_ms = (self.surroundings.clock)().now.as_millisecond();
        let (mut kept, what) = match (&command.before, &command.what) {
            (Some(before), _) => (
                open_session_store(settled)?,
                ForgetTarget::Before(parse_time_ms(
                    (self.surroundings.clock)().now,
                    "before",
                    before,
                )?),
            ),
            (None, what) => self.named_to_forget(settled, what.as_deref().unwrap_or_default())?,
        };
        let forgotten = kept.forget(&what, now_ms).map_err(|error| session_store_error(&error))?;
        let text = match (&what, forgotten) {
            (ForgetTarget::Path(path), 0) => format!(
                "Nothing is kept of sessions that began in {path}, and nothing of them will be read."
            ),
            (_, 0) => "Nothing is kept of sessions that ended before that, and nothing of them will be read.".to_owned(),
            _ => {
                let noun = if forgotten == 1 { "session" } else { "sessions" };
                format!("Forgot {forgotten} {noun}. The transcripts stay where they are, and are not read again.")
            }
        };
        Ok(Reply::new(text, json!({ "forgotten": forgotten })))
    }

    /// Finds what an id or a directory means. A word alone is never a directory: what is forgotten is not guessed.
    fn named_to_forget(
        &self,
        settled: &ResolvedSettings,
        what: &str,
    ) -> Result<(SessionStore, ForgetTarget), ApiError> {
        let is_path = what.contains(['/', '\\']) || [".", ".."].contains(&what);
        if is_path && !what.starts_with(SESSION_ADDRESS) {
            let path = without_dots(&self.surroundings.directory.path().join(what));
            return Ok((
                open_session_store(settled)?,
                ForgetTarget::Path(path.to_string_lossy().into_owned()),
            ));
        }
        let (kept, session) = find_session(settled, what)?;
        Ok((kept, ForgetTarget::Session(session.row)))
    }
}

/// Resolves `.` and `..` by the names alone: the directory of a session may be gone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            named => plain.push(named),
        }
    }
    plain
}
