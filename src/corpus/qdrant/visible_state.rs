//! What counts. Every batch has a number. Whatever a batch writes says from which batch on it counts, and what it replaces says until
//! which batch it counts; readers heed both. A batch counts from the moment when the state, one point, has its number: until then
//! nobody sees it, and what a batch that was broken off left behind is taken away by the next one. Not here: writing
//! (`committing`).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::point_forms::term_id;
use super::rest_client::{CollectionKind, HttpMethod, QdrantCorpus, wrong};
use crate::contract::Deadline;
use crate::corpus_error::CorpusError;
use index::lexical::CorpusTotals;

/// The layout of the collections. It goes up when they change, and another one is refused.
const LAYOUT: u32 = 1;
/// The id of the state.
pub(super) const STATE: &str = "00000000-0000-0000-0000-000000000000";
/// Points that are looked up in one call.
const LOOKED_UP_MAX: usize = 5_000;
/// Records that are looked up in one call. The longest take some tens of kilobytes.
const RECORDS_MAX: usize = 400;

/// In how many passages a term is, and was before the batch that changed it last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TermCount {
    pub(super) now: i64,
    pub(super) since: u64,
    pub(super) was: i64,
}

impl TermCount {
    /// Returns the number after a batch.
    pub(super) fn at(self, epoch: u64) -> i64 {
        if self.since <= epoch { self.now } else { self.was }
    }
}

/// The number of the last batch that counts, and the totals after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchState {
    layout: u32,
    pub(super) epoch: u64,
    pub(super) passages: i64,
    pub(super) documents: i64,
    pub(super) lengths: i64,
    pub(super) reply_lengths: i64,
    /// The bits of the average length that weights were computed with, since a number may lose its last digits on the way.
    pub(super) weighed_with: u32,
}

impl Default for BatchState {
    fn default() -> Self {
        Self {
            layout: LAYOUT,
            epoch: 0,
            passages: 0,
            documents: 0,
            lengths: 0,
            reply_lengths: 0,
            weighed_with: 0,
        }
    }
}

impl BatchState {
    /// Returns the size of the corpus.
    pub(super) fn totals(self) -> CorpusTotals {
        let size = |number: i64| usize::try_from(number).unwrap_or(0);
        CorpusTotals {
            passages: size(self.passages),
            documents: size(self.documents),
            terms: u64::try_from(self.lengths).unwrap_or(0),
            reply_terms: u64::try_from(self.reply_lengths).unwrap_or(0),
        }
    }
}

/// A point that was looked up.
#[derive(Debug, Deserialize)]
pub(super) struct QdrantPoint<T> {
    pub(super) id: String,
    pub(super) payload: T,
}

/// The payload of a point of which it is not known yet what it is.
#[derive(Debug, Deserialize)]
struct StateOrTerm {
    state: Option<BatchState>,
    count: Option<TermCount>,
}

/// Looks up points by their ids. What is not there is left out.
pub(super) fn look_up_points<T: serde::de::DeserializeOwned>(
    corpus: &QdrantCorpus,
    ids: &[String],
    fields: &[&str],
    until: Deadline,
) -> Result<Vec<QdrantPoint<T>>, CorpusError> {
    let mut found = Vec::new();
    let together = if fields.contains(&"record") { RECORDS_MAX } else { LOOKED_UP_MAX };
    for ids in ids.chunks(together) {
        let body = json!({"ids": ids, "with_payload": fields}).to_string();
        let more: Vec<QdrantPoint<T>> = corpus.call(
            (HttpMethod::Post, CollectionKind::Lookup, "/points"),
            body.as_bytes(),
            until,
        )?;
        found.extend(more);
    }
    Ok(found)
}

fn of_our_layout(state: Option<BatchState>) -> Result<BatchState, CorpusError> {
    let state = state.ok_or_else(|| CorpusError::Wrong("its state is missing".to_owned()))?;
    match state.layout {
        LAYOUT => Ok(state),
        _ => Err(CorpusError::Wrong("its collections are of another version".to_owned())),
    }
}

/// Returns the state, and the numbers of terms in their order.
pub(super) fn state_with(
    corpus: &QdrantCorpus,
    terms: &[&str],
    until: Deadline,
) -> Result<(BatchState, Vec<TermCount>), CorpusError> {
    let ids: Vec<String> =
        std::iter::once(STATE.to_owned()).chain(terms.iter().map(|term| term_id(term))).collect();
    let points = look_up_points::<StateOrTerm>(corpus, &ids, &["state", "count"], until)?;
    let state = points.iter().find_map(|point| point.payload.state);
    let state = of_our_layout(state)?;
    corpus.remember_epoch(state.epoch);
    let counts: std::collections::HashMap<String, TermCount> =
        points.into_iter().filter_map(|point| Some((point.id, point.payload.count?))).collect();
    let of = |id: &String| counts.get(id).copied().unwrap_or_default();
    let counts: Vec<TermCount> = ids.iter().skip(1).map(of).collect();
    if counts.len() != terms.len() {
        return Err(wrong());
    }
    Ok((state, counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdrant::point_forms::EpochSpan;

    // S-CORPUS-11
    #[test]
    fn another_layout_is_refused() {
        let state = BatchState::default();
        assert_eq!(of_our_layout(Some(state)), Ok(state));
        let other = BatchState { layout: LAYOUT + 1, ..state };
        for wrong in [None, Some(other)] {
            assert!(matches!(of_our_layout(wrong), Err(CorpusError::Wrong(_))), "{wrong:?}");
        }
    }

    // S-CORPUS-11
    #[test]
    fn a_batch_counts_once_the_state_says_so() {
        let (old, new) = (EpochSpan { from: 3, until: Some(7) }, EpochSpan::from(7));
        for (epoch, sees_old, sees_new) in [
            (2, false, false),
            (3, true, false),
            (6, true, false),
            (7, false, true),
            (9, false, true),
        ] {
            assert_eq!((old.holds_at(epoch), new.holds_at(epoch)), (sees_old, sees_new), "{epoch}");
        }
        let count = TermCount { now: 5, since: 7, was: 4 };
        assert_eq!((count.at(6), count.at(7), count.at(8)), (4, 5, 5));
    }
}
