//! The environment variables that set what no configuration file can. Not here: those that win over a key of the file (`table`).

/// A variable of the environment.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Whether `agent-knowledge config` shows it where it is set.
    pub shown: VariableShown,
}

/// What `agent-knowledge config` shows of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableShown {
    /// What it holds.
    Content,
    /// That it is set: it holds a secret.
    Name,
    /// Nothing: clients and tests set it.
    Nothing,
}

/// Names the configuration file.
pub const CONFIG: &str = "AGENT_KNOWLEDGE_CONFIG";
/// The directory of the logs, which wins over `logs` in the file.
pub const LOGS: &str = "AGENT_KNOWLEDGE_LOGS";
/// Holds the token of a server.
pub const TOKEN: &str = "AGENT_KNOWLEDGE_TOKEN";

const fn shown(name: &'static str, about: &'static str) -> Variable {
    Variable { name, about, shown: VariableShown::Content }
}

const fn unshown(name: &'static str, about: &'static str) -> Variable {
    Variable { name, about, shown: VariableShown::Nothing }
}

/// All of them.
pub const VARIABLES: [Variable; 13] = [
    shown(CONFIG, "The configuration file."),
    shown("AGENT_KNOWLEDGE_SESSIONS", "The directory of what is kept of past sessions."),
    shown("AGENT_KNOWLEDGE_RUNTIME", "The directory of the retriever's socket."),
    shown(
        "AGENT_KNOWLEDGE_RETRIEVER",
        "`own`: answer in this process, without the shared retriever.",
    ),
    shown(
        "AGENT_KNOWLEDGE_POLL_ONLY",
        "If set, the logs are not watched for changes but looked at.",
    ),
    shown("AGENT_KNOWLEDGE_HOOKS", "`off`, or the hooks that stay on, such as `start,failure`."),
    shown("AGENT_KNOWLEDGE_AGENT", "The name under which lessons are saved."),
    Variable {
        name: TOKEN,
        about: "The token of a server, for `serve --http` and `mcp --remote`.",
        shown: VariableShown::Name,
    },
    unshown("AGENT_KNOWLEDGE_SESSION", "The session under which lessons are saved."),
    unshown("AGENT_KNOWLEDGE_HOST", "The name of this machine under which lessons are saved."),
    unshown(
        "AGENT_KNOWLEDGE_SESSION_ROOTS",
        "More folders with transcripts of a tool, such as `claude-code=/backup/projects`.",
    ),
    unshown(
        "AGENT_KNOWLEDGE_HOOKS_DEBUG",
        "If set, hooks say on standard error why they printed nothing.",
    ),
    unshown(
        "AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS",
        "How long a hook may take, in milliseconds (150 unless it is set; 10 to 60000).",
    ),
];
