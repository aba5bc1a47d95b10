//! Goes through one term's list in one part, window after window, reading only the blocks that are needed.
//! Not here: which are (`search`).

use std::ops::Range;

use super::postings::{BLOCK_POSTINGS, Count, List, Local};
use super::weight::LengthNorm;

/// A place in a list. Its buffers are kept from one list to the next.
#[derive(Debug, Default)]
pub(super) struct Cursor<'list> {
    list: List<'list>,
    weight: f32,
    norm: Option<LengthNorm>,
    /// The first block whose bound was not passed yet.
    bounded: usize,
    /// What is read in order.
    ahead: Unpacked,
    /// What single passages are looked up in.
    looked_up: Unpacked,
    /// What each passage of a list without blocks adds.
    adds: Vec<f32>,
}

/// One block of a list.
#[derive(Debug, Default)]
struct Unpacked {
    locals: Vec<Local>,
    counts: Vec<Count>,
    /// How many of them were passed.
    passed: usize,
    /// The block after this one.
    next: usize,
}

impl Unpacked {
    fn clear(&mut self) {
        self.locals.clear();
        self.counts.clear();
        (self.passed, self.next) = (0, 0);
    }

    fn read(&mut self, list: List<'_>, block: usize) {
        // Of one length, so that nothing grows while it is filled.
        self.locals.resize(BLOCK_POSTINGS, 0);
        self.counts.resize(BLOCK_POSTINGS, 0);
        let mut read = 0;
        let places = self.locals.iter_mut().zip(&mut self.counts);
        for ((local, count), posting) in places.zip(list.iter_block(block)) {
            (*local, *count) = posting;
            read += 1;
        }
        self.locals.truncate(read);
        self.counts.truncate(read);
        (self.passed, self.next) = (0, block + 1);
    }

    /// The count of one passage, if it is here. Passages ascend.
    fn count_at(&mut self, local: Local) -> Option<Count> {
        let rest = self.locals.get(self.passed..)?;
        // Most often it is near.
        let near = rest.iter().take(NEAR).take_while(|held| **held < local).count();
        self.passed += if near < NEAR { near } else { rest.partition_point(|held| *held < local) };
        let held = self.locals.get(self.passed)?;
        if *held == local { self.counts.get(self.passed).copied() } else { None }
    }
}

/// So many postings are looked at one by one before the next is searched for.
const NEAR: usize = 8;

impl<'list> Cursor<'list> {
    /// Goes to the beginning of a list, of a term of this weight.
    pub(super) fn begin(
        &mut self,
        list: List<'list>,
        weight: f32,
        norm: LengthNorm,
        lengths: &[Count],
    ) {
        (self.list, self.weight, self.norm, self.bounded) = (list, weight, Some(norm), 0);
        self.ahead.clear();
        self.looked_up.clear();
        self.adds.clear();
        if list.blocks_len() == 0 && list.len() > 0 {
            self.ahead.read(list, 0);
            let passages = self.ahead.locals.iter().zip(&self.ahead.counts);
            self.adds.extend(passages.map(|(local, count)| {
                let length = lengths.get(*local as usize).copied().unwrap_or(0);
                weight * norm.saturated(*count, length)
            }));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    pub(super) fn weight(&self) -> f32 {
        self.weight
    }

    /// What the term adds at most to a passage of a window; 0 where none holds it. Windows ascend.
    pub(super) fn bound(&mut self, window: &Range<Local>) -> f32 {
        if self.list.blocks_len() == 0 {
            let first = self.ahead.locals.partition_point(|local| *local < window.start);
            let rest = self.ahead.locals.iter().zip(&self.adds).skip(first);
            let here = rest.take_while(|(local, _)| **local < window.end);
            return here.fold(0.0, |most, (_, adds)| if *adds > most { *adds } else { most });
        }
        let Some(norm) = self.norm else { return f32::INFINITY };
        while self.list.block(self.bounded).is_some_and(|block| block.last < window.start) {
            self.bounded += 1;
        }
        let (mut most, mut index) = (0.0_f32, self.bounded);
        while let Some(block) = self.list.block(index) {
            most = most.max(self.weight * norm.saturated(block.count_max, block.length_min));
            if block.last >= window.end {
                break;
            }
            index += 1;
        }
        most
    }

    /// Tells of the postings of a window. Windows ascend; some may be left out.
    pub(super) fn pour(&mut self, window: &Range<Local>, mut tell: impl FnMut(Local, Count)) {
        let ahead = &mut self.ahead;
        loop {
            let rest = ahead.locals.get(ahead.passed..).unwrap_or_default();
            let first = ahead.passed + rest.partition_point(|local| *local < window.start);
            let end = ahead.passed + rest.partition_point(|local| *local < window.end);
            let locals = ahead.locals.get(first..end).unwrap_or_default();
            let counts = ahead.counts.get(first..end).unwrap_or_default();
            locals.iter().zip(counts).for_each(|(local, count)| tell(*local, *count));
            ahead.passed = end;
            if end < ahead.locals.len() {
                return;
            }
            // All of this block is passed; the next may begin behind the window.
            let mut next = ahead.next;
            while self.list.block(next).is_some_and(|block| block.last < window.start) {
                next += 1;
            }
            let before = next.checked_sub(1).and_then(|before| self.list.block(before));
            let is_behind = before.is_some_and(|before| before.last >= window.end - 1);
            if next >= self.list.blocks_len() || is_behind {
                return;
            }
            ahead.read(self.list, next);
        }
    }

    /// How often the term stands in one passage, if it does. Passages ascend.
    pub(super) fn count_at(&mut self, local: Local) -> Option<Count> {
        if self.list.blocks_len() == 0 {
            let place = self.ahead.locals.binary_search(&local).ok()?;
            return self.ahead.counts.get(place).copied();
        }
        let looked_up = &mut self.looked_up;
        if looked_up.locals.last().is_none_or(|last| *last < local) {
            let mut next = looked_up.next;
            while self.list.block(next)?.last < local {
                next += 1;
            }
            looked_up.read(self.list, next);
        }
        looked_up.count_at(local)
    }
}
