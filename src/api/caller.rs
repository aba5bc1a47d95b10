//! Who asks, and what may not be taken from the process that answers: a retriever answers for many
//! callers, each with its own directory, name and patience. Not here: finding these out (`program`).

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who asks, from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The working directory: tells the repository at hand. Who comes over HTTP has none, and names it.
    pub directory: Option<PathBuf>,
    /// The agent or person, as the surroundings tell it.
    pub agent_id: String,
    /// The session, where the agent tells it.
    pub session_id: Option<String>,
    /// Whether an agent or a human writes.
    pub source: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// How long it may be kept waiting.
    pub patience: Patience,
}

/// How long an answer may wait for a better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// For the query's vector.
    pub query: Duration,
    /// For the model, while it is loading.
    pub model: Duration,
    /// For memories that have no vector yet.
    pub embed: Duration,
    /// For logs that are still being read; then the newest are searched.
    pub index: Duration,
}

impl Patience {
    /// Of a person, who asks once and by hand. Loading the model was measured to take about a second on a
    /// busy machine; a handful of new memories is worth a moment, a whole store is what `index` is for.
    pub const OF_A_PERSON: Self = Self {
        query: Duration::from_secs(15),
        model: Duration::from_secs(15),
        embed: Duration::from_millis(1_500),
        index: Duration::from_secs(600),
    };

    /// Of an agent, which would rather have the answer at hand now: loading a model takes longer, and reading
    /// what is new or some thousands of memories does not.
    pub const OF_AN_AGENT: Self = Self {
        query: Duration::from_millis(400),
        model: Duration::from_millis(40),
        embed: Duration::ZERO,
        index: Duration::from_secs(1),
    };
}
