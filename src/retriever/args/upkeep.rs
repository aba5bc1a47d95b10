//! The commands that look after what is there, as clap reads them. Not here: what they do (`upkeep`).

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputFormat;

/// Looking after what is there.
#[derive(Debug, Subcommand)]
pub enum Upkeep {
    /// Check every line of every log
    Verify(Verify),
    /// Check everything around the logs, and tell what mends it
    #[command(after_help = DOCTOR_HELP)]
    Doctor(OutputFormat),
    /// Print one number that is equal where the memories are
    #[command(after_help = DIGEST_HELP)]
    Digest(OutputFormat),
    /// Take secrets out of logs that hold some
    Scrub(Scrub),
    /// Move old lines to packed files beside their log
    Archive(Archive),
}

const VERIFY_HELP: &str = "\
Wrong (exit 1) are lines that hold no event, several contents under one id, secrets, and logs that
cannot be read. Only told are repeated lines, events about memories that are in no log read, times
more than a day ahead, and a last line without its line break, which is not read before it has one.

Lines of the store's logs that hold no event are copied to .quarantine in the store, without secrets
and each once. They also stay where they are: nothing is ever removed from a log by this.";

const DOCTOR_HELP: &str = "\
Exit 1 when a check says FAIL: then memories cannot be written or read, or others can get at them.
Nothing is changed, but for an empty file that is made and removed again to see whether it can be.";

const DIGEST_HELP: &str = "\
The digest is a function of the set of lines alone: their order, how often each stands there, in how
many files and restarts they came makes no difference. It covers the memories, what is said about them,
conflicts, and the index of words; not vectors, whose last bits depend on the processor. A line that
names no repository counts as of the one its file is named after.

A running MCP server tells the digest of its own state as the resource memory://digest.";

const SCRUB_HELP: &str = "\
Each secret is replaced by [REDACTED:rule]. The rest of its line stays as it is, the id included, and
so does every other line. Ids themselves are not looked into. Logs are rewritten under the lock of their
writers, so nothing that is written meanwhile is lost; after a crash the old log is there or the new one.
Also looked at are events that wait in .spool and lines in .quarantine.

What is done is told by log, line, field and rule, never with the secret; and so is what remains to be
done: above all to revoke it. Exit 1 when secrets are left, with --dry-run when there are any.";

const ARCHIVE_HELP: &str = "\
Lines move to archive/LOG/NUMBER.jsonl.gz in the store: gzip of the very lines, so zcat, zgrep and
'zcat FILE | jq' read them. Searches, verify, digest and scrub read them too; ids stay. Without --keep and
--older-than all but the newest 10000 lines of each log move. Given both, what is over either moves.
Lines that hold no event stay, and so does a line that names no time where only --older-than is given.

It happens under the lock of the log's writers, and after a crash at any moment every line is there: in
the log, in a segment, or for a while in both, which the next run tells and mends. Exit 75 when another
process holds the lock.

In the configuration, archive_above_lines = 10000 has a server move the older half of a log that has more
lines, and archive_older_than = \"90d\" what is older. Neither is set unless you do.";

/// The `verify` command.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct Verify {
    /// Only these logs: paths, or names in the store; logs elsewhere are only read
    #[arg(value_name = "LOG", conflicts_with = "repo")]
    pub files: Vec<PathBuf>,
    /// Only the log of this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Copy no damaged lines
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `scrub` command.
#[derive(Debug, Args)]
#[command(after_help = SCRUB_HELP)]
pub struct Scrub {
    /// Only tell what would be taken out
    #[arg(long)]
    pub dry_run: bool,
    /// Only the log of this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `archive` command.
#[derive(Debug, Args)]
#[command(after_help = ARCHIVE_HELP)]
pub struct Archive {
    /// Only the logs of these repositories: their names, keys or URLs
    #[arg(value_name = "REPO")]
    pub repos: Vec<String>,
    /// Most lines that stay in a log, the newest [default: 10000, unless --older-than is given]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub keep: Option<String>,
    /// Lines older than this move: an age or a day, such as 90d or 2026-03-01
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub older_than: Option<String>,
    /// Only tell what would be moved
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Upkeep {
    /// Returns how its answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Verify(verify) => verify.form,
            Self::Scrub(scrub) => scrub.form,
            Self::Archive(archive) => archive.form,
            Self::Doctor(form) | Self::Digest(form) => *form,
        }
    }
}
