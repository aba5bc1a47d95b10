//! Event ids: they sort by time, are safe to merge between machines, and can be cited by any unique short form.
//! Not here: randomness and the clock, which callers pass in.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use ulid::Ulid;

use super::limits::ID_BYTES_MAX;

/// The id of one event. Our ids are ULIDs (26 characters: 48 bits of milliseconds, 80 random bits). Ids from
/// other writers are kept unchanged. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct EventId(Arc<str>);

impl From<EventId> for String {
    fn from(id: EventId) -> Self {
        id.as_str().to_owned()
    }
}

impl TryFrom<String> for EventId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::foreign(&text).ok_or("not an event id")
    }
}

/// How many characters at the end of an id are shown: 40 random bits. Even at 100,000 memories a clash has a
/// probability of 0.5 %, and then the full ids are listed.
const SHORT_CHARS: usize = 8;

impl EventId {
    /// Makes a new id from the time of writing and 80 random bits (the low bits of `random`).
    #[must_use]
    pub fn mint(now: Timestamp, random: u128) -> Self {
        Self::from_parts(now, random)
    }

    /// Derives the id of a line without an id from its time and its bytes, so that the same line has the same
    /// id wherever and whenever it is read.
    #[must_use]
    pub fn derive(timestamp: Option<Timestamp>, line: &[u8]) -> Self {
        let digest = Sha256::digest(line);
        let hash = digest.iter().take(10).fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
        Self::from_parts(timestamp.unwrap_or(Timestamp::UNIX_EPOCH), hash)
    }

    /// Accepts an id from another writer: 1 to 128 visible ASCII characters without quotes, backslashes or
    /// spaces.
    #[must_use]
    pub fn foreign(text: &str) -> Option<Self> {
        let is_plain =
            |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'`');
        let fits = !text.is_empty() && text.len() <= ID_BYTES_MAX;
        (fits && text.bytes().all(is_plain)).then(|| Self(text.into()))
    }

    fn from_parts(when: Timestamp, low_bits: u128) -> Self {
        let millis = u64::try_from(when.as_millisecond()).unwrap_or(0);
        Self(Ulid::from_parts(millis, low_bits).to_string().into())
    }

    /// Returns the id as written in the line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form shown to agents: the last eight characters of one of our ids, because the first ones
    /// only encode the time. A foreign id is shown whole.
    #[must_use]
    pub fn short(&self) -> &str {
        if self.0.len() == ulid::ULID_LEN && Ulid::from_string(&self.0).is_ok() {
            return self.0.get(ulid::ULID_LEN - SHORT_CHARS..).unwrap_or(&self.0);
        }
        &self.0
    }

    /// Tells whether `cited` is this id, its beginning or its end, in any case.
    #[must_use]
    pub fn is_cited_by(&self, cited: &str) -> bool {
        let (id, cited) = (self.0.as_bytes(), cited.as_bytes());
        let Some(rest) = id.len().checked_sub(cited.len()) else { return false };
        let same = |part: Option<&[u8]>| part.is_some_and(|part| part.eq_ignore_ascii_case(cited));
        !cited.is_empty() && (same(id.get(..cited.len())) || same(id.get(rest..)))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // S-LINE-4
    #[test]
    fn ids_sort_by_time() {
        let earlier = EventId::mint(at("2025-10-31T04:58:01Z"), u128::MAX);
        let later = EventId::mint(at("2025-10-31T04:58:02Z"), 0);
        assert!(earlier < later);
    }

    // S-LINE-4
    #[test]
    fn the_same_line_has_the_same_id_everywhere() {
        let when = Some(at("2025-10-31T04:58:01Z"));
        assert_eq!(EventId::derive(when, b"{\"a\":1}"), EventId::derive(when, b"{\"a\":1}"));
        assert_ne!(EventId::derive(when, b"{\"a\":1}"), EventId::derive(when, b"{\"a\":2}"));
    }

    // S-LINE-4
    #[test]
    fn an_id_is_found_by_its_beginning_or_its_end_in_any_case() {
        let id = EventId::mint(at("2025-10-31T04:58:01Z"), 0x1234_5678_9abc_def0);
        assert_eq!(id.short().len(), 8);
        for cited in
            [id.as_str(), id.short(), &id.short().to_lowercase(), id.as_str().get(..12).unwrap()]
        {
            assert!(id.is_cited_by(cited), "{cited}");
        }
        assert!(!id.is_cited_by(""));
        assert!(!id.is_cited_by("nothere"));
    }

    #[test]
    fn ids_of_others_are_kept_whole() {
        assert_eq!(EventId::foreign("m12").unwrap().short(), "m12");
        for bad in ["", "a b", "a\nb", "a\"b", "ü", &"x".repeat(129)] {
            assert!(EventId::foreign(bad).is_none(), "{bad}");
        }
    }
}
