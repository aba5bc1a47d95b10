//! The place where a page of a list ended, as one word. Not here: which list it is.

use event::{EventId, Problems, Timestamp};
use memory::Memory;
use requests::ApiError;

/// Parts the halves of a cursor.
const SEAM: char = '~';

/// What a cursor stands for when its line has no time.
const NO_TIME: &str = "-";

/// A place in a list that is sorted by time, then by id, then by a number for what has both in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageEnd {
    pub(super) at: Option<Timestamp>,
    pub(super) id: EventId,
    pub(super) more: u64,
}

/// Returns what pages of memories are sorted by.
pub(super) fn sort_key(memory: &Memory) -> (Option<Timestamp>, &EventId) {
    (memory.timestamp, &memory.id)
}

impl PageEnd {
    pub(super) fn at_memory(memory: &Memory) -> Self {
        Self { at: memory.timestamp, id: memory.id.clone(), more: 0 }
    }

    /// Reads what [`PageEnd::to_string`] made.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] for anything else.
    pub(super) fn read(text: &str) -> Result<Self, ApiError> {
        let read = || {
            let (at, rest) = text.split_once(SEAM)?;
            let (id, more) = rest.rsplit_once(SEAM).unwrap_or((rest, "0"));
            let at = if at == NO_TIME { None } else { Some(at.parse().ok()?) };
            Some(Self { at, id: EventId::foreign(id)?, more: more.parse().ok()? })
        };
        read().ok_or_else(|| {
            let message = format!(
                "must be the cursor that the page before gave for the next one; got {}",
                event::quoted(text)
            );
            ApiError::Invalid(Problems::one("cursor", message))
        })
    }
}

impl std::fmt::Display for PageEnd {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(out, "{at}")?,
            None => write!(out, "{NO_TIME}")?,
        }
        write!(out, "{SEAM}{}{SEAM}{}", self.id, self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let times = [None, "2026-03-01T12:00:00.25Z".parse().ok()];
        for (at, id) in times.into_iter().zip(["a~b", "m1"]) {
            let cursor = PageEnd { at, id: EventId::foreign(id).unwrap(), more: 7 };
            assert_eq!(PageEnd::read(&cursor.to_string()).unwrap(), cursor);
        }
        for wrong in ["", "x", "-~", "today~m1~1", "-~m1~x", "2026-03-01~m1"] {
            assert!(PageEnd::read(wrong).is_err(), "{wrong}");
        }
    }
}
