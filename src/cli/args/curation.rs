//! The commands that change or check existing memories. Not here: the rules about values (`api::requests`).

use clap::{ArgGroup, Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::args::request::{Arguments, RequestCommand};
use api::requests::change::{
    DistinctArguments, FeedbackArguments, ForgetArguments, PinArguments, SupersedeArguments,
};
use api::requests::listing::{ReviewRequest, StaleRequest};
use api::{ChangeRequest, Doing, Sweep, SweepRequest};
use event::{Author, Problems};

const STALE_HELP: &str = "\
Compares each memory of this repository that names files (in its field or in its texts) or a
commit with git. The comparison starts at the commit the memory was written at, or at the last
report that it worked or holds. Reported are: files that were removed or changed since; code
names (in backticks or fences) that no longer occur in any of its files; and a commit that is in
no branch and no tag. Uncommitted changes do not count. Pinned memories are skipped. Nothing is
changed or hidden.";

/// Changing and checking existing memories.
#[derive(Debug, Subcommand)]
pub enum Curation {
    /// Change memories.
    #[command(flatten)]
    Change(MemoryChange),
    /// Change many memories at once.
    #[command(flatten)]
    Bulk(BulkChange),
    /// List pairs of memories that may contradict each other
    Review {
        /// The request.
        #[command(flatten)]
        request: Arguments<ReviewRequest>,
        /// Ask the configured judge about each pair (needs `[judge]` in the configuration)
        #[arg(long)]
        judge: bool,
        /// Carry out what the judge decides; without this it is only shown
        #[arg(long, requires = "judge")]
        apply: bool,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// List memories that this work tree or its git history contradicts
    #[command(after_help = STALE_HELP)]
    Stale(RequestCommand<StaleRequest>),
}

/// A change of memories.
#[derive(Debug, Subcommand)]
pub enum MemoryChange {
    /// Report whether a memory worked, failed, is stale or is still true
    Feedback(RequestCommand<FeedbackArguments>),
    /// Take memories out of all answers; --undo brings them back
    #[command(visible_aliases = ["rm", "delete"])]
    Forget(RequestCommand<ForgetArguments>),
    /// Replace memories by another memory
    #[command(visible_alias = "replace")]
    Supersede(RequestCommand<SupersedeArguments>),
    /// Mark two memories as not contradicting each other
    Distinct(RequestCommand<DistinctArguments>),
    /// Keep memories from aging; --undo lets them age again
    Pin(RequestCommand<PinArguments>),
}

/// A change of many memories at once.
#[derive(Debug, Subcommand)]
pub enum BulkChange {
    /// Archive memories that nobody has needed for long (shown only, unless --apply)
    Fade {
        /// Only this repository: its name, key or URL
        #[arg(long, value_name = "REPO")]
        repo: Option<String>,
        /// How it is done.
        #[command(flatten)]
        how: SweepOptions,
    },
    /// Retract all that an agent or a session wrote (shown only, unless --apply)
    #[command(group = ArgGroup::new("who").required(true).args(["author", "session"]))]
    Purge {
        /// The agent or person
        #[arg(long, value_name = "NAME")]
        author: Option<String>,
        /// The session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Undo a purge
        #[arg(long)]
        undo: bool,
        /// How it is done.
        #[command(flatten)]
        how: SweepOptions,
    },
}

/// Whether it is done, and why.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Do it; without this it is only shown
    #[arg(long)]
    pub apply: bool,
    /// Why, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl MemoryChange {
    /// Returns how the answer is printed, and the request.
    ///
    /// # Errors
    /// Every problem, each with its field.
    pub fn request(self) -> Result<(OutputFormat, ChangeRequest), Problems> {
        Ok(match self {
            Self::Feedback(command) => (command.form, command.arguments.read()?),
            Self::Forget(command) => (command.form, command.arguments.read()?),
            Self::Supersede(command) => (command.form, command.arguments.read()?),
            Self::Distinct(command) => (command.form, command.arguments.read()?),
            Self::Pin(command) => (command.form, command.arguments.read()?),
        })
    }
}

impl BulkChange {
    /// Returns how the answer is printed, and the request.
    #[must_use]
    pub fn request(self) -> (OutputFormat, SweepRequest) {
        let (sweep, how) = match self {
            Self::Fade { repo, how } => (Sweep::Fade { repo }, how),
            Self::Purge { author, session, undo, how } => {
                let author = author.map(Author::Agent);
                let author = author.unwrap_or_else(|| Author::Session(session.unwrap_or_default()));
                let sweep = if undo { Sweep::Unpurge(author) } else { Sweep::Purge(author) };
                (sweep, how)
            }
        };
        let extent = if how.apply { Doing::Do } else { Doing::Show };
        (how.form, SweepRequest { sweep, extent, note: how.reason })
    }
}
