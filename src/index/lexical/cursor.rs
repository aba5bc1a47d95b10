//! Reads the postings of one term in one segment, window by window, and only the blocks that are needed. Not here:
//! the choice of windows (`search`).

use std::ops::Range;

use super::postings::{HalfCount, PassageNumber, PostingsIter, PostingsList};
use super::weight::Saturation;

/// A position in a list. Its buffers are reused from one list to the next.
#[derive(Debug, Default)]
pub(super) struct Cursor<'list> {
    list: PostingsList<'list>,
    weight: f32,
    /// The first block whose bound is not used up yet.
    bounded: usize,
    /// The blocks that are read in order.
    ahead: Reader<'list>,
    /// The blocks for lookups of single passages.
    looked_up: Reader<'list>,
    /// The term's weight in each passage, for a list without blocks.
    adds: Vec<(PassageNumber, f32)>,
}

/// Turns counts into scores in one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'part> {
    pub(super) saturation: &'part Saturation,
    /// The length of each passage of the part.
    pub(super) lengths: &'part [HalfCount],
}

impl Scale<'_> {
    fn saturated(&self, local: PassageNumber, count: HalfCount) -> f32 {
        let length = self.lengths.get(local as usize).copied().unwrap_or(0);
        self.saturation.at(count, length)
    }
}

/// A position in a list with blocks.
#[derive(Debug, Default)]
struct Reader<'list> {
    walk: PostingsIter<'list>,
    /// The current posting; none at the end.
    here: Option<(PassageNumber, HalfCount)>,
    /// The current block, and its last passage.
    block: usize,
    last: PassageNumber,
}

impl<'list> Reader<'list> {
    fn begin(list: PostingsList<'list>) -> Self {
        let mut walk = list.iter();
        let here = walk.next();
        Self { walk, here, block: 0, last: list.block(0).map_or(0, |block| block.last) }
    }

    /// Moves to the first posting of `local` or a later passage. Blocks before it are not read.
    fn seek(&mut self, list: PostingsList<'list>, local: PassageNumber) {
        let Some(mut here) = self.here.filter(|(held, _)| *held < local) else { return };
        if self.last < local {
            let mut before = self.last;
            while let Some(block) = list.block(self.block).filter(|block| block.last < local) {
                (before, self.block) = (block.last, self.block + 1);
            }
            self.last = list.block(self.block).map_or(PassageNumber::MAX, |block| block.last);
            if here.0 <= before {
                self.walk = list.iter_from(self.block);
                match self.walk.next() {
                    Some(first) => here = first,
                    None => return self.here = None,
                }
            }
        }
        self.here = self.walk.each_while(here, |held, _| held < local);
    }
}

impl<'list> Cursor<'list> {
    /// Moves to the beginning of the list of a term with this weight.
    pub(super) fn begin(&mut self, list: PostingsList<'list>, weight: f32, scale: Scale<'_>) {
        (self.list, self.weight, self.bounded) = (list, weight, 0);
        self.adds.clear();
        if list.blocks_len() == 0 {
            let adds = |(local, count)| (local, weight * scale.saturated(local, count));
            self.adds.extend(list.iter().map(adds));
        } else {
            self.ahead = Reader::begin(list);
            self.looked_up = Reader::begin(list);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    /// Returns the number of passages that hold the term.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the most that the term adds to a passage of a window; 0 where no passage holds it. Windows must
    /// ascend.
    pub(super) fn bound(&mut self, window: &Range<PassageNumber>, saturation: &Saturation) -> f32 {
        if self.list.blocks_len() == 0 {
            let here = self.adds_within(window).iter();
            return here.fold(0.0, |most, (_, adds)| if *adds > most { *adds } else { most });
        }
        while self.list.block(self.bounded).is_some_and(|block| block.last < window.start) {
            self.bounded += 1;
        }
        let (mut most, mut index) = (0.0_f32, self.bounded);
        while let Some(block) = self.list.block(index) {
            most = most.max(self.weight * saturation.at(block.count_max, block.length_min));
            if block.last >= window.end {
                break;
            }
            index += 1;
        }
        most
    }

    /// Adds the term's weight to the scores of a window's passages. Windows must ascend; some may be skipped.
    pub(super) fn pour(
        &mut self,
        window: &Range<PassageNumber>,
        scale: Scale<'_>,
        scores: &mut [f32],
    ) {
        if self.list.blocks_len() == 0 {
            for (local, adds) in self.adds_within(window) {
                if let Some(score) = scores.get_mut((local - window.start) as usize) {
                    *score += adds;
                }
            }
            return;
        }
        self.ahead.seek(self.list, window.start);
        let lengths = scale.lengths.get(window.start as usize..).unwrap_or_default();
        let (first, weight) = (window.start, self.weight);
        let Some(here) = self.ahead.here else { return };
        self.ahead.here = self.ahead.walk.each_while(here, |local, count| {
            let at = (local - first) as usize;
            let (Some(score), Some(&length)) = (scores.get_mut(at), lengths.get(at)) else {
                return false;
            };
            *score += weight * scale.saturation.at(count, length);
            true
        });
    }

    /// Returns the term's weight in one passage, if the passage holds it. Passages must ascend.
    pub(super) fn adds_to(&mut self, local: PassageNumber, scale: Scale<'_>) -> Option<f32> {
        if self.list.blocks_len() == 0 {
            let place = self.adds.binary_search_by_key(&local, |(local, _)| *local).ok()?;
            return self.adds.get(place).map(|(_, adds)| *adds);
        }
        self.looked_up.seek(self.list, local);
        let (_, count) = self.looked_up.here.filter(|(held, _)| *held == local)?;
        Some(self.weight * scale.saturated(local, count))
    }

    /// Returns the passages of a window in a list without blocks, with their weights.
    fn adds_within(&self, window: &Range<PassageNumber>) -> &[(PassageNumber, f32)] {
        let before = |end: PassageNumber| self.adds.partition_point(|(local, _)| *local < end);
        self.adds.get(before(window.start)..before(window.end)).unwrap_or_default()
    }
}
