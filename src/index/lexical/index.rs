//! The index: its segments, and how they change when documents are added and removed. Not here: the inside of a
//! segment (`segment`), answering queries (`search`).

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::analysis::{Tokenizers, WordCache};
use super::binary_format::{self, IndexInput};
use super::corpus_numbers::CorpusNumbers;
use super::counted_passage::CountedPassage;
use super::live_segment::LiveSegment;
use super::merge;
use super::passage::{Passage, PassageTerms};
use super::segment::Segment;
use super::terms::TermList;
use super::tokenize::{self, DOCUMENT_TERMS_MAX, NEARBY_TERMS_MAX, QUERY_TERMS_MAX};
use super::{DocId, LexicalError};

/// Segments of similar size before they are merged. With four, a store of a million documents has under thirty
/// segments, and each posting is copied about ten times.
pub(super) const MERGED_TOGETHER: usize = 4;

/// The level from which parts are merged when there is time: 4,096 documents and more. Merging four smaller ones takes
/// a hundredth of a second; merging larger ones would keep a query waiting. Beside writers that never pause a
/// store within the memory bound has some hundred parts of this level.
pub(super) const LARGE: u32 = 6;

/// Documents that become one segment when many come at once: sorting their terms once costs less than merging their
/// segments three times. Few enough that their terms take some ten megabytes where all are as long as they may be.
const SEALED_TOGETHER: usize = 64;

/// A part is rewritten when one in this many of its documents is dead. So dead documents take less than a third of
/// memory and time, and the removals before a rewrite pay for it.
pub(super) const DEAD_SHARE: usize = 4;

/// The index. A clone is a frozen snapshot: later changes on either side do not show on the other.
#[derive(Clone, Debug)]
pub struct LexicalIndex {
    words: Arc<Tokenizers>,
    cache: WordCache,
    pub(super) parts: Vec<LiveSegment>,
    last: Option<DocId>,
    /// The numbers of the corpus, where this index holds a part of it.
    pub(super) numbers: Option<Arc<CorpusNumbers>>,
}

impl Default for LexicalIndex {
    fn default() -> Self {
        Self::new()
    }
}

impl LexicalIndex {
    /// Returns an empty index.
    pub fn new() -> Self {
        let words = Arc::new(Tokenizers::new());
        Self { words, cache: WordCache::default(), parts: Vec::new(), last: None, numbers: None }
    }

    /// Indexes one document of one passage. Only the first 16,384 terms of a text count.
    ///
    /// # Errors
    /// `OutOfOrder` when `doc` is not above every document inserted before; nothing is changed then.
    pub fn insert(&mut self, doc: DocId, text: &str) -> Result<(), LexicalError> {
        if let Some(last) = self.last.filter(|&last| last >= doc) {
            return Err(LexicalError::OutOfOrder { doc, last });
        }
        self.last = Some(doc);
        self.append(&[(doc, &[Passage::from_text(text)])]);
        Ok(())
    }

    /// Gives documents new passages. A document without passages is removed; one that was not there is added. Costs
    /// one scan of the ids for all documents together.
    pub fn put_all(&mut self, documents: &BTreeMap<DocId, Vec<Passage>>) {
        let (Some((first, _)), Some((last, _))) =
            (documents.first_key_value(), documents.last_key_value())
        else {
            return;
        };
        if self.last.is_some_and(|known| known >= *first) {
            // Most are outside of the range, and the range check costs less than a lookup of each.
            let is_in_range = |doc| *first <= doc && doc <= *last;
            for part in &mut self.parts {
                part.kill_all(|doc| is_in_range(doc) && documents.contains_key(&doc));
            }
            self.parts.retain(|part| part.len() > 0);
            (0..self.parts.len()).for_each(|place| self.rewrite_if_decayed(place));
        }
        let documents: Vec<(DocId, &[Passage])> = documents
            .iter()
            .filter(|(_, passages)| !passages.is_empty())
            .map(|(doc, passages)| (*doc, passages.as_slice()))
            .collect();
        self.last = self.last.max(documents.last().map(|(doc, _)| *doc));
        documents.chunks(SEALED_TOGETHER).for_each(|some| self.append(some));
    }

    /// Removes one document; returns false if it was not there. Afterwards every score is as if the document had
    /// never been there. Costs a scan of the ids, and sometimes the rewriting of one segment.
    pub fn remove(&mut self, doc: DocId) -> bool {
        let killed = |part: &mut LiveSegment| part.kill_all(|other| other == doc);
        let Some(place) = self.parts.iter_mut().position(killed) else {
            return false;
        };
        self.rewrite_if_decayed(place);
        true
    }

    /// Gives a document a new text under its old id. Returns false and changes nothing if the document was not
    /// there.
    pub fn replace(&mut self, doc: DocId, text: &str) -> bool {
        let was_there = self.remove(doc);
        if was_there {
            self.append(&[(doc, &[Passage::from_text(text)])]);
        }
        was_there
    }

    /// Returns the number of living passages.
    pub fn len(&self) -> usize {
        self.parts.iter().map(LiveSegment::len).sum()
    }

