//! The BM25 weight of a term in a document. Pure arithmetic.
//!
//! The formula is Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
//! 2009) with the never-negative idf of Lucene. The `bm25` crate computes the same, and a test compares the two.

/// Saturation of repeated terms; the default of Lucene and of the crate.
pub(super) const K1: f32 = 1.2;

/// Influence of length; the default of Lucene and of the crate.
pub(super) const B: f32 = 0.75;

/// Counts and lengths are in halves of an occurrence.
const HALF: f32 = 0.5;

/// Size of the corpus: the only thing besides the document itself that a score depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct CorpusSize {
    pub(super) documents: usize,
    /// Number of terms of all documents in halves, repeats included.
    pub(super) terms: u64,
}

/// The part of the formula that depends on length: `base + slope * length`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthNorm {
    base: f32,
    slope: f32,
}

impl CorpusSize {
    /// `ln(1 + (N - df + 0.5) / (df + 0.5))`: positive for every `df` up to `N`.
    pub(super) fn inverse_document_frequency(self, holding: usize) -> f32 {
        let (documents, holding) = (self.documents as f32, holding as f32);
        (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln()
    }

    /// `k1 * (1 - b + b * length / average)`, with the current average of the corpus.
    pub(super) fn length_norm(self) -> LengthNorm {
        let average = self.terms as f32 / self.documents.max(1) as f32;
        let slope = if average > 0.0 { K1 * B / average } else { 0.0 };
        LengthNorm { base: K1 * (1.0 - B), slope }
    }
}

impl LengthNorm {
    /// `tf * (k1 + 1) / (tf + norm(length))`: between 0 and `k1 + 1`. `tf` and `length` are in halves.
    pub(super) fn saturated(self, count: u16, length: u16) -> f32 {
        let count = HALF * f32::from(count);
        count * (K1 + 1.0) / (count + self.base + self.slope * f32::from(length))
    }
}

/// Counts and lengths in the table that is computed once for a query. A larger table would not stay in the fastest
/// cache, and few passages are longer than 256 terms.
const COUNTS: u16 = 8;
const LENGTHS: u16 = 512;

/// A table of [`LengthNorm::saturated`] for the usual counts and lengths, equal bit by bit. A division takes longer
/// than everything else that is done with a posting.
#[derive(Debug)]
pub(super) struct Saturation {
    norm: LengthNorm,
    /// For each length, the value for each count.
    known: Vec<f32>,
}

impl Saturation {
    pub(super) fn from_norm(norm: LengthNorm) -> Self {
        let of_length = |length| (0..COUNTS).map(move |count| norm.saturated(count, length));
        Self { norm, known: (0..LENGTHS).flat_map(of_length).collect() }
    }

    #[inline]
    pub(super) fn at(&self, count: u16, length: u16) -> f32 {
        let place = usize::from(length) * usize::from(COUNTS) + usize::from(count);
        match self.known.get(place) {
            Some(known) if count < COUNTS => *known,
            _ => self.norm.saturated(count, length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_terms_more_repeats_and_shorter_texts_weigh_more() {
        let corpus = CorpusSize { documents: 10, terms: 100 };
        assert!(corpus.inverse_document_frequency(1) > corpus.inverse_document_frequency(9));
        assert!(corpus.inverse_document_frequency(10) > 0.0);
        let norm = corpus.length_norm();
        assert!(norm.saturated(2, 10) > norm.saturated(1, 10));
        assert!(norm.saturated(1, 5) > norm.saturated(1, 50));
        assert!(norm.saturated(u16::MAX, 1) < K1 + 1.0);
    }

    #[test]
    fn what_is_reckoned_once_is_what_is_reckoned_each_time() {
        let norm = CorpusSize { documents: 7, terms: 400 }.length_norm();
        let saturation = Saturation::from_norm(norm);
        for count in [0, 1, COUNTS - 1, COUNTS, u16::MAX] {
            for length in [0, 1, LENGTHS - 1, LENGTHS, u16::MAX] {
                let plain = norm.saturated(count, length).to_bits();
                assert_eq!(saturation.at(count, length).to_bits(), plain, "{count} {length}");
            }
        }
    }
}
