//! `purge`: retracts all that an agent or a session wrote. Not here: finding it (`api`).

use clap::{ArgGroup, Args};
use event::Author;
use requests::Sweep;

use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change::{SweepOptions, ask_sweep};

/// Retract all that an agent or a session wrote (shown only, unless --apply)
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("who").required(true).args(["author", "session"]))]
pub struct Purge {
    /// The agent or person
    #[arg(long, value_name = "NAME")]
    pub author: Option<String>,
    /// The session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Undo a purge
    #[arg(long)]
    pub undo: bool,
    /// How it is done.
    #[command(flatten)]
    pub how: SweepOptions,
}

/// Runs the command.
pub(super) fn purge(context: &mut CommandContext<'_, '_>, command: &Purge) -> CommandResult {
    let Purge { author, session, undo, how } = command;
    let author = author.clone().map(Author::Agent);
    let author = author.unwrap_or_else(|| Author::Session(session.clone().unwrap_or_default()));
    ask_sweep(context, if *undo { Sweep::Unpurge(author) } else { Sweep::Purge(author) }, how)
}
