//! Caches the links of the last state: in a large store, building them takes longer than walking them. Not here:
//! building them (`stated_links`).

use std::sync::{Arc, Mutex, PoisonError};

use super::Links;
use crate::snapshot::Snapshot;
use memory::FoldMark;

/// The links of one state, cached for the next question.
#[derive(Debug, Default)]
pub struct LinkCache(Mutex<Option<(FoldMark, Arc<Links>)>>);

impl LinkCache {
    /// Returns the links of a snapshot, from the cache where its state is the same.
    #[must_use]
    pub fn links_of(&self, snapshot: &Snapshot) -> Arc<Links> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((mark, links)) = &*known
            && snapshot.is_marked(mark)
        {
            return Arc::clone(links);
        }
        let links = Arc::new(Links::collect(snapshot, None));
        *known = Some((snapshot.mark(), Arc::clone(&links)));
        links
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::snapshot;

    // S-LINK-3
    #[test]
    fn links_are_kept_for_one_state_and_no_other() {
        let lesson = json!({"id": "m1", "event_type": "error", "lesson": "x"});
        let link = json!({"id": "l1", "memory_id": "m1", "event_type": "link", "target": "m2", "relation": "calls"});
        let (one, other) = (snapshot(std::slice::from_ref(&lesson)), snapshot(&[lesson, link]));
        let known = LinkCache::default();
        let first = known.links_of(&one);
        assert!(Arc::ptr_eq(&first, &known.links_of(&one.clone())), "a copy is the same state");
        assert_eq!((first.all().count(), known.links_of(&other).all().count()), (0, 1));
        assert!(!Arc::ptr_eq(&first, &known.links_of(&one)));
    }
}
