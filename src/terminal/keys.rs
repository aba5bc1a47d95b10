//! Keys from the bytes of a terminal. Not here: reading the bytes (`raw_terminal`), what a key does (`choice_list`).

/// What somebody pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalKey {
    /// A letter.
    Letter(char),
    /// Takes the last letter back.
    Backspace,
    /// Takes the last word back (Ctrl-W).
    DropWord,
    /// Takes everything back (Ctrl-U).
    DropAll,
    /// One up.
    Up,
    /// One down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    First,
    /// To the last.
    Last,
    /// Chooses (Enter).
    Choose,
    /// Leaves without choosing (Esc, Ctrl-C, Ctrl-D, Ctrl-G).
    Leave,
}

/// Longest sequence of one key that is waited for, in bytes; a longer one is no key.
const SEQUENCE_BYTES_MAX: usize = 16;

/// Cuts bytes into keys, wherever a read ended.
#[derive(Debug, Default)]
pub struct KeyReader {
    pending: Vec<u8>,
    is_pasting: bool,
}

/// What the first bytes are.
enum Start {
    /// A key of so many bytes, or so many bytes that are none.
    Whole(usize, Option<TerminalKey>),
    /// The begin or the end of a pasted text.
    Paste(usize, bool),
    /// The beginning of something.
    Part,
}

impl KeyReader {
    /// Takes bytes, and returns the keys that are complete.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<TerminalKey> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while !self.pending.is_empty() {
            let used = match start(&self.pending) {
                Start::Part if self.pending.len() < SEQUENCE_BYTES_MAX => break,
                Start::Part => self.pending.len(),
                Start::Paste(length, begins) => {
                    self.is_pasting = begins;
                    length
                }
                Start::Whole(length, key) => {
                    keys.extend(if self.is_pasting { self.pasted(key) } else { key });
                    length
                }
            };
            self.pending.drain(..used.min(self.pending.len()));
        }
        keys
    }

    /// Tells whether a key may have begun that is not complete, such as Esc or an arrow.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Says that nothing follows: an escape that stands alone is the key Esc.
    pub fn end(&mut self) -> Option<TerminalKey> {
        let is_escape = self.pending == [ESCAPE] && !self.is_pasting;
        self.pending.clear();
        is_escape.then_some(TerminalKey::Leave)
    }

    /// Pasted text is letters: its white space parts words, and its control characters do nothing.
    fn pasted(&self, key: Option<TerminalKey>) -> Option<TerminalKey> {
        match (key, self.pending.first()) {
            (_, Some(b'\t' | b'\n' | 0x0B | 0x0C | b'\r')) => Some(TerminalKey::Letter(' ')),
            (Some(TerminalKey::Letter(letter)), _) if letter.is_whitespace() => {
                Some(TerminalKey::Letter(' '))
            }
            (Some(TerminalKey::Letter(letter)), _) => Some(TerminalKey::Letter(letter)),
            _ => None,
        }
    }
}

const ESCAPE: u8 = 0x1B;

fn start(bytes: &[u8]) -> Start {
    match bytes {
        [ESCAPE] => Start::Part,
        [ESCAPE, b'[' | b'O', rest @ ..] => sequence(rest),
        // Esc twice, or Alt with a letter: the letter does what it does.
        [ESCAPE, ESCAPE, ..] => Start::Whole(1, Some(TerminalKey::Leave)),
        [ESCAPE, ..] => Start::Whole(1, None),
        [byte, ..] if byte.is_ascii() => Start::Whole(1, plain(*byte)),
        bytes => letter(bytes),
    }
}

/// A key of a single byte.
fn plain(byte: u8) -> Option<TerminalKey> {
    Some(match byte {
        b'\r' | b'\n' => TerminalKey::Choose,
        0x7F | 0x08 => TerminalKey::Backspace,
        0x17 => TerminalKey::DropWord,
        0x15 => TerminalKey::DropAll,
        0x03 | 0x04 | 0x07 => TerminalKey::Leave,
        // Ctrl-N and Ctrl-P. Ctrl-J is a line end.
        0x0E => TerminalKey::Down,
        0x10 | 0x0B => TerminalKey::Up,
        b' '..=b'~' => TerminalKey::Letter(char::from(byte)),
        _ => return None,
    })
}

