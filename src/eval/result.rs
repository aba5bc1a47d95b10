//! What a measurement found out, one set and one mode at a time. Not here: its words (`report`).

use super::economy::{Cost, OutputForm};
use super::measure::Answer;
use super::misses::Miss;

/// What one set came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The set's name.
    pub set: String,
    /// Where was looked.
    pub scope: String,
    /// Which queries were asked.
    pub split: String,
    /// A hash of documents, queries and judgements: only equal ones can be compared.
    pub judged: String,
    /// How many documents there are.
    pub documents: usize,
    /// How many of them read like an instruction to their reader, so that searches hold them back.
    pub held_back: usize,
    /// What each mode came to.
    pub modes: Vec<ModeResult>,
}

/// What one mode came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeResult {
    /// Its name.
    pub mode: String,
    /// What each query came to.
    pub answers: Vec<Answer>,
    /// Why documents were missed, where that was asked.
    pub misses: Vec<Miss>,
    /// What an answer costs in each form, where that was asked.
    pub economy: Vec<(OutputForm, Cost)>,
}
