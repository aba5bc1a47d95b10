//! A segment: a sealed, immutable piece of the index with some documents, their lengths, terms and postings. It is
//! made from documents or by merging other segments. Not here: which segments make up the index (`index`).

use std::io;

use super::DocId;
use super::binary_format::{self, IndexInput};
use super::counted_passage::CountedPassage;
use super::dictionary::Dictionary;
use super::passage::PassageTerms;
use super::postings::{HalfCount, PassageNumber, Postings, PostingsList};

/// Number of ids that a scan compares at once.
const SCANNED: usize = 64;

/// Never changes once it is built, so any number of snapshots can share it.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// The document of each passage, by the passage's number in the segment. The passages of a document are
    /// neighbours.
    pub(super) docs: Vec<DocId>,
    /// The number of terms of each passage, in halves, repeats included.
    pub(super) lengths: Vec<HalfCount>,
    /// The passages that are replies, ascending. Most stores have none.
    pub(super) replies: Vec<PassageNumber>,
    /// Whether the documents are in ascending order. They are, until a document gets a new text.
    docs_ascend: bool,
    pub(super) dictionary: Dictionary,
    pub(super) postings: Postings,
}

impl Segment {
    /// Returns the segment of some documents, each with its passages.
    pub(super) fn from_documents(documents: &[(DocId, Vec<PassageTerms>)]) -> Self {
        let facts = |passage: &PassageTerms| (passage.length(), passage.is_reply);
        Self::made(documents, facts, PassageTerms::weighed)
    }

    /// Returns the segment of documents that were analysed before.
    pub(super) fn from_counted(documents: &[(DocId, Vec<CountedPassage>)]) -> Self {
        let facts = |passage: &CountedPassage| (passage.length, passage.is_reply);
        Self::made(documents, facts, |passage| {
            passage.terms.iter().map(|(term, count)| (&**term, *count))
        })
    }

