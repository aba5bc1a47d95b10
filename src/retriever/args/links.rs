//! The commands about what hangs together. Not here: the rules about values (`wire`).

use clap::{Args, Subcommand};

use super::OutputFormat;

/// What to do with links.
#[derive(Debug, Subcommand)]
pub enum LinkCommand {
    /// Link two memories or files, or many with --bulk
    #[command(after_help = LINK_HELP)]
    Link(Link),
    /// End a link, or all of an origin
    Unlink(Unlink),
    /// Tell what hangs together with a memory or a file
    Related(Related),
    /// Tell what we know that a change to a file touches
    Impact(Impact),
    /// Find hubs, bridges, gaps, clusters, vain searches
    #[command(after_help = ANALYZE_HELP)]
    Analyze(Analyze),
    /// List what several repositories learned alike
    Patterns(Patterns),
}

const ANALYZE_HELP: &str = "\
hubs      what most links lead to or from; links that a program made by itself (auto) do not count
bridges   what ties memories of different kinds together (betweenness, from 64 sources)
gaps      what is tied to nothing or to one thing, the proven first
clusters  what one repository says several times
brief     the state of it all in 200 tokens
reflect   what stands alone and what it may belong to, as a task for an agent; no model is called
searches  what was looked for in vain, in like words; from a private log in the cache directory
Of more than 20,000 memories the newest are looked at.";

const LINK_HELP: &str = "\
SOURCE and TARGET are ids of memories, or files: src/a.rs, code:Makefile, src/a.rs::parse.
Relations: related_to (or relates_to), supersedes, depends_on, contradicts, specializes, part_of, alternative_to,
builds_on, calls, imports, inherits, caused_by, led_to, learned_in, touches. Of supersedes, part_of, caused_by, led_to
and learned_in no circle is taken. Said again, a link is what was said last; with --valid-to now it ends and is kept.
--bulk takes one JSON object a line: {\"source\":…,\"relation\":…,\"target\":…}, perhaps with strength, valid_from,
valid_to, origin and repo; good lines are written, bad ones told.";

/// The `link` command.
#[derive(Debug, Args)]
pub struct Link {
    /// What the link goes out from
    #[arg(value_name = "SOURCE", required_unless_present = "bulk")]
    pub source: Option<String>,
    /// How the two are related
    #[arg(value_name = "RELATION", required_unless_present = "bulk")]
    pub relation: Option<String>,
    /// What it leads to
    #[arg(value_name = "TARGET", required_unless_present = "bulk")]
    pub target: Option<String>,
    /// How sure or close, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, conflicts_with = "bulk")]
    pub strength: Option<String>,
    /// Since when it holds: a time, a day, now or an age
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "bulk")]
    pub valid_from: Option<String>,
    /// Until when: a time, a day, now or an age from now
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "bulk")]
    pub valid_to: Option<String>,
    /// Who or what says so [default: manual]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub origin: Option<String>,
    /// The repository of files [default: that of the memory, else of this directory]
    #[arg(long, value_name = "REPO", conflicts_with = "bulk")]
    pub repo: Option<String>,
    /// Make the links in this file; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub bulk: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `unlink` command.
#[derive(Debug, Args)]
pub struct Unlink {
    /// What the link goes out from
    #[arg(value_name = "SOURCE", required_unless_present = "origin")]
    pub source: Option<String>,
    /// How the two are related
    #[arg(value_name = "RELATION", required_unless_present = "origin")]
    pub relation: Option<String>,
    /// What it leads to
    #[arg(value_name = "TARGET", required_unless_present = "origin")]
    pub target: Option<String>,
    /// End every link of this origin
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, conflicts_with = "source")]
    pub origin: Option<String>,
    /// The repository of files [default: that of the memory, else of this directory]
    #[arg(long, value_name = "REPO", conflicts_with = "origin")]
    pub repo: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `related` command.
#[derive(Debug, Args)]
pub struct Related {
    /// The id of a memory, or a file
    #[arg(value_name = "ID|FILE")]
    pub of: String,
    /// How many steps, 1 to 3 [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub depth: Option<String>,
    /// Which way: outbound, inbound or both [default: both]
    #[arg(long, value_name = "WAY")]
    pub direction: Option<String>,
    /// Only by this relation
    #[arg(long, value_name = "RELATION")]
    pub relation: Option<String>,
    /// As it was then: a time, a day or an age
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub as_of: Option<String>,
    /// The repository of a file [default: that of this directory]
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 500]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `impact` command.
#[derive(Debug, Args)]
pub struct Impact {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: String,
    /// How many steps, 1 to 3 [default: 2]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub depth: Option<String>,
    /// The repository [default: that of this directory]
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 500]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `analyze` command.
#[derive(Debug, Args)]
pub struct Analyze {
    /// hubs, bridges, gaps, clusters, brief, reflect or searches [default: brief]
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Only of this repository
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Most findings, 1 to 50 [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 1500, of a brief 200]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `patterns` command.
#[derive(Debug, Args)]
pub struct Patterns {
    /// Make this one a shared pattern: its number in the list, or its mark
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub accept: Option<String>,
    /// Most patterns, 1 to 50 [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,
    /// Most tokens of the answer, 60 to 8000 [default: 1500]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_tokens: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl LinkCommand {
    /// How the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Link(link) => link.form,
            Self::Unlink(unlink) => unlink.form,
            Self::Related(related) => related.form,
            Self::Impact(impact) => impact.form,
            Self::Analyze(analyze) => analyze.form,
            Self::Patterns(patterns) => patterns.form,
        }
    }
}
