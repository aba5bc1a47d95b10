//! Which documents of a segment hold each term, and how often: one flat array for all terms, some two
//! bytes a posting. Not here: which term is which (`dictionary`).
//!
//! A list is its length, then for each document the distance from the one before, with one bit that tells
//! whether a count follows: most terms stand in a document once. Numbers are of seven bits a byte, the
//! lowest first, as in LEB128.

use super::passage::OWN;

/// How often, or how many terms, in halves: what is nearby counts half. `DOCUMENT_TERMS_MAX` and
/// `NEARBY_TERMS_MAX` fit in 16 bits.
pub(super) type Count = u16;

/// A document's place in its segment.
pub(super) type Local = u32;

/// The lists of all terms, end to end.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Where each list ends in `bytes`. A segment of 2^32 bytes would hold some fifty million memories.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// The list under construction.
    open: Vec<u8>,
    open_len: u64,
    open_last: Local,
}

/// One term's documents in ascending order, with the count in each.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'segment> {
    len: usize,
    bytes: &'segment [u8],
}

impl Postings {
    /// Adds one posting to the list under construction, behind those before it.
    pub(super) fn push(&mut self, local: Local, count: Count) {
        debug_assert!(self.open_len == 0 || local > self.open_last);
        let distance = u64::from(local - self.open_last);
        push_number(&mut self.open, distance << 1 | u64::from(count != OWN));
        if count != OWN {
            push_number(&mut self.open, u64::from(count));
        }
        self.open_len += 1;
        self.open_last = local;
    }

    /// Ends the list under construction; false when it is empty and so is not one.
    pub(super) fn seal_list(&mut self) -> bool {
        if self.open_len == 0 {
            return false;
        }
        push_number(&mut self.bytes, self.open_len);
        self.bytes.append(&mut self.open);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        (self.open_len, self.open_last) = (0, 0);
        true
    }

    /// The list at `index`, or an empty one.
    pub(super) fn list(&self, index: usize) -> List<'_> {
        let end = self.ends.get(index).copied().unwrap_or(0) as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let mut bytes = self.bytes.get(start.unwrap_or(0) as usize..end).unwrap_or(&[]).iter();
        let len = next_number(&mut bytes).and_then(|len| usize::try_from(len).ok());
        List { len: len.unwrap_or(0), bytes: bytes.as_slice() }
    }

    /// Gives back memory reserved for growth; called once, when the segment is sealed.
    pub(super) fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.open = Vec::new();
    }
}

impl<'segment> List<'segment> {
    /// How many documents there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The documents and their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Local, Count)> + use<'segment> {
        let mut bytes = self.bytes.iter();
        let mut last: Local = 0;
        std::iter::from_fn(move || {
            let head = next_number(&mut bytes)?;
            last = last.wrapping_add(narrowed(head >> 1));
            let count = if head & 1 == 0 { u64::from(OWN) } else { next_number(&mut bytes)? };
            Some((last, Count::try_from(count).unwrap_or(Count::MAX)))
        })
    }

    /// How often the term stands in one document, if it does.
    pub(super) fn count_in(&self, local: Local) -> Option<Count> {
        let mut entries = self.iter().skip_while(|(held, _)| *held < local);
        entries.next().filter(|(held, _)| *held == local).map(|(_, count)| count)
    }
}

/// What was pushed as a place is one again.
fn narrowed(distance: u64) -> Local {
    Local::try_from(distance).unwrap_or(Local::MAX)
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

/// Most numbers are of one byte: lists are walked for every query.
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

    proptest! {
        #[test]
        fn every_list_comes_back_as_it_was_pushed(
            lists in prop::collection::vec(
                prop::collection::btree_map(any::<Local>(), 1..=Count::MAX, 0..20), 0..6)
        ) {
            let mut postings = Postings::default();
            for list in &lists {
                list.iter().for_each(|(local, count)| postings.push(*local, *count));
                prop_assert_eq!(postings.seal_list(), !list.is_empty());
            }
            postings.shrink();
            let lists = lists.iter().filter(|list| !list.is_empty());
            for (index, list) in lists.enumerate() {
                let found = postings.list(index);
                prop_assert_eq!(found.len(), list.len());
                prop_assert_eq!(&found.iter().collect::<BTreeMap<_, _>>(), list);
                for (local, count) in list {
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
