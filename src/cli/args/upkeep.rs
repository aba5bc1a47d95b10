//! The commands that check and maintain the logs, as clap parses them. Not here: what they do (`upkeep`).

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;

/// Checking and maintaining the logs.
#[derive(Debug, Subcommand)]
pub enum Upkeep {
    /// Check every line of every log
    Verify(Verify),
    /// Check the setup around the logs, and say how to fix problems
    #[command(after_help = DOCTOR_HELP)]
    Doctor(OutputFormat),
    /// Print a checksum of the memories; equal memories give equal checksums
    #[command(after_help = DIGEST_HELP)]
    Digest(OutputFormat),
    /// Remove secrets from logs
    Scrub(Scrub),
    /// Move old lines to compressed files beside their log
    Archive(Archive),
    /// Share lessons with your team, over a git repository or a folder
    Sync(TeamSync),
}

const VERIFY_HELP: &str = "\
These are errors (exit 1): lines that hold no event, several contents under one id, secrets, lines
of the store that were edited, deleted, inserted or moved after they were written, damaged chains,
lines that are also in an earlier segment of their log, which archive takes out, and logs that
cannot be read.
These are only reported: repeated lines, events about memories that are in no log, times more
than a day in the future, and a last line without its line break, which is not read until it is
complete.

Lines of the store's logs that hold no event are copied to .quarantine in the store, without
secrets and each once. They also stay where they are: verify never removes anything from a log.";

const DOCTOR_HELP: &str = "\
Exit 1 when a check says FAIL: then memories cannot be written or read, or other users can read
them. Nothing is changed, except that an empty file is created and removed again to test whether
it can be.";

const DIGEST_HELP: &str = "\
The checksum depends on the set of lines alone. It does not depend on their order, on
repetitions, on how many files hold them, or on restarts. It covers the memories, what is said
about them, conflicts, and the index of words. It does not cover vectors, whose last bits depend
on the processor. A line that names no repository counts for the one its file is named after.

A running MCP server gives the checksum of its own state as the resource memory://digest.";

const SCRUB_HELP: &str = "\
Each secret is replaced by [REDACTED:rule]. The rest of its line stays as it is, including the
id, and so does every other line. Ids themselves are not searched. Logs are rewritten under the
lock of their writers, so nothing written meanwhile is lost. After a crash either the old log is
there or the new one. Events waiting in .spool and lines in .quarantine are searched too.

Each removal is reported by log, line, field and rule, never with the secret, and so is what
remains to be done: above all, revoke the secret. Exit 1 when secrets are left, or with
--dry-run when there are any.";

const ARCHIVE_HELP: &str = "\
Lines move to archive/LOG/NUMBER.jsonl.gz in the store. The files hold the same lines,
compressed with gzip, so zcat, zgrep and 'zcat FILE | jq' read them. Searches, verify, digest
and scrub read them too; ids stay. Without --keep and --older-than, all but the newest 10000
lines of each log move. With both, a line moves if it exceeds either limit. Lines that hold no
event stay, and so does a line without a time when only --older-than is given.

This happens under the lock of the log's writers. After a crash at any moment every line is
still there: in the log, in a segment, or for a while in both, which the next run reports and
repairs. It also takes out lines with the same id that stand in a segment and again in a later file,
as an editor leaves them that saves an old copy of the log. Exit 75 when another process holds the lock.

In the configuration, archive_above_lines = 10000 makes a server move the older half of a log
that has more lines, and archive_older_than = \"90d\" makes it move older lines. Neither is set
by default.";

const SYNC_HELP: &str = "\
The configuration says with whom, and what:

  [sync]
  remote = \"git@github.com:acme/agent-memory.git\"   # a private repository for lessons
  share = [\"github.com/acme/*\"]                      # the keys of repositories; * is any text

Lines of other repositories and private lines never leave. Lines that read like an order to an agent stay, too,
and each is named with the reason. If one is a lesson all the same, --allow ID shows it to you, asks, and lets exactly
that line pass from now on; only a person at a terminal can say yes. The others judge it for themselves. Git is used with your own
keys; your repositories, branches and hooks are not touched. Lessons of others are kept in team/ in the
store. The first time that a repository would be shared, somebody must agree.

The remote \"origin\" is that of the code in this directory; only its own lessons are shared there.
A folder that all can reach is a remote, too: folder:/mnt/team/memory

More keys of [sync]: strip = [\"branch\"] leaves fields out, trust = [\"laptop-3fa9c1d2e5b60718\"] lets
what that origin does to memories count, every_seconds = 300 is how often a server does this.

With signing_key = \"/home/me/.ssh/id_ed25519\" (or its .pub, if ssh-agent has the key) what leaves is
signed, in git. The first key that another origin signs with is kept. From then on nothing is taken of it
that is not signed with that key; once its owner has confirmed a new one, --accept-signer takes it.

Exit 75 when the remote does not answer or lines wait; the next sync sends them.";

/// The `sync` command.
#[derive(Debug, Args)]
#[command(after_help = SYNC_HELP)]
pub struct TeamSync {
    /// Print the very lines that would leave this machine, and send nothing
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Agree to share repositories that were never shared with this remote
    #[arg(long)]
    pub yes: bool,
    /// Take the new key of an origin that is held because of its signature, as the last sync showed it
    #[arg(long, value_name = "ORIGIN", conflicts_with = "dry_run")]
    pub accept_signer: Option<String>,
    /// Let a line pass that stays because it reads like an order, after a question at a terminal
    #[arg(long, value_name = "ID", conflicts_with_all = ["dry_run", "yes"])]
    pub allow: Option<String>,
    /// Use this remote instead of the configured one
    #[arg(long, value_name = "URL", allow_hyphen_values = true)]
    pub remote: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `verify` command.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct Verify {
    /// Only these logs: paths, or names in the store; nothing is written for logs elsewhere
    #[arg(value_name = "LOG", conflicts_with = "repo")]
    pub files: Vec<PathBuf>,
    /// Only the log of this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Do not copy damaged lines
    #[arg(long)]
    pub dry_run: bool,
    /// Accept changed logs as they are now
    #[arg(long, conflicts_with = "dry_run")]
    pub accept: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `scrub` command.
#[derive(Debug, Args)]
#[command(after_help = SCRUB_HELP)]
pub struct Scrub {
    /// Only show what would be removed
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
    /// Move lines older than this: an age or a day, such as 90d or 2026-03-01
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub older_than: Option<String>,
    /// Only show what would be moved
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Upkeep {
    /// Returns how the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Verify(verify) => verify.form,
            Self::Scrub(scrub) => scrub.form,
            Self::Archive(archive) => archive.form,
            Self::Sync(sync) => sync.form,
            Self::Doctor(form) | Self::Digest(form) => *form,
        }
    }
}
