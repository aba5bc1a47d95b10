//! The link to a team: its address, what is shared with it, and the transport that reaches it. Not here: the round (`sync`), and when a
//! round is made (the command `sync`, `team_rounds`, `replica`).

use std::ffi::OsString;

use crate::failure::{refuse_unknown_keys, store_error};
use crate::resolved_settings::ResolvedSettings;
use crate::startup::Retriever;
use requests::ApiError;
use settings::{ConfigTable, SyncPolicy};
use sync::{
    AcceptedKey, Consent, FolderRemote, GitRemote, HeldLine, Preview, RemoteAddress, RemoteKind,
    SyncError, SyncReport, SyncRequest, Transport, accept_key, allow_lines, held_lines, preview,
    sync_round,
};
use writer::Moment;
use writer::exit::Exit;

/// What stands for the remote of the code's own repository.
pub const ORIGIN: &str = "origin";

/// The message to a person without settings.
const NO_REMOTE: &str = "\
nothing is shared yet, because the configuration names no team
make an empty private git repository for your team, and name it and what is shared, for example
agent-knowledge config set sync.remote git@github.com:acme/memory.git sync.share 'github.com/acme/*'
agent-knowledge sync --dry-run then shows what would leave this machine; sync --help tells more";

/// One team, and what a round with it needs. It outlives the call that made it, for threads.
pub struct TeamLink {
    /// The settings.
    pub settled: ResolvedSettings,
    /// What is shared.
    pub policy: SyncPolicy,
    /// Where the team is.
    pub remote: RemoteAddress,
    host: String,
    clock: fn() -> Moment,
    variable: fn(&str) -> Option<OsString>,
}

impl Retriever<'_> {
    /// Finds out which team is meant; `named` is another remote than that of the settings.
    pub fn team_link(
        &self,
        settled: &ResolvedSettings,
        named: Option<&String>,
    ) -> Result<TeamLink, ApiError> {
        refuse_unknown_keys(&settled.config, ConfigTable::Sync)?;
        let mut policy = settled.config.sync.clone();
        let named = named.or(policy.remote.as_ref());
        let Some(mut address) = named.cloned() else { return Err(config_error(NO_REMOTE)) };
        if address == ORIGIN {
            let directory = &self.needed_directory()?;
            let url = GitRemote::origin_url(directory).ok_or_else(|| {
                config_error(
                    "the repository here has no remote \"origin\"; run this in a clone of the code",
                )
            })?;
            address = url;
            // Whoever reads this repository may not read the others.
            let here = settled.store.place_at(directory, &settled.config).repository;
            let here = here.filter(|here| policy.shares(here));
            // The empty text is the key of no repository.
            policy.share = vec![here.map_or_else(String::new, |here| here.to_string())];
        }
        let remote = RemoteAddress::parse(&address).map_err(|error| sync_error(&error))?;
        Ok(TeamLink {
            settled: settled.clone(),
            policy,
            remote,
            host: self.surroundings.host.clone().unwrap_or_default(),
            clock: self.surroundings.clock,
            variable: self.surroundings.variable,
        })
    }
}

impl TeamLink {
    /// Exchanges lines with the team once.
    ///
    /// # Errors
    /// Those of [`TeamLink::with_transport`].
    pub fn round(&self, consent: Consent) -> Result<SyncReport, ApiError> {
        self.with_transport(|transport| self.ask(consent, transport, sync_round))
    }

    /// Says what a round would share, and shares nothing.
    ///
    /// # Errors
    /// Those of [`TeamLink::with_transport`].
    pub fn preview(&self) -> Result<Preview, ApiError> {
        self.with_transport(|transport| self.ask(Consent::AsBefore, transport, preview))
    }

    /// Opens a transport for this work. Connections last as long as it does.
    pub fn with_transport<T>(
        &self,
        work: impl FnOnce(&mut dyn Transport) -> Result<T, SyncError>,
    ) -> Result<T, ApiError> {
        let steps = |_: &'static str| {};
        let cache = &self.settled.cache_dir;
        let done = match self.remote.kind() {
            RemoteKind::Folder(folder) => work(&mut FolderRemote::at(folder, &steps)),
            RemoteKind::Git(_) => GitRemote::open(cache, &self.remote, &self.variable, &steps)
                .and_then(|mut remote| work(&mut remote)),
            RemoteKind::Nats(address) => {
                let credentials = self.policy.credentials.as_deref();
                let remote = &self.remote;
                work(&mut sync::NatsRemote::at(address, remote, credentials, cache, &steps))
            }
        };
        done.map_err(|error| sync_error(&error))
    }

    /// Does one round, or looks at what one would do.
    pub fn ask<T>(
        &self,
        consent: Consent,
        transport: &mut dyn Transport,
        work: impl FnOnce(&SyncRequest<'_>, &mut dyn Transport) -> Result<T, SyncError>,
    ) -> Result<T, SyncError> {
        let random = || self.random();
        let request = SyncRequest {
            store: &self.settled.store,
            policy: &self.policy,
            remote: &self.remote,
            cache: &self.settled.cache_dir,
            host: &self.host,
            now: (self.clock)().now,
            random: &random,
            consent,
            steps: &|_| {},
        };
        work(&request, transport)
    }

    /// Accepts the key that was last seen of an origin which is held because of its signature.
    pub fn accept(&self, origin: &str) -> Result<AcceptedKey, ApiError> {
        let (store, rule) = (&self.settled.store, self.policy.require_signatures);
        let accepted = accept_key(store, &self.remote, rule, origin, (self.clock)().now);
        accepted.map_err(|error| sync_error(&error))
    }

    /// Finds the lines with an id that stay because they read like orders.
    pub fn held_lines(&self, id: &str) -> Result<Vec<HeldLine>, ApiError> {
        let held = held_lines(&self.settled.store, &self.policy, &self.remote, id);
        held.map_err(|error| sync_error(&error))
    }

    /// Notes that a person lets these lines pass.
    pub fn allow_lines(&self, held: &[HeldLine]) -> Result<(), ApiError> {
        let recorded = allow_lines(&self.settled.store, &self.remote, held, (self.clock)().now);
        recorded.map_err(|error| sync_error(&error))
    }

    /// Returns the origin of the store, which is made if there is none.
    pub fn origin(&self) -> Result<event::StoreOrigin, ApiError> {
        let origin = self.settled.store.ensure_origin(&self.host, self.random());
        origin.map_err(|error| store_error(&error))
    }

    fn random(&self) -> u64 {
        let bits = (self.clock)().random.to_le_bytes();
        bits.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }
}

/// Returns the error of wrong settings or options.
pub fn config_error(message: &str) -> ApiError {
    ApiError::Failed { exit: Exit::Config, message: message.to_owned() }
}

fn sync_error(error: &SyncError) -> ApiError {
    let exit = match error {
        SyncError::Store(error) => return store_error(error),
        SyncError::Remote { .. } | SyncError::Unreadable(_) => Exit::Busy,
        SyncError::NoGit => Exit::Unavailable,
        SyncError::Cache { .. } => Exit::Io,
        SyncError::Address(_) | SyncError::Setup(_) | SyncError::Signing(_) => Exit::Config,
    };
    ApiError::Failed { exit, message: error.to_string() }
}
