//! Decodes one layer of escapes (`\n`, `\"`, `\u002d`, `\u{2d}`, `\x2d`, `%2d`, joined strings), so that rules see the
//! secret as it was meant. Keeps the origin of each byte. Not here: the rules.

/// A text without one layer of escapes.
#[derive(Default)]
pub(super) struct UnescapedText {
    pub(super) bytes: Vec<u8>,
    /// Where each byte, or the escape that encodes it, begins in the text; last, the end of the text.
    places: Vec<usize>,
}

impl UnescapedText {
    /// Decodes one layer; `None` if that changes nothing, as in `C:\Users` and `a%20b`. A layer is shorter than its text.
    pub(super) fn decode(text: &[u8]) -> Option<Self> {
        let is_escape = |(place, byte): (usize, &u8)| match byte {
            b'\\' | b'%' | b'&' => escape(text, place).is_some(),
            b'+' => is_between_quotes(text, place),
            _ => false,
        };
        text.iter().enumerate().any(is_escape).then(|| Self::undone(text))
    }

    fn undone(text: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len() + 1);
        let mut place = 0;
        while let Some(byte) = text.get(place) {
            let length = match (escape(text, place), joint(text, place)) {
                (Some((meant, length)), _) => {
                    bytes.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
                    length
                }
                (None, Some(length)) => length,
                (None, None) => {
                    bytes.push(*byte);
                    1
                }
            };
            places.resize(bytes.len(), place);
            place += length;
        }
        places.push(place);
        Self { bytes, places }
    }

    /// Adds a character that begins at `place` of the text.
    pub(super) fn push(&mut self, letter: char, place: usize) {
        self.bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        self.places.resize(self.bytes.len(), place);
    }

    /// Replaces the last character.
    pub(super) fn replace_last(&mut self, letter: char) {
        let is_inner = |byte: &u8| (0x80..0xC0).contains(byte);
        let length = self.bytes.iter().rev().take_while(|byte| is_inner(byte)).count() + 1;
        self.bytes.truncate(self.bytes.len().saturating_sub(length));
        let place = self.origin(self.bytes.len());
        self.places.truncate(self.bytes.len());
        self.push(letter, place);
    }

    /// Says where the text ends.
    pub(super) fn close(&mut self, end: usize) {
        self.places.push(end);
    }

    /// Returns the origin of the byte at `place`.
    pub(super) fn origin(&self, place: usize) -> usize {
        self.places.get(place).or(self.places.last()).copied().unwrap_or(0)
    }
}

/// Bytes of white space around a `+` that joins two strings.
const JOINT_BYTES_MAX: usize = 64;

/// Returns the length of the joint between two strings, as in `"ab" + "cd"`.
fn joint(text: &[u8], place: usize) -> Option<usize> {
    let quote = text.get(place).filter(|byte| is_quote(**byte))?;
    let plus = place + 1 + blanks(text.get(place + 1..)?.iter());
    let after = text.get(plus..).filter(|rest| rest.starts_with(b"+"))?.get(1..)?;
    let next = plus + 1 + blanks(after.iter());
    (text.get(next) == Some(quote)).then_some(next + 1 - place)
}

fn is_between_quotes(text: &[u8], plus: usize) -> bool {
    let before = text.get(..plus).unwrap_or_default();
    let Some(start) = plus.checked_sub(blanks(before.iter().rev()) + 1) else { return false };
    joint(text, start).is_some()
}

