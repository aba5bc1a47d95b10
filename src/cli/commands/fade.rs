//! `fade`: archives memories that nobody has needed for long. Not here: which those are (`api`).

use clap::Args;
use requests::Sweep;

use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change::{SweepOptions, ask_sweep};

/// Archive memories that nobody has needed for long (shown only, unless --apply)
#[derive(Debug, Args)]
pub struct Fade {
    /// Only this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// How it is done.
    #[command(flatten)]
    pub how: SweepOptions,
}

/// Runs the command.
pub(super) fn fade(context: &mut CommandContext<'_, '_>, command: &Fade) -> CommandResult {
    ask_sweep(context, Sweep::Fade { repo: command.repo.clone() }, &command.how)
}
