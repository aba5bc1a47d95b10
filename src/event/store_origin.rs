//! The origin of a store: a name that is made once, and under which a team knows its lines. Not here: where it is kept
//! (`store::team`).

use std::fmt;
use std::sync::Arc;

use guard::secrets::RedactedText;

/// The origin of a store, `<host>-<16 hexadecimal digits>`. The host is a hint for people; the 64 random bits tell
/// containers and copies of one machine apart. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreOrigin(Arc<str>);

/// Most characters of the host.
const HOST_CHARS_MAX: usize = 32;
/// The random part, in hexadecimal digits.
const RANDOM_DIGITS: usize = 16;
/// Of these, as many are shown as people can compare.
const SHOWN_DIGITS: usize = 8;

impl StoreOrigin {
    /// Makes a new origin from the name of the host, of which only `a-z 0-9 -` stay, and 64 random bits.
    #[must_use]
    pub fn mint(host: &str, random: u64) -> Self {
        // Before it is respelled: in small letters a secret is a name like any other.
        let host = RedactedText::stamp(host);
        let mut name = String::new();
        for letter in host.split('.').next().unwrap_or_default().chars() {
            match letter.to_ascii_lowercase() {
                plain @ ('a'..='z' | '0'..='9') => name.push(plain),
                _ if name.is_empty() || name.ends_with('-') => {}
                _ => name.push('-'),
            }
        }
        let name: String = name.chars().take(HOST_CHARS_MAX).collect();
        let name = name.trim_end_matches('-');
        let name = if name.is_empty() { "host" } else { name };
        Self(format!("{name}-{random:016x}").into())
    }

    /// Reads an origin. `None` for a text of another form, so that it can be used as the name of a folder.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, random) = text.rsplit_once('-')?;
        let is_host = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_right = (1..=HOST_CHARS_MAX).contains(&host.len())
            && host.bytes().all(is_host)
            && !host.starts_with('-')
            && random.len() == RANDOM_DIGITS
            && random.bytes().all(is_digit);
        is_right.then(|| Self(text.into()))
    }

    /// Returns the whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what people are shown: the host and the first eight digits.
    #[must_use]
    pub fn shown(&self) -> &str {
        let end = self.0.len().saturating_sub(RANDOM_DIGITS - SHOWN_DIGITS);
        self.0.get(..end).unwrap_or(&self.0)
    }
}

impl fmt::Display for StoreOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-WRITE-8
    #[test]
    fn no_secret_of_the_host_becomes_part_of_it() {
        let token = ["ghp", "_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let origin = StoreOrigin::mint(&format!("{token}.local"), 7);
        assert!(!origin.as_str().contains("a8kd03"), "{origin:?}");
        assert_eq!(StoreOrigin::parse(origin.as_str()), Some(origin));
    }

    // S-ORIGIN-1
    #[test]
    fn an_origin_is_made_of_any_host_and_read_back() {
        for (host, expected) in [
            ("laptop", "laptop-00000000000000ff"),
            ("Ana's MacBook.local", "ana-s-macbook-00000000000000ff"),
            ("", "host-00000000000000ff"),
            ("..", "host-00000000000000ff"),
            ("ünï", "n-00000000000000ff"),
            ("-a-", "a-00000000000000ff"),
        ] {
            let origin = StoreOrigin::mint(host, 255);
            assert_eq!(origin.as_str(), expected, "{host}");
            assert_eq!(StoreOrigin::parse(expected), Some(origin));
        }
        let long = StoreOrigin::mint(&"x".repeat(300), u64::MAX);
        assert_eq!(StoreOrigin::parse(long.as_str()), Some(long));
    }

    // S-ORIGIN-1
    #[test]
    fn nothing_else_is_an_origin() {
        for text in [
            "",
            "laptop",
            "-00000000000000ff",
            "laptop-00000000000000f",
            "laptop-00000000000000FF",
            "../x-00000000000000ff",
            "a/b-00000000000000ff",
            ".a-00000000000000ff",
        ] {
            assert_eq!(StoreOrigin::parse(text), None, "{text}");
        }
    }

    // S-ORIGIN-1
    #[test]
    fn eight_digits_are_shown() {
        let origin = StoreOrigin::parse("laptop-3fa9c1d2e5b60718").unwrap();
        assert_eq!(
            (origin.shown(), origin.to_string().as_str()),
            ("laptop-3fa9c1d2", "laptop-3fa9c1d2")
        );
    }
}
