//! Tables without addresses. The loader writes each address in a table whenever the program starts, page
//! by page, and a program that appends one event looks at hardly any of them; places in one array need
//! no writing. Not here: the tables.

use std::ops::Range;

/// Where a part begins, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    from: u16,
    length: u8,
}

impl Part {
    /// A part of nothing.
    pub(super) const EMPTY: Self = Self { from: 0, length: 0 };

    /// Its places.
    pub(super) fn range(self) -> Range<usize> {
        let from = usize::from(self.from);
        from..from + usize::from(self.length)
    }
}

/// Parts one behind the other, put together by the compiler.
pub(super) struct Joined<T, const ROOM: usize> {
    pub(super) items: [T; ROOM],
    filled: usize,
}

impl<T: Copy, const ROOM: usize> Joined<T, ROOM> {
    /// One without parts. Without room it only counts how much room the parts take.
    pub(super) const fn new(nothing: T) -> Self {
        Self { items: [nothing; ROOM], filled: 0 }
    }

    /// How much room the parts take.
    pub(super) const fn len(&self) -> usize {
        self.filled
    }

    /// Adds a part; fails to compile where it has no place.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which checks the bounds"
    )]
    #[expect(clippy::cast_possible_truncation, reason = "asserted, by the compiler")]
    pub(super) const fn add(&mut self, part: &[T]) -> Part {
        let (from, length) = (self.filled, part.len());
        assert!(from <= u16::MAX as usize && length <= u8::MAX as usize);
        let mut place = 0;
        while place < length && ROOM > 0 {
            self.items[from + place] = part[place];
            place += 1;
        }
        self.filled += length;
        Part { from: from as u16, length: length as u8 }
    }

    /// Returns a part.
    pub(super) fn part(&self, part: Part) -> &[T] {
        self.items.get(part.range()).unwrap_or_default()
    }
}

/// Returns the words of a list that is one text.
pub(super) fn words(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b' ')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{named, password, stray};
    use super::*;

    /// What wraps a list could leave spaces or capitals in it, and a word of those would never be found.
    #[test]
    fn every_list_is_of_plain_words_each_there_once() {
        for list in [
            named::ABOUT,
            password::WORDS,
            stray::NUMBERED,
            stray::PURPOSES,
            stray::LIKELY_PURPOSES,
        ] {
            let mut seen = BTreeSet::new();
            for word in words(list) {
                let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
                let name = String::from_utf8_lossy(word);
                assert!(!word.is_empty() && word.iter().all(is_plain), "{name:?}");
                assert!(seen.insert(word), "{name} is there twice");
            }
        }
    }
}
