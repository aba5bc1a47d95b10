//! The lexical index: BM25 over code-aware terms. The only room that names the `bm25` crate.
//!
//! A text becomes terms (`tokenize`, `words`, `identifier`, `script`); each document becomes a sealed
//! `segment` of one (`dictionary`, `postings`); segments of like size are merged, so that their number
//! stays logarithmic and each posting is copied a logarithmic number of times. Nothing sealed ever
//! changes: a clone is a frozen snapshot for a query at the price of a few reference counts, and
//! there is no mutable tail to copy. Document frequency, corpus size and average length are those of
//! the living documents at query time (`index`, `part`, `search`, `weight`), whatever the segments.
//!
//! A document may have several passages; its score is that of the best. Not here: what is put into a
//! document's text, fusion with other indexes, persistence.

mod analysis;
mod backticks;
mod best_scores;
mod binary_format;
mod corpus_numbers;
mod counted_passage;
mod cursor;
mod dictionary;
mod document_frequencies;
mod exhaustive;
mod fingerprint;
mod identifier;
mod index;
mod live_segment;
mod merge;
mod nearby_terms;
mod passage;
mod passage_weight;
mod postings;
mod query;
mod query_words;
mod script;
mod search;
mod segment;
mod shared_rarity;
mod short_forms;
mod terms;
mod tokenize;
mod weight;
mod whole_document;

#[cfg(test)]
mod passage_laws;
#[cfg(test)]
mod search_laws;
#[cfg(test)]
mod tests;

pub use analysis::AnalysisCache;
pub use backticks::quoted_spans;
pub use corpus_numbers::{CorpusNumbers, CorpusTotals, LackingNumbers};
pub use counted_passage::CountedPassage;
pub use document_frequencies::DocumentFrequencies;
pub use index::LexicalIndex;
pub use passage::{Passage, passages_of};
pub use passage_weight::PassageWeight;
pub use query::{Overlap, PreparedQuery};
pub use query_words::QueryWords;
pub use shared_rarity::SharedRarity;
pub use whole_document::WholeScores;

/// A document's ordinal, given by the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocId(pub u32);

/// A document and its BM25 score, which is positive and has no upper bound common to all queries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoredDocument {
    /// The document.
    pub doc: DocId,
    /// Its score; comparable within one query only.
    pub score: f32,
}

/// A term of a query and how common it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryTerm {
    /// The term as indexed: folded and stemmed.
    pub term: Box<str>,
    /// How many documents hold it.
    pub documents: usize,
}

/// A query term that a document holds.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchedTerm {
    /// The term as indexed: folded and stemmed.
    pub term: Box<str>,
    /// What it adds to the document's score.
    pub score: f32,
}

/// What can go wrong when documents come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LexicalError {
    /// Documents must come in ascending order: it is how a duplicate is told without a lookup.
    #[error("document {} is not above {}, the last one indexed", doc.0, last.0)]
    OutOfOrder {
        /// The document refused.
        doc: DocId,
        /// The highest document indexed so far.
        last: DocId,
    },
}
