//! The command line of `agent-knowledge`, as clap parses it. The options of a request come from `api::requests`;
//! this folder names the commands and adds the options that no request has. Not here: what a command does (`cli`).

use crate::args::output_format::OutputFormat;
use std::path::PathBuf;

use api::requests;
use api::requests::browse::BrowseRequest;
use api::requests::listing::{RecentArguments, ShowArguments};
use api::{ApiRequest, ContextRequest, SearchRequest};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use mcp::schema::ToolSet;
use retriever::serve_options::ServeOptions;
use terminal::highlight::ColourChoice;

pub mod agent_files;
pub mod completions;
pub mod config;
pub mod curation;
pub mod help;
pub mod hook;
pub mod init;
pub mod lesson;
pub mod links;
pub mod man_pages;
pub mod model_use;
pub mod output_format;
pub mod person;
pub mod pick;
pub mod request;
pub mod sessions;
pub mod setup;
pub mod tag;
pub mod token;
pub mod ui;
pub mod upkeep;
mod whole_number;
pub mod word_completion;

use crate::args::agent_files::{Export, Import};
use crate::args::completions::ShellWords;

use crate::args::curation::Curation;
use crate::args::hook::Hook;
use crate::args::init::GettingReady;

use crate::args::links::LinkCommand;

use crate::args::model_use::ModelUse;
pub use crate::args::person::PersonCommand;

use crate::args::request::{Arguments, RequestCommand};

use crate::args::token::TokenCommand;
pub use crate::args::ui::Ui;
pub use crate::args::upkeep::Upkeep;

/// Recall what agents have learned, across repositories.
#[derive(Debug, Parser)]
#[command(name = "agent-knowledge", version, max_term_width = 100)]
pub struct CommandLine {
    /// The directory of the logs
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub model: Option<PathBuf>,
    /// When there are colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Settings",
        value_parser = PossibleValuesParser::new(["auto", "always", "never"]).map(|word| ColourChoice::of(&word))
    )]
    pub color: ColourChoice,
    /// Print one line of JSON; goes after the command: agent-knowledge search x --json
    #[arg(long, hide_short_help = true)]
    pub json: bool,
    /// What to do; without it, the program shows where you are and what comes next.
    #[command(subcommand)]
    pub command: Option<MainCommand>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MainCommand {
    /// What only people need.
    #[command(flatten)]
    Person(PersonCommand),
    /// Find memories about an error, a command or a question
    #[command(visible_alias = "find")]
    Search(Past<SearchRequest>),
    /// Get a briefing at the start of work
    #[command(after_help = CONTEXT_HELP)]
    Context(WatchedContext),
    /// Show memories in full, with their history
    Show(Past<ShowArguments>),
    /// Change or check existing memories.
    #[command(flatten)]
    Curation(Curation),
    /// Make links, and follow them.
    #[command(flatten)]
    Links(LinkCommand),
    /// Import memories of other tools, and files for agents such as CLAUDE.md
    Import(Import),
    /// Export memories as notes, JSON or a table, or proven ones into an agent file
    Export(Export),
    /// Search, list and show past sessions of Claude Code, Codex and other tools
    Sessions {
        /// What to do.
        #[command(subcommand)]
        command: sessions::Sessions,
    },
    /// List all memories, page by page
    #[command(visible_alias = "ls")]
    List(RequestCommand<BrowseRequest>),
    /// List the newest memories
    Recent(RequestCommand<RecentArguments>),
    /// Show the state of the logs, the indexes and the model
    Status(OutputFormat),
    /// Show which repository this directory belongs to, and why
    Whoami(OutputFormat),
    /// Serve MCP on standard input and output; agents start it
    Mcp(Mcp),
    /// Run the retriever that agents share; they start it
    #[command(after_help = SERVE_HELP)]
    Serve(Serve),
    /// Make, list and revoke tokens for clients of serve --http
    Token {
        /// What to do.
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Open the dashboard
    Ui(Ui),
    /// Answer the hooks of agents
    Hook(Hook),
    /// Answer the script that completes words in a shell
    #[command(hide = true)]
    CompleteWords(ShellWords),
    /// Embed the memories that have no vector yet
    Index(OutputFormat),
    /// Get ready.
    #[command(flatten)]
    GettingReady(GettingReady),
    /// Check and maintain the logs.
    #[command(flatten)]
    Upkeep(Upkeep),
    /// Manage the embedding model
    Model {
        /// What to do with it.
        #[command(subcommand)]
        command: ModelCommand,
    },
}

impl MainCommand {
    /// Returns the past position of the store that it asks, if any.
    #[must_use]
    pub fn as_of(&self) -> Option<&str> {
        match self {
            Self::Search(search) => search.as_of.as_deref(),
            Self::Context(context) => context.past.as_of.as_deref(),
            Self::Show(show) => show.as_of.as_deref(),
            _ => None,
        }
    }
}

const CONTEXT_HELP: &str = "\
--watch is for tools that load a file and run no hook: it writes the briefing there, at most once a
second, and again whenever the memories change it, until it is stopped. A file that it has not
written itself is never overwritten.";

/// The `context` command.
#[derive(Debug, Args)]
pub struct WatchedContext {
    /// The briefing.
    #[command(flatten)]
    pub past: Past<ContextRequest>,
    /// Keep the briefing in this file
    #[arg(long, value_name = "FILE", conflicts_with = "as_of")]
    pub watch: Option<PathBuf>,
}

/// A request that can also be asked of the past.
#[derive(Debug, Args)]
pub struct Past<R: ApiRequest> {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<R>,
    /// Answer as of this point: a time, a day, an age, a commit, or a length of this repository's log in bytes
    #[arg(long, value_name = "TIME|COMMIT|OFFSET")]
    pub as_of: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

const SERVE_HELP: &str = "\
Each user has one retriever per store and per set of settings that changes answers. mcp, search and the other queries
connect to it, and start it in the background if none is running. It exits when no client has been connected for a while.
A newer version replaces an older one.
With --http it also answers at http://ADDRESS/mcp, and `agent-knowledge ui` opens the dashboard. HTTP callers have no directory, so they must name the repository.
They must send a token, as \"Authorization: Bearer TOKEN\". It is read from AGENT_KNOWLEDGE_TOKEN, or else from a file
that only you can read; the first start creates that file and says where it is. agent-knowledge token makes others, with rights.
With --listen it answers others too, inside TLS 1.3: serve --listen 0.0.0.0:7443 --cert cert.pem --key key.pem
With AGENT_KNOWLEDGE_RETRIEVER=own a command does everything in its own process.";

/// The `mcp` command.
#[derive(Debug, Args)]
pub struct Mcp {
    /// The tools: `usual`, or `full` with those that link, check and analyze the memory
    #[arg(
        long,
        value_name = "SET",
        default_value = "usual",
        value_parser = PossibleValuesParser::new(["usual", "full"]).map(|word| ToolSet::of(&word))
    )]
    pub tools: ToolSet,
    /// Also ask this team's server, an https address, and deliver what is saved to it (docs/operate/replicas.md).
    /// The token is read from AGENT_KNOWLEDGE_TOKEN
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
}

