//! The command line of `agent-knowledge`, as clap reads it. Values are checked by `wire`, so that a
//! number out of bounds is refused in the same words everywhere. Not here: what a command does (`cli`).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod agent_files;
mod curation;
mod hook;
mod links;
mod setup;
mod upkeep;

pub use agent_files::{Export, Import};
pub use curation::{BulkChange, Curation, MemoryChange};
pub use hook::Hook;
pub use links::{Analyze, Impact, Link, LinkCommand, Patterns, Related, Unlink};
pub use setup::Setup;
pub use upkeep::{Archive, Scrub, Upkeep, Verify};

/// Recall what agents have learned, across repositories.
#[derive(Debug, Parser)]
#[command(name = "agent-knowledge", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct CommandLine {
    /// The directory of the logs
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub model: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: MainCommand,
}

const AFTER_HELP: &str = "\
Environment:
  AGENT_KNOWLEDGE_LOGS       the directory of the logs, unless --logs is given
  AGENT_KNOWLEDGE_MODEL_DIR  the directory of the embedding model, unless --model is given
  AGENT_KNOWLEDGE_CACHE      what can be made again
  AGENT_KNOWLEDGE_CONFIG     the configuration file
  AGENT_KNOWLEDGE_MEMORY_MIB how much memory the memories may take, in MiB (16 to 1048576, else 1024)
  AGENT_KNOWLEDGE_RETRIEVER  own: answer in this process, do not share a retriever
  AGENT_KNOWLEDGE_RUNTIME    where its socket is
  AGENT_KNOWLEDGE_QUERY_LOG  off: searches that found nothing are not written down
  AGENT_KNOWLEDGE_POLL_ONLY  if set, the logs are not watched

Exit codes:
  0 done, also when nothing was found    1 no such memory, or a check found something wrong
  64 wrong option
  65 wrong value (all are listed)        69 model not there      70 a bug of ours
  74 file trouble    75 busy, try again    78 wrong configuration.   Never 2.

Examples:
  agent-knowledge search npm install EACCES
  cargo test 2>&1 | tail -40 | agent-knowledge search -
  agent-knowledge search 'flaky test' --this-repo --kind error --json | jq .
  agent-knowledge context --task 'upgrade the ORM' --file src/db.rs

