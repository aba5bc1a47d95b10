//! What agents were shown, as a page of the journal and as sums. Not here: the journal (`api`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};

/// A page of what hooks and tools showed agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedAnswer {
    /// What was shown, the newest first.
    pub entries: Vec<InjectedEntry>,
    /// The cursor of the next page.
    #[serde(default)]
    pub next: Option<String>,
    /// Why nothing is listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Answer for InjectedAnswer {}

impl TextView for InjectedAnswer {
    fn text(&self) -> String {
        let lines = self.entries.iter().map(|entry| {
            let InjectedEntry { at, agent, occasion, memories, .. } = entry;
            format!("{at} {agent} {occasion}: {}", memories.join(" "))
        });
        lines.chain(self.notices.iter().cloned()).collect::<Vec<_>>().join("\n")
    }
}

/// What an agent was shown at one occasion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedEntry {
    /// Its place in the journal.
    pub sequence: String,
    /// When.
    pub at: String,
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: Option<String>,
    /// The repository in which it worked.
    pub repo: Option<String>,
    /// What showed it: `hook` or `tool`.
    pub by: String,
    /// The occasion of a hook, or the name of a tool.
    pub occasion: String,
    /// What was looked for.
    pub asked: Option<String>,
    /// The tokens of the text.
    pub tokens: u64,
    /// The ids of the memories in it.
    pub memories: Vec<String>,
    /// The ids of those that the agent reported to have worked.
    pub helped: Vec<String>,
    /// The ids of those that it reported to have failed.
    pub failed: Vec<String>,
}

/// What agents were shown over some days, beside the size of the logs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavingsAnswer {
    /// The beginning of the time that is counted.
    pub since: String,
    /// How often an agent was shown something.
    pub answers: u64,
    /// The estimated tokens of all those texts.
    pub tokens_given: u64,
    /// The estimated tokens that reading the logs instead would have cost.
    pub tokens_of_logs: u64,
    /// How many memories helped after they were shown, counted for each agent.
    pub helped: u64,
    /// How many failed.
    pub failed: u64,
    /// How often there was nothing to show.
    pub silent: u64,
    /// How the figures are made.
    pub formula: String,
    /// The days, the oldest first.
    pub days: Vec<SavingsOfDay>,
    /// Why nothing is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Answer for SavingsAnswer {}

impl TextView for SavingsAnswer {
    fn text(&self) -> String {
        let Self { answers, since, tokens_given, tokens_of_logs, helped, failed, silent, .. } =
            self;
        let sums = format!(
            "{answers} answers since {since}: {tokens_given} tokens given, {tokens_of_logs} tokens in the logs instead; {helped} helped, {failed} failed, {silent} times silent"
        );
        let notices = self.notices.iter().cloned();
        std::iter::once(sums).chain(notices).collect::<Vec<_>>().join("\n")
    }
}

/// What agents were shown on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavingsOfDay {
    /// The day.
    pub day: String,
    /// How often an agent was shown something.
    pub answers: u64,
    /// The estimated tokens of those texts.
    pub tokens_given: u64,
}