/// The `serve` command.
#[derive(Debug, Args)]
pub struct Serve {
    /// What to serve, and to whom.
    #[command(flatten)]
    pub options: ServeOptions,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `model` commands.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ModelCommand {
    /// Download the model
    Fetch(OutputFormat),
    /// Show which model is installed, if any, and which one answers
    Status(OutputFormat),
    /// Use another model for embeddings; tells first what is sent where, and asks
    Use(Box<ModelUse>),
    /// Fit the likelihoods to the model that is used, on your own memories
    Calibrate(OutputFormat),
}

impl ModelCommand {
    /// Returns how to print.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Fetch(form) | Self::Status(form) => *form,
            Self::Use(command) => command.form,
            Self::Calibrate(form) => *form,
        }
    }
}

/// Returns how the command line spells a field, for a message about it. A field that is spelled so already stays.
#[must_use]
pub fn flag_of(field: &str) -> String {
    if field.starts_with("--") || !field.contains(char::is_lowercase) {
        return field.to_owned();
    }
    match (requests::spelling(field), field) {
        (Some(spelling), _) => spelling,
        (None, "agent_file") => "FILE".to_owned(),
        (None, other) => format!("--{}", other.replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_help_tells_the_bounds_that_are_checked() {
        let help = |name: &str| {
            let mut command = CommandLine::command();
            command.find_subcommand_mut(name).unwrap().render_long_help().to_string()
        };
        let limit = format!("1 to {} [default: {}]", api::LIMIT_MAX, api::LIMIT_DEFAULT);
        let tokens = format!("{} to {} [default: ", api::TOKENS_MIN, api::TOKENS_MAX);
        for (command, told) in [
            ("search", limit.clone()),
            ("recent", limit),
            ("search", format!("{tokens}{}]", api::SEARCH_TOKENS_DEFAULT)),
            ("context", format!("{tokens}{}]", api::CONTEXT_TOKENS_DEFAULT)),
        ] {
            assert!(help(command).contains(&told), "{command}: {told}\n{}", help(command));
        }
    }
}
