//! The command `sync`: one round with the team. Not here: the round itself (`sync`), the way to the team (`team_link`), and how it
//! is told (`team_text`).

use std::io::Write;

use super::asking::{Usual, asked};
use super::team_link::TeamLink;
use super::team_text::{accepted_key, previewed, to_agree, told};
use super::{GlobalOptions, Program};
use crate::args::TeamSync;
use api::{ApiError, Reply};
use sync::{Consent, Preview, SyncReport, preview, sync_round};
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

impl TeamLink {
    fn round(&self, consent: Consent) -> Result<SyncReport, ApiError> {
        self.with_transport(|transport| self.ask(consent, transport, sync_round))
    }

    fn preview(&self) -> Result<Preview, ApiError> {
        self.with_transport(|transport| self.ask(Consent::AsBefore, transport, preview))
    }
}
