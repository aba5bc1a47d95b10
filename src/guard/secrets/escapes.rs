//! Decodes one layer of escapes (`\n`, `\"`, `\u002d`, `\x2d`, `%2d`, joined strings), so that rules see the
//! secret as it was meant. Keeps the origin of each byte. Not here: the rules.

/// A text without one layer of escapes.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Where each byte, or the escape that encodes it, begins in the text; last, the end of the text.
    places: Vec<usize>,
}

impl Decoded {
    /// Decodes one layer; `None` if the text has no escapes.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let is_escape = |(place, byte): (usize, &u8)| match byte {
            b'\\' => true,
            b'%' => hex(text, place + 1, 2).is_some(),
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
        (b'\\', b'u') => Some((char::from_u32(hex(text, place + 2, 4)?).unwrap_or(' '), 6)),
        (b'\\', quoted @ (b'"' | b'\'' | b'`' | b'\\' | b'/')) => Some((char::from(*quoted), 2)),
        _ => None,
    }
}

fn hex(text: &[u8], from: usize, digits: usize) -> Option<u32> {
    let digits = text.get(from..from + digits)?;
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}