fn blanks<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take(JOINT_BYTES_MAX).take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Reads an escape: its meaning and its length in bytes.
fn escape(text: &[u8], place: usize) -> Option<(char, usize)> {
    match (text.get(place)?, text.get(place + 1)?) {
        (b'%', _) => {
            let code = hex(text, place + 1, 2).filter(|code| (0x21..0x7F).contains(code))?;
            Some((char::from_u32(code)?, 3))
        }
        (b'\\', b'n' | b'r') => Some(('\n', 2)),
        (b'\\', b't') => Some(('\t', 2)),
        (b'\\', b'x') => Some((char::from_u32(hex(text, place + 2, 2)?)?, 4)),
        (b'\\', b'u') if text.get(place + 2) == Some(&b'{') => braced(text, place + 3),
        (b'\\', b'u') => Some((char::from_u32(hex(text, place + 2, 4)?).unwrap_or(' '), 6)),
        (b'\\', quoted @ (b'"' | b'\'' | b'`' | b'\\' | b'/')) => Some((char::from(*quoted), 2)),
        (b'&', _) => entity(text.get(place..)?),
        _ => None,
    }
}

/// Digits between the braces of `\u{1F600}`.
const BRACED_DIGITS_MAX: usize = 6;

/// Reads the digits and the closing brace of an escape of Rust and JavaScript, which begin at `place`.
fn braced(text: &[u8], place: usize) -> Option<(char, usize)> {
    let rest = text.get(place..)?;
    let digits = rest.iter().take(BRACED_DIGITS_MAX).take_while(|byte| byte.is_ascii_hexdigit());
    let length = digits.count();
    let letter = char::from_u32(hex(text, place, length)?)?;
    (length > 0 && rest.get(length) == Some(&b'}')).then_some((letter, length + "\\u{}".len()))
}

/// Characters of markup by name, which stand around a value; `&amp;` is part of one.
const ENTITIES: [(&str, char); 8] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&#58;", ':'),
    ("&colon;", ':'),
    ("&equals;", '='),
];

fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let is_here = |(name, _): &&(&str, char)| rest.starts_with(name.as_bytes());
    ENTITIES.iter().find(is_here).map(|(name, letter)| (*letter, name.len()))
}

fn hex(text: &[u8], from: usize, digits: usize) -> Option<u32> {
    let digits = text.get(from..from + digits)?;
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::super::redacted;
    use super::*;

    // S-WRITE-8
    #[test]
    fn braces_around_digits_are_read() {
        let secret = ["copper", "lantern"].concat();
        let text = format!("\"r\\u{{e2b}}\\u{{e31}}\\u{{e2a}} pass\\u{{77}}ord: {secret}\"");
        assert!(!redacted(&text).contains(&secret), "{}", redacted(&text));
        for text in ["\\u{}", "\\u{e31", "\\u{110000}", "\\u{1234567}", "\\u{xy}"] {
            assert!(UnescapedText::decode(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_layer_that_changes_nothing_is_none() {
        for text in
            ["C:\\Users", "match \\d", "https://x.y/a%20b", "100%ab", "a & b", "1 + 2", "\\"]
        {
            assert!(UnescapedText::decode(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_layer_is_shorter_than_its_text() {
        for text in [
            "a\\nb",
            "\\\\",
            "\\u00e9",
            "\\ud800",
            "\\xff",
            "%2d",
            "&quot;",
            "'a' + 'b'",
            "\"+\"+\"",
        ] {
            let layer = UnescapedText::decode(text.as_bytes()).unwrap();
            assert!(layer.bytes.len() < text.len(), "{text}");
        }
    }

    // S-WRITE-8
    #[test]
    fn an_escape_does_not_hide_accents() {
        let secret = ["copper", "lantern7"].concat();
        for text in [
            format!("ПАРОЛЬ: {secret} in C:\\Users"),
            format!("ПАРОЛЬ: {secret} https://x.y/a%20b"),
            format!("ｐａｓｓｗｏｒｄ：{secret} \\d"),
            format!("ŞİFRE: {secret} \\d"),
            format!("ΚΩΔΙΚΌΣ: {secret} \\d"),
            // JSON in JSON in JSON.
            format!("ПАРОЛЬ: {secret} in a{}b", "\\".repeat(8)),
        ] {
            assert!(!redacted(&text).contains(&secret), "{text}");
        }
    }
}
