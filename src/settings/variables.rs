//! The environment variables that set what no configuration file can. Not here: those that win over a key of the file (`table`).

/// A variable of the environment.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What `agent-knowledge config` shows of it where it is set.
    pub shown: VariableDisplay,
}

/// What `agent-knowledge config` shows of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableDisplay {
    /// What it holds.
    Content,
    /// That it is set: it holds a secret.
    Name,
    /// Nothing: clients and tests set it.
    Nothing,
}

/// The directory of the logs, which wins over `logs` in the file.
pub const LOGS: &str = "AGENT_KNOWLEDGE_LOGS";
/// The directory of caches, which wins over `cache` in the file.
pub const CACHE: &str = "AGENT_KNOWLEDGE_CACHE";

/// Makes a constant of each variable, and the table of all.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $NAME:ident = $name:literal, $shown:ident;)+) => {
        $($(#[doc = $doc])+ pub const $NAME: &str = $name;)+

        /// All variables.
        pub const VARIABLES: &[Variable] =
            &[$(Variable { name: $name, about: concat!($($doc),+).trim_ascii(), shown: VariableDisplay::$shown }),+];
    };
}

variables! {
    /// The configuration file.
    CONFIG = "AGENT_KNOWLEDGE_CONFIG", Content;
    /// The directory of what is kept of past sessions.
    SESSIONS = "AGENT_KNOWLEDGE_SESSIONS", Content;
    /// The directory of the retriever's socket.
    RUNTIME = "AGENT_KNOWLEDGE_RUNTIME", Content;
    /// `own`: answer in this process, without the shared retriever.
    RETRIEVER = "AGENT_KNOWLEDGE_RETRIEVER", Content;
    /// If set, the logs are looked at now and then, instead of being watched for changes.
    POLL_ONLY = "AGENT_KNOWLEDGE_POLL_ONLY", Content;
    /// `off`, or the hooks that stay on, such as `start,failure`.
    HOOKS = "AGENT_KNOWLEDGE_HOOKS", Content;
    /// The name under which lessons are saved.
    AGENT = "AGENT_KNOWLEDGE_AGENT", Content;
    /// The token of a server, for `serve --http` and `mcp --remote`.
    TOKEN = "AGENT_KNOWLEDGE_TOKEN", Name;
    /// The session under which lessons are saved.
    SESSION = "AGENT_KNOWLEDGE_SESSION", Nothing;
    /// The name of this machine under which lessons are saved.
    HOST = "AGENT_KNOWLEDGE_HOST", Nothing;
    /// More folders with transcripts of a tool, such as `claude-code=/backup/projects`.
    SESSION_ROOTS = "AGENT_KNOWLEDGE_SESSION_ROOTS", Nothing;
    /// If set, hooks say on standard error why they printed nothing.
    HOOKS_DEBUG = "AGENT_KNOWLEDGE_HOOKS_DEBUG", Nothing;
    /// How long a hook may take, in milliseconds: 150 unless it is set, 10 to 60000.
    HOOKS_DEADLINE_MS = "AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", Nothing;
}
