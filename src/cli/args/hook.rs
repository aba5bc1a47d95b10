//! The `hook` command. Not here: what it does (`clients::hooks`).

use clap::Args;

/// The `hook` command.
#[derive(Debug, Args)]
#[command(after_help = HOOK_HELP)]
pub struct Hook {
    /// The agent: claude-code, codex, gemini, opencode, cursor, copilot, cline, qwen, droid
    #[arg(long, value_name = "NAME")]
    pub agent: String,

    /// The event, if the client's JSON does not name it: start, prompt, tool-failed, tool-succeeded,
    /// compact, end, or the client's own name for it
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
}

const HOOK_HELP: &str = "\
Reads the client's JSON from standard input, and prints a reply in that client's format, or
nothing. Ends within 150 milliseconds and always with 0, whatever goes wrong, so that the agent
never waits.

Environment:
  AGENT_KNOWLEDGE_HOOKS        off, or the hooks to keep on: start,prompt,failure,learn,end
  AGENT_KNOWLEDGE_HOOKS_DEBUG  if set, say on standard error why nothing was printed
  AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS  deadline in milliseconds (10 to 60000, default 150)";
