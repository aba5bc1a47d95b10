//! Bounded reads of a text: a byte, a slice, a run of characters. Not here: what is read.

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
