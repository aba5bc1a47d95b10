//! The command `sync`: one round with the team. Not here: the round itself (`sync`), the way to the team (`team_link`), and how it
//! is told (`team_text`).

use std::io::Write;

use crate::args::upkeep::TeamSync;
use crate::program::Program;
use crate::program::asking::{Usual, asked};
use crate::program::team_text::{accepted_key, previewed, to_agree, to_allow, told};
use api::{ApiError, Reply};
use retriever::options::GlobalOptions;
use retriever::team_link::TeamLink;
use serde_json::json;
use sync::Consent;
use writer::exit::Exit;

impl Program<'_> {
    pub(super) fn sync(
        &self,
        settings: &GlobalOptions,
        command: &TeamSync,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let settled = self.settle(settings)?;
        let team = self.team(&settled, command.remote.as_ref())?;
        if command.dry_run {
            let preview = team.preview()?;
            let reply = previewed(&preview, team.remote.shown(), messages);
            return Ok((Exit::Done, reply));
        }
        if let Some(origin) = &command.accept_signer {
            let accepted = team.accept(origin)?;
            // That it cannot be told changes nothing about it.
            let _ = writeln!(messages, "{}", accepted_key(&accepted));
        }
        if let Some(id) = &command.allow
            && !let_pass(&team, id, messages)?
        {
            let json = json!({ "allowed": false, "id": id });
            return Ok((Exit::Done, Reply::new(format!("{id} stays; nothing was changed"), json)));
        }
        let consent = if command.yes { Consent::Given } else { Consent::AsBefore };
        let mut report = team.round(consent)?;
        if !report.to_agree.is_empty() && !command.form.json {
            let text = to_agree(&report, team.remote.shown());
            if asked(&text, "Share them?", Usual::No, messages)? == Some(true) {
                // Only what was shown: more may have become shared meanwhile.
                let shown = report.to_agree.iter().map(|(repo, _)| repo.clone()).collect();
                report = team.round(Consent::To(shown))?.after(report);
            }
        }
        if team.policy.share.is_empty() {
            let why = "nothing is shared, because sync.share names no repository; agent-knowledge whoami shows the key of \
                       this one";
            report.trouble.push(why.to_owned());
        }
        let is_done = report.is_reached && report.waiting.is_none();
        let exit = if is_done { Exit::Done } else { Exit::Busy };
        Ok((exit, told(&report, team.remote.shown())))
    }
}

/// Shows the flagged lines with an id to a person and notes a yes. Returns whether it was one.
///
/// # Errors
/// [`ApiError::Failed`] if there is no such line, or nobody is at a terminal: an agent must not wave through what it wrote.
fn let_pass(team: &TeamLink, id: &str, messages: &mut dyn Write) -> Result<bool, ApiError> {
    let held = team.held_lines(id)?;
    let text = to_allow(&held, team.remote.shown());
    match asked(&text, "Share it?", Usual::No, messages)? {
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
