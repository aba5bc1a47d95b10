//! Reads one term's postings in one segment, window after window, and only the blocks that are needed. Not here:
//! which windows are needed (`search`).

use std::ops::Range;

use super::postings::{Count, List, Local, PostingsIter};
use super::weight::Saturation;

/// A place in a list. Its buffers are kept from one list to the next.
#[derive(Debug, Default)]
pub(super) struct Cursor<'list> {
    list: List<'list>,
    weight: f32,
    /// The first block whose bound was not passed yet.
    bounded: usize,
    /// What is read in order.
    ahead: Reader<'list>,
    /// What single passages are looked up in.
    looked_up: Reader<'list>,
    /// What each passage of a list without blocks adds.
    adds: Vec<(Local, f32)>,
}

/// What turns counts into scores in one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'part> {
    pub(super) saturation: &'part Saturation,
    /// How long each passage of the part is.
    pub(super) lengths: &'part [Count],
}

impl Scale<'_> {
    fn of(&self, local: Local, count: Count) -> f32 {
        let length = self.lengths.get(local as usize).copied().unwrap_or(0);
        self.saturation.at(count, length)
    }
}

/// A place in a list with blocks.
#[derive(Debug, Default)]
struct Reader<'list> {
    walk: PostingsIter<'list>,
    /// The posting it stands at; none at the end.
    here: Option<(Local, Count)>,
    /// A block that it has reached, and the last passage of it.
    block: usize,
    last: Local,
}

impl<'list> Reader<'list> {
    fn begin(list: List<'list>) -> Self {
        let mut walk = list.iter();
        let here = walk.next();
        Self { walk, here, block: 0, last: list.block(0).map_or(0, |block| block.last) }
    }

    /// Goes on to the first posting of `local` or after it; blocks before it are not read.
    fn seek(&mut self, list: List<'list>, local: Local) {
        let Some(mut here) = self.here.filter(|(held, _)| *held < local) else { return };
        if self.last < local {
            let mut before = self.last;
            while let Some(block) = list.block(self.block).filter(|block| block.last < local) {
                (before, self.block) = (block.last, self.block + 1);
            }
            self.last = list.block(self.block).map_or(Local::MAX, |block| block.last);
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
    /// Goes to the beginning of a list, of a term of this weight.
    pub(super) fn begin(&mut self, list: List<'list>, weight: f32, scale: Scale<'_>) {
        (self.list, self.weight, self.bounded) = (list, weight, 0);
        self.adds.clear();
        if list.blocks_len() == 0 {
            let adds = |(local, count)| (local, weight * scale.of(local, count));
            self.adds.extend(list.iter().map(adds));
        } else {
            self.ahead = Reader::begin(list);
            self.looked_up = Reader::begin(list);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    /// How many passages hold the term.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What the term adds at most to a passage of a window; 0 where none holds it. Windows ascend.
    pub(super) fn bound(&mut self, window: &Range<Local>, saturation: &Saturation) -> f32 {
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

    /// Adds to the scores of a window what the term adds to each passage of it. Windows ascend; some may be left out.
    pub(super) fn pour(&mut self, window: &Range<Local>, scale: Scale<'_>, scores: &mut [f32]) {
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

    /// What the term adds to one passage, if it stands in it. Passages ascend.
    pub(super) fn adds_to(&mut self, local: Local, scale: Scale<'_>) -> Option<f32> {
        if self.list.blocks_len() == 0 {
            let place = self.adds.binary_search_by_key(&local, |(local, _)| *local).ok()?;
            return self.adds.get(place).map(|(_, adds)| *adds);
        }
        self.looked_up.seek(self.list, local);
        let (_, count) = self.looked_up.here.filter(|(held, _)| *held == local)?;
        Some(self.weight * scale.of(local, count))
    }

    /// What passages of a window a list without blocks adds to.
    fn adds_within(&self, window: &Range<Local>) -> &[(Local, f32)] {
        let before = |end: Local| self.adds.partition_point(|(local, _)| *local < end);
        self.adds.get(before(window.start)..before(window.end)).unwrap_or_default()
    }
}
