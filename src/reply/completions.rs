//! Completions of what somebody begins to type. Not here: finding them (`search`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};

/// What a typed word may go on as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionsAnswer {
    /// The words, best first.
    pub values: Vec<String>,
    /// How many there are; not all are listed.
    pub total: usize,
}

impl Answer for CompletionsAnswer {}

impl TextView for CompletionsAnswer {
    /// One value a line.
    fn text(&self) -> String {
        self.values.join("\n")
    }
}
