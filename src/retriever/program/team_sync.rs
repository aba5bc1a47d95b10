//! The command `sync`: exchanges lines with the team. Not here: the exchange (`sync`), and how it is told (`team_text`).

use std::io::Write;

use super::asking::{Usual, asked};
use super::team_text::{previewed, to_agree, told};
use super::{GlobalOptions, Program, ResolvedSettings, failed};
use crate::args::TeamSync;
use api::{ApiError, Reply};
use store::{DetectedRepo, SyncPolicy};
use sync::{
    Consent, Exchange, FolderRemote, GitRemote, Preview, RemoteAddress, RemoteKind, SyncError,
    SyncReport, Transport, exchange, preview,
};
use writer::exit::Exit;

/// What stands for the remote of the code's own repository.
pub(super) const ORIGIN: &str = "origin";

/// What a person without settings is told.
const NO_REMOTE: &str = "\
nothing is shared yet, because the configuration names no team
make an empty private git repository for your team, and name it and what is shared, for example
agent-knowledge config set sync.remote git@github.com:acme/memory.git sync.share 'github.com/acme/*'
agent-knowledge sync --dry-run then shows what would leave this machine; sync --help tells more";

/// One team: where it is, and what is shared with it.
struct TeamOf<'a> {
    program: &'a Program<'a>,
    settled: &'a ResolvedSettings,
    policy: SyncPolicy,
    remote: RemoteAddress,
}

impl Program<'_> {
    pub(super) fn sync(
        &self,
        settings: &GlobalOptions,
        command: &TeamSync,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let settled = self.settle(settings)?;
        let team = self.team(&settled, command)?;
        if command.dry_run {
            let preview = team.preview()?;
            let reply = previewed(&preview, team.remote.shown(), messages);
            return Ok((Exit::Done, reply));
        }
        let consent = if command.yes { Consent::Given } else { Consent::AsBefore };
        let mut report = team.exchange(consent)?;
        if !report.to_agree.is_empty() && !command.form.json {
            let text = to_agree(&report, team.remote.shown());
            if asked(&text, "Share them?", Usual::No, messages)? == Some(true) {
                let first = report;
                report = team.exchange(Consent::Given)?;
                report.fetched += first.fetched;
                report.fetched_from = report.fetched_from.max(first.fetched_from);
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

    /// Finds out which team is meant.
    fn team<'a>(
        &'a self,
        settled: &'a ResolvedSettings,
        command: &TeamSync,
    ) -> Result<TeamOf<'a>, ApiError> {
        let mut policy = settled.config.sync.clone();
        let named = command.remote.clone().or_else(|| policy.remote.clone());
        let Some(named) = named else { return Err(wrong(NO_REMOTE)) };
        let mut address = named.clone();
        if named == ORIGIN {
            let directory = &self.surroundings.directory;
            let url = GitRemote::origin_url(directory).ok_or_else(|| {
                wrong(
                    "the repository here has no remote \"origin\"; run this in a clone of the code",
                )
            })?;
            address = url;
            // Whoever reads this repository may not read the others.
            let here = settled.config.current(&DetectedRepo::of_directory(directory).key);
            let is_shared = policy.shares(&here);
            // The empty text is the key of no repository.
            let only = if is_shared { here.as_str().to_owned() } else { String::new() };
            policy.share = vec![only];
        }
        let remote = RemoteAddress::parse(&address).map_err(|error| refused(&error))?;
        Ok(TeamOf { program: self, settled, policy, remote })
    }
}

impl TeamOf<'_> {
    fn exchange(&self, consent: Consent) -> Result<SyncReport, ApiError> {
        self.with_transport(consent, exchange)
    }

    fn preview(&self) -> Result<Preview, ApiError> {
        self.with_transport(Consent::AsBefore, preview)
    }

    fn with_transport<T>(
        &self,
        consent: Consent,
        work: impl FnOnce(&Exchange<'_>, &mut dyn Transport) -> Result<T, SyncError>,
    ) -> Result<T, ApiError> {
        let surroundings = self.program.surroundings();
        let steps = |_: &'static str| {};
        let random = || {
            let bits = (surroundings.clock)().random.to_le_bytes();
            bits.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
        };
        let cache = &self.settled.cache_dir;
        let request = Exchange {
            store: &self.settled.store,
            policy: &self.policy,
            remote: &self.remote,
            cache,
            host: surroundings.host.as_deref().unwrap_or_default(),
            now: (surroundings.clock)().now,
            random: &random,
            consent,
            steps: &steps,
        };
        let done = match self.remote.kind() {
            RemoteKind::Folder(folder) => work(&request, &mut FolderRemote::at(folder, &steps)),
            RemoteKind::Git(_) => GitRemote::open(cache, &self.remote, surroundings.lookup, &steps)
                .and_then(|mut remote| work(&request, &mut remote)),
            #[cfg(feature = "nats")]
            RemoteKind::Nats(address) => {
                let credentials = self.policy.credentials.as_deref();
                let named = (address, &self.remote);
                work(&request, &mut sync::NatsRemote::at(named, credentials, cache, &steps))
            }
        };
        done.map_err(|error| refused(&error))
    }
}

fn wrong(message: &str) -> ApiError {
    ApiError::Failed { exit: Exit::Config, message: message.to_owned() }
}

fn refused(error: &SyncError) -> ApiError {
    let exit = match error {
        SyncError::Store(error) => return failed(error),
        SyncError::Remote { .. } => Exit::Busy,
        SyncError::NoGit => Exit::Unavailable,
        SyncError::Cache { .. } => Exit::Io,
        SyncError::Address(_) | SyncError::Setup(_) => Exit::Config,
    };
    ApiError::Failed { exit, message: error.to_string() }
}
