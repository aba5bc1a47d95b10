//! The words that phrases know, and the classes they belong to. Not here: the phrases (`phrases`), and how
//! a text is read as words (`words`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::phrase_table::{self, is_class};

/// Classes of words (`tables/classes.txt`): the name, and its words.
const CLASSES: &str = include_str!("tables/classes.txt");

/// Classes, one bit each.
pub(super) type Classes = u64;
pub(super) const CLASSES_MAX: usize = 64;

/// A word that some phrase knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownWord {
    pub(super) word: &'static str,
    /// The number of the word.
    pub(super) id: u16,
    pub(super) classes: Classes,
}

/// FNV-1a: quick on short words, and nobody chooses what is in the table.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Map<V> = HashMap<&'static str, V, BuildHasherDefault<Fnv>>;

struct Lexicon {
    words: Map<(u16, Classes)>,
    classes: Vec<&'static str>,
}

/// Words of all tables, rounded up.
const WORDS_MAX: usize = 4096;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut words = Map::with_capacity_and_hasher(WORDS_MAX, BuildHasherDefault::default());
    let mut classes = Vec::new();
    let rows = CLASSES.lines().filter(|line| !line.starts_with('#'));
    for word in rows.flat_map(str::split_whitespace) {
        if is_class(word) {
            classes.push(word);
        } else {
            enter(&mut words, word, bit(classes.len().saturating_sub(1)));
        }
    }
    for word in phrase_table::words().filter(|word| !is_class(word)) {
        enter(&mut words, word, 0);
    }
    Lexicon { words, classes }
});

fn enter(words: &mut Map<(u16, Classes)>, word: &'static str, class: Classes) {
    // There are far fewer words than numbers.
    let id = u16::try_from(words.len()).unwrap_or(u16::MAX);
    words.entry(word).or_insert((id, 0)).1 |= class;
}

/// Returns how many words there are; the number of each is below it.
pub(super) fn len() -> usize {
    LEXICON.words.len()
}

fn bit(class: usize) -> Classes {
    1 << class
}

/// Returns the number of a class.
pub(super) fn class(name: &str) -> Option<usize> {
    let position = || LEXICON.classes.iter().position(|class| *class == name);
    is_class(name).then(position)?
}

/// Returns the bits of some classes.
pub(super) fn classes(names: &[&str]) -> Classes {
    names.iter().filter_map(|name| class(name)).map(bit).fold(0, |all, class_bit| all | class_bit)
}

/// Returns the words of a class.
#[cfg(test)]
pub(super) fn words_of(name: &str) -> Vec<&'static str> {
    let wanted = classes(&[name]);
    let words = LEXICON.words.iter().filter(|(_, (_, classes))| classes & wanted != 0);
    words.map(|(word, _)| *word).collect()
}

/// Returns a word, in lower case, as phrases know it: as it is written, without a plural `s`, or with the
/// letters that its digits stand for.
pub(super) fn known(word: &str) -> Option<KnownWord> {
    let exact = |word: &str| {
        let (word, (id, classes)) = LEXICON.words.get_key_value(word)?;
        Some(KnownWord { word, id: *id, classes: *classes })
    };
    let stem = || word.strip_suffix('s').filter(|stem| stem.len() > 3).and_then(exact);
    exact(word).or_else(stem).or_else(|| {
        let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        is_mixed.then(|| exact(&spelled_out(word))).flatten()
    })
}

fn spelled_out(word: &str) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        other => other,
    };
    word.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A misspelt class would be a word that nobody writes.
    #[test]
    fn every_class_that_a_phrase_names_exists() {
        assert!(LEXICON.classes.len() <= CLASSES_MAX);
        for item in phrase_table::words().filter(|item| is_class(item)) {
            assert!(class(item).is_some(), "{item}");
        }
    }
}
