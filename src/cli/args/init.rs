//! The `init` command, and its group with `setup`, as clap parses it. Not here: what it does (`program`).

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::args::setup::Setup;

const INIT_HELP: &str = "\
It asks three questions, one after another: whether to set up the clients that it finds, whether
to fetch the model for search by meaning (107 MB), and whether to read the past sessions on this
disk. An option answers its question. Without a terminal nobody is asked: what no option answers
is left as it is, and named. Run it again at any time; what is done already is not asked again.

A script: agent-knowledge init --yes --no-sessions";

/// Getting ready, in whole or in part.
#[derive(Debug, Subcommand)]
pub enum GettingReady {
    /// Set up Claude Code, Codex and other clients
    Setup(Setup),
    /// Get ready in one conversation: clients, model, past sessions
    Init(Init),
}

impl GettingReady {
    /// Returns how to print.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Setup(setup) => setup.form,
            Self::Init(init) => init.form,
        }
    }
}

/// The `init` command.
#[derive(Debug, Clone, Copy, Args)]
#[command(after_help = INIT_HELP)]
pub struct Init {
    /// Yes to clients and model; past sessions need their own yes
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Set up the clients that are found
    #[arg(long)]
    pub clients: bool,
    /// Leave the clients as they are
    #[arg(long, conflicts_with = "clients")]
    pub no_clients: bool,
    /// Fetch the model
    #[arg(long)]
    pub fetch_model: bool,
    /// Search by words alone
    #[arg(long, conflicts_with = "fetch_model")]
    pub no_model: bool,
    /// Read the past sessions of the tools on this disk
    #[arg(long)]
    pub sessions: bool,
    /// Do not read past sessions
    #[arg(long, conflicts_with = "sessions")]
    pub no_sessions: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Returns what the command line answers to a question; nothing where a person is asked.
fn given(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(!no)
}

impl Init {
    /// Returns the given answer about clients.
    #[must_use]
    pub fn about_clients(&self) -> Option<bool> {
        given(self.clients || self.yes, self.no_clients)
    }

    /// Returns the given answer about the model.
    #[must_use]
    pub fn about_model(&self) -> Option<bool> {
        given(self.fetch_model || self.yes, self.no_model)
    }

    /// Returns the given answer about past sessions.
    #[must_use]
    pub fn about_sessions(&self) -> Option<bool> {
        given(self.sessions, self.no_sessions)
    }
}
