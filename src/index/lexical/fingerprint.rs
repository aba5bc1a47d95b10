//! A hash of the indexed content of each document, independent of segments, so that two indexes with different
//! histories can be compared. Not here: comparing them with the memories (`engine::digest`).

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::index::LexicalIndex;
use super::live_segment::LiveSegment;
use super::{DocId, postings};

impl LexicalIndex {
    /// Returns a SHA-256 of the indexed content of each living document: its length and its terms in order, each
    /// with its count. Reads all postings once.
    #[must_use]
    pub fn fingerprints(&self) -> BTreeMap<DocId, [u8; 32]> {
        let mut documents: BTreeMap<DocId, Sha256> = BTreeMap::new();
        for (doc, passage) in self.parts.iter().flat_map(fingerprints_of) {
            documents.entry(doc).or_default().update(passage);
        }
        documents.into_iter().map(|(doc, passages)| (doc, passages.finalize().into())).collect()
    }

    /// Returns the number of terms behind the average length, in halves, repeats included.
    #[must_use]
    pub fn terms_len(&self) -> u64 {
        self.parts.iter().map(|part| part.terms).sum()
    }
}

/// Each document is in one part with its passages in order, and the part's terms are in order. So the terms of each
/// passage are in order too.
fn fingerprints_of(part: &LiveSegment) -> Vec<(DocId, [u8; 32])> {
    let mut said: Vec<(DocId, Sha256)> =
        part.documents().map(|(doc, length)| (doc, begun_with(length))).collect();
    for (term, list) in part.segment.terms() {
        for (local, count) in list.iter() {
            if let Some((_, hasher)) = said.get_mut(local as usize) {
                // No term holds a zero byte, so no term together with its count equals another pair.
                hasher.update(term);
                hasher.update([0]);
                hasher.update(count.to_le_bytes());
            }
        }
    }
    let living = (0..).zip(said).filter(|(local, _)| part.is_alive(*local));
    living.map(|(_, (doc, hasher))| (doc, hasher.finalize().into())).collect()
}

fn begun_with(length: postings::HalfCount) -> Sha256 {
    Sha256::new_with_prefix(length.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns an index of these documents. Those that `detour` names had another text before.
    fn index_of(texts: &[String], detour: u64) -> LexicalIndex {
        let mut index = LexicalIndex::new();
        for (number, text) in (0..).zip(texts) {
            let is_replaced = detour >> (number % 64) & 1 == 1;
            let first = if is_replaced { "something else" } else { text };
            index.insert(DocId(number), first).unwrap();
            if is_replaced {
                index.replace(DocId(number), text);
            }
        }
        index
    }

    proptest! {
        // S-DIGEST-1
        #[test]
        fn an_index_says_the_same_whatever_it_said_before(
            texts in prop::collection::vec("[a-d ]{0,12}", 0..40), one in any::<u64>(), other in any::<u64>(),
        ) {
            let (one, other) = (index_of(&texts, one), index_of(&texts, other));
            prop_assert_eq!(one.fingerprints(), other.fingerprints());
            prop_assert_eq!(one.terms_len(), other.terms_len());
        }
    }

    #[test]
    fn another_count_of_a_term_is_another_fingerprint() {
        let index = index_of(&["alpha beta".to_owned(), "alpha beta beta".to_owned()], 0);
        let said: Vec<[u8; 32]> = index.fingerprints().into_values().collect();
        assert!(said.len() == 2 && said[0] != said[1]);
    }
}
