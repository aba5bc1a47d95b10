//! The `token` commands, as clap parses them. Not here: what they do (`program::token`).

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use access::rights::Rights;

/// The `token` commands.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is printed this once, and only its SHA-256 is kept
    #[command(after_help = CREATE_HELP)]
    Create(CreateToken),
    /// List the tokens, without what they are
    List(OutputFormat),
    /// Take a token back; a running server refuses it from the next request on
    Revoke(RevokeToken),
}

const CREATE_HELP: &str = "\
read asks about memories, write also saves and changes them, admin also opens the dashboard and
reads past sessions and doctor. Deeds of a token are logged in its name, whatever its client calls
itself.
  token=$(agent-knowledge token create ci --rights read --expires 90d)";

/// `token create`.
#[derive(Debug, Args)]
pub struct CreateToken {
    /// The name in which its deeds are logged, such as ci or anna@laptop
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it allows
    #[arg(
        long,
        value_name = "read|write|admin",
        value_parser = PossibleValuesParser::new(["read", "write", "admin"]).map(|word| Rights::of(&word).unwrap_or(Rights::Read))
    )]
    pub rights: Rights,
    /// Refuse it after this time: an age such as 90d or 12h, or a day such as 2027-01-31 [default: never]
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// `token revoke`.
#[derive(Debug, Args)]
pub struct RevokeToken {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl TokenCommand {
    /// Returns how its answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Create(create) => create.form,
            Self::List(form) => *form,
            Self::Revoke(revoke) => revoke.form,
        }
    }
}
