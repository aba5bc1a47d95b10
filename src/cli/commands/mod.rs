//! The commands of `agent-knowledge`. Each is a file: its arguments, and the function that runs it, both named as the command. A
//! new one is a file, its `mod` and its row in the table here. Not here: the options that all commands have (`args`), printing (`command_output`).

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

/// Where the help lists a group of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HelpExtent {
    /// In `-h` too: what people use every day and now and then.
    Short,
    /// In `--help`: what few people need, and what agents and scripts start.
    Long,
    /// Nowhere.
    Hidden,
}

/// Commands that the help lists together.
pub(crate) struct CommandGroup {
    pub(crate) title: &'static str,
    pub(crate) extent: HelpExtent,
    /// Their files, which are named as the commands.
    pub(crate) files: &'static [&'static str],
}

/// Makes the enum of the commands, the call of each, and the groups of the help, in the order of the rows.
macro_rules! commands {
    ($($extent:ident, $title:literal: $($file:ident::$Command:ident),+;)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        #[expect(missing_docs, reason = "the arguments of each command tell what it is for")]
        pub enum MainCommand {
            $($($Command(Box<$file::$Command>),)+)+
        }

        /// The groups of the help.
        pub(crate) const GROUPS: &[CommandGroup] = &[$(CommandGroup {
            title: $title,
            extent: HelpExtent::$extent,
            files: &[$(stringify!($file)),+],
        }),+];

        impl MainCommand {
            /// Runs the command.
            pub(super) fn run(&self, context: &mut CommandContext<'_, '_>) -> CommandResult {
                match self {
                    $($(Self::$Command(command) => $file::$file(context, command),)+)+
                }
            }
        }
    };
}

commands! {
    Short, "Recall":
        search::Search,
        context::Context,
        show::Show,
        list::List,
        pick::Pick,
        recent::Recent,
        related::Related,
        sessions::Sessions,
        stats::Stats,
        ui::Ui;
    Short, "Keep it right":
        add::Add,
        edit::Edit,
        feedback::Feedback,
        forget::Forget,
        supersede::Supersede,
        tag::Tag,
        review::Review,
        stale::Stale,
        import::Import,
        export::Export;
    Short, "Set up and check":
        init::Init,
        setup::Setup,
        config::Config,
        model::Model,
        status::Status,
        doctor::Doctor,
        whoami::Whoami;
    Long, "Links and analysis":
        link::Link,
        unlink::Unlink,
        impact::Impact,
        analyze::Analyze,
        patterns::Patterns,
        distinct::Distinct;
    Long, "Upkeep":
        completions::Completions,
        man_pages::ManPages,
        pin::Pin,
        fade::Fade,
        purge::Purge,
        verify::Verify,
        scrub::Scrub,
        archive::Archive,
        sync::Sync,
        index::Index,
        digest::Digest;
    Long, "For agents and scripts":
        mcp::Mcp,
        serve::Serve,
        token::Token,
        hook::Hook;
    Hidden, "Called by shells":
        complete_words::CompleteWords;
}

impl MainCommand {
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
