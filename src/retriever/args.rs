//! The command line of `agent-knowledge`, as clap parses it. The options of a request come from `api::requests`;
//! this folder names the commands and adds the options that no request has. Not here: what a command does (`cli`).

pub use output_format::OutputFormat;
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
pub mod man_pages;
mod model_use;
mod output_format;
mod person;
mod pick;
mod request;
pub mod sessions;
mod setup;
mod tag;
mod token;
mod ui;
mod upkeep;
mod whole_number;
mod word_completion;

pub use agent_files::{Export, ExportFormat, Import};
pub use completions::{Completions, ShellWords};
pub use config::{ConfigArguments, ConfigCommand};
pub use curation::{BulkChange, Curation, MemoryChange, SweepOptions};
pub use hook::Hook;
pub use init::{GettingReady, Init};
pub use lesson::{Add, EditMemory, LessonFields};
pub use links::{Link, LinkCommand, Unlink};
pub use man_pages::ManPages;
pub use model_use::ModelUse;
pub use person::{PersonCommand, Stats};
pub use pick::Pick;
pub use request::{Arguments, RequestCommand};
pub use setup::Setup;
pub use tag::TagMemory;
pub use token::{CreateToken, TokenCommand};
pub use ui::Ui;
pub use upkeep::{Archive, Scrub, TeamSync, Upkeep, Verify};
pub use word_completion::{WordKind, WordPlace, place_of};

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
    /// Also serve the same over HTTPS to others, on this address, such as 0.0.0.0:7443
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
    /// Its private key, in PEM, which only you can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub key: Option<PathBuf>,
    /// Be a replica of the team that sync.remote names: keep caught up with it, and answer anybody alike (docs/operate/replicas.md)
    #[arg(long, requires = ADDRESSES, conflicts_with_all = ["stop", "background", "no_token"])]
    pub team: bool,
    /// Also serve gRPC, on this loopback address [default: 127.0.0.1:7422; port 0: any free port]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = super::grpc::GRPC_ADDRESS_DEFAULT,
        group = ADDRESSES,
        conflicts_with_all = ["stop", "background", "team"]
    )]
    pub grpc: Option<String>,
    /// With --team: also feed an engine with what the team shares, such as postgres://me@127.0.0.1/ak
    #[arg(long, value_name = "URL", requires = "team", conflicts_with_all = ["stop", "background"])]
    pub index_to: Option<String>,
    /// With --index-to: the name of the environment variable that holds the password or key of the engine
    #[arg(long, value_name = "VARIABLE", requires = "index_to")]
    pub index_password_env: Option<String>,
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
        if self.grpc.is_some() {
            return true;
        }
        self.http.is_some() || self.listen.is_some()
    }
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
