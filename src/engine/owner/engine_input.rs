//! What the engine thread is sent, and what it answers. Not here: the thread (`run`).

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use super::next_model::NextModel;
use crate::follow::{CatchUpReport, Follower};
use index::embed::SpaceId;
use index::embed::worker::EmbeddedDocument;
use search::snapshot::Snapshot;

/// The number of vector batches that were sent to the thread and not taken in.
pub(super) type PendingBatches = Arc<AtomicUsize>;

/// The writes of this process that the thread has not received: log and offset.
pub(super) type OwnWrites = Arc<Mutex<Vec<(PathBuf, u64)>>>;

/// A message to the thread.
pub(super) enum EngineInput {
    /// A log may have changed.
    Hint,
    /// Vectors of a model are ready.
    Embedded(SpaceId, Vec<EmbeddedDocument>),
    /// Another model is to answer.
    Switch(NextModel),
    /// All logs have been read.
    Loaded {
        follower: Box<Follower>,
        caught_up: CatchUpReport,
        /// What the checkpoint held ([`Follower::known_len`]).
        checkpoint_len: usize,
    },
    /// Send a snapshot of all logs.
    FullSnapshot(Sender<Snapshot>, CatchUpReason),
    /// Send a snapshot once all logs were read, which may lack lines that were written faster than they are read.
    /// The caller asks from the repository of this log.
    CurrentView(Sender<EngineView>, PathBuf),
    /// Send a snapshot now; of the newest lines where not all were read, most of them from this
    /// log.
    RecentView(Sender<EngineView>, PathBuf),
    /// Save a checkpoint now.
    SaveCheckpoint(Sender<()>),
    /// Stop.
    Stop,
}

/// Why a snapshot is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CatchUpReason {
    /// To answer a query.
    Question,
    /// For upkeep, which does not count as a query.
    Upkeep,
}

/// A snapshot, and how much of the logs it covers.
#[derive(Debug, Clone)]
pub struct EngineView {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How much of the logs it covers.
    pub coverage: LogCoverage,
}

/// How much of the logs was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogCoverage {
    /// All of it.
    Whole,
    /// The newest lines of each log, while all are read for the first time.
    Recent,
    /// All but some lines, which others write faster than they are read. The newest are among those read.
    Behind,
}

/// The engine thread has stopped, which only a bug can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the retriever's thread has stopped; please report this")]
pub struct EngineStopped;
