//! Merges segments into one, without their removed documents. Not here: the decision to merge (`index`).

use super::live_segment::LiveSegment;
use super::postings::{HalfCount, PassageNumber, Postings};
use super::segment::Segment;

/// Returns one segment with the living documents of all `parts`, in their order. Walks the sorted dictionaries of
/// the parts side by side, so that nothing is hashed or sorted again.
pub(super) fn merged(parts: &[LiveSegment]) -> Segment {
    let mut segment = Segment::default();
    let mut walks: Vec<MergeSource<'_>> =
        parts.iter().map(|part| MergeSource::new(part, &mut segment)).collect();
    while let Some(term) = walks.iter().filter_map(|walk| walk.term).min() {
        for walk in walks.iter_mut().filter(|walk| walk.term == Some(term)) {
            walk.pour_list(&mut segment.postings, &segment.lengths);
        }
        segment.seal_term(term);
    }
    segment.seal();
    segment
}

/// One source segment of a merge, read term by term.
struct MergeSource<'part> {
    segment: &'part Segment,
    next: usize,
    /// The term at `next`; `None` at the end.
    term: Option<&'part [u8]>,
    /// The new number of each passage; `None` for removed passages.
    moved: Vec<Option<PassageNumber>>,
}

impl<'part> MergeSource<'part> {
    /// Moves the living documents of `part` to `target`.
    fn new(part: &'part LiveSegment, target: &mut Segment) -> Self {
        let mut moved = Vec::with_capacity(part.segment.docs.len());
        for (local, (doc, length)) in (0..).zip(part.documents()) {
            let place =
                PassageNumber::try_from(target.docs.len()).ok().filter(|_| part.is_alive(local));
            if place.is_some() {
                target.docs.push(doc);
                target.lengths.push(length);
                target.replies.extend(place.filter(|_| part.segment.is_reply(local)));
            }
            moved.push(place);
        }
        Self { segment: &part.segment, next: 0, term: part.segment.dictionary.get(0), moved }
    }

    /// Copies the list of the current term, and moves to the next term.
    fn pour_list(&mut self, target: &mut Postings, lengths: &[HalfCount]) {
        for (local, count) in self.segment.postings.list(self.next).iter() {
            if let Some(place) = self.moved.get(local as usize).copied().flatten() {
                target.push(place, count, lengths.get(place as usize).copied().unwrap_or(0));
            }
        }
        self.next += 1;
        self.term = self.segment.dictionary.get(self.next);
    }
}
