//! Reads a text as words. Disguises are undone: case, accents, look-alike letters of other alphabets, wide and
//! mathematical letters, zero-width and tag characters, and letters with spaces between them. Not here: what
//! words mean (`lexicon`, `phrases`).

use std::borrow::Cow;

use super::lexicon::{self, KnownWord};
use crate::text;

/// One word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// The word as phrases know it, if they do.
    pub known: Option<KnownWord>,
    /// Whether a sentence, a line or a clause after a colon begins with it.
    pub begins: bool,
    /// Whether a full stop, a question mark or an exclamation mark stands before it.
    pub after_stop: bool,
}

/// The words and sentences of a text.
#[derive(Debug, Default)]
pub(super) struct ParsedText {
    /// Its words.
    pub words: Vec<Word>,
    /// How many sentences end with a question mark.
    pub questions: usize,
    /// Whether the first sentence is one of them.
    pub begins_with_question: bool,
    /// How many end otherwise, with an unfinished last one.
    pub statements: usize,
}

impl ParsedText {
    /// Tells whether a word of one of the classes stands in the text.
    pub(super) fn has(&self, classes: &[&str]) -> bool {
        let wanted = lexicon::classes(classes);
        self.words.iter().filter_map(|word| word.known).any(|known| known.classes & wanted != 0)
    }

    /// Tells whether a word stands in the text.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.iter().filter_map(|word| word.known).any(|known| known.word == word)
    }

    /// Tells whether the text begins with a word of a class.
    pub(super) fn begins_with(&self, class: &str) -> bool {
        let first = self.words.first().and_then(|word| word.known);
        first.is_some_and(|known| known.classes & lexicon::classes(&[class]) != 0)
    }
}

/// Single letters in a row that are words with spaces between their letters, not a list of names.
const APART_MIN: usize = 6;

/// Characters of the longest word; longer ones are data.
const WORD_CHARS_MAX: usize = 40;

/// Reads a text.
pub(super) fn parse_text(text: &str) -> ParsedText {
    let mut reader = Reader { begins: true, ..Reader::default() };
    let hides = !text.is_ascii() && text.chars().any(shows_nothing);
    let text: Cow<'_, str> = match hides {
        true => text.chars().filter(|c| !shows_nothing(*c)).collect(),
        false => text.into(),
    };
    for chunk in text.split_inclusive(char::is_whitespace) {
        match address(chunk.trim_end()) {
            Some(name) => {
                reader.end_word();
                reader.word.push_str(name);
                reader.end_word();
            }
            None => {
                for (at, c) in chunk.char_indices() {
                    let is_in_word =
                        is_apostrophe(c) && ends_contraction(chunk.get(at + c.len_utf8()..));
                    // The dot of `.env` and of a host ends no sentence.
                    let is_joint = c == '.' && goes_on(chunk.get(at + 1..));
                    if is_joint {
                        reader.end_word();
                    } else if !is_in_word {
                        reader.push_char(c);
                    }
                }
            }
        }
        if chunk.ends_with('\n') {
            reader.push_char('\n');
        }
    }
    reader.finish()
}

/// Tells whether a character is invisible inside a word. Tag characters are as well, but they spell a word.
fn shows_nothing(c: char) -> bool {
    text::is_invisible(c) || text::is_joiner(c) || text::is_variation_selector(c)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2018}')
}