    /// Returns true if there is no living document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the whole index, some bytes a posting, for [`LexicalIndex::read_from`].
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        binary_format::write_bytes(out, binary_format::FORMAT)?;
        let last = self.last.map(|last| last.0.to_le_bytes());
        binary_format::write_numbers(out, last)?;
        out.write_all(&u64::try_from(self.parts.len()).unwrap_or(u64::MAX).to_le_bytes())?;
        self.parts.iter().try_for_each(|part| part.write_to(out))
    }

    /// Reads an index that [`LexicalIndex::write_to`] wrote, and nothing behind it. Any bytes are safe: the result
    /// can be searched and changed. The caller's checksum tells whether the bytes are those that were written.
    ///
    /// # Errors
    /// `InvalidData` if the bytes are no index or are cut off; those of `input`.
    pub fn read_from(input: &mut dyn io::Read) -> io::Result<Self> {
        let input = &mut IndexInput::new(input);
        binary_format::must(input.bytes()? == binary_format::FORMAT)?;
        let last = input.numbers(|bytes| DocId(u32::from_le_bytes(bytes)))?;
        binary_format::must(last.len() <= 1)?;
        let last = last.first().copied();
        let parts = input.number()?;
        let mut read = Vec::new();
        for _ in 0..parts {
            let part = LiveSegment::read_from(input)?;
            binary_format::must(part.segment.docs.iter().all(|doc| Some(*doc) <= last))?;
            read.push(part);
        }
        Ok(Self { last, parts: read, ..Self::new() })
    }

    /// Adds documents as one segment.
    fn append(&mut self, documents: &[(DocId, &[Passage])]) {
        let mut cache = std::mem::take(&mut self.cache);
        let mut terms = |passage: &Passage| self.terms_of_passage(passage, &mut cache);
        let documents: Vec<(DocId, Vec<PassageTerms>)> = documents
            .iter()
            .map(|(doc, passages)| (*doc, passages.iter().map(&mut terms).collect()))
            .collect();
        self.cache = cache;
        self.parts.push(LiveSegment::new(Segment::from_documents(&documents)));
        self.merge_like_sizes();
    }

    /// Adds documents that were analysed before as one segment.
    pub(super) fn append_counted(&mut self, documents: &[(DocId, Vec<CountedPassage>)]) {
        self.last = self.last.max(documents.last().map(|(doc, _)| *doc));
        self.parts.push(LiveSegment::new(Segment::from_counted(documents)));
        self.merge_like_sizes();
    }

    pub(super) fn terms_of_passage(
        &self,
        passage: &Passage,
        cache: &mut WordCache,
    ) -> PassageTerms {
        let Passage { own, nearby, is_reply } = passage;
        PassageTerms {
            own: tokenize::terms_of(own, DOCUMENT_TERMS_MAX, &self.words, cache),
            nearby: tokenize::terms_of(nearby, NEARBY_TERMS_MAX, &self.words, cache),
            is_reply: *is_reply,
        }
    }

    pub(super) fn analyse_query(&self, query: &str) -> TermList {
        self.analyse_next(query, &mut WordCache::default())
    }

    /// Does the same for one of many texts.
    pub(super) fn analyse_next(&self, query: &str, cache: &mut WordCache) -> TermList {
        tokenize::terms_of(query, QUERY_TERMS_MAX, &self.words, cache)
    }

    /// Merges the youngest parts while enough of them are on one level. Large ones are left to [`LexicalIndex::settle`].
    fn merge_like_sizes(&mut self) {
        while let Some(youngest) = self.parts.last().map(level).filter(|level| *level < LARGE) {
            let like = self.parts.iter().rev().take_while(|part| level(part) <= youngest).count();
            if like < MERGED_TOGETHER {
                return;
            }
            let young = self.parts.split_off(self.parts.len() - like);
            self.parts.push(LiveSegment::new(merge::merged(&young)));
        }
    }

    /// Merges some large parts, which takes up to a second in a store of a million documents. To be called again, while
    /// nobody waits, until it returns false.
    pub fn settle(&mut self) -> bool {
        let levels: Vec<u32> = self.parts.iter().map(level).collect();
        let is_like = |levels: &[u32]| {
            levels.iter().all(|level| *level >= LARGE && Some(level) == levels.first())
        };
        let Some(first) = levels.windows(MERGED_TOGETHER).rposition(is_like) else { return false };
        let like: Vec<LiveSegment> =
            self.parts.splice(first..first + MERGED_TOGETHER, []).collect();
        self.parts.insert(first, LiveSegment::new(merge::merged(&like)));
        true
    }

    fn rewrite_if_decayed(&mut self, place: usize) {
        let Some(part) = self.parts.get_mut(place) else { return };
        if part.len() == 0 {
            self.parts.remove(place);
        } else if part.dead_len() * DEAD_SHARE > part.segment.docs.len() {
            *part = LiveSegment::new(merge::merged(std::slice::from_ref(part)));
        }
    }
}

/// Parts of one level differ in size by less than a factor of four.
fn level(part: &LiveSegment) -> u32 {
    part.len().max(1).ilog(MERGED_TOGETHER)
}
