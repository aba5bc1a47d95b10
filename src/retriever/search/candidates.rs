//! The memories worth ranking: the best by words and the best by meaning, each with both scores.
//! Not here: how the scores are put together (`fuse`).

use std::collections::BTreeMap;

use super::{Query, Words};
use crate::retriever::index::lexical::DocId;
use crate::retriever::snapshot::Snapshot;

/// Candidates taken from each index. Ten times the most hits of a reply and more: deep enough that
/// a memory which is good in both rankings is in at least one of the lists.
const CANDIDATES_MAX: usize = 200;

/// The least cosine at which meaning alone makes a candidate. Measured on MiniLM: texts on different
/// subjects seldom reach it, so a question about something else finds nothing rather than anything.
const COSINE_MIN: f32 = 0.25;

/// A memory that may be a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// Its number in the snapshot.
    pub(super) number: u32,
    /// BM25; 0 where no word matches.
    pub(super) lexical: f32,
    /// Cosine; `None` where it has no vector yet or there is no model.
    pub(super) dense: Option<f32>,
}

/// Finds the candidates of a query, in the order of their numbers.
pub(super) fn find(snapshot: &Snapshot, query: &Query<'_>) -> Vec<Candidate> {
    let keep =
        |number: u32| snapshot.memory(number).is_some_and(|memory| query.filter.allows(memory));
    let mut lexical: BTreeMap<u32, f32> = BTreeMap::new();
    if query.words == Words::Count {
        let found = snapshot.lexical().search(query.text, |doc: DocId| keep(doc.0), CANDIDATES_MAX);
        lexical.extend(found.into_iter().map(|scored| (scored.doc.0, scored.score)));
    }
    let dense = query.vector.zip(snapshot.vectors());
    let mut numbers: Vec<u32> = lexical.keys().copied().collect();
    if let Some((vector, vectors)) = dense {
        let near = vectors.search(vector, keep, CANDIDATES_MAX);
        numbers.extend(
            near.into_iter().filter(|(_, cosine)| *cosine >= COSINE_MIN).map(|(number, _)| number),
        );
    }
    numbers.sort_unstable();
    numbers.dedup();
    let cosines = dense.map(|(vector, vectors)| vectors.scores(&numbers, vector));
    let cosines = cosines.unwrap_or_else(|| vec![None; numbers.len()]);
    numbers
        .into_iter()
        .zip(cosines)
        .map(|(number, dense)| Candidate {
            number,
            lexical: lexical.get(&number).copied().unwrap_or(0.0),
            dense,
        })
        .collect()
}
