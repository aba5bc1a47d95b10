//! Where in a text it is worth looking: one table of all beginnings, names and words, built by the
//! compiler and found by the hash of their first three characters, so that a program that starts
//! for one event pays nothing for it. Not here: what is looked for there.

use super::command::COMMANDS;
use super::form::{FORMS, Structure};
use super::prefixes::PREFIXED;
use super::provider::PROVIDERS;
use super::word::WORDS;

/// What an anchor leads to; numbers are places in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Prefixed(u16),
    Provider(u16),
    Word(u16),
    Command(u16),
    Form(Structure),
}

/// One anchor of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) text: &'static str,
    pub(super) anchor: Anchor,
    /// Its first three characters, as [`shifted`] puts them together.
    window: u32,
    /// The next entry with the same hash.
    next: u16,
}

const NONE: u16 = u16::MAX;

/// Bits of the hash: eight times as many places as entries, so that most of a text hits none.
const HASH_BITS: u32 = 13;

const COUNT: usize = count();

struct Table {
    heads: [u16; 1 << HASH_BITS],
    entries: [Entry; COUNT],
}

static TABLE: Table = table();

/// Adds a byte to the last three, without regard to case.
pub(super) const fn shifted(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

/// Returns the hash of the last three bytes: the upper bits of a product with 2^32 / golden ratio
/// (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

/// Returns the anchors whose first three characters are the last three bytes read, in the order of the
/// tables.
pub(super) fn candidates(window: u32) -> Candidates {
    Candidates { window, next: TABLE.heads.get(hash(window)).copied().unwrap_or(NONE) }
}

/// The anchors that begin alike.
pub(super) struct Candidates {
    window: u32,
    next: u16,
}

impl Iterator for Candidates {
    type Item = &'static Entry;

    fn next(&mut self) -> Option<&'static Entry> {
        loop {
            let entry = TABLE.entries.get(usize::from(self.next))?;
            self.next = entry.next;
            if entry.window == self.window {
                return Some(entry);
            }
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
const fn count() -> usize {
    let (mut count, mut place) = (PREFIXED.len() + WORDS.len() + COMMANDS.len() + FORMS.len(), 0);
    while place < PROVIDERS.len() {
        count += PROVIDERS[place].names.len();
        place += 1;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
#[expect(clippy::cast_possible_truncation, reason = "the tables have fewer rows than 2^16")]
const fn table() -> Table {
    let empty = Entry { text: "", anchor: Anchor::Word(0), window: 0, next: NONE };
    let (mut entries, mut filled, mut place) = ([empty; COUNT], 0, 0);
    while place < PREFIXED.len() {
        entries[filled] = entry(PREFIXED[place].start, Anchor::Prefixed(place as u16));
        (filled, place) = (filled + 1, place + 1);
    }
    place = 0;
    while place < PROVIDERS.len() {
        let mut name = 0;
        while name < PROVIDERS[place].names.len() {
            entries[filled] = entry(PROVIDERS[place].names[name], Anchor::Provider(place as u16));
            (filled, name) = (filled + 1, name + 1);
        }
        place += 1;
    }
    place = 0;
    while place < WORDS.len() {
        entries[filled] = entry(WORDS[place].text, Anchor::Word(place as u16));
        (filled, place) = (filled + 1, place + 1);
    }
    place = 0;
    while place < COMMANDS.len() {
        entries[filled] = entry(COMMANDS[place].program, Anchor::Command(place as u16));
        (filled, place) = (filled + 1, place + 1);
    }
    place = 0;
    while place < FORMS.len() {
        entries[filled] = entry(FORMS[place].0, Anchor::Form(FORMS[place].1));
        (filled, place) = (filled + 1, place + 1);
    }
    linked(entries)
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
const fn entry(text: &'static str, anchor: Anchor) -> Entry {
    let bytes = text.as_bytes();
    let window = shifted(shifted(shifted(0, bytes[0]), bytes[1]), bytes[2]);
    Entry { text, anchor, window, next: NONE }
}

/// Chains the entries by hash; from the last to the first, so that each chain is in order.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
#[expect(clippy::cast_possible_truncation, reason = "the tables have fewer rows than 2^16")]
const fn linked(mut entries: [Entry; COUNT]) -> Table {
    let (mut heads, mut place) = ([NONE; 1 << HASH_BITS], COUNT);
    while place > 0 {
        place -= 1;
        let head = hash(entries[place].window);
        entries[place].next = heads[head];
        heads[head] = place as u16;
    }
    Table { heads, entries }
}
