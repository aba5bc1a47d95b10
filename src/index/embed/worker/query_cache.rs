//! The embeddings of the last queries: a caller who narrows a search sends the same text again, and many agents ask
//! about one failure. Not here: embedding (`thread`).

use std::collections::VecDeque;

use super::query_embedding::QueryEmbedding;

/// Queries that are cached: more than the agents of a machine ask at one time, and a third of a megabyte at the usual
/// length.
const QUERIES_MAX: usize = 64;
/// Longer queries are not cached, in bytes: an embedding grows with its tokens.
const QUERY_BYTES_MAX: usize = 1_024;

/// Queries and their embeddings. The last entry was used last.
#[derive(Default)]
pub(super) struct QueryCache(VecDeque<(String, QueryEmbedding)>);

impl QueryCache {
    /// Returns the embedding of a query, where it is cached.
    pub(super) fn get(&mut self, text: &str) -> Option<QueryEmbedding> {
        let at = self.0.iter().position(|(known, _)| known == text)?;
        let asked = self.0.remove(at)?;
        let meant = asked.1.clone();
        self.0.push_back(asked);
        Some(meant)
    }

    /// Caches an embedding. Removes the least recently used one, where the cache is full.
    pub(super) fn insert(&mut self, text: &str, meant: &QueryEmbedding) {
        if text.len() > QUERY_BYTES_MAX || self.get(text).is_some() {
            return;
        }
        if self.0.len() >= QUERIES_MAX {
            self.0.pop_front();
        }
        self.0.push_back((text.to_owned(), meant.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::SpaceId;

    fn meant(number: usize) -> QueryEmbedding {
        QueryEmbedding {
            space: SpaceId::default(),
            vector: vec![number as f32],
            tokens: Vec::new(),
        }
    }

    #[test]
    fn the_least_recently_used_query_is_removed_first() {
        let mut known = QueryCache::default();
        for number in 0..QUERIES_MAX {
            known.insert(&number.to_string(), &meant(number));
        }
        known.insert("0", &meant(99));
        known.insert("new", &meant(7));
        assert_eq!(
            known.get("0"),
            Some(meant(0)),
            "asked again, and what it means does not change"
        );
        assert_eq!((known.get("1"), known.get("2")), (None, Some(meant(2))));
        assert_eq!((known.get("new"), known.0.len()), (Some(meant(7)), QUERIES_MAX));
    }

    #[test]
    fn a_long_query_is_not_cached() {
        let mut known = QueryCache::default();
        let long = "x".repeat(QUERY_BYTES_MAX + 1);
        known.insert(&long, &meant(1));
        assert_eq!(known.get(&long), None);
    }
}
