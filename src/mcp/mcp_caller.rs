//! The agent that calls, and its session, as the client names them. Not here: the author when the client names
//! nothing (`writer::identity`).

use guard::secrets::RedactedText;
use requests::Voice;
use rmcp::service::{RequestContext, RoleServer};

use access::admitted_caller::{AdmittedCaller, admitted_caller};
use access::agent_name::agent_name;
use access::client_name::introduced_name;

/// Longest session id kept, in bytes.
const SESSION_BYTES_MAX: usize = 128;

/// The caller.
#[derive(Debug, Clone, Default)]
pub struct McpCaller {
    /// The agent.
    pub name: Option<RedactedText>,
    /// Its session. Codex names it in every call; other clients set an environment variable.
    pub session_id: Option<RedactedText>,
}

impl McpCaller {
    /// Reads who calls.
    pub fn from_context(context: &RequestContext<RoleServer>) -> Self {
        let thread = context.meta.0.get("threadId").and_then(|id| id.as_str());
        // A client with a named token is what the token says, whatever it calls itself.
        let of_token = admitted_caller(&context.extensions)
            .and_then(AdmittedCaller::name)
            .map(RedactedText::stamp);
        let given = || context.client_info().and_then(|client| agent_name(&client.name));
        let name = of_token.or_else(given);
        Self {
            name: name.or_else(|| introduced_name(&context.extensions)),
            session_id: thread.filter(|id| is_plain(id)).map(RedactedText::stamp),
        }
    }

    /// Returns in whose name its changes are written.
    pub fn voice(&self) -> Voice {
        Voice::Model { client: self.name.clone(), session: self.session_id.clone() }
    }
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= SESSION_BYTES_MAX && id.bytes().all(|b| b.is_ascii_graphic())
}
