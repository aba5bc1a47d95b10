//! `sessions show`: a past session, also step by step in time. Not here: the words (`reply`).

use std::io::{IsTerminal, Write};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::commands::sessions::names::session_to_show;
use crate::program::Program;
use reply::{ReplayStep, TranscriptView};
use requests::{ApiError, Reply};
use retriever::failure::session_store_error;
use retriever::resolved_settings::ResolvedSettings;
use writer::exit::Exit;

/// Longest pause of a replay, in milliseconds.
const PAUSE_MS_MAX: u64 = 2_000;

/// `sessions show`.
#[derive(Debug, Args)]
pub struct ShowSession {
    /// The session: its id, or the beginning or end of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// Only the exchanges around this number
    #[arg(long, value_name = "N")]
    pub around: Option<u32>,
    /// Also calls of tools other than the shell and edits
    #[arg(long)]
    pub tools: bool,
    /// Step through it in time
    #[arg(long, conflicts_with_all = ["json", "around"])]
    pub replay: bool,
    /// How many times faster than it was; pauses are two seconds at most
    #[arg(long, value_name = "TIMES", default_value_t = 60, requires = "replay", value_parser = whole_number::<u32>(1..=100_000, 60))]
    pub speed: u32,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Program<'_> {
    pub(crate) fn show_session(
        &self,
        settled: &ResolvedSettings,
        command: &ShowSession,
    ) -> Result<Reply, ApiError> {
        let (kept, session, named) = session_to_show(settled, &command.id)?;
        let exchanges =
            kept.exchanges_of(session.row).map_err(|error| session_store_error(&error))?;
        let shown =
            TranscriptView { around: command.around.or(named), is_with_tools: command.tools };
        if !command.replay {
            return Ok(reply::session_transcript(&session, &exchanges, shown));
        }
        let steps = reply::replay_steps(&exchanges, shown);
        let count = format!("{} steps", steps.len());
        let json = json!({ "steps": steps.len() });
        // A pipe or a file wants all of it at once.
        if !std::io::stdout().is_terminal() {
            let steps: String =
                steps.iter().map(|step| format!("{}\n", step.text.trim_end())).collect();
            return Ok(Reply::new(format!("{steps}{count}"), json));
        }
        replay(&steps, command.speed, &mut std::io::stdout().lock()).map_err(|error| {
            let message = format!("failed to write: {error}");
            ApiError::Failed { exit: Exit::Io, message }
        })?;
        Ok(Reply::new(count, json))
    }
}

/// Shows the steps of a session one after the other, with the pauses between them.
#[expect(clippy::disallowed_methods, reason = "a replay lets time pass on purpose")]
fn replay(steps: &[ReplayStep], speed: u32, to: &mut dyn Write) -> std::io::Result<()> {
    steps.iter().try_for_each(|step| {
        let pause = step.pause_ms / u64::from(speed.max(1));
        std::thread::sleep(Duration::from_millis(pause.min(PAUSE_MS_MAX)));
        writeln!(to, "{}", step.text.trim_end())?;
        to.flush()
    })
}
