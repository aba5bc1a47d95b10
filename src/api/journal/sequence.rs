//! A place in a journal, between two lines: what listeners and cursors remember. Not here: whether it is still there
//! (`reading`).

use std::fmt;

/// A place in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence {
    /// The generation of the file.
    pub generation: u64,
    /// How many bytes of it stand before the place.
    pub offset: u64,
}

impl Sequence {
    /// Reads the form in which a place is shown.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (generation, offset) = text.split_once('-')?;
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(generation) || !is_number(offset) {
            return None;
        }
        Some(Self { generation: generation.parse().ok()?, offset: offset.parse().ok()? })
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.generation, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_shown() {
        let place = Sequence { generation: 1_767_323_045_000, offset: 7 };
        assert_eq!(Sequence::parse(&place.to_string()), Some(place));
        for text in ["", "-", "1", "1-", "-1", "1-2-3", "+1-2", "1-99999999999999999999", "a-b"] {
            assert_eq!(Sequence::parse(text), None, "{text}");
        }
    }
}