    /// Returns the segment of documents whose passages tell their length, whether they are a reply, and their terms.
    fn made<'passages, Passage, TermList: Iterator<Item = (&'passages str, HalfCount)>>(
        documents: &'passages [(DocId, Vec<Passage>)],
        facts: impl Fn(&Passage) -> (HalfCount, bool),
        terms: impl Fn(&'passages Passage) -> TermList,
    ) -> Self {
        let mut segment = Self::default();
        let mut sorted: Vec<(&str, PassageNumber, HalfCount)> = Vec::new();
        let passages = documents
            .iter()
            .flat_map(|(doc, passages)| passages.iter().map(|passage| (*doc, passage)));
        for (local, (doc, passage)) in (0..).zip(passages) {
            let (length, is_reply) = facts(passage);
            segment.docs.push(doc);
            segment.lengths.push(length);
            segment.replies.extend(is_reply.then_some(local));
            sorted.extend(terms(passage).map(|(term, count)| (term, local, count)));
        }
        segment.seal_sorted(sorted);
        segment
    }

    /// Adds the postings of all passages, and seals the segment.
    fn seal_sorted(&mut self, mut sorted: Vec<(&str, PassageNumber, HalfCount)>) {
        sorted.sort_unstable();
        for same_term in sorted.chunk_by(|one, other| one.0 == other.0) {
            for same in same_term.chunk_by(|one, other| one.1 == other.1) {
                let count =
                    same.iter().fold(0, |sum: HalfCount, (_, _, count)| sum.saturating_add(*count));
                for (_, local, _) in same.iter().take(1) {
                    let length = self.lengths.get(*local as usize).copied().unwrap_or(0);
                    self.postings.push(*local, count, length);
                }
            }
            same_term.first().into_iter().for_each(|first| self.seal_term(first.0.as_bytes()));
        }
        self.seal();
    }

    /// Returns the passages of a document. Takes a binary search where documents ascend, otherwise a scan of four
    /// bytes a passage.
    pub(super) fn places_of(&self, doc: DocId) -> Vec<PassageNumber> {
        if self.docs_ascend {
            let first = self.docs.partition_point(|held| *held < doc);
            let end = self.docs.partition_point(|held| *held <= doc);
            return (0..).skip(first).take(end - first).collect();
        }
        let mut places = Vec::new();
        for (first, docs) in (0..).step_by(SCANNED).zip(self.docs.chunks(SCANNED)) {
            // No early exit, so that the compiler can compare all at once.
            if docs.iter().fold(false, |is_there, held| is_there | (*held == doc)) {
                let here = (first..).zip(docs).filter(|(_, held)| **held == doc);
                places.extend(here.map(|(local, _)| local));
            }
        }
        places
    }

    /// Tells whether a passage is a reply.
    pub(super) fn is_reply(&self, local: PassageNumber) -> bool {
        !self.replies.is_empty() && self.replies.binary_search(&local).is_ok()
    }

    /// Returns the documents that hold `term`, if there are any.
    pub(super) fn list(&self, term: &str) -> Option<PostingsList<'_>> {
        self.dictionary.find(term.as_bytes()).map(|index| self.postings.list(index))
    }

    /// Returns the terms that begin with `letter`, in ascending byte order.
    pub(super) fn terms_beginning_with(&self, letter: u8) -> impl Iterator<Item = &[u8]> {
        self.dictionary.beginning_with(letter)
    }

    /// Returns all terms in ascending byte order, with their documents.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[u8], PostingsList<'_>)> {
        let terms = (0..).map_while(|index| self.dictionary.get(index));
        terms.enumerate().map(|(index, term)| (term, self.postings.list(index)))
    }

    /// Writes the whole segment; see `binary_format`.
    pub(super) fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        binary_format::write_numbers(out, self.docs.iter().map(|doc| doc.0.to_le_bytes()))?;
        binary_format::write_numbers(out, self.lengths.iter().map(|length| length.to_le_bytes()))?;
        binary_format::write_numbers(out, self.replies.iter().map(|local| local.to_le_bytes()))?;
        self.dictionary.write_to(out)?;
        self.postings.write_to(out)
    }

    /// Reads a written segment. Checks that each document has a length and each term has a list.
    pub(super) fn read_from(input: &mut IndexInput<'_>) -> io::Result<Self> {
        let docs = input.numbers(|bytes| DocId(u32::from_le_bytes(bytes)))?;
        let lengths = input.numbers(u16::from_le_bytes)?;
        let replies = input.numbers(u32::from_le_bytes)?;
        binary_format::must(replies.is_sorted_by(|one, other| one < other))?;
        let dictionary = Dictionary::read_from(input)?;
        let postings = Postings::read_from(input, docs.len())?;
        binary_format::must(docs.len() == lengths.len() && dictionary.len() == postings.len())?;
        let docs_ascend = docs.is_sorted();
        Ok(Self { docs, lengths, replies, docs_ascend, dictionary, postings })
    }

    pub(super) fn seal_term(&mut self, term: &[u8]) {
        if self.postings.seal_list() {
            self.dictionary.push(term);
        }
    }

    pub(super) fn seal(&mut self) {
        self.docs_ascend = self.docs.is_sorted();
        self.docs.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.replies.shrink_to_fit();
        self.dictionary.seal();
        self.postings.shrink();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_document_is_found_in_any_order_of_documents(
            mut docs in prop::collection::vec((0_u32..60).prop_map(DocId), 0..200),
            ascend in any::<bool>(), asked in (0_u32..60).prop_map(DocId),
        ) {
            if ascend {
                docs.sort_unstable();
            }
            let lengths = vec![1; docs.len()];
            let mut segment = Segment { docs, lengths, ..Segment::default() };
            segment.seal();
            let held = (0..).zip(&segment.docs).filter(|(_, doc)| **doc == asked);
            let places: Vec<PassageNumber> = held.map(|(local, _)| local).collect();
            prop_assert_eq!(segment.places_of(asked), places.as_slice());
            let mut bytes = Vec::new();
            segment.write_to(&mut bytes).unwrap();
            let back = Segment::read_from(&mut IndexInput::new(&mut &*bytes)).unwrap();
            prop_assert_eq!(back.places_of(asked), places);
        }
    }
}
