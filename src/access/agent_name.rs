//! The name of an agent, as memories carry it. Not here: where a client says its name (`client_name`, `mcp::client`).

use guard::secrets::RedactedText;

/// Longest name kept, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Returns the agent's name as memories carry it: `Claude Code` and `claude-code` are one agent, and
/// `codex-mcp-client` is `codex`. `None` for a name that identifies nobody, such as that of the MCP library.
pub fn agent_name(given: &str) -> Option<RedactedText> {
    RedactedText::stamp(given).part(respelled)
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
