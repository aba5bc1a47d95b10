//! `sync`: one round with the team. Not here: the round itself (`sync`), the link to the team (`retriever::team_link`), and the report of a round
//! (`team_text`).

use std::io::Write;

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::sync::team_text::{
    accepted_key_text, consent_text, held_lines_text, preview_reply, round_reply,
};
use crate::question::{DefaultAnswer, ask_yes_or_no};
use requests::{ApiError, Reply};
use retriever::failure::store_error;
use retriever::resolved_settings::ResolvedSettings;
use retriever::team_link::TeamLink;
use serde_json::json;
use store::Durability;
use sync::Consent;
use upkeep::joined_log::{JoinedLog, joined_logs};
use writer::exit::Exit;

pub(super) mod team_text;

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

/// Share lessons with your team, over a git repository or a folder
#[derive(Debug, Args)]
#[command(after_help = SYNC_HELP)]
pub struct Sync {
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

/// Runs the command.
pub(super) fn sync(context: &mut CommandContext<'_, '_>, command: &Sync) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let messages = &mut *process.messages;
    let settled = program.resolve_settings(options)?;
    let team = program.team_link(&settled, command.remote.as_ref())?;
    if command.dry_run {
        let preview = team.preview()?;
        let joined = joined_logs(&settled.store, &settled.config, &team.policy)
            .map_err(|error| store_error(&error))?;
        let reply = preview_reply(&preview, &joined, team.remote.shown(), messages);
        return Ok(CommandEnd::answer(command.form, reply));
    }
    if let Some(origin) = &command.accept_signer {
        let accepted = team.accept(origin)?;
        // A report that cannot be written changes nothing about the round.
        let _ = writeln!(messages, "{}", accepted_key_text(&accepted));
    }
    if let Some(id) = &command.allow
        && !allow_held_line(&team, id, messages)?
    {
        let json = json!({ "allowed": false, "id": id });
        let reply = Reply::new(format!("{id} stays; nothing was changed"), json);
        return Ok(CommandEnd::answer(command.form, reply));
    }
    let mut unsent = joined_logs(&settled.store, &settled.config, &team.policy)
        .map_err(|error| store_error(&error))?;
    if !unsent.is_empty() && share_joined_logs(&settled, &unsent, command, messages)? {
        unsent.clear();
    }
    let consent = if command.yes { Consent::Given } else { Consent::AsBefore };
    let mut report = team.round(consent)?;
    if !report.to_agree.is_empty() && !command.form.json {
        let text = consent_text(&report, team.remote.shown());
        if ask_yes_or_no(&text, "Share them?", DefaultAnswer::No, messages)? == Some(true) {
            // Only what was shown: more may have become shared meanwhile.
            let shown = report.to_agree.iter().map(|(repo, _)| repo.clone()).collect();
            report = team.round(Consent::To(shown))?.joined_with(report);
        }
    }
    report.trouble.extend(unsent.iter().map(JoinedLog::notice));
    report.trouble.extend(program.unshared_notice(&settled, &team.policy));
    if team.policy.share.is_empty() {
        let why = "nothing is shared, because sync.share names no repository; agent-knowledge whoami shows the key of \
                   this one";
        report.trouble.push(why.to_owned());
    }
    let is_done = report.is_reached && report.waiting.is_none();
    let exit = if is_done { Exit::Done } else { Exit::Busy };
    let reply = round_reply(&report, team.remote.shown());
    Ok(CommandEnd::Answer { form: command.form, exit, reply })
}

/// Writes the older lines of joined repositories for those that the team gets, if somebody agrees. Returns whether it did.
///
/// # Errors
/// [`ApiError::Failed`] if a log cannot be written.
fn share_joined_logs(
    settled: &ResolvedSettings,
    joined: &[JoinedLog],
    command: &Sync,
    messages: &mut dyn Write,
) -> Result<bool, ApiError> {
    let texts: Vec<String> = joined.iter().map(JoinedLog::notice).collect();
    let is_yes = command.yes
        || !command.form.json
            && ask_yes_or_no(&texts.join("\n"), "Share them?", DefaultAnswer::No, messages)?
                == Some(true);
    if is_yes {
        for log in joined {
            writer::append_again(&settled.store, &log.to, &log.lines, Durability::Synced)
                .map_err(|error| store_error(&error))?;
        }
    }
    Ok(is_yes)
}

/// Shows a person the flagged lines with an id, and records the consent. Returns whether the person consented.
///
/// # Errors
/// [`ApiError::Failed`] if there is no such line, or nobody is at a terminal: an agent must not wave through what it wrote.
fn allow_held_line(team: &TeamLink, id: &str, messages: &mut dyn Write) -> Result<bool, ApiError> {
    let held = team.held_lines(id)?;
    let text = held_lines_text(&held, team.remote.shown());
    match ask_yes_or_no(&text, "Share it?", DefaultAnswer::No, messages)? {
        Some(true) => team.allow_lines(&held).map(|()| true),
        Some(false) => Ok(false),
        None => Err(ApiError::Failed {
            exit: Exit::Usage,
            message: format!(
                "sync --allow {id}: only a person at a terminal can let a flagged line pass, so nothing was changed; run \
                 it in a terminal, or word the lesson so that it tells what happened and what helped"
            ),
        }),
    }
}
