//! The command line of `agent-knowledge`, as clap parses it. The options of a request come from `api::requests`;
//! this folder names the commands and adds the options that no request has. Not here: what a command does (`cli`).

use std::path::PathBuf;

use api::requests;
use api::requests::browse::BrowseRequest;
use api::requests::listing::{RecentArguments, ShowArguments};
use api::{ApiRequest, ContextRequest, SearchRequest};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand};

use crate::cli::ColourChoice;
use crate::mcp::ToolSet;

mod agent_files;
mod completions;
mod config;
mod curation;
pub mod help;
mod hook;
mod init;
mod lesson;
mod links;
mod person;
mod request;
pub mod sessions;
mod setup;
mod token;
#[cfg(feature = "web")]
mod ui;
mod upkeep;

pub use agent_files::{Export, ExportFormat, Import};
pub use completions::Completions;
pub use config::{ConfigArguments, ConfigCommand};
pub use curation::{BulkChange, Curation, MemoryChange, SweepOptions};
pub use hook::Hook;
pub use init::{GettingReady, Init};
pub use lesson::{Add, EditMemory, LessonFields};
pub use links::{Link, LinkCommand, Unlink};
pub use person::{PersonCommand, Stats};
pub use request::{Arguments, RequestCommand};
pub use setup::Setup;
pub use token::{CreateToken, TokenCommand};
#[cfg(feature = "web")]
pub use ui::Ui;
pub use upkeep::{Archive, Scrub, TeamSync, Upkeep, Verify};

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
    /// When search highlights the words of the query: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Settings",
        value_parser = PossibleValuesParser::new(["auto", "always", "never"]).map(|word| ColourChoice::of(&word))
    )]
    pub color: ColourChoice,
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
    Context(Past<ContextRequest>),
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
    #[cfg(feature = "web")]
    Ui(Ui),
    /// Answer the hooks of agents
    Hook(Hook),
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
            Self::Context(context) => context.as_of.as_deref(),
            Self::Show(show) => show.as_of.as_deref(),
            _ => None,
        }
    }
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
}

/// The options that name an address.
const ADDRESSES: &str = "addresses";

/// The `serve` command.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new(ADDRESSES).multiple(true))]
pub struct Serve {
    /// Exit after this many minutes without a connected client, 0 for never [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub idle_minutes: Option<String>,
    /// Also serve MCP over HTTP, on this loopback address [default: 127.0.0.1:7421; port 0: any free port]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = super::http::ADDRESS_DEFAULT,
        group = ADDRESSES,
        conflicts_with = "stop"
    )]
    pub http: Option<String>,
    /// Also serve the same over HTTPS to others, on this address, such as 0.0.0.0:7443 (in a build with TLS)
    #[arg(
        long,
        value_name = "ADDRESS",
        group = ADDRESSES,
        requires_all = ["cert", "key"],
        conflicts_with_all = ["stop", "no_token", "background"]
    )]
    pub listen: Option<String>,
    /// The certificate for --listen, in PEM, with those that sign it
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM, which only you can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,
    /// Also serve gRPC, on this loopback address [default: 127.0.0.1:7422; port 0: any free port]
    #[cfg(feature = "grpc")]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = super::grpc::GRPC_ADDRESS_DEFAULT,
        group = ADDRESSES,
        conflicts_with_all = ["stop", "background"]
    )]
    pub grpc: Option<String>,
    /// The file of the token that HTTP clients must send; it is created if it does not exist
    /// [default: `token` beside the configuration file]
    #[arg(long, value_name = "FILE", requires = ADDRESSES)]
    pub token_file: Option<PathBuf>,
    /// Answer every user of this machine over HTTP, without a token
    #[arg(long, requires = ADDRESSES, conflicts_with = "token_file")]
    pub no_token: bool,
    /// Stop the running retriever
    #[arg(long)]
    pub stop: bool,
    /// Started by a client: detach from its terminal
    #[arg(long, hide = true, conflicts_with = "stop")]
    pub background: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Serve {
    /// Tells whether it names an address.
    #[must_use]
    pub fn has_address(&self) -> bool {
        #[cfg(feature = "grpc")]
        if self.grpc.is_some() {
            return true;
        }
        self.http.is_some() || self.listen.is_some()
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct OutputFormat {
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The `model` commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum ModelCommand {
    /// Download the model
    Fetch,
    /// Show which model is installed, if any
    Status,
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
