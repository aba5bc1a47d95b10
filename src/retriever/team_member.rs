//! Opens the memory for `mcp`, and joins a server of the team to it (`--remote`): its address, the token, and whose certificates
//! are believed. Not here: what is asked of it (`remote`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::options::GlobalOptions;
use crate::options::MemoryNeed;
use crate::resolved_settings::ResolvedSettings;
use crate::startup::Retriever;
use crate::team_link::config_error;
use remote::remote_team::RemoteTeam;
use remote::team_server::ServerAddress;
use requests::{Api, ApiError};
use settings::ConfigTable;
use settings::variables::TOKEN;

/// The variable that names the certificates that are believed, as other programs read it.
const CERTIFICATES: &str = "SSL_CERT_FILE";

impl Retriever<'_> {
    /// Opens the memory for MCP, joined with that of a team's server where the address of one is given.
    pub fn open_for_agents(
        &mut self,
        settings: &GlobalOptions,
        team: Option<&str>,
    ) -> Result<Arc<dyn Api>, ApiError> {
        self.is_server = true;
        self.directory_use.record(true);
        // A wrong address is told before anything is started.
        let team = team.map(|team| self.team_server(team)).transpose()?;
        let settled = self.resolve_settings(settings)?;
        self.recorder = self.delivery_recorder(&settled);
        self.last_seen_folder = Some(settled.cache_dir.clone());
        // Nothing is exchanged while [sync] may hold a rule that this version does not know; the own memory answers alone.
        let team = team.filter(|_| settled.config.hold(ConfigTable::Sync).is_none());
        let joined = |local: Arc<dyn Api>| match team {
            Some(team) => self.joined(local, team, settled),
            None => Ok(local),
        };
        let Some(remote) = self.shared_client(settings, MemoryNeed::Meaning, "mcp")? else {
            return joined(Arc::new(self.open_local(settings, MemoryNeed::Meaning)?));
        };
        let remote = Arc::new(remote);
        let prepared = Arc::clone(&remote);
        // Without a thread the first request waits a little longer.
        let _ = std::thread::Builder::new()
            .name("prepare".to_owned())
            .spawn(move || prepared.prepare());
        joined(remote)
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
    fn joined(
        &self,
        local: Arc<dyn Api>,
        server: (ServerAddress, String),
        settled: ResolvedSettings,
    ) -> Result<Arc<dyn Api>, ApiError> {
        let certificates = (self.surroundings.lookup)(CERTIFICATES).map(PathBuf::from);
        let own = (settled.store, settled.config);
        Ok(Arc::new(RemoteTeam::join(local, server, own, certificates.as_deref())?))
    }
}