/// A key after `ESC [` or `ESC O`.
fn sequence(rest: &[u8]) -> Start {
    let Some(length) = rest.iter().position(|byte| (0x40..=0x7E).contains(byte)) else {
        return Start::Part;
    };
    let (used, key) = (length + 3, rest.get(..=length).unwrap_or_default());
    let key = match key {
        b"200~" => return Start::Paste(used, true),
        b"201~" => return Start::Paste(used, false),
        b"A" => Some(TerminalKey::Up),
        b"B" => Some(TerminalKey::Down),
        b"H" | b"1~" | b"7~" => Some(TerminalKey::First),
        b"F" | b"4~" | b"8~" => Some(TerminalKey::Last),
        b"5~" => Some(TerminalKey::PageUp),
        b"6~" => Some(TerminalKey::PageDown),
        _ => None,
    };
    Start::Whole(used, key)
}

/// A letter of several bytes.
fn letter(bytes: &[u8]) -> Start {
    let length = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => return Start::Whole(1, None),
    };
    let Some(bytes) = bytes.get(..length) else { return Start::Part };
    let letter = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
    match letter {
        Some(letter) => Start::Whole(
            length,
            (!guard::text::is_unsafe(letter)).then_some(TerminalKey::Letter(letter)),
        ),
        None => Start::Whole(1, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PICK-1
    #[test]
    fn keys_are_read_wherever_a_read_ends() {
        let typed = "aß漢🦀\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[1;5C\u{7F}\u{17}\u{15}\r".as_bytes();
        let letters = ['a', 'ß', '漢', '🦀'].map(TerminalKey::Letter);
        let others = [
            TerminalKey::Up,
            TerminalKey::Down,
            TerminalKey::PageUp,
            TerminalKey::Backspace,
            TerminalKey::DropWord,
            TerminalKey::DropAll,
            TerminalKey::Choose,
        ];
        let expected: Vec<TerminalKey> = letters.into_iter().chain(others).collect();
        for size in 1..typed.len() {
            let mut reader = KeyReader::default();
            let keys: Vec<TerminalKey> =
                typed.chunks(size).flat_map(|bytes| reader.read(bytes)).collect();
            assert_eq!(keys, expected, "{size}");
            assert!(!reader.is_waiting());
        }
    }

    // S-PICK-1
    #[test]
    fn an_escape_alone_leaves() {
        let mut reader = KeyReader::default();
        assert_eq!((reader.read(b"\x1B"), reader.is_waiting()), (vec![], true));
        assert_eq!((reader.end(), reader.is_waiting()), (Some(TerminalKey::Leave), false));
        assert_eq!(reader.read(b"\x1B[9"), []);
        assert_eq!(reader.end(), None);
        for leaving in [b"\x03", b"\x04", b"\x07"] {
            assert_eq!(reader.read(leaving), [TerminalKey::Leave]);
        }
        assert_eq!(reader.read(&[0xFF, 0xC3, b'a', 0x9B]), [TerminalKey::Letter('a')]);
        assert!(reader.read(&[b"\x1B[".as_slice(), &[b'9'; 99]].concat()).len() < 99);
    }

    // S-PICK-1
    #[test]
    fn a_pasted_line_end_chooses_nothing() {
        let mut reader = KeyReader::default();
        let keys = reader.read(b"\x1B[200~a\nb\x1B[201~\n");
        assert_eq!(
            keys,
            [
                TerminalKey::Letter('a'),
                TerminalKey::Letter(' '),
                TerminalKey::Letter('b'),
                TerminalKey::Choose
            ]
        );
    }

    // S-PICK-1
    #[test]
    fn control_characters_of_a_pasted_text_do_nothing() {
        let mut reader = KeyReader::default();
        let pasted =
            "\x1B[200~a\x03\x04\x07\x08\x7F\x17\x15\x0E\x10\x1B[A\tb\x0Bc\u{3000}d\r\x1B[201~";
        let typed: String = reader
            .read(pasted.as_bytes())
            .into_iter()
            .map(|key| match key {
                TerminalKey::Letter(letter) => letter,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(typed, "a b c d ");
        assert_eq!((reader.read(b"\x1B[200~\x1B"), reader.end()), (vec![], None));
        assert_eq!(reader.read(b"\x1B[201~"), []);
        assert_eq!(reader.read(b"\x03"), [TerminalKey::Leave]);
    }
}
