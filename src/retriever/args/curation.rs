//! The commands that say something of memories that are there. Not here: the rules about values (`wire`).

use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Map, Value};

use super::OutputFormat;
use api::wire;
use api::{ChangeRequest, Doing, Sweep, SweepRequest, Wanted};
use event::{Author, Problems};

const STALE_HELP: &str = "\
Each memory of this repository that names files (in its field, or in its texts) or a commit is compared with git: from the commit
it was written at, or from when somebody last said that it worked or holds. Told are files that are gone or changed since, names of
code (in backticks or fences) that are in none of its files any more, and a commit that is in no branch and no tag. Uncommitted changes do
not count. Pinned memories are left out. Nothing is changed, and nothing is hidden for it.";

/// Looking after what memories say.
#[derive(Debug, Subcommand)]
pub enum Curation {
    /// Say something of memories.
    #[command(flatten)]
    MemoryChange(MemoryChange),
    /// Do something with many memories.
    #[command(flatten)]
    BulkChange(BulkChange),
    /// List pairs of memories that may contradict each other
    Review {
        /// The repository: its name, key or URL [default: this directory's]
        #[arg(long, value_name = "REPO")]
        repo: Option<String>,
        /// Most pairs, 1 to 20 [default: 5]
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        limit: Option<String>,
        /// Ask the judge of the configuration about each (off unless `[judge]` names one)
        #[arg(long)]
        judge: bool,
        /// Do what it decides; without this it is only shown
        #[arg(long, requires = "judge")]
        apply: bool,
        /// SweepOptions to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// List memories that the files of this work tree, or git, speak against
    #[command(after_help = STALE_HELP)]
    Stale {
        /// The repository, which must be that of this directory
        #[arg(long, value_name = "REPO")]
        repo: Option<String>,
        /// SweepOptions to print.
        #[command(flatten)]
        form: OutputFormat,
    },
}

/// What to say of memories.
#[derive(Debug, Subcommand)]
pub enum MemoryChange {
    /// Say whether a lesson worked, failed, is stale or still true
    Feedback {
        /// The memory: its id, or any unique short form of it
        #[arg(value_name = "ID")]
        id: String,
        /// worked, failed, stale or confirmed
        #[arg(value_name = "VERDICT")]
        verdict: String,
        /// Why, in words
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        note: Option<String>,
        /// SweepOptions to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Take memories out of all answers; --undo brings them back
    Forget {
        /// The memories.
        #[command(flatten)]
        which: Which,
        /// Take back any forgetting, replacing or fading
        #[arg(long)]
        undo: bool,
    },
    /// Let another memory stand in the place of some
    Supersede {
        /// The memories that are replaced.
        #[command(flatten)]
        which: Which,
        /// The memory that replaces them
        #[arg(long, value_name = "ID")]
        by: String,
    },
    /// Say that two memories both hold, though they may look as if not
    Distinct {
        /// One of them
        #[arg(value_name = "ID")]
        id: String,
        /// The other one
        #[arg(value_name = "OTHER")]
        other: String,
        /// Why, in words
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
        /// SweepOptions to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Keep memories from growing old; --undo lets them again
    Pin {
        /// The memories.
        #[command(flatten)]
        which: Which,
        /// Let them grow old again
        #[arg(long)]
        undo: bool,
    },
}

/// What to do with many memories at once.
#[derive(Debug, Subcommand)]
pub enum BulkChange {
    /// Archive what nobody has needed for long (shows it; --apply does it)
    Fade {
        /// Only this repository: its name, key or URL
        #[arg(long, value_name = "REPO")]
        repo: Option<String>,
        /// How it is done.
        #[command(flatten)]
        how: SweepOptions,
    },
    /// Take back all that an agent or a session wrote (shows it; --apply does it)
    #[command(group = ArgGroup::new("who").required(true).args(["author", "session"]))]
    Purge {
        /// The agent or person
        #[arg(long, value_name = "NAME")]
        author: Option<String>,
        /// The session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Bring it back
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
    /// Do it
    #[arg(long)]
    pub apply: bool,
    /// Why, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// SweepOptions to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl BulkChange {
    /// Returns what is asked for, and how the answer is printed.
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

/// Memories, and why.
#[derive(Debug, Args)]
pub struct Which {
    /// Ids, or any unique short form of them
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Why, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// SweepOptions to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl MemoryChange {
    /// SweepOptions the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Feedback { form, .. } | Self::Distinct { form, .. } => *form,
            Self::Forget { which, .. }
            | Self::Supersede { which, .. }
            | Self::Pin { which, .. } => which.form,
        }
    }

    /// Returns what is asked for.
    ///
    /// # Errors
    /// Every problem, each with its field.
    pub fn request(self) -> Result<ChangeRequest, Problems> {
        match self {
            Self::Feedback { id, verdict, note, .. } => wire::feedback(Map::from_iter([
                ("ids".to_owned(), vec![id].into()),
                ("verdict".to_owned(), verdict.into()),
                ("note".to_owned(), note.into()),
            ])),
            Self::Forget { which, undo } => wire::forget(arguments(which, ("undo", undo.into()))),
            Self::Supersede { which, by } => {
                wire::forget(arguments(which, ("superseded_by", by.into())))
            }
            Self::Distinct { id, other, reason, form } => {
                let which = Which { ids: vec![id], reason, form };
                let request = wire::forget(arguments(which, ("undo", false.into())))?;
                Ok(ChangeRequest { change: Wanted::Distinct { from: other }, ..request })
            }
            Self::Pin { which, undo } => {
                let change = if undo { Wanted::Unpinned } else { Wanted::Pinned };
                let request = wire::forget(arguments(which, ("undo", false.into())))?;
                Ok(ChangeRequest { change, ..request })
            }
        }
    }
}

fn arguments(which: Which, more: (&str, Value)) -> Map<String, Value> {
    Map::from_iter([
        ("ids".to_owned(), which.ids.into()),
        ("reason".to_owned(), which.reason.into()),
        (more.0.to_owned(), more.1),
    ])
}
