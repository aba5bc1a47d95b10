//! The caller of a request: its directory, name and patience. A retriever answers for many callers, so it must not
//! take these from its own process. Not here: finding them out (`retriever::opening`).

use guard::secrets::RedactedText;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The caller: its agent, session and working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The working directory, which decides the repository. A caller over HTTP has none and names the
    /// repository.
    pub directory: Option<PathBuf>,
    /// The agent or person, as the environment tells it.
    pub agent_id: RedactedText,
    /// The session, where the agent tells it.
    pub session_id: Option<RedactedText>,
    /// Whether an agent or a human writes.
    pub source: Option<String>,
    /// The machine.
    pub host: Option<RedactedText>,
    /// How long it may wait.
    pub patience: Patience,
}

/// How long an answer may wait for a better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// For the query's vector.
    pub query: Duration,
    /// For the model to load.
    pub model: Duration,
    /// For memories that have no vector yet.
    pub embed: Duration,
    /// For logs that are still being read. After that only the newest memories are searched.
    pub index: Duration,
}

impl Patience {
    /// For a person, who asks once and by hand. Loading the model was measured to take about a second on a busy
    /// machine. A few new memories are worth waiting for; for a whole store there is the command `index`.
    pub const FOR_PERSON: Self = Self {
        query: Duration::from_secs(15),
        model: Duration::from_secs(15),
        embed: Duration::from_millis(1_500),
        index: Duration::from_secs(600),
    };

    /// For an agent, which prefers an answer now. Loading a model takes longer than this; reading new lines or some
    /// thousand memories does not.
    pub const FOR_AGENT: Self = Self {
        query: Duration::from_millis(400),
        model: Duration::from_millis(40),
        embed: Duration::ZERO,
        index: Duration::from_secs(1),
    };
}
