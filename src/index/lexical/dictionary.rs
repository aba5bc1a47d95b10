//! The sorted terms of one segment in one allocation. Large dictionaries have a hash table for lookups. Not here:
//! what a term points to (`postings`).

use std::hash::{BuildHasher, RandomState};
use std::io;

use super::binary_format::{self, IndexInput};

/// With fewer terms, a binary search is as fast. Small in tests, so that both ways are tried.
const TERMS_MIN: usize = if cfg!(test) { 4 } else { 256 };

/// Terms in ascending byte order. The index of a term is its rank.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each term ends in `bytes`: the terms of a segment take less than its postings.
    ends: Vec<u32>,
    /// The hash table, built when a large dictionary is sealed. Each step of a binary search reads another place in
    /// memory, and with a hundred thousand terms these reads take longer than the rest of a lookup.
    by_hash: Option<ByHash>,
}

/// A hash table with linear probing, at most half full, of ten to twenty bytes a term. Most terms of a text are in
/// few segments, so the table is made to answer "not here" with one read.
#[derive(Debug)]
struct ByHash {
    hasher: RandomState,
    /// Some bits of the hash of each slot's term; 0 for an empty slot.
    tags: Vec<u8>,
    /// The index of each slot's term.
    indexes: Vec<u32>,
}

impl ByHash {
    fn build(dictionary: &Dictionary) -> Self {
        let len = (dictionary.len() * 2).next_power_of_two();
        let hasher = RandomState::new();
        let mut table = Self { hasher, tags: vec![0; len], indexes: vec![0; len] };
        for (term, number) in (0..).map_while(|index| dictionary.get(index)).zip(0..) {
            let (tag, mut places) = table.places(term);
            let Some(free) = places.find(|place| table.tags.get(*place) == Some(&0)) else { break };
            if let Some((held, index)) = table.tags.get_mut(free).zip(table.indexes.get_mut(free)) {
                (*held, *index) = (tag, number);
            }
        }
        table
    }

    /// Returns the tag of a term, and the slots to probe in order.
    fn places(&self, term: &[u8]) -> (u8, impl Iterator<Item = usize> + use<>) {
        let [tag, _, _, _, low @ ..] = self.hasher.hash_one(term).to_be_bytes();
        let (first, len) = (u32::from_be_bytes(low) as usize, self.tags.len());
        (tag.max(1), (0..len).map(move |step| (first + step) & (len - 1)))
    }

    /// Returns the indexes of the terms that may be this one.
    fn candidates(&self, term: &[u8]) -> impl Iterator<Item = usize> {
        let (tag, places) = self.places(term);
        let held = places.map_while(|place| Some((*self.tags.get(place)?, place)));
        let alike = held.take_while(|(held, _)| *held != 0).filter(move |(held, _)| *held == tag);
        alike.filter_map(|(_, place)| self.indexes.get(place).map(|index| *index as usize))
    }
}

impl Dictionary {
    /// Appends a term. It must sort after all terms before it.
    pub(super) fn push(&mut self, term: &[u8]) {
        debug_assert!(self.ends.is_empty() || self.get(self.ends.len() - 1) < Some(term));
        self.by_hash = None;
        self.bytes.extend_from_slice(term);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Returns the term at `index`.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.bytes.get(start.unwrap_or(0) as usize..end)
    }

    /// Returns the index of `term`, if the segment has it.
    pub(super) fn find(&self, term: &[u8]) -> Option<usize> {
        let Some(table) = &self.by_hash else { return self.place_of(term).ok() };
        table.candidates(term).find(|index| self.get(*index) == Some(term))
    }

    /// Returns the terms that begin with `letter`.
    pub(super) fn beginning_with(&self, letter: u8) -> impl Iterator<Item = &[u8]> {
        let first = self.place_of(&[letter]).unwrap_or_else(|place| place);
        let terms = (first..).map_while(|index| self.get(index));
        terms.take_while(move |term| term.first() == Some(&letter))
    }

    /// Returns the index of `term`, or else of the first term after it.
    fn place_of(&self, term: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).unwrap_or_default().cmp(term) {
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Writes all terms; see `binary_format`.
    pub(super) fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        binary_format::write_numbers(out, self.ends.iter().map(|end| end.to_le_bytes()))?;
        binary_format::write_bytes(out, &self.bytes)
    }

    /// Reads terms. They must ascend.
    pub(super) fn read_from(input: &mut IndexInput<'_>) -> io::Result<Self> {
        let ends = input.numbers(u32::from_le_bytes)?;
        let bytes = input.bytes()?;
        binary_format::are_ends(&ends, bytes.len())?;
        let mut dictionary = Self { bytes, ends, by_hash: None };
        let mut before: Option<&[u8]> = None;
        for term in (0..dictionary.len()).map(|index| dictionary.get(index)) {
            binary_format::must(before < term)?;
            before = term;
        }
        dictionary.seal();
        Ok(dictionary)
    }

    /// Builds the hash table and frees memory that was reserved for growth. Called once when the segment is made, so
    /// that no search waits for the table.
    pub(super) fn seal(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.by_hash = (self.len() >= TERMS_MIN).then(|| ByHash::build(self));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_term_is_found_at_its_place_and_nothing_else_is() {
        let mut dictionary = Dictionary::default();
        let terms = ["a", "ab", "b", "zebra", "é"];
        for term in terms {
            dictionary.push(term.as_bytes());
        }
        dictionary.seal();
        for (place, term) in terms.iter().enumerate() {
            assert_eq!(dictionary.find(term.as_bytes()), Some(place));
            assert_eq!(dictionary.get(place), Some(term.as_bytes()));
        }
        for absent in ["", "aa", "abc", "c", "zz", "\0", "éé", "\u{10ffff}"] {
            assert_eq!(dictionary.find(absent.as_bytes()), None);
        }
        assert_eq!(dictionary.get(terms.len()), None);
        let beginning = |letter| dictionary.beginning_with(letter).collect::<Vec<_>>();
        assert_eq!(beginning(b'a'), [&b"a"[..], b"ab"]);
        assert_eq!(beginning(b'z'), [b"zebra"]);
        assert!(beginning(b'c').is_empty() && beginning(0).is_empty());
    }

    proptest! {
        #[test]
        fn a_term_is_found_where_it_stands_and_nothing_else_is(
            terms in prop::collection::btree_set("[ab\\x00é]{0,3}", 0..40), asked in "[ab\\x00é]{0,3}",
        ) {
            let mut dictionary = Dictionary::default();
            terms.iter().for_each(|term| dictionary.push(term.as_bytes()));
            dictionary.seal();
            let plain: Vec<&String> = terms.iter().collect();
            prop_assert_eq!(dictionary.place_of(asked.as_bytes()), plain.binary_search(&&asked));
            prop_assert_eq!(dictionary.find(asked.as_bytes()), plain.binary_search(&&asked).ok());
            for (place, term) in plain.iter().enumerate() {
                prop_assert_eq!(dictionary.find(term.as_bytes()), Some(place));
            }
        }
    }
}
