//! From a query to ranked hits, and what else is computed over memories: briefings, links, contradictions, staleness.
//! Pure: a search changes nothing and reads only its snapshot.
//!
//! Reading order: `query`, `hit`, `score`, then `pipeline`, which calls the steps: `candidates`, `fuse`, `late_interaction`,
//! `relevance`, `prior`, `top_k`, `dedup`, `failure_match`; `near_miss` tells what these lost. Not here: the text of a hit (`reply`), the vector of a
//! query (`engine`).

mod asked_file;
mod asked_folder;
mod better_note;
mod briefing;
mod candidates;
mod completion;
mod contradictions;
mod cosine_scale;
mod dedup;
mod failure_match;
mod filter;
mod folder_names;
mod fuse;
mod hit;
mod known_values;
mod late_interaction;
pub mod links;
mod merged_hits;
mod near_miss;
mod phrase;
mod pipeline;
mod prior;
mod query;
mod relevance;
mod same_subject;
mod score;
pub mod snapshot;
pub mod staleness;
mod subject_memo;
mod syntax;
mod tag_suggestions;
mod time_point;
mod top_k;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use asked_file::{AskedFile, same_file};
pub use asked_folder::AskedFolder;
pub use briefing::{
    BriefingMemory, BriefingSelection, LastSession, Occasion, PackagePolicy, Section, pick,
};
pub use completion::{COMPLETIONS_MAX, CompletionSlot, Completions, complete};
pub use contradictions::{
    Contradiction, ContradictionSign, Contradictions, contradictions, contradictions_of,
    subject_terms,
};
pub use cosine_scale::CosineScale;
pub use dedup::TextSignature;
pub use failure_match::Failure;
pub use filter::{Filter, Flagged};
pub use folder_names::FolderNames;
pub use hit::{Hit, Tier};
pub use known_values::is_known_value;
pub use merged_hits::merge_hits;
pub use near_miss::{FilterCondition, LossReason, NearMiss};
pub use phrase::Phrase;
pub use pipeline::{PendingSearch, SearchResult, begin, find, search};
pub use query::{Query, Tiers, WordMatching};
pub use score::Score;
pub use subject_memo::SubjectMemo;
pub use syntax::{FilterWord, ParsedQuery, QuerySyntax, as_pasted, in_quotes};
pub use tag_suggestions::{SuggestedTag, suggested_tags};
pub use time_point::TimePoint;
