//! The postings of a segment: the documents that hold each term, and how often. All terms share one flat array of
//! little more than a byte a posting. Not here: the terms themselves (`dictionary`), reading lists by block
//! (`cursor`).
//!
//! A list is its length, then for each document the distance from the one before, with three bits for the count. A
//! count outside of 1 to 7 follows as a number of its own. Numbers have seven bits a byte, the lowest first, as in
//! LEB128: most postings of a common term take one byte, and so are read without a branch that is hard to predict. A
//! list of more than one block has a header for each block after its length: where the block ends and the bounds of
//! its postings, so that blocks can be skipped unread. Lists are not checked when they are loaded, so iteration
//! accepts any bytes: it yields ascending documents and ends.

use std::io;
use std::ops::RangeInclusive;

use super::binary_format::{self, IndexInput};

/// A number of occurrences or of terms, in halves: text nearby counts half. `DOCUMENT_TERMS_MAX` and
/// `NEARBY_TERMS_MAX` fit in 16 bits.
pub(super) type HalfCount = u16;

/// The number of a passage in its segment.
pub(super) type PassageNumber = u32;

/// Postings of one block: few enough that the bounds are tight, enough that the headers are a twelfth of a list.
/// Small in tests, so that short lists have many blocks.
pub(super) const BLOCK_POSTINGS: usize = if cfg!(test) { 5 } else { 128 };

/// The bits of a posting's first number that hold its count, and the value that says that the count follows.
const COUNT_BITS: u32 = 3;
const COUNT_MASK: u8 = (1 << COUNT_BITS) - 1;
const COUNT_FOLLOWS: u64 = 0;

/// Bytes of a block's header: two numbers of 32 bits and two of 16.
const HEADER_BYTES: usize = 12;

/// The header of a block: the bounds of its postings, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PostingsBlock {
    /// The last document of the block.
    pub(super) last: PassageNumber,
    /// Where its postings end, in bytes from the beginning of the list's postings.
    pub(super) end: u32,
    /// The greatest count in the block.
    pub(super) count_max: HalfCount,
    /// The least length of a document in the block.
    pub(super) length_min: HalfCount,
}

/// The lists of all terms, end to end.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Where each list ends in `bytes`. A segment of 2^32 bytes would hold some fifty million memories.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// The list under construction.
    open: Vec<u8>,
    open_len: usize,
    open_last: PassageNumber,
    /// Its full blocks, and the open one.
    open_blocks: Vec<PostingsBlock>,
    open_block: PostingsBlock,
}

/// The documents of one term in ascending order, with their counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PostingsList<'segment> {
    len: usize,
    /// The headers of its blocks; empty for a single block.
    headers: &'segment [u8],
    bytes: &'segment [u8],
}

impl Postings {
    /// Appends the posting of a document with this length to the list under construction. A document that is not
    /// greater than the one before is left out: only a damaged list has one.
    pub(super) fn push(&mut self, local: PassageNumber, count: HalfCount, length: HalfCount) {
        if self.open_len > 0 && local <= self.open_last {
            return;
        }
        let distance = u64::from(local.wrapping_sub(self.open_last)) << COUNT_BITS;
        if (1..1 << COUNT_BITS).contains(&count) {
            push_number(&mut self.open, distance | u64::from(count));
        } else {
            push_number(&mut self.open, distance | COUNT_FOLLOWS);
            push_number(&mut self.open, u64::from(count));
        }
        self.open_len += 1;
        self.open_last = local;
        self.open_block = PostingsBlock {
            last: local,
            end: u32::try_from(self.open.len()).unwrap_or(u32::MAX),
            count_max: self.open_block.count_max.max(count),
            length_min: self.open_block.length_min.min(length),
        };
        if self.open_len.is_multiple_of(BLOCK_POSTINGS) {
            self.open_blocks.push(std::mem::take(&mut self.open_block));
        }
    }

