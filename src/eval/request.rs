//! The request for a measurement, and what the program provides for it. Not here: the steps (`run`).

use std::path::{Path, PathBuf};

use super::SetFormat;
use super::test_set::{QueryScope, Split};
use api::local::Local;
use event::Timestamp;
use requests::{ApiError, Mode};

/// What to measure.
#[derive(Debug, Clone)]
pub struct EvalRequest {
    /// The sets: folders or files.
    pub paths: Vec<PathBuf>,
    /// The format of all sets; detected from their fields by default.
    pub form: Option<SetFormat>,
    /// The modes; by default every mode that this machine supports.
    pub modes: Option<Vec<Mode>>,
    /// Where queries search; determined by the format by default.
    pub scope: Option<QueryScope>,
    /// Which queries.
    pub split: Split,
    /// Examined hits per query.
    pub limit: usize,
    /// The lowest relevance of the best hit, in hundredths.
    pub min_relevance_percent: u8,
    /// The time at which queries are asked; by default a day after the newest document.
    pub now: Option<Timestamp>,
    /// The file for saving the answers.
    pub save: Option<PathBuf>,
    /// The file with earlier answers to compare with.
    pub against: Option<PathBuf>,
    /// How many misses are explained, if any.
    pub misses: Option<usize>,
    /// Whether to count the cost of an answer.
    pub economy: bool,
    /// The seed of the resampling.
    pub seed: u64,
    /// What is made.
    pub output: EvalOutput,
}

/// What a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvalOutput {
    /// A report.
    #[default]
    Report,
    /// The numbers of each query's candidates.
    Features,
}

/// The options for starting the engine.
#[derive(Debug)]
pub struct EngineOptions<'a> {
    /// The working directory of the queries, which belongs to no repository.
    pub directory: &'a Path,
    /// The store.
    pub logs: &'a Path,
    /// The time at which queries are asked.
    pub now: Timestamp,
    /// Whether vectors are needed.
    pub needs: EngineNeeds,
}

/// What the engine must provide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineNeeds {
    /// Search by words.
    Words,
    /// Also search by meaning.
    Meaning,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub enum RunProgress<'a> {
    /// A message.
    Note(&'a str),
    /// The progress of a long step.
    Progress {
        /// The name of the step.
        doing: &'a str,
        /// The number of finished items.
        done: usize,
        /// The number of all items.
        all: usize,
    },
}

/// What the program provides.
pub struct EvalEnvironment<'a> {
    /// The parent directory of temporary folders.
    pub temporary: PathBuf,
    /// Random bits that keep this run's folders apart from others'.
    pub random: u128,
    /// Starts an engine with this user's model.
    pub open: &'a mut dyn FnMut(&EngineOptions<'_>) -> Result<Local, ApiError>,
    /// Receives the progress.
    pub report_progress: &'a mut dyn FnMut(RunProgress<'_>),
}
