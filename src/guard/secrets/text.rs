//! Bounded reads of a text: a byte, a slice, a run of characters. Not here: what is read.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::charset::Charset;

/// The bytes of a text. Reads past either end give NUL, which no charset has.
#[derive(Clone, Copy, Default)]
pub(super) struct Text<'a>(pub(super) &'a [u8]);

impl<'a> Text<'a> {
    pub(super) fn at(self, place: usize) -> u8 {
        self.0.get(place).copied().unwrap_or(0)
    }

    pub(super) fn before(self, place: usize) -> u8 {
        place.checked_sub(1).map_or(0, |place| self.at(place))
    }

    pub(super) fn slice(self, from: usize, to: usize) -> &'a [u8] {
        self.0.get(from..to.min(self.0.len())).unwrap_or_default()
    }

    /// Tells whether `word` stands at `place`, in any case.
    pub(super) fn is_at(self, place: usize, word: &str) -> bool {
        self.slice(place, place + word.len()).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Returns where the run of `members` that begins at `place` ends, at most `most` bytes on.
    pub(super) fn run(self, place: usize, members: Charset, most: usize) -> usize {
        self.run_while(place, most, |byte| members.has(byte))
    }

    pub(super) fn run_while(
        self,
        place: usize,
        most: usize,
        mut goes_on: impl FnMut(u8) -> bool,
    ) -> usize {
        let rest = self.slice(place, place.saturating_add(most));
        let length = rest.iter().position(|byte| !goes_on(*byte)).unwrap_or(rest.len());
        count(length + 1);
        place + length
    }

    /// Returns where the run that ends at `place` begins, at most `most` bytes back.
    pub(super) fn run_back_while(
        self,
        place: usize,
        most: usize,
        goes_on: impl Fn(u8) -> bool,
    ) -> usize {
        let before = self.slice(place.saturating_sub(most), place);
        count(before.len());
        place - before.iter().rev().position(|byte| !goes_on(*byte)).unwrap_or(before.len())
    }

    /// Returns where the run of `members` that ends at `place` begins, at most `most` bytes back.
    pub(super) fn run_back(self, place: usize, members: Charset, most: usize) -> usize {
        self.run_back_while(place, most, |byte| members.has(byte))
    }
}

/// Returns the words of a list that is one text: the loader would have to write the address of each text of
/// an array at start.
pub(super) fn words(list: &str) -> impl Iterator<Item = &[u8]> {
    list.as_bytes().split(|byte| *byte == b' ')
}

/// Returns the words of a table: words between white space, and lines that begin with `#` for people.
pub(super) fn list(table: &'static str) -> impl Iterator<Item = &'static [u8]> {
    let is_row = |line: &&str| !line.starts_with('#');
    table.lines().filter(is_row).flat_map(str::split_ascii_whitespace).map(str::as_bytes)
}

/// The words of a table, which are looked up often once a name was found, and never before.
pub(super) struct WordTable {
    table: &'static str,
    words: OnceLock<HashSet<&'static [u8]>>,
}

impl WordTable {
    pub(super) const fn new(table: &'static str) -> Self {
        Self { table, words: OnceLock::new() }
    }

    /// Tells whether a word is in the table, in any case.
    pub(super) fn has(&self, word: &[u8]) -> bool {
        let words = self.words.get_or_init(|| list(self.table).collect());
        word.len() <= WORD_BYTES_MAX && words.contains(word.to_ascii_lowercase().as_slice())
    }
}

/// Bytes of the longest word of a table.
const WORD_BYTES_MAX: usize = 24;

/// Counts bytes that were looked at; only tests ask for it.
pub(super) fn count(bytes: usize) {
    #[cfg(test)]
    WORK.with(|work| work.set(work.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
thread_local! {
    static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns how many bytes `act` looked at.
#[cfg(test)]
pub(super) fn work(act: impl FnOnce()) -> usize {
    let before = WORK.get();
    act();
    WORK.get() - before
}
