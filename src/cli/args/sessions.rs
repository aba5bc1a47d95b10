//! The commands about past sessions of other tools, as clap parses them. Not here: what they do (`program::sessions`).

use clap::{ArgGroup, Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::args::request::RequestCommand;
use crate::args::whole_number::whole;
use api::SessionSearchRequest;

/// The `sessions` commands.
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// Find past sessions about a question, a command or an error
    Search(RequestCommand<SessionSearchRequest>),
    /// Read the transcripts on this disk; without --yes it first asks, or only shows what there is
    #[command(after_help = IMPORT_HELP)]
    Import(ImportSessions),
    /// List past sessions, the latest first
    List(ListSessions),
    /// Show a past session
    Show(ShowSession),
    /// Show what a past session was about: topics, files, commands, errors, commits
    Summary(OneSession),
    /// Go through what past sessions may teach; nothing is saved until you accept it
    #[command(after_help = REVIEW_HELP)]
    Review(ReviewSessions),
    /// Show for each tool what was read and what was not understood
    Check(OutputFormat),
    /// Remove sessions for good; no import brings them back
    Forget(ForgetSessions),
}

const IMPORT_HELP: &str = "\
Nothing is read before you say yes, here or in setup. What is kept: questions, answers, commands,
the ends of failed output, and paths of edited files, without secrets, in a folder that only you
can read. It never leaves this machine and never enters a log by itself; only review --draft asks
the language model that you named about it. After the first yes, new sessions are read in the
background. Leave out tools, directories or repositories in the configuration file:

  [sessions]
  exclude_tools = [\"codex\"]
  exclude_paths = [\"~/private\"]
  exclude_repos = [\"github.com/acme/secret\"]
  private = false   # sessions in no repository

AGENT_KNOWLEDGE_SESSION_ROOTS adds folders: claude-code=/backup/projects, several separated as in
PATH.";

/// `sessions import`.
#[derive(Debug, Args)]
pub struct ImportSessions {
    /// Only of this tool, such as claude-code (may be repeated)
    #[arg(long, value_name = "TOOL")]
    pub tool: Vec<String>,
    /// Also look in this folder of a tool (may be repeated)
    #[arg(long, value_name = "TOOL=DIR")]
    pub root: Vec<String>,
    /// Only show what there is to read
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Read it, now and in the future
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `sessions list`.
#[derive(Debug, Args)]
pub struct ListSessions {
    /// Only of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only of this repository, by its key
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Sessions on a page, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<u32>(1..=1_000, 20))]
    pub limit: u32,
    /// The page
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = whole::<u32>(1..=1_000_000, 2))]
    pub page: u32,
    /// Also sessions that programs started, such as subagents and reviews
    #[arg(long)]
    pub all: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

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
    #[arg(long, value_name = "TIMES", default_value_t = 60, requires = "replay", value_parser = whole::<u32>(1..=100_000, 60))]
    pub speed: u32,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `sessions summary`.
#[derive(Debug, Args)]
pub struct OneSession {
    /// The session: its id, or the beginning or end of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

const REVIEW_HELP: &str = "\
A candidate is a command that failed and what worked then, or what you told an agent about how
things are done. On a terminal you are asked about each; otherwise they are listed. Those that
several unrelated sessions show come first. A rejected one is never offered again.

  agent-knowledge sessions review --accept fix1a2b3c4d --text \"Say it in other words\"

With --draft the language model of [judge] gets the error, the commands and the question of each,
and writes the lesson or says that there is nothing to learn, as of most. What it throws out waits
on. It is asked about at most --limit candidates, and never without --draft.

  agent-knowledge sessions review --draft
  agent-knowledge sessions review --draft --accept fix1a2b3c4d";

/// `sessions review`.
#[derive(Debug, Args)]
pub struct ReviewSessions {
    /// Save these as lessons of their repositories: their names, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// Never offer these again: their names, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub reject: Vec<String>,
    /// The lesson in your words, with one name in --accept
    #[arg(long, value_name = "TEXT", requires = "accept", conflicts_with = "draft")]
    pub text: Option<String>,
    /// Ask the configured language model for the lesson of each (needs `[judge]` in the configuration)
    #[arg(long)]
    pub draft: bool,
    /// Also show what speaks for each, and pairs of commands that were refused, with the reason
    #[arg(long)]
    pub explain: bool,
    /// Only of this repository, by its key
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Candidates that are shown, and about which a model is asked, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<u32>(1..=1_000, 10))]
    pub limit: u32,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `sessions forget`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("forgotten").required(true).args(["what", "before"]))]
pub struct ForgetSessions {
    /// A session by its id, or a directory in which sessions began
    #[arg(value_name = "ID|PATH")]
    pub what: Option<String>,
    /// All that ended before this: a time, a day or an age, such as 2026-03-01 or 90d
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Sessions {
    /// Returns how to print.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
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
