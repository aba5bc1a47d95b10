//! The results of a measurement, per set and mode. Not here: their text (`eval_report`).

use super::economy::{AnswerCost, OutputForm};
use super::measure::QueryAnswer;
use super::misses::Miss;

/// The result of one set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetResult {
    /// The set's name.
    pub set: String,
    /// Where the queries searched.
    pub scope: String,
    /// Which queries were asked.
    pub split: String,
    /// A hash of documents, queries and judgements. Only runs with the same hash can be compared.
    pub judged: String,
    /// The number of documents.
    pub documents: usize,
    /// The number of documents that read like an instruction, so that searches hold them back.
    pub held_back: usize,
    /// The result of each mode.
    pub modes: Vec<ModeResult>,
}

/// The result of one mode.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeResult {
    /// Its name.
    pub mode: String,
    /// The answer to each query.
    pub answers: Vec<QueryAnswer>,
    /// Why documents were missed, if requested.
    pub misses: Vec<Miss>,
    /// The cost of an answer in each format, if requested.
    pub economy: Vec<(OutputForm, AnswerCost)>,
}