Lessons are written with log-memory.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum MainCommand {
    /// Find memories about an error, a command or a question
    Search(Search),
    /// Get a briefing at the start of work
    Context(Briefing),
    /// Show memories whole, with their history
    Show {
        /// Ids, or any unique short form of them
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// As they were then: a time, a day, an age, or a length of this repository's log in bytes
        #[arg(long, value_name = "TIME|OFFSET")]
        as_of: Option<String>,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Look after what memories say.
    #[command(flatten)]
    Curation(Curation),
    /// Say and ask what hangs together.
    #[command(flatten)]
    LinkCommand(LinkCommand),
    /// Take over what people wrote down for agents: CLAUDE.md, AGENTS.md and others
    Import(Import),
    /// Write what has proven itself here into an agent file
    Export(Export),
    /// List the newest memories
    Recent {
        /// Most memories, 1 to 20 [default: 5]
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        limit: Option<String>,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Tell the state of the logs, the indexes and the model
    Status(OutputFormat),
    /// Tell which repository this directory belongs to, and why
    Whoami(OutputFormat),
    /// Serve MCP on standard input and output; agents start it
    Mcp,
    /// Be the retriever that agents share; they start it
    #[command(after_help = SERVE_HELP)]
    Serve(Serve),
    /// Answer the hooks of agents
    Hook(Hook),
    /// Bring the stored vectors up to date
    Index(OutputFormat),
    /// Set up Claude Code, Codex and others
    Setup(Setup),
    /// Look after what is there.
    #[command(flatten)]
    Upkeep(Upkeep),
    /// Manage the embedding model
    ModelCommand {
        /// What to do with it.
        #[command(subcommand)]
        command: ModelCommand,
    },
}

impl MainCommand {
    /// Which past position of the store it asks, if any.
    #[must_use]
    pub fn as_of(&self) -> Option<&str> {
        match self {
            Self::Search(search) => search.as_of.as_deref(),
            Self::Context(briefing) => briefing.as_of.as_deref(),
            Self::Show { as_of, .. } => as_of.as_deref(),
            _ => None,
        }
    }
}

/// The `search` command.
#[derive(Debug, Args)]
pub struct Search {
    /// What to look for, in any number of words; - reads standard input. Filters may stand in it:
    /// repo:x kind:error tag:npm file:a.rs agent:codex since:30d until:2026-03-01
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// Only this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Only the repository of this directory
    #[arg(long, conflicts_with = "repo")]
    pub this_repo: bool,
    /// Only this kind, such as error or decision (may be repeated)
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only with this tag (may be repeated: all of them)
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only about this file (may be repeated: any of them)
    #[arg(long, value_name = "PATH")]
    pub file: Vec<String>,
    /// Only learned by this agent (may be repeated: any of them)
    #[arg(long, value_name = "AGENT")]
    pub agent: Vec<String>,
    /// Only from then on: a time, a day or an age, such as 2026-03-01 or 30d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Only up to then
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Most memories, 1 to 20 [default: 5]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 500]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// How to rank
    #[arg(long, value_enum, default_value = "hybrid")]
    pub mode: Mode,
    /// Show how each score came about
    #[arg(long)]
    pub explain: bool,
    /// Show also memories that read like instructions to their reader, marked
    #[arg(long)]
    pub include_flagged: bool,
    /// Answer as then: a time, a day, an age, or a length of this repository's log in bytes
    #[arg(long, value_name = "TIME|OFFSET")]
    pub as_of: Option<String>,
    /// How likely the best memory must be an answer, 0 to 100; below, nothing is shown [default: 10]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub min_relevance: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `context` command.
#[derive(Debug, Args)]
pub struct Briefing {
    /// The task at hand, in words
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// A file at hand (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub file: Vec<String>,
    /// The repository [default: that of this directory]
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 800]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// Answer as then: a time, a day, an age, or a length of this repository's log in bytes
    #[arg(long, value_name = "TIME|OFFSET")]
    pub as_of: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

const SERVE_HELP: &str = "\
There is one retriever for a user and a store, or one for each set of settings that answers differently.
mcp, search and the other questions attach to it, and start it in the background where there is none. It ends
when nobody has been attached for a while. A newer version takes over from an older one.
With --http it answers at http://ADDRESS/mcp as well; callers have no directory there, so they name the
repository. Without a token every user of this machine can ask. It stands in a file (--token-file) or in
AGENT_KNOWLEDGE_TOKEN, since what stands on a command line can be seen by others.
With AGENT_KNOWLEDGE_RETRIEVER=own a command does everything in its own process instead.";

/// The `serve` command.
#[derive(Debug, Args)]
pub struct Serve {
    /// End after so many minutes without anybody attached, 0 for never [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub idle_minutes: Option<String>,
    /// Serve MCP over HTTP too, on this address of the loopback interface [default: 127.0.0.1:7421; port 0: any]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = super::http::ADDRESS_DEFAULT,
        conflicts_with_all = ["stop", "background"]
    )]
    pub http: Option<String>,
    /// Answer over HTTP only who shows the token in this file; it is made where there is none
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Ask the retriever that is running to end
    #[arg(long)]
    pub stop: bool,
    /// Started by a client: part from its terminal
    #[arg(long, hide = true, conflicts_with = "stop")]
    pub background: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
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
    /// Tell whether it is there, and which it is
    Status,
}

/// How a search ranks.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Mode {
    /// By words and by meaning, where the model is there
    Hybrid,
    /// By words
    Lexical,
    /// By meaning
    Dense,
}

impl From<Mode> for api::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Hybrid => Self::Hybrid,
            Mode::Lexical => Self::Lexical,
            Mode::Dense => Self::Dense,
        }
    }
}

/// Names a field of a request as the command line does.
#[must_use]
pub fn flag_of(field: &str) -> String {
    match field {
        "query" => "QUERY".to_owned(),
        "ids" => "ID".to_owned(),
        "kinds" => "--kind".to_owned(),
        "tags" => "--tag".to_owned(),
        "files" => "--file".to_owned(),
        "agents" => "--agent".to_owned(),
        "verdict" => "VERDICT".to_owned(),
        "superseded_by" => "--by".to_owned(),
        "id" => "ID".to_owned(),
        "topic" => "TOPIC".to_owned(),
        "file" => "FILE".to_owned(),
        "source" => "SOURCE".to_owned(),
        "relation" => "RELATION".to_owned(),
        "target" => "TARGET".to_owned(),
        "agent_file" => "FILE".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
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
            ("eval", format!("1 to {} [default: ", api::LIMIT_MAX)),
            ("search", format!("{tokens}{}]", api::SEARCH_TOKENS_DEFAULT)),
            ("context", format!("{tokens}{}]", api::CONTEXT_TOKENS_DEFAULT)),
        ] {
            assert!(help(command).contains(&told), "{command}: {told}\n{}", help(command));
        }
    }
}