    /// Ends the list under construction. Returns false if it is empty, for then there is no list.
    pub(super) fn seal_list(&mut self) -> bool {
        if self.open_len == 0 {
            return false;
        }
        push_number(&mut self.bytes, self.open_len as u64);
        if self.open_len > BLOCK_POSTINGS {
            let half_full =
                (!self.open_len.is_multiple_of(BLOCK_POSTINGS)).then_some(&self.open_block);
            for block in self.open_blocks.iter().chain(half_full) {
                block.append_to(&mut self.bytes);
            }
        }
        self.bytes.append(&mut self.open);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        (self.open_len, self.open_last) = (0, 0);
        self.open_blocks.clear();
        self.open_block = PostingsBlock::default();
        true
    }

    /// Returns the list at `index`, or an empty one.
    pub(super) fn list(&self, index: usize) -> PostingsList<'_> {
        let end = self.ends.get(index).copied().unwrap_or(0) as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let mut bytes = self.bytes.get(start.unwrap_or(0) as usize..end).unwrap_or(&[]).iter();
        let len = next_number(&mut bytes).and_then(|len| usize::try_from(len).ok()).unwrap_or(0);
        let blocks = if len > BLOCK_POSTINGS { len.div_ceil(BLOCK_POSTINGS) } else { 0 };
        let headers_bytes = blocks.saturating_mul(HEADER_BYTES);
        let parted = bytes.as_slice().split_at_checked(headers_bytes);
        parted.map_or(PostingsList::EMPTY, |(headers, bytes)| PostingsList { len, headers, bytes })
    }

    /// Writes all lists; see `binary_format`.
    pub(super) fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        binary_format::write_numbers(out, self.ends.iter().map(|end| end.to_le_bytes()))?;
        binary_format::write_bytes(out, &self.bytes)
    }

    /// Reads the lists of a segment of `documents` passages. Checks that no list is empty or claims more documents
    /// than that; does not check what a list holds.
    pub(super) fn read_from(input: &mut IndexInput<'_>, documents: usize) -> io::Result<Self> {
        let ends = input.numbers(u32::from_le_bytes)?;
        let bytes = input.bytes()?;
        binary_format::are_ends(&ends, bytes.len())?;
        let postings = Self { ends, bytes, ..Self::default() };
        let lens = (0..postings.ends.len()).map(|index| postings.list(index).len());
        binary_format::must(lens.into_iter().all(|len| (1..=documents).contains(&len)))?;
        Ok(postings)
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Frees memory that was reserved for growth. Called once, when the segment is sealed.
    pub(super) fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.open = Vec::new();
        self.open_blocks = Vec::new();
    }
}

impl Default for PostingsBlock {
    /// Returns lists without a posting.
    fn default() -> Self {
        Self { last: 0, end: 0, count_max: 0, length_min: HalfCount::MAX }
    }
}

impl PostingsBlock {
    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.last.to_le_bytes());
        bytes.extend_from_slice(&self.end.to_le_bytes());
        bytes.extend_from_slice(&self.count_max.to_le_bytes());
        bytes.extend_from_slice(&self.length_min.to_le_bytes());
    }

    fn read_from(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, d, e, f, g, h, i, j, k, l] = bytes.first_chunk::<HEADER_BYTES>()?;
        Some(Self {
            last: u32::from_le_bytes([a, b, c, d]),
            end: u32::from_le_bytes([e, f, g, h]),
            count_max: u16::from_le_bytes([i, j]),
            length_min: u16::from_le_bytes([k, l]),
        })
    }
}

impl<'segment> PostingsList<'segment> {
    /// Returns a list without documents.
    pub(super) const EMPTY: Self = PostingsList { len: 0, headers: &[], bytes: &[] };

