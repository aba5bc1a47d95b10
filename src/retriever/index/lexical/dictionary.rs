//! The sorted terms of one segment in one allocation, looked up by binary search among those that begin alike.
//! Not here: what a term points to (`postings`).

use std::io;
use std::sync::OnceLock;

use super::saved::{self, Input};

/// With fewer terms a search among all of them is as fast. Few in tests, so that both ways are tried.
const TERMS_MIN: usize = if cfg!(test) { 4 } else { 4_096 };

/// How many beginnings of two bytes there are.
const BEGINNINGS: usize = 1 << 16;

/// Terms in ascending byte order; a term's index is its place.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each term ends in `bytes`: the terms of a segment take less than its postings.
    ends: Vec<u32>,
    /// How many terms begin with less than each two bytes, once a term was looked for: half of the steps of a search,
    /// each of which goes to another place in memory.
    before: OnceLock<Vec<u32>>,
}

/// The first two bytes of a term, as a number in the order of terms.
fn beginning(term: &[u8]) -> usize {
    let byte = |place| usize::from(term.get(place).copied().unwrap_or(0));
    byte(0) << 8 | byte(1)
}

impl Dictionary {
    /// Appends a term, which must sort after all before it.
    pub(super) fn push(&mut self, term: &[u8]) {
        debug_assert!(self.ends.is_empty() || self.get(self.ends.len() - 1) < Some(term));
        self.before.take();
        self.bytes.extend_from_slice(term);
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// The term at `index`.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.bytes.get(start.unwrap_or(0) as usize..end)
    }

    /// The index of `term`, if this segment knows it.
    pub(super) fn find(&self, term: &[u8]) -> Option<usize> {
        self.place_of(term).ok()
    }

    /// The terms that begin with `letter`.
    pub(super) fn beginning_with(&self, letter: u8) -> impl Iterator<Item = &[u8]> {
        let first = self.place_of(&[letter]).unwrap_or_else(|place| place);
        let terms = (first..).map_while(|index| self.get(index));
        terms.take_while(move |term| term.first() == Some(&letter))
    }

    /// The index of `term`, or else that of the first term after it.
    fn place_of(&self, term: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = self.alike(beginning(term));
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

    /// Where the terms stand that have this beginning; all that stand before it sort before them.
    fn alike(&self, beginning: usize) -> (usize, usize) {
        let len = self.ends.len();
        if len < TERMS_MIN {
            return (0, len);
        }
        let before = self.before.get_or_init(|| self.count_before());
        let at = |place: usize| before.get(place).map_or(len, |count| *count as usize);
        (at(beginning), at(beginning + 1))
    }

    fn count_before(&self) -> Vec<u32> {
        let mut counts = vec![0; BEGINNINGS];
        for term in (0..self.ends.len()).filter_map(|index| self.get(index)) {
            if let Some(count) = counts.get_mut(beginning(term)) {
                *count += 1;
            }
        }
        let mut before = 0;
        for count in &mut counts {
            before += std::mem::replace(count, before);
        }
        counts
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Writes all terms; see `saved`.
    pub(super) fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        saved::write_numbers(out, self.ends.iter().map(|end| end.to_le_bytes()))?;
        saved::write_bytes(out, &self.bytes)
    }

    /// Reads terms, which must ascend.
    pub(super) fn read_from(input: &mut Input<'_>) -> io::Result<Self> {
        let ends = input.numbers(u32::from_le_bytes)?;
        let bytes = input.bytes()?;
        saved::are_ends(&ends, bytes.len())?;
        let dictionary = Self { bytes, ends, before: OnceLock::new() };
        let mut before: Option<&[u8]> = None;
        for term in (0..dictionary.len()).map(|index| dictionary.get(index)) {
            saved::must(before < term)?;
            before = term;
        }
        Ok(dictionary)
    }

    /// Gives back memory reserved for growth; called once, when the segment is sealed.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
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
        fn a_term_is_where_a_search_among_all_finds_it(
            terms in prop::collection::btree_set("[ab\\x00é]{0,3}", 0..40), asked in "[ab\\x00é]{0,3}",
        ) {
            let mut dictionary = Dictionary::default();
            terms.iter().for_each(|term| dictionary.push(term.as_bytes()));
            let plain: Vec<&String> = terms.iter().collect();
            prop_assert_eq!(dictionary.place_of(asked.as_bytes()), plain.binary_search(&&asked));
        }
    }
}
