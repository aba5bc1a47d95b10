//! Memories in an engine, for stores that no machine can hold. An engine only finds candidates: it is asked for the numbers
//! that our ranking needs, for the best memories by words and by meaning, and for their records. From these a small snapshot
//! is made, with the numbers of the whole corpus in the place of its own, and everything after that is the search of one
//! machine. The log stays the truth: an engine can be emptied and fed again.
//!
//! Reading order: [`contract`] (what an engine does), [`memory_key`], [`memory_record`] and [`corpus_entry`] (what it holds),
//! [`conditions`] (what it filters), [`engine_query`] with [`small_snapshot`] (the way of a query), [`feeder`] (how memories come
//! into it), [`served_engine`] (which engine an address is of), [`postgres`], and
//! `qdrant` (a feature). Not here: ranking (`search`), when an engine is asked (`api`).

pub mod conditions;
pub mod contract;
pub mod corpus_entry;
pub mod corpus_error;
mod counting;
pub mod engine_query;
pub mod feeder;
pub mod memory_key;
pub mod memory_record;
pub mod postgres;
#[cfg(feature = "qdrant")]
pub mod qdrant;
pub mod served_engine;
pub mod small_snapshot;
mod term_code;

pub use conditions::Conditions;
pub use contract::{
    AskedNumbers, Corpus, Deadline, EngineNumbers, FetchedRecord, ServedEngine, WeighedTerm,
};
pub use corpus_entry::{CorpusEntry, EntryMark};
pub use corpus_error::CorpusError;
pub use engine_query::{EngineHits, find};
pub use feeder::{FeedReport, Feeder};
pub use memory_key::MemoryKey;
pub use memory_record::Viewpoint;
pub use served_engine::engine_at;
