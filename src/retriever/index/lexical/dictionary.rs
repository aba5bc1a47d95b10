//! The sorted terms of one segment in one allocation, looked up by binary search.
//! Not here: what a term points to (`postings`).

use std::io;

use super::saved::{self, Input};

/// Terms in ascending byte order; a term's index is its place.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each term ends in `bytes`: the terms of a segment take less than its postings.
    ends: Vec<u32>,
}

impl Dictionary {
    /// Appends a term, which must sort after all before it.
    pub(super) fn push(&mut self, term: &[u8]) {
        debug_assert!(self.ends.is_empty() || self.get(self.ends.len() - 1) < Some(term));
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
        let (mut low, mut high) = (0, self.ends.len());
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
        let dictionary = Self { bytes, ends };
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
        for absent in ["", "aa", "c", "zz"] {
            assert_eq!(dictionary.find(absent.as_bytes()), None);
        }
        assert_eq!(dictionary.get(terms.len()), None);
        let beginning = |letter| dictionary.beginning_with(letter).collect::<Vec<_>>();
        assert_eq!(beginning(b'a'), [&b"a"[..], b"ab"]);
        assert_eq!(beginning(b'z'), [b"zebra"]);
        assert!(beginning(b'c').is_empty() && beginning(0).is_empty());
    }
}
