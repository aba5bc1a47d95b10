//! A chunk of 1,024 rows: numbers, lengths, signs, and which rows are present.
//!
//! What is not here: making and comparing numbers and signs (`codes`).

use super::codes::{CodedRow, length_of, sign_words, signs_of};

/// Rows per chunk. A write after a snapshot copies one chunk: 1,024 × 436 bytes = 446 kB; smaller chunks
/// would copy less and make the list of pointers, cloned per snapshot, longer.
pub(super) const CHUNK_ROWS: usize = 1024;
/// Presence bits per word.
const WORD_BITS: usize = u64::BITS as usize;
/// Words of presence bits.
pub(super) const PRESENCE_WORDS: usize = CHUNK_ROWS / WORD_BITS;

#[derive(Debug, Clone)]
pub(super) struct Chunk {
    /// `CHUNK_ROWS` rows, back to back; the content of an absent row is undefined.
    codes: Vec<u8>,
    lengths: Vec<f32>,
    signs: Vec<u64>,
    present: [u64; PRESENCE_WORDS],
}

impl Chunk {
    pub(super) fn empty(dims: usize) -> Self {
        Self {
            codes: vec![0; CHUNK_ROWS * dims],
            lengths: vec![0.0; CHUNK_ROWS],
            signs: vec![0; CHUNK_ROWS * sign_words(dims)],
            present: [0; PRESENCE_WORDS],
        }
    }

    pub(super) fn has(&self, row: usize) -> bool {
        self.present.get(row / WORD_BITS).is_some_and(|word| word >> (row % WORD_BITS) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.iter().all(|word| *word == 0)
    }

    pub(super) fn rows(&self) -> usize {
        self.present.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn present(&self) -> &[u64; PRESENCE_WORDS] {
        &self.present
    }

    pub(super) fn row(&self, row: usize, dims: usize) -> Option<CodedRow<'_>> {
        let codes = self.codes.get(row * dims..(row + 1) * dims)?;
        let length = *self.lengths.get(row)?;
        self.has(row).then_some(CodedRow { codes, length })
    }

    /// Signs of all rows, back to back.
    pub(super) fn signs(&self) -> &[u64] {
        &self.signs
    }

    /// Puts a row in its place. `None`, and nothing changes, where these are no numbers of a row.
    pub(super) fn set(&mut self, row: usize, codes: &[u8]) -> Option<()> {
        let (dims, words) = (codes.len(), sign_words(codes.len()));
        let length = length_of(codes)?;
        let word = self.present.get_mut(row / WORD_BITS)?;
        self.codes.get_mut(row * dims..(row + 1) * dims)?.copy_from_slice(codes);
        *self.lengths.get_mut(row)? = length;
        let signs = self.signs.get_mut(row * words..(row + 1) * words)?;
        signs.iter_mut().zip(signs_of(codes)).for_each(|(sign, new)| *sign = new);
        *word |= 1 << (row % WORD_BITS);
        Some(())
    }

    pub(super) fn forget(&mut self, row: usize) {
        if let Some(word) = self.present.get_mut(row / WORD_BITS) {
            *word &= !(1 << (row % WORD_BITS));
        }
    }
}
