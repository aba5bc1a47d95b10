//! Asks the second source of a search while this machine searches, and joins both. If the second does not answer, the answer of
//! this machine stands, and says so. Not here: the source (`second_source`).

use super::Local;
use crate::second_source::LocalKnowledge;
use index::embed::SpaceId;
use search::snapshot::Snapshot;
use search::{Query, SearchResult, WordMatching};

/// Runs the search of this machine and asks the second source at the same time. Returns the hits of both, and adds a notice where only
/// this machine was searched.
pub(super) fn search_both_sources<'index>(
    local: &Local,
    (snapshot, notices): (&Snapshot, &mut Vec<String>),
    query: &Query<'_>,
    limit: usize,
    here: impl FnOnce() -> SearchResult<'index>,
) -> SearchResult<'index> {
    let Some(second) = local.core.second_source.as_deref() else { return here() };
    if local.core.config.as_of.is_some() {
        notices.push(alone("knows only the present"));
        return here();
    }
    let Some(there) = comparable(query, snapshot.space, second.space()) else {
        notices.push(alone("has vectors of another model"));
        return here();
    };
    let known = LocalKnowledge { repos: snapshot.repos(), now: (local.core.clock)().now };
    let (mut result, answer) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let asked = thread.spawn_scoped(scope, || second.find(&there, limit, &known));
        let result = here();
        let failed = || Err("was not asked".to_owned());
        let answer =
            asked.map_or_else(|_| failed(), |asked| asked.join().unwrap_or_else(|_| failed()));
        (result, answer)
    });
    match answer {
        Ok(others) => {
            result.hits = search::merge_hits(result.hits, others, snapshot, (query, limit))
        }
        Err(why) => notices.push(alone(&why)),
    }
    result
}

/// Says that only this machine was searched, and why.
fn alone(why: &str) -> String {
    format!("Note: only the memories of this machine were searched; the engine {why}.")
}

/// Returns the query as a source can take it whose vectors may be of another model: then words alone count. `None` where words do
/// not count.
fn comparable<'a>(query: &Query<'a>, here: SpaceId, there: SpaceId) -> Option<Query<'a>> {
    if here == there || query.vector.is_none() {
        return Some(query.clone());
    }
    let by_words = Query { vector: None, tokens: &[], ..query.clone() };
    (query.words == WordMatching::On).then_some(by_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: [f32; 2] = [0.6, 0.8];

    // S-CORPUS-9
    #[test]
    fn no_vector_goes_to_another_model() {
        let (ours, others) = (SpaceId::from_name("ours"), SpaceId::from_name("theirs"));
        let query = Query { text: "walrus", vector: Some(&VECTOR), ..Query::default() };
        let asked = |query: &Query<'static>, there| {
            comparable(query, ours, there).map(|there| there.vector)
        };
        assert_eq!(asked(&query, ours), Some(Some(&VECTOR[..])));
        assert_eq!(asked(&query, others), Some(None), "it is asked by words");
        let by_meaning = Query { words: WordMatching::Off, ..query.clone() };
        assert_eq!(asked(&by_meaning, ours), Some(Some(&VECTOR[..])));
        assert_eq!(asked(&by_meaning, others), None, "nothing is left to ask");
    }
}
