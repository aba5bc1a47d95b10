//! Memories without links, and candidates for each, for somebody who can judge. Not here: words (`reply`).

use super::KnowledgeGraph;
use super::findings::{FindingKind, gaps};
use super::knowledge_graph::AnalysisScope;
use crate::snapshot::Snapshot;
use index::lexical::DocId;

/// Likely companions of one memory.
const NEIGHBOURS_MAX: usize = 2;

/// The least cosine of texts on one subject.
const COSINE_MIN: f32 = 0.4;

/// A memory without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolatedMemory {
    /// Its number.
    pub number: u32,
    /// The memories it may belong to, the likeliest first.
    pub near: Vec<u32>,
}

/// Finds the memories without links that have near memories, the best proven first. Flagged memories do not count.
#[must_use]
pub fn isolated_memories(
    snapshot: &Snapshot,
    whole: &KnowledgeGraph,
    scope: &AnalysisScope,
    limit: usize,
) -> Vec<IsolatedMemory> {
    let is_fine = |number: u32| {
        snapshot
            .memory(number)
            .is_some_and(|memory| scope.contains(memory) && memory.flagged().is_none())
    };
    gaps(whole, 0, usize::MAX)
        .into_iter()
        .filter(|gap| matches!(gap.about, FindingKind::Gap { ties: 0, .. }))
        .filter(|gap| is_fine(gap.number))
        .map(|gap| IsolatedMemory {
            number: gap.number,
            near: near(snapshot, gap.number, &is_fine),
        })
        .filter(|isolated| !isolated.near.is_empty())
        .take(limit)
        .collect()
}

/// Returns the nearest memories: by vectors where there are any, else by words.
fn near(snapshot: &Snapshot, number: u32, is_fine: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let keep = |other: u32| other != number && is_fine(other);
    if let Some(vectors) = snapshot.vectors()
        && let Some(vector) = vectors.get(number)
    {
        let near = vectors.search(&vector, keep, NEIGHBOURS_MAX).into_iter();
        return near.filter(|(_, cosine)| *cosine >= COSINE_MIN).map(|(other, _)| other).collect();
    }
    let Some(memory) = snapshot.memory(number) else { return Vec::new() };
    let found =
        snapshot.lexical().search(&memory.meaning_text(), |doc: DocId| keep(doc.0), NEIGHBOURS_MAX);
    found.into_iter().map(|scored| scored.doc.0).collect()
}
