//! Opens the memory for `mcp`, where its session works, and joins the team's server to it (`--remote`): the server's address, the token,
//! and the trusted certificates. Not here: a session that moves (`session_memory`), the questions to the server (`remote`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::options::GlobalOptions;
use crate::options::MemoryNeed;
use crate::resolved_settings::ResolvedSettings;
use crate::session_memory::{DirectoryOpener, SessionDirectories, SessionMemory};
use crate::startup::Retriever;
use crate::team_link::config_error;
use api::local::Local;
use mcp::session_place::SessionPlace;
use place::{DirectoryOrigin, KnownDirectory};
use remote::remote_team::RemoteTeam;
use remote::team_server::ServerAddress;
use requests::caller::Caller;
use requests::{Api, ApiError};
use settings::ConfigTable;
use settings::variables::TOKEN;
use writer::project_directory::known_directories;

/// The variable that names the trusted certificates, which other programs read, too.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// The memory for the agent of one MCP session.
pub struct AgentMemory {
    /// Answers its calls.
    pub api: Arc<dyn Api>,
    /// Where it works.
    pub place: Arc<dyn SessionPlace>,
}

impl Retriever<'_> {
    /// Opens the memory for MCP, joined with that of a team's server where the address of one is given. `directory` is where the session
    /// works, as the client writes it.
    pub fn open_for_agents(
        &mut self,
        settings: &GlobalOptions,
        team: Option<&str>,
        directory: Option<&str>,
    ) -> Result<AgentMemory, ApiError> {
        self.is_server = true;
        self.directory_use.record(true);
        // A wrong address is refused before anything is started.
        let team = team.map(|team| self.team_server(team)).transpose()?;
        let settled = self.resolve_settings(settings)?;
        let chosen = self.session_directories(&settled, directory).choose(&[]);
        let settled = match chosen.is_some_and(|chosen| self.remember_change(&settled, &chosen)) {
            // The directory was joined just now.
            true => self.resolve_settings(settings)?,
            false => settled,
        };
        self.recorder = self.delivery_recorder(&settled);
        self.last_seen_folder = Some(settled.cache_dir.clone());
        // Nothing is exchanged while [sync] may hold a rule that this version does not know; the own memory answers alone.
        let team = team.filter(|_| settled.config.hold(ConfigTable::Sync).is_none());
        let directories = self.session_directories(&settled, directory);
        let opener = self.directory_opener(&settled, &directories)?;
        let session = Arc::new(SessionMemory::open(directories, opener));
        let place = Arc::clone(&session) as Arc<dyn SessionPlace>;
        let api = match team {
            Some((address, token)) => self.join_team_server(session, address, token, settled)?,
            None => session,
        };
        Ok(AgentMemory { api, place })
    }

    /// Returns what tells where a session works, before its client says more.
    fn session_directories(
        &self,
        settled: &ResolvedSettings,
        given: Option<&str>,
    ) -> SessionDirectories {
        let (start, store) = (self.surroundings.directory.clone(), settled.store.clone());
        // A variable that the client did not replace is as if nothing was given.
        let named = given.and_then(|text| {
            KnownDirectory::from_text(DirectoryOrigin::Argument, text, store.machine())
        });
        let named =
            named.map(|named| KnownDirectory { path: start.path().join(named.path), ..named });
        let known = known_directories(named, &start, &store, self.surroundings.lookup);
        let clock = self.surroundings.clock;
        SessionDirectories { config: settled.config.clone(), store, start, known, clock }
    }

    /// Returns what opens the memory for a directory: a client of the shared retriever, or the memory of this process.
    fn directory_opener(
        &self,
        settled: &ResolvedSettings,
        directories: &SessionDirectories,
    ) -> Result<DirectoryOpener, ApiError> {
        let (need, caller) = (MemoryNeed::Meaning, self.caller(directories.choose(&[])));
        let client = match self.is_shared()? {
            true => self.retriever_client_for(caller.clone(), settled.clone(), need, "mcp"),
            false => None,
        };
        if let Some(client) = client {
            return Ok(Box::new(move |directory| {
                let client = Arc::new(client.in_directory(directory));
                let prepared = Arc::clone(&client);
                // Without a thread the first request waits a little longer.
                let _ = std::thread::Builder::new()
                    .name("prepare".to_owned())
                    .spawn(move || prepared.prepare());
                client
            }));
        }
        let clock = Box::new(self.surroundings.clock);
        let core = Self::open_core(settled.clone(), need, self.watch_choice(), clock, None)?;
        let core = Arc::new(core);
        Ok(Box::new(move |directory| {
            let caller = Caller { directory, ..caller.clone() };
            Arc::new(Local::new(Arc::clone(&core), caller))
        }))
    }

    /// Reads the address of a team's server, and the token from the environment.
    fn team_server(&self, url: &str) -> Result<(ServerAddress, String), ApiError> {
        let address = ServerAddress::parse(url).map_err(|message| config_error(&message))?;
        let token = (self.surroundings.lookup)(TOKEN).unwrap_or_default();
        let token = token.to_string_lossy().trim().to_owned();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(config_error(&format!(
                "--remote needs the token of the team's server in {TOKEN}; its owner makes one with agent-knowledge token create"
            )));
        }
        Ok((address, token))
    }

    /// Joins the memory of this machine with that server.
    fn join_team_server(
        &self,
        local: Arc<dyn Api>,
        address: ServerAddress,
        token: String,
        settled: ResolvedSettings,
    ) -> Result<Arc<dyn Api>, ApiError> {
        let certificates = (self.surroundings.lookup)(CERTIFICATES).map(PathBuf::from);
        let ResolvedSettings { store, config, .. } = settled;
        let team = RemoteTeam::join(local, address, token, store, config, certificates.as_deref())?;
        Ok(Arc::new(team))
    }
}
