//! The commands about links and what they connect. Not here: the rules about values (`api::requests`).

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::args::request::{Arguments, RequestCommand};
use api::requests::analysis::{AnalyzeRequest, PatternsArguments};
use api::requests::links::{LinkArguments, UnlinkArguments};
use api::requests::related::{ImpactArguments, RelatedRequest};

/// What to do with links.
#[derive(Debug, Subcommand)]
pub enum LinkCommand {
    /// Link two memories or files, or many with --bulk
    #[command(after_help = LINK_HELP)]
    Link(Link),
    /// End a link, or all links of an origin
    Unlink(Unlink),
    /// List what is related to a memory or a file
    Related(RequestCommand<RelatedRequest>),
    /// List memories that a change to a file may affect
    Impact(RequestCommand<ImpactArguments>),
    /// Find hubs, bridges, gaps, clusters and searches without hits
    #[command(after_help = ANALYZE_HELP)]
    Analyze(RequestCommand<AnalyzeRequest>),
    /// List lessons that several repositories learned independently
    Patterns(RequestCommand<PatternsArguments>),
}

const ANALYZE_HELP: &str = "\
hubs      memories with the most links; links that a program made by itself (auto) do not count
bridges   memories that connect different kinds of knowledge (betweenness, from 64 sources)
gaps      memories with no link or one link, proven ones first
clusters  lessons that one repository has several times
brief     an overview in 200 tokens
reflect   memories without links and what they may belong to, as a task for an agent; no model
          is called
searches  searches that found nothing, grouped by wording; from a private log in the cache
          directory
With more than 20,000 memories only the newest 20,000 are analyzed.";

const LINK_HELP: &str = "\
SOURCE and TARGET are ids of memories, or files: src/a.rs, code:Makefile, src/a.rs::parse.
Relations: related_to (or relates_to), supersedes, depends_on, contradicts, specializes,
part_of, alternative_to, builds_on, calls, imports, inherits, caused_by, led_to, learned_in,
touches. A cycle is refused for supersedes, part_of, caused_by, led_to and learned_in. A link
that exists already is updated. With --valid-to now a link ends and is kept.
--bulk reads one JSON object per line: {\"source\":…,\"relation\":…,\"target\":…}, optionally
with strength, valid_from, valid_to, origin and repo. Valid lines are written; invalid lines are
reported.";

/// The `link` command.
#[derive(Debug, Args)]
pub struct Link {
    /// The link.
    #[command(flatten)]
    pub link: Arguments<LinkArguments>,
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
    /// The link.
    #[command(flatten)]
    pub link: Arguments<UnlinkArguments>,
    /// End every link of this origin
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, conflicts_with = "source")]
    pub origin: Option<String>,
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
