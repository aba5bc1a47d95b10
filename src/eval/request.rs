//! What is asked of a measurement, and what the program gives it. Not here: the steps (`run`).

use std::path::{Path, PathBuf};

use super::SetFormat;
use super::set::{QueryScope, Split};
use api::local::Local;
use api::{ApiError, Mode};
use event::Timestamp;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct EvalRequest {
    /// Sets: folders or files.
    pub paths: Vec<PathBuf>,
    /// The form of all of them; told by their fields unless given.
    pub form: Option<SetFormat>,
    /// The modes; all that this machine can unless given.
    pub modes: Option<Vec<Mode>>,
    /// Where queries look; by the form unless given.
    pub scope: Option<QueryScope>,
    /// Which queries.
    pub split: Split,
    /// Hits looked at.
    pub limit: usize,
    /// How likely the best hit must be an answer, in hundredths.
    pub min_relevance_percent: u8,
    /// The time at which is asked; a day after the newest document unless given.
    pub now: Option<Timestamp>,
    /// Where the answers are kept.
    pub save: Option<PathBuf>,
    /// Answers kept earlier, to compare with.
    pub against: Option<PathBuf>,
    /// How many misses are explained, if any.
    pub misses: Option<usize>,
    /// Whether it is counted what an answer costs.
    pub economy: bool,
    /// What the resampling begins with.
    pub seed: u64,
}

/// How the engine is to be started.
#[derive(Debug)]
pub struct EngineOptions<'a> {
    /// A directory that belongs to no repository, in which the queries are asked.
    pub directory: &'a Path,
    /// The store.
    pub logs: &'a Path,
    /// The time at which is asked.
    pub now: Timestamp,
    /// Whether meaning is needed.
    pub needs: Needs,
}

/// What the engine must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Words.
    Words,
    /// Also meanings.
    Meaning,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub enum RunProgress<'a> {
    /// Something to tell.
    Note(&'a str),
    /// So much of a long step is done.
    Progress {
        /// What is being done.
        doing: &'a str,
        /// So many are done.
        done: usize,
        /// Of so many.
        all: usize,
    },
}

/// What the program gives.
pub struct EvalEnvironment<'a> {
    /// Where folders that are removed again may be made.
    pub temporary: PathBuf,
    /// Keeps this run's folders apart from others'.
    pub random: u128,
    /// Starts an engine, with the model of this user.
    pub open: &'a mut dyn FnMut(&EngineOptions<'_>) -> Result<Local, ApiError>,
    /// Is told how far it is.
    pub tell: &'a mut dyn FnMut(RunProgress<'_>),
}