/// Tells whether a name continues after its dot.
fn goes_on(rest: Option<&str>) -> bool {
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

/// Tells whether an apostrophe is followed by the end of a word: don't, you're, user's.
fn ends_contraction(rest: Option<&str>) -> bool {
    let rest = rest.unwrap_or_default();
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    matches!(
        rest.get(..end),
        Some("t" | "s" | "re" | "ve" | "ll" | "d" | "m" | "T" | "S" | "RE" | "LL")
    )
}

/// Letters and digits of an IBAN: two letters, two digits, and those of an account.
const IBAN_LETTERS: std::ops::RangeInclusive<usize> = 15..=34;

/// Tells whether a chunk is the number of a bank account.
fn is_iban(chunk: &str) -> bool {
    let chunk = chunk.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let bytes = chunk.as_bytes();
    IBAN_LETTERS.contains(&bytes.len())
        && bytes.iter().take(2).all(u8::is_ascii_uppercase)
        && bytes.iter().skip(2).take(2).all(u8::is_ascii_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() * 2 > bytes.len()
}

/// Returns the word that represents an address or a blank in a form.
fn address(chunk: &str) -> Option<&'static str> {
    if is_iban(chunk) {
        return Some("<iban>");
    }
    // A quick test first: nearly all words are none.
    if !chunk.bytes().any(|byte| matches!(byte, b':' | b'{' | b'@' | b'.')) {
        return None;
    }
    let has_host = |rest: &str| rest.contains('.') && rest.starts_with(char::is_alphanumeric);
    if chunk.contains("://") || chunk.trim_start_matches(['(', '<', '"', '\'']).starts_with("www.")
    {
        return Some("<url>");
    }
    // A blank of a form: {NAME}, {_name}.
    let inner = chunk.split_once('{').map_or("", |(_, rest)| rest);
    if inner.starts_with('_')
        || (inner.contains('}') && inner.starts_with(|c: char| c.is_ascii_uppercase()))
    {
        return Some("<blank>");
    }
    let (user, host) = chunk.split_once('@')?;
    (user.ends_with(char::is_alphanumeric) && has_host(host)).then_some("<email>")
}

#[derive(Default)]
struct Reader {
    reading: ParsedText,
    word: String,
    /// The single letters in a row so far.
    apart: Vec<char>,
    begins: bool,
    after_stop: bool,
    words_in_sentence: usize,
}

impl Reader {
    fn push_char(&mut self, c: char) {
        match fold(c) {
            Folded::Letter(letter) => self.word.push(letter),
            Folded::Nothing => {}
            Folded::Other(c) => {
                self.end_word();
                match c {
                    '.' | '!' | '?' => self.end_sentence(c),
                    '\n' | ':' | ';' | '"' | '[' | '(' | '“' | '#' | '*' | '>' => {
                        self.begins = true;
                    }
                    _ => {}
                }
            }
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let mut word = std::mem::take(&mut self.word);
        let mut letters = word.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => self.apart.push(letter),
            _ => self.join_apart(),
        }
        self.push(&word);
        // The next word uses the same buffer.
        word.clear();
        self.word = word;
    }

    fn push(&mut self, word: &str) {
        let known = (word.len() <= 4 * WORD_CHARS_MAX).then(|| lexicon::known(word)).flatten();
        let (begins, after_stop) = (self.begins, self.after_stop);
        self.reading.words.push(Word { known, begins, after_stop });
        (self.begins, self.after_stop) = (false, false);
        self.words_in_sentence += 1;
    }

    /// Reads single letters in a row as the words they make.
    fn join_apart(&mut self) {
        if self.apart.len() < APART_MIN {
            self.apart.clear();
            return;
        }
        let letters = std::mem::take(&mut self.apart);
        let mut rest = letters.as_slice();
        self.begins = true;
        while !rest.is_empty() {
            let known = (2..=rest.len().min(WORD_CHARS_MAX)).rev().find_map(|count| {
                let (word, after) = rest.split_at_checked(count)?;
                let word: String = word.iter().collect();
                lexicon::known(&word).map(|_| (word, after))
            });
            match known {
                Some((word, after)) => {
                    self.push(&word);
                    rest = after;
                }
                None => rest = rest.get(1..).unwrap_or_default(),
            }
        }
    }

    fn end_sentence(&mut self, mark: char) {
        self.join_apart();
        if self.words_in_sentence > 0 {
            match mark {
                '?' => {
                    self.reading.begins_with_question |= self.reading.statements == 0;
                    self.reading.questions += 1;
                }
                _ => self.reading.statements += 1,
            }
            self.words_in_sentence = 0;
        }
        (self.begins, self.after_stop) = (true, true);
    }

    fn finish(mut self) -> ParsedText {
        self.end_word();
        self.end_sentence('.');
        self.reading
    }
}

enum Folded {
    /// Part of a word: the plain letter or digit that it looks like.
    Letter(char),
    /// Invisible; the word goes on.
    Nothing,
    /// Between words.
    Other(char),
}

/// Letters that look like plain ones.
const LOOKALIKES: [(char, &str); 26] = [
    ('a', "àáâãäåāăąǎаαɑ"),
    ('b', "ьƅв"),
    ('c', "çćčсϲ"),
    ('d', "ďđԁ"),
    ('e', "èéêëēĕėęěеєε"),
    ('f', "ƒ"),
    ('g', "ğġģɡ"),
    ('h', "ħһн"),
    ('i', "ìíîïĩīĭįıіιї"),
    ('j', "ĵј"),
    ('k', "ķкκ"),
    ('l', "ĺļľłӏ"),
    ('m', "м"),
    ('n', "ñńņňո"),
    ('o', "òóôõöøōŏőоοօ"),
    ('p', "рρ"),
    ('q', "ԛ"),
    ('r', "ŕŗřг"),
    ('s', "śŝşšѕß"),
    ('t', "ţťтτ"),
    ('u', "ùúûüũūŭůűųυս"),
    ('v', "ѵν"),
    ('w', "ŵԝω"),
    ('x', "хχ"),
    ('y', "ýÿŷуγ"),
    ('z', "źżž"),
];

fn fold(c: char) -> Folded {
    if c.is_ascii_alphanumeric() {
        return Folded::Letter(c.to_ascii_lowercase());
    }
    match c {
        '\0'..='\x7F' => Folded::Other(c),
        '\u{300}'..='\u{36F}' => Folded::Nothing,
        // Tag characters are invisible copies of plain ones.
        '\u{E0020}'..='\u{E007E}' => u8::try_from(u32::from(c) - 0xE_0000)
            .map_or(Folded::Nothing, |byte| fold(char::from(byte))),
        c if text::is_unsafe(c) => Folded::Nothing,
        c => plain(c).map_or_else(
            || if c.is_alphanumeric() { Folded::Letter(c) } else { Folded::Other(c) },
            Folded::Letter,
        ),
    }
}

/// Returns the plain letter that a letter looks like.
fn plain(c: char) -> Option<char> {
    let code = u32::from(c);
    let letter = |offset: u32| char::from_digit(10 + offset, 36);
    match code {
        // Wide forms.
        0xFF21..=0xFF3A => letter(code - 0xFF21),
        0xFF41..=0xFF5A => letter(code - 0xFF41),
        0xFF10..=0xFF19 => char::from_digit(code - 0xFF10, 10),
        // Circled letters.
        0x24B6..=0x24CF => letter(code - 0x24B6),
        0x24D0..=0x24E9 => letter(code - 0x24D0),
        // Squared and negative letters.
        0x1F130..=0x1F149 => letter(code - 0x1F130),
        0x1F150..=0x1F169 => letter(code - 0x1F150),
        0x1F170..=0x1F189 => letter(code - 0x1F170),
        // Mathematical alphabets: thirteen, with 52 letters each.
        0x1D400..=0x1D6A3 => letter((code - 0x1D400) % 26),
        _ => {
            let lower = c.to_lowercase().next()?;
            let (plain, _) = LOOKALIKES.iter().find(|(_, alike)| alike.contains(lower))?;
            Some(*plain)
        }
    }
}
