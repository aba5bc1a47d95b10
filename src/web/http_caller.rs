//! Who calls over HTTP. Not here: what a caller may do (`rights`).

use std::time::Duration;

use crate::apis::Audience;
use guard::secrets::RedactedText;
use requests::caller::{Caller, Patience};

/// The name of a client that does not give one.
pub const UNKNOWN_CLIENT: &str = "unknown";

/// How long an answer of a replica waits for a better one. A replica that cannot keep up must not answer otherwise than the
/// others without saying so, so it waits for longer than one for an agent of this machine.
pub const TEAM_PATIENCE: Patience = Patience {
    query: Duration::from_secs(5),
    model: Duration::from_secs(5),
    embed: Duration::from_secs(1),
    index: Duration::from_secs(5),
};

/// Returns the caller for HTTP: an agent without a working directory.
pub fn http_caller(host: Option<RedactedText>, audience: Audience) -> Caller {
    let is_team = audience == Audience::Team;
    Caller {
        directory: None,
        agent_id: RedactedText::redact(UNKNOWN_CLIENT),
        session_id: None,
        source: Some("agent".to_owned()),
        host,
        patience: if is_team { TEAM_PATIENCE } else { Patience::FOR_AGENT },
    }
}
