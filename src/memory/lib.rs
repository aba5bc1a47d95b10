//! The fold from events to memories. It is pure, idempotent and independent of the order of events.
//! Not here: reading logs (`engine`), finding memories (`index`, `search`).

pub mod binary_encoding;
mod bound;
mod cow_vec;
pub mod event_record;
mod fading;
mod fold;
mod fold_origins;
mod fold_reader;
mod fold_writer;
mod frozen_fold;
mod ledger;
mod lifecycle;
mod line_place;
mod lookup;
mod memory;
mod memory_folder;
mod neighbours;
mod passages;
mod provenance;
#[cfg(test)]
mod sample;
mod session;
mod size;
pub mod texts;
mod ties;
mod verdicts;
mod version;
mod voices;

pub use bound::{Census, MemoryBound};
pub use cow_vec::{CowVec, RepoChunks};
pub use fading::{BURIED_AFTER_DAYS, FADED_BELOW, Fate};
pub use fold::{Effect, Fold, RemovedMemory};
pub use fold_reader::{FoldReader, Section};
pub use fold_writer::RecordFile;
pub use frozen_fold::{FoldMark, FrozenFold};
pub use lifecycle::{Lifecycle, LifecycleState};
pub use line_place::{LineOrigin, LinePlace, LogFile};
pub use lookup::Lookup;
pub use memory::{IdShare, Memory};
pub use neighbours::{NEIGHBOURS_MAX, Neighbours, read_neighbours, write_neighbours};
pub use passages::Passage;
pub use provenance::{Provenance, Provenances};
pub use session::Sessions;
pub use ties::{Tie, ties};
pub use verdicts::{CANDIDATE_SECONDS_MAX, Maturity, PROVEN_MIN, Verdicts};
pub use version::Version;
pub use voices::{OnlyOrigin, is_one_voice};
