//! The commands of `agent-knowledge`. Each is a file: its arguments, and the function that runs it, both named as the command. A
//! new one is a file and its lines here. Not here: the options that all commands have (`args`), printing (`command_output`).

use clap::Subcommand;

use crate::command_context::CommandContext;
use crate::command_output::CommandResult;

mod add;
mod analyze;
mod archive;
mod complete_words;
mod completions;
mod config;
mod context;
mod digest;
mod distinct;
mod doctor;
mod edit;
mod export;
mod fade;
mod feedback;
mod forget;
mod hook;
mod impact;
mod import;
mod index;
mod init;
mod link;
mod list;
mod man_pages;
mod mcp;
mod model;
mod patterns;
mod pick;
mod pin;
mod purge;
mod recent;
mod related;
mod review;
mod scrub;
mod search;
mod serve;
mod sessions;
mod setup;
mod show;
mod stale;
mod stats;
mod status;
mod supersede;
mod sync;
mod tag;
mod token;
mod ui;
mod unlink;
mod verify;
mod whoami;

/// The commands.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the arguments of each command tell what it is for")]
pub enum MainCommand {
    Add(Box<add::Add>),
    Edit(edit::Edit),
    Tag(tag::Tag),
    Pick(Box<pick::Pick>),
    Stats(stats::Stats),
    Completions(completions::Completions),
    ManPages(man_pages::ManPages),
    Config(config::Config),
    Search(search::Search),
    Context(context::Context),
    Show(show::Show),
    Feedback(feedback::Feedback),
    Forget(forget::Forget),
    Supersede(supersede::Supersede),
    Distinct(distinct::Distinct),
    Pin(pin::Pin),
    Fade(fade::Fade),
    Purge(purge::Purge),
    Review(review::Review),
    Stale(stale::Stale),
    Link(link::Link),
    Unlink(unlink::Unlink),
    Related(related::Related),
    Impact(impact::Impact),
    Analyze(analyze::Analyze),
    Patterns(patterns::Patterns),
    Import(import::Import),
    Export(export::Export),
    Sessions(sessions::Sessions),
    List(list::List),
    Recent(recent::Recent),
    Status(status::Status),
    Whoami(whoami::Whoami),
    Mcp(mcp::Mcp),
    Serve(serve::Serve),
    Token(token::Token),
    Ui(ui::Ui),
    Hook(hook::Hook),
    CompleteWords(complete_words::CompleteWords),
    Index(index::Index),
    Setup(setup::Setup),
    Init(init::Init),
    Verify(verify::Verify),
    Doctor(doctor::Doctor),
    Digest(digest::Digest),
    Scrub(scrub::Scrub),
    Archive(archive::Archive),
    Sync(sync::Sync),
    Model(model::Model),
}

impl MainCommand {
    /// Runs the command.
    pub(super) fn run(&self, context: &mut CommandContext<'_, '_>) -> CommandResult {
        match self {
            Self::Add(command) => add::add(context, command),
            Self::Edit(command) => edit::edit(context, command),
            Self::Tag(command) => tag::tag(context, command),
            Self::Pick(command) => pick::pick(context, command),
            Self::Stats(command) => stats::stats(context, command),
            Self::Completions(command) => completions::completions(context, command),
            Self::ManPages(command) => man_pages::man_pages(context, command),
            Self::Config(command) => config::config(context, command),
            Self::Search(command) => search::search(context, command),
            Self::Context(command) => context::context(context, command),
            Self::Show(command) => show::show(context, command),
            Self::Feedback(command) => feedback::feedback(context, command),
            Self::Forget(command) => forget::forget(context, command),
            Self::Supersede(command) => supersede::supersede(context, command),
            Self::Distinct(command) => distinct::distinct(context, command),
            Self::Pin(command) => pin::pin(context, command),
            Self::Fade(command) => fade::fade(context, command),
            Self::Purge(command) => purge::purge(context, command),
            Self::Review(command) => review::review(context, command),
            Self::Stale(command) => stale::stale(context, command),
            Self::Link(command) => link::link(context, command),
            Self::Unlink(command) => unlink::unlink(context, command),
            Self::Related(command) => related::related(context, command),
            Self::Impact(command) => impact::impact(context, command),
            Self::Analyze(command) => analyze::analyze(context, command),
            Self::Patterns(command) => patterns::patterns(context, command),
            Self::Import(command) => import::import(context, command),
            Self::Export(command) => export::export(context, command),
            Self::Sessions(command) => sessions::sessions(context, command),
            Self::List(command) => list::list(context, command),
            Self::Recent(command) => recent::recent(context, command),
            Self::Status(command) => status::status(context, command),
            Self::Whoami(command) => whoami::whoami(context, command),
            Self::Mcp(command) => mcp::mcp(context, command),
            Self::Serve(command) => serve::serve(context, command),
            Self::Token(command) => token::token(context, command),
            Self::Ui(command) => ui::ui(context, command),
            Self::Hook(command) => hook::hook(context, command),
            Self::CompleteWords(command) => complete_words::complete_words(context, command),
            Self::Index(command) => index::index(context, command),
            Self::Setup(command) => setup::setup(context, command),
            Self::Init(command) => init::init(context, command),
            Self::Verify(command) => verify::verify(context, command),
            Self::Doctor(command) => doctor::doctor(context, command),
            Self::Digest(command) => digest::digest(context, command),
            Self::Scrub(command) => scrub::scrub(context, command),
            Self::Archive(command) => archive::archive(context, command),
            Self::Sync(command) => sync::sync(context, command),
            Self::Model(command) => model::model(context, command),
        }
    }

    /// Returns the past position of the store that it asks, if any.
    pub(super) fn as_of(&self) -> Option<&str> {
        match self {
            Self::Search(search) => search.past.as_of.as_deref(),
            Self::Context(context) => context.past.as_of.as_deref(),
            Self::Show(show) => show.past.as_of.as_deref(),
            _ => None,
        }
    }

    /// Tells whether it says first what is odd about the settings. A hook and a shell that completes words are told nothing, some
    /// commands need no settings, and `doctor` and `config` answer with all of it.
    pub(super) fn warns(&self) -> bool {
        !matches!(
            self,
            Self::Hook(_)
                | Self::CompleteWords(_)
                | Self::Doctor(_)
                | Self::Completions(_)
                | Self::Config(_)
        )
    }
}
