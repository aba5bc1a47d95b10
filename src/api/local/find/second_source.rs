//! Asks the second source of a search while this machine searches, and joins both. If the second does not answer, the answer of
//! this machine stands, and says so. Not here: the source (`api::second_source`).

use super::search_run::SearchRun;
use crate::second_source::LocalKnowledge;
use index::embed::SpaceId;
use search::{PendingSearch, Query, SearchResult, WordMatching};

impl<'a> SearchRun<'a> {
    /// Finishes the search of this machine and asks the second source at the same time. Returns the hits of both, and adds a notice
    /// where only this machine was searched.
    pub(super) fn search_sources(&mut self, words: PendingSearch<'a>) -> SearchResult<'a> {
        let (core, limit, query) = (&self.local.core, self.request.limit, self.query());
        let Some(second) = core.second_source.as_deref() else {
            return words.finish(&query, limit);
        };
        let comparable = comparable(&query, self.snapshot.space, second.space());
        let (mut found, others) = match comparable {
            _ if core.config.as_of.is_some() => {
                (words.finish(&query, limit), Err("knows only the present".to_owned()))
            }
            None => (words.finish(&query, limit), Err("has vectors of another model".to_owned())),
            Some(comparable) => std::thread::scope(|scope| {
                let known =
                    LocalKnowledge { repos: self.snapshot.repos(), now: (core.clock)().now };
                let thread = std::thread::Builder::new().name("engine".to_owned());
                let asked =
                    thread.spawn_scoped(scope, move || second.find(&comparable, limit, &known));
                let found = words.finish(&query, limit);
                let answer = asked.ok().and_then(|asked| asked.join().ok());
                (found, answer.unwrap_or_else(|| Err("was not asked".to_owned())))
            }),
        };
        match others {
            Ok(others) => {
                found.hits = search::merge_hits(found.hits, others, self.snapshot, (&query, limit));
            }
            Err(reason) => self.notices.push(format!(
                "Note: only the memories of this machine were searched; the engine {reason}."
            )),
        }
        found
    }
}

/// Returns the query as a source can take it whose vectors may be of another model: then words alone count. `None` where words do
/// not count.
fn comparable<'a>(query: &Query<'a>, own: SpaceId, other: SpaceId) -> Option<Query<'a>> {
    if own == other || query.vector.is_none() {
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
        let sent = |query: &Query<'static>, space| {
            comparable(query, ours, space).map(|query| query.vector)
        };
        assert_eq!(sent(&query, ours), Some(Some(&VECTOR[..])));
        assert_eq!(sent(&query, others), Some(None), "it is asked by words");
        let by_meaning = Query { words: WordMatching::Off, ..query.clone() };
        assert_eq!(sent(&by_meaning, ours), Some(Some(&VECTOR[..])));
        assert_eq!(sent(&by_meaning, others), None, "nothing is left to ask");
    }
}
