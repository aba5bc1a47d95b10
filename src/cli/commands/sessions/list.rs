//! `sessions list`: past sessions, the latest first. Not here: the words (`reply`).

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::commands::sessions::names::{kept_repo, known_tools, leaves_out, parse_time_ms};
use crate::program::Program;
use requests::{ApiError, Reply};
use retriever::failure::session_store_error;
use retriever::resolved_settings::ResolvedSettings;
use sessions::session_rows::{KeptSession, SessionFilter};
use sessions::session_store::SessionStore;

/// `sessions list`.
#[derive(Debug, Args)]
pub struct ListSessions {
    /// Only of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only of this repository, by its key
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Sessions on a page, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole_number::<u32>(1..=1_000, 20))]
    pub limit: u32,
    /// The page
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = whole_number::<u32>(1..=1_000_000, 2))]
    pub page: u32,
    /// Also sessions that programs started, such as subagents and reviews
    #[arg(long)]
    pub all: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Program<'_> {
    pub(crate) fn list_sessions(
        &self,
        settled: &ResolvedSettings,
        command: &ListSessions,
    ) -> Result<Reply, ApiError> {
        let Some(kept) = SessionStore::open(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?
        else {
            return Ok(reply::no_sessions_kept());
        };
        known_tools("tool", command.tool.as_slice())?;
        let from = self.surroundings.directory.path();
        let repo = command.repo.as_deref().map(|name| kept_repo(&kept, settled, from, name));
        let repo = repo.transpose()?.flatten();
        let filter = SessionFilter {
            tool: command.tool.clone(),
            repo,
            since_ms: command
                .since
                .as_deref()
                .map(|since| parse_time_ms((self.surroundings.clock)().now, "since", since))
                .transpose()?,
            is_with_programs: command.all,
        };
        let limit = command.limit as usize;
        let skip = limit.saturating_mul(command.page.saturating_sub(1) as usize);
        let policy = &settled.config.sessions;
        let may_show = |session: &KeptSession| !leaves_out(policy, session);
        let page = kept.page_of_sessions(&filter, may_show, (skip, limit));
        let (sessions, is_more) = page.map_err(|error| session_store_error(&error))?;
        Ok(reply::session_list(&sessions, skip, is_more))
    }
}
