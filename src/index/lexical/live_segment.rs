//! A segment within an index: its sealed documents, and those that were removed since. Not here: the choice of
//! segments to rewrite (`index`), scoring (`search`).

use std::io;
use std::sync::Arc;

use super::DocId;
use super::binary_format::{self, IndexInput};
use super::postings::{HalfCount, PassageNumber, PostingsList};
use super::segment::Segment;

/// Cheap to clone: two shared pointers and a number.
#[derive(Clone, Debug)]
pub(super) struct LiveSegment {
    pub(super) segment: Arc<Segment>,
    /// The removed passages, ascending. They are few: the part is rewritten when they become many.
    dead: Arc<Vec<PassageNumber>>,
    /// Number of terms of the living passages, in halves, repeats included.
    pub(super) terms: u64,
    /// Number of living documents.
    pub(super) documents: usize,
    /// Those of `terms` that are in replies.
    pub(super) reply_terms: u64,
}

impl LiveSegment {
    pub(super) fn new(segment: Segment) -> Self {
        let terms = segment.lengths.iter().map(|&length| u64::from(length)).sum();
        let documents = distinct(segment.docs.iter());
        let replies =
            segment.replies.iter().filter_map(|local| segment.lengths.get(*local as usize));
        let reply_terms = replies.map(|&length| u64::from(length)).sum();
        Self { segment: Arc::new(segment), dead: Arc::default(), terms, documents, reply_terms }
    }

    /// Writes the whole segment; see `binary_format`.
    pub(super) fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.segment.write_to(out)?;
        binary_format::write_numbers(out, self.dead.iter().map(|local| local.to_le_bytes()))
    }

    /// Reads a written segment. Removed passages must ascend and be in the segment.
    pub(super) fn read_from(input: &mut IndexInput<'_>) -> io::Result<Self> {
        let mut part = Self::new(Segment::read_from(input)?);
        let dead = input.numbers(u32::from_le_bytes)?;
        binary_format::must(dead.is_sorted_by(|one, other| one < other))?;
        for local in &dead {
            let length = part.segment.lengths.get(*local as usize);
            let length = u64::from(*length.ok_or_else(binary_format::invalid)?);
            part.terms -= length;
            part.reply_terms -= if part.segment.is_reply(*local) { length } else { 0 };
        }
        let dead_docs = dead.iter().filter_map(|local| part.segment.docs.get(*local as usize));
        part.documents = part.documents.saturating_sub(distinct(dead_docs));
        part.dead = Arc::new(dead);
        Ok(part)
    }

    /// Returns the number of living passages.
    pub(super) fn len(&self) -> usize {
        self.segment.docs.len() - self.dead.len()
    }

    /// Returns the number of removed passages that the segment still holds.
    pub(super) fn dead_len(&self) -> usize {
        self.dead.len()
    }

    pub(super) fn is_alive(&self, local: PassageNumber) -> bool {
        self.dead.is_empty() || self.dead.binary_search(&local).is_err()
    }

    /// Iterates over the documents of all passages with their lengths, the removed included, in their order.
    pub(super) fn documents(&self) -> impl Iterator<Item = (DocId, HalfCount)> {
        self.segment.docs.iter().copied().zip(self.segment.lengths.iter().copied())
    }

    /// Returns the passages of a living document.
    pub(super) fn places_of(&self, doc: DocId) -> Vec<PassageNumber> {
        let mut places = self.segment.places_of(doc);
        places.retain(|local| self.is_alive(*local));
        places
    }

    /// Removes the living documents among `doomed`; returns false if there are none. Takes a scan of four bytes a
    /// passage.
    pub(super) fn kill_all(&mut self, is_doomed: impl Fn(DocId) -> bool) -> bool {
        let places = (0..).zip(self.documents());
        let doomed: Vec<(PassageNumber, (DocId, HalfCount))> =
            places.filter(|(local, (doc, _))| is_doomed(*doc) && self.is_alive(*local)).collect();
        if doomed.is_empty() {
            return false;
        }
        self.terms -= doomed.iter().map(|(_, (_, length))| u64::from(*length)).sum::<u64>();
        let replies = doomed.iter().filter(|(local, _)| self.segment.is_reply(*local));
        self.reply_terms -= replies.map(|(_, (_, length))| u64::from(*length)).sum::<u64>();
        self.documents -= distinct(doomed.iter().map(|(_, (doc, _))| doc));
        let dead = Arc::make_mut(&mut self.dead);
        dead.extend(doomed.into_iter().map(|(local, _)| local));
        dead.sort_unstable();
        true
    }

    /// Counts the living documents of `list`. The count is exact, so a removal leaves no trace in any score.
    pub(super) fn living(&self, list: PostingsList<'_>) -> usize {
        if self.dead.is_empty() {
            return list.len();
        }
        // A damaged list may hold more than its length says.
        list.len().saturating_sub(shared(&self.dead, list.iter().map(|(local, _)| local)))
    }
}

/// Counts the documents of passages, which are neighbours in their document.
fn distinct<'doc>(docs: impl Iterator<Item = &'doc DocId>) -> usize {
    let mut last = None;
    docs.filter(|doc| last.replace(**doc) != Some(**doc)).count()
}

/// Counts the passages that two lists share; both ascend.
fn shared(dead: &[PassageNumber], list: impl Iterator<Item = PassageNumber>) -> usize {
    let mut rest = dead;
    let mut count = 0;
    for local in list {
        while rest.first().is_some_and(|first| *first < local) {
            rest = rest.get(1..).unwrap_or_default();
        }
        if rest.is_empty() {
            break;
        }
        count += usize::from(rest.first() == Some(&local));
    }
    count
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shared_places_are_counted_whichever_list_is_longer(
            dead in prop::collection::btree_set(0_u32..200, 0..60),
            list in prop::collection::btree_set(0_u32..200, 0..160),
        ) {
            let places = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<_>>();
            let expected = dead.intersection(&list).count();
            prop_assert_eq!(shared(&places(&dead), list.iter().copied()), expected);
        }
    }
}
