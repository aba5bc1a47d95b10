//! The agent that calls, and its session, as the client names them. Not here: the author when the client names
//! nothing (`writer::identity`).

use api::Voice;
use guard::secrets::Redacted;
use rmcp::service::{RequestContext, RoleServer};

use crate::http::{Admitted, admitted, introduced};

/// Longest name kept, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Longest session id kept, in bytes.
const SESSION_BYTES_MAX: usize = 128;

/// The caller.
#[derive(Debug, Clone, Default)]
pub(super) struct Caller {
    /// The agent.
    pub name: Option<Redacted>,
    /// Its session. Codex names it in every call; other clients set an environment variable.
    pub session_id: Option<Redacted>,
}

impl Caller {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let thread = context.meta.0.get("threadId").and_then(|id| id.as_str());
        // A client with a named token is what the token says, whatever it calls itself.
        let of_token = admitted(&context.extensions).and_then(Admitted::name).map(Redacted::stamp);
        let given = || context.client_info().and_then(|client| agent_name(&client.name));
        let name = of_token.or_else(given);
        Self {
            name: name.or_else(|| introduced(&context.extensions)),
            session_id: thread.filter(|id| is_plain(id)).map(Redacted::stamp),
        }
    }

    /// Returns in whose name its changes are written.
    pub(super) fn voice(&self) -> Voice {
        Voice::Model { client: self.name.clone(), session: self.session_id.clone() }
    }
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= SESSION_BYTES_MAX && id.bytes().all(|b| b.is_ascii_graphic())
}

/// Returns the agent's name as memories carry it: `Claude Code` and `claude-code` are one agent, and
/// `codex-mcp-client` is `codex`. `None` for a name that identifies nobody, such as that of the MCP library.
pub(crate) fn agent_name(given: &str) -> Option<Redacted> {
    Redacted::stamp(given).part(respelled)
}

fn respelled(given: &str) -> Option<String> {
    let mut name = String::new();
    for c in given.trim().chars().flat_map(char::to_lowercase) {
        match c {
            ':' => name.push('-'),
            c if c.is_whitespace() => name.push('-'),
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '/') => {
                name.push(c);
            }
            _ => {}
        }
    }
    name.truncate(NAME_BYTES_MAX);
    let name = name.strip_suffix("-mcp-client").unwrap_or(&name);
    let names_nobody = name.is_empty() || name == "rmcp" || !name.contains(char::is_alphanumeric);
    (!names_nobody).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_agent_has_one_name() {
        for (given, name) in [
            ("claude-code", "claude-code"),
            ("Claude Code", "claude-code"),
            ("codex-mcp-client", "codex"),
            ("gemini-cli-mcp-client", "gemini-cli"),
            // The rules for secrets take out the whole sequence.
            ("Visual Studio Code\u{1B}[31m", "visual-studio-code"),
        ] {
            assert_eq!(agent_name(given).as_deref(), Some(name));
        }
    }

    // S-WRITE-8
    #[test]
    fn a_secret_in_a_name_is_gone_before_the_name_is_respelled() {
        let token = ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        for given in [token.clone(), format!("My Bot {token}"), format!("\u{1b}[1m{token}")] {
            let name = agent_name(&given).unwrap();
            assert!(name.contains("redacted-github-token"), "{name}");
            assert!(!name.contains("a8kd03jfq9"), "{name}");
        }
    }

    #[test]
    fn a_name_that_identifies_nobody_is_dropped() {
        for given in ["", "  ", "rmcp", "---", "\u{202E}"] {
            assert_eq!(agent_name(given), None, "{given:?}");
        }
        assert_eq!(agent_name(&"x".repeat(5_000)).unwrap().len(), NAME_BYTES_MAX);
    }
}
