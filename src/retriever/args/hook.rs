//! The `hook` command. Not here: what it does (`serve::hook`).

use clap::Args;

/// The `hook` command.
#[derive(Debug, Args)]
#[command(after_help = HOOK_HELP)]
pub struct Hook {
    /// The agent: claude-code, codex, gemini, opencode, cursor, copilot, cline, qwen, droid
    #[arg(long, value_name = "NAME")]
    pub agent: String,

    /// What happened, where the client's JSON does not say: start, prompt, tool-failed, tool-succeeded,
    /// compact, end, or the client's own name for it
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
}

const HOOK_HELP: &str = "\
Reads the client's JSON from standard input and prints what that client takes, or nothing. Ends within 150
milliseconds and always with 0, whatever goes wrong; an agent is never kept waiting.

Environment:
  AGENT_KNOWLEDGE_HOOKS        off, or a list of those that stay on: start,prompt,failure,learn,end
  AGENT_KNOWLEDGE_HOOKS_DEBUG  if set, standard error tells why nothing was said
  AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS  how long it may take (10 to 60000, else 150)";
