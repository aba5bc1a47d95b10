//! `sessions`: what is kept of past sessions of other tools. Not here: each of its commands that has more than a few lines (the files
//! of this folder), keeping sessions (the room `sessions`), the words (`reply`).

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::sessions::forget::ForgetSessions;
use crate::commands::sessions::import::ImportSessions;
use crate::commands::sessions::list::ListSessions;
use crate::commands::sessions::names::session_to_show;
use crate::commands::sessions::review::ReviewSessions;
use crate::commands::sessions::show::ShowSession;
use requests::{Request, SessionSearchRequest, Shape};
use retriever::failure::{refuse_unknown_keys, session_store_error};
use retriever::options::MemoryNeed;
use sessions::session_digest::SessionDigest;
use sessions::session_store::SessionStore;
use settings::ConfigTable;
use writer::exit::Exit;

pub(super) mod consent;
mod drafts;
mod forget;
mod import;
mod list;
mod names;
mod review;
mod show;

/// Search, list and show past sessions of Claude Code, Codex and other tools
#[derive(Debug, Args)]
pub struct Sessions {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsCommand,
}

/// The `sessions` commands.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// Find past sessions about a question, a command or an error
    Search(SearchSessions),
    /// Read the transcripts on this disk; without --yes it first asks, or only shows what there is
    Import(ImportSessions),
    /// List past sessions, the latest first
    List(ListSessions),
    /// Show a past session
    Show(ShowSession),
    /// Show what a past session was about: topics, files, commands, errors, commits
    Summary(SummarizeSession),
    /// Go through what past sessions may teach; nothing is saved until you accept it
    Review(ReviewSessions),
    /// Show for each tool what was read and what was not understood
    Check(OutputFormat),
    /// Remove sessions for good; no import brings them back
    Forget(ForgetSessions),
}

/// `sessions search`.
#[derive(Debug, Args)]
pub struct SearchSessions {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<SessionSearchRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `sessions summary`.
#[derive(Debug, Args)]
pub struct SummarizeSession {
    /// The session: its id, or the beginning or end of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn sessions(context: &mut CommandContext<'_, '_>, command: &Sessions) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let messages = &mut *process.messages;
    let settled = program.resolve_settings(options)?;
    let shows_none =
        matches!(command.command, SessionsCommand::Check(_) | SessionsCommand::Forget(_));
    if !shows_none {
        refuse_unknown_keys(&settled.config, ConfigTable::Sessions)?;
    }
    let form = command.command.form();
    let done = |reply| Ok(CommandEnd::answer(form, reply));
    match &command.command {
        SessionsCommand::Search(command) => {
            let request: SessionSearchRequest = command.arguments.read()?;
            let shape = if command.form.json { Shape::Whole } else { Shape::Words };
            let request = SessionSearchRequest { shape, ..request };
            done(program.open(options, MemoryNeed::Words)?.ask(&Request::Sessions(request))?)
        }
        SessionsCommand::Import(command) => {
            done(program.import_sessions(&settled, command, messages)?)
        }
        SessionsCommand::List(command) => done(program.list_sessions(&settled, command)?),
        SessionsCommand::Show(command) => done(program.show_session(&settled, command)?),
        SessionsCommand::Summary(command) => {
            let (kept, session, _) = session_to_show(&settled, &command.id)?;
            let exchanges =
                kept.exchanges_of(session.row).map_err(|error| session_store_error(&error))?;
            let exchanges: Vec<_> = exchanges.into_iter().map(|kept| kept.exchange).collect();
            done(reply::session_summary(&session, &SessionDigest::from_exchanges(&exchanges)))
        }
        SessionsCommand::Review(command) => {
            done(program.review_sessions(&settled, command, messages)?)
        }
        SessionsCommand::Check(_) => {
            let kept = SessionStore::open(&settled.sessions_dir)
                .map_err(|error| session_store_error(&error))?;
            let tables =
                kept.as_ref().map(|kept| Ok((kept.extents()?, kept.censuses()?))).transpose();
            let (extents, censuses) =
                tables.map_err(|error| session_store_error(&error))?.unwrap_or_default();
            let (reply, is_wrong) = reply::sessions_checked(&extents, &censuses);
            let exit = if is_wrong { Exit::NotFound } else { Exit::Done };
            Ok(CommandEnd::Answer { form, exit, reply })
        }
        SessionsCommand::Forget(command) => done(program.forget_sessions(&settled, command)?),
    }
}

impl SessionsCommand {
    /// Returns how to print.
    fn form(&self) -> OutputFormat {
        match self {
            Self::Search(command) => command.form,
            Self::Import(command) => command.form,
            Self::List(command) => command.form,
            Self::Show(command) => command.form,
            Self::Summary(command) => command.form,
            Self::Review(command) => command.form,
            Self::Check(form) => *form,
            Self::Forget(command) => command.form,
        }
    }
}
