//! The commands about what hangs together. Not here: the rules about values (`wire`).

use clap::{Args, Subcommand};

use super::Form;

/// What to do with links.
#[derive(Debug, Subcommand)]
pub enum Weave {
    /// Link two memories or files, or many with --bulk
    #[command(after_help = LINK_HELP)]
    Link(Link),
    /// End a link, or all of an origin
    Unlink(Unlink),
}

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
    pub form: Form,
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
    pub form: Form,
}

impl Weave {
    /// How the answer is printed.
    #[must_use]
    pub fn form(&self) -> Form {
        match self {
            Self::Link(link) => link.form,
            Self::Unlink(unlink) => unlink.form,
        }
    }
}