    /// Returns the number of documents.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Iterates over the documents and their counts.
    pub(super) fn iter(&self) -> PostingsIter<'segment> {
        self.iter_from(0)
    }

    /// Returns the number of block headers: none for a single block.
    pub(super) fn blocks_len(&self) -> usize {
        self.headers.len() / HEADER_BYTES
    }

    /// Returns the header of a block.
    pub(super) fn block(&self, index: usize) -> Option<PostingsBlock> {
        PostingsBlock::read_from(self.headers.get(index.checked_mul(HEADER_BYTES)?..)?)
    }

    /// Iterates over the documents from a block on, with their counts.
    pub(super) fn iter_from(&self, block: usize) -> PostingsIter<'segment> {
        let before = block.checked_sub(1).and_then(|before| self.block(before));
        let start = before.map_or(0, |before| before.end as usize);
        let bytes = self.bytes.get(start..).unwrap_or(&[]).iter();
        // A distance of zero is right for the first posting of a list only.
        let distance_min = u64::from(before.is_some());
        PostingsIter { bytes, last: before.map_or(0, |before| before.last), distance_min }
    }

    /// Returns the first block that may hold `local` or a later document; the number of blocks if none does.
    fn block_of(&self, local: PassageNumber) -> usize {
        let (mut low, mut high) = (0, self.blocks_len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.block(middle).is_some_and(|block| block.last < local) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the count of the term in one document, if the document holds it.
    pub(super) fn count_in(&self, local: PassageNumber) -> Option<HalfCount> {
        let mut entries = self.iter_from(self.block_of(local));
        let entry = entries.find(|(held, _)| *held >= local);
        entry.filter(|(held, _)| *held == local).map(|(_, count)| count)
    }

    /// Returns the entries of neighbouring documents.
    pub(super) fn within(
        &self,
        locals: RangeInclusive<PassageNumber>,
    ) -> impl Iterator<Item = (PassageNumber, HalfCount)> {
        let (start, end) = locals.into_inner();
        let entries = self.iter_from(self.block_of(start));
        entries.skip_while(move |(held, _)| *held < start).take_while(move |(held, _)| *held <= end)
    }
}

/// An iterator over a list. Ends where documents do not ascend, which only a damaged list has.
#[derive(Clone, Debug, Default)]
pub(super) struct PostingsIter<'segment> {
    bytes: std::slice::Iter<'segment, u8>,
    /// The last document that was read.
    last: PassageNumber,
    distance_min: u64,
}

impl PostingsIter<'_> {
    /// Passes postings on from `here` as long as `each` takes them, and returns the first that it refuses. Same as
    /// [`Iterator::find`], with fewer instructions for most postings of a common term.
    #[inline]
    pub(super) fn each_while(
        &mut self,
        mut here: (PassageNumber, HalfCount),
        mut each: impl FnMut(PassageNumber, HalfCount) -> bool,
    ) -> Option<(PassageNumber, HalfCount)> {
        // A local copy can stay in a register.
        let mut bytes = self.bytes.clone();
        while each(here.0, here.1) {
            let head = bytes.as_slice().first().copied().filter(|head| is_short(*head));
            let local =
                head.and_then(|head| here.0.checked_add(PassageNumber::from(head >> COUNT_BITS)));
            here = if let (Some(head), Some(local)) = (head, local) {
                bytes.next();
                (local, HalfCount::from(head & COUNT_MASK))
            } else {
                *self = Self { bytes, last: here.0, distance_min: 1 };
                let next = self.next()?;
                bytes = self.bytes.clone();
                next
            };
        }
        *self = Self { bytes, last: here.0, distance_min: 1 };
        Some(here)
    }
}

/// Tells whether a posting is complete in its first byte, and not the first of its list.
#[inline]
fn is_short(head: u8) -> bool {
    (1 << COUNT_BITS..0x80).contains(&head) && head & COUNT_MASK != 0
}

