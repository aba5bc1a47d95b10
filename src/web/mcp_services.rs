//! MCP over HTTP, one service for each right: a tool that a client may not call is not listed to it. Not here: the protocol (rmcp), the
//! tools (`mcp`), which service a client gets (`service`).

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::apis::Apis;
use access::disconnect::Disconnect;
use access::http_bounds::BODY_BYTES_MAX;
use access::server_names::ServerNames;
use daemon::guests::Guests;
use mcp::backpressure::CallsInFlight;
use mcp::delivery_recorder::DeliveryRecorder;
use mcp::mcp_server::McpServer;
use mcp::server_options::McpOptions;
use requests::caller::Caller;
use requests::rights::Rights;

/// MCP for clients with the same rights.
type McpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// MCP for all clients.
pub struct McpServices {
    read: McpService,
    write: McpService,
    admin: McpService,
}

impl McpServices {
    pub fn new(
        apis: &Apis,
        recorder: Option<&DeliveryRecorder>,
        names: &ServerNames,
        stop_waiting: &Disconnect,
    ) -> Self {
        let settings = settings(names);
        let service = |rights| {
            let options =
                McpOptions { recorder: recorder.cloned(), rights, ..McpOptions::default() };
            let api = Arc::clone(apis.for_rights(rights));
            let server =
                McpServer::new(api, stop_waiting.clone(), CallsInFlight::none()).with(options);
            let sessions = Arc::new(NeverSessionManager::default());
            StreamableHttpService::new(move || Ok(server.clone()), sessions, settings.clone())
        };
        Self {
            read: service(Rights::Read),
            write: service(Rights::Write),
            admin: service(Rights::Admin),
        }
    }

    /// Returns that for clients with these rights.
    pub fn for_rights(&self, rights: Rights) -> McpService {
        match rights {
            Rights::Read => self.read.clone(),
            Rights::Write => self.write.clone(),
            Rights::Admin => self.admin.clone(),
        }
    }

    /// Cancels the calls under way.
    pub fn cancel(&self) {
        for service in [&self.read, &self.write, &self.admin] {
            service.config.cancellation_token.cancel();
        }
    }
}

/// The settings of MCP.
fn settings(names: &ServerNames) -> StreamableHttpServerConfig {
    // The server pushes nothing to a client that does not listen for it, so it keeps no
    // sessions. rmcp would compare an Origin with a list; ours is compared with the Host (`request_guard`), because a forwarded port is
    // not known before it is used.
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX);
    let settings = settings.disable_allowed_origins();
    match names {
        // rmcp's check of the Host comes after ours.
        ServerNames::Loopback(_) => settings,
        // It compares with a list, and does not know the names in a certificate.
        ServerNames::Certificate(_) => settings.disable_allowed_hosts(),
    }
}

/// Returns what writes down the answers of tools. A caller without a directory names the repository, or none.
pub fn delivery_recorder(guests: &Guests, caller: &Caller) -> Option<DeliveryRecorder> {
    let core = Arc::clone(guests.core());
    let journal = core.delivery_journal.clone()?;
    let (agent, session) = (caller.agent_id.clone(), None);
    Some(DeliveryRecorder {
        journal,
        directory: None,
        agent,
        session,
        clock: Arc::new(move || (core.clock)().now),
    })
}