impl Iterator for PostingsIter<'_> {
    type Item = (PassageNumber, HalfCount);

    #[inline]
    fn next(&mut self) -> Option<(PassageNumber, HalfCount)> {
        let head = next_number(&mut self.bytes)?;
        let distance = head >> COUNT_BITS;
        if distance < self.distance_min {
            return None;
        }
        self.distance_min = 1;
        self.last = self.last.checked_add(PassageNumber::try_from(distance).ok()?)?;
        let count = match head & u64::from(COUNT_MASK) {
            COUNT_FOLLOWS => next_number(&mut self.bytes)?,
            count => count,
        };
        Some((self.last, HalfCount::try_from(count).unwrap_or(HalfCount::MAX)))
    }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7F).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Most numbers have one byte. This path is inline because every query reads lists.
#[inline]
fn next_number(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let first = *bytes.next()?;
    if first < 0x80 { Some(u64::from(first)) } else { long_number(first, bytes) }
}

fn long_number(first: u8, bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut number = u64::from(first & 0x7F);
    let mut shift = 7;
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift = (shift + 7) & 63;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn length_of(local: PassageNumber) -> HalfCount {
        HalfCount::try_from(local % 1_000).unwrap()
    }

    /// Documents next to each other, as in the list of a common term, or anywhere.
    fn local() -> impl Strategy<Value = PassageNumber> {
        prop_oneof![0..2_000_u32, any::<PassageNumber>()]
    }

    /// Counts that fit in a posting's first number and the first ones that do not, or any.
    fn count() -> impl Strategy<Value = HalfCount> {
        prop_oneof![0..=9_u16, any::<HalfCount>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_bytes_are_a_list_that_ascends_and_ends(
            bytes in prop::collection::vec(any::<u8>(), 0..600), index in 0_usize..9,
        ) {
            let ends = vec![u32::try_from(bytes.len()).unwrap()];
            let postings = Postings { ends, bytes, ..Postings::default() };
            let list = postings.list(0);
            let ascends = |found: Vec<(PassageNumber, HalfCount)>| found.windows(2).all(|two| two[0].0 < two[1].0);
            prop_assert!(ascends(list.iter().collect()));
            prop_assert!(ascends(list.iter_from(index).collect()));
        }

        #[test]
        fn every_list_comes_back_as_it_was_pushed(
            lists in prop::collection::vec(
                prop::collection::btree_map(local(), count(), 0..400), 0..4)
        ) {
            let mut postings = Postings::default();
            for list in &lists {
                list.iter().for_each(|(local, count)| postings.push(*local, *count, length_of(*local)));
                prop_assert_eq!(postings.seal_list(), !list.is_empty());
            }
            postings.shrink();
            let lists = lists.iter().filter(|list| !list.is_empty());
            for (index, list) in lists.enumerate() {
                let found = postings.list(index);
                prop_assert_eq!(found.len(), list.len());
                prop_assert_eq!(&found.iter().collect::<BTreeMap<_, _>>(), list);
                let mut start = 0;
                for at in 0..found.blocks_len() {
                    let block = found.block(at).unwrap();
                    let rest: Vec<(PassageNumber, HalfCount)> = found.iter_from(at).collect();
                    prop_assert_eq!(&rest, &found.iter().skip(start).collect::<Vec<_>>());
                    let held = &rest[..rest.len().min(BLOCK_POSTINGS)];
                    start += held.len();
                    prop_assert_eq!(held.last().unwrap().0, block.last);
                    prop_assert_eq!(held.iter().map(|held| held.1).max(), Some(block.count_max));
                    let lengths = held.iter().map(|held| length_of(held.0));
                    prop_assert_eq!(lengths.min(), Some(block.length_min));
                    prop_assert_eq!(found.block_of(block.last), at);
                    prop_assert_eq!(found.block_of(held[0].0), at);
                }
                for (local, count) in list.iter().take(9) {
                    prop_assert_eq!(found.count_in(*local), Some(*count));
                    let after = local.wrapping_add(1);
                    prop_assert_eq!(found.count_in(after), list.get(&after).copied());
                }
            }
        }
    }

    #[test]
    fn a_list_that_is_not_there_is_empty() {
        let list = Postings::default();
        assert_eq!((list.list(3).len(), list.list(3).iter().count()), (0, 0));
    }
}
