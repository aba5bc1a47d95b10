//! Where in a text it is worth looking: one table of all beginnings, names and words, built by the
//! compiler and found by the hash of their first three characters, so that a program that starts
//! for one event pays nothing for it. Not here: what is looked for there.

use super::command::{COMMANDS, Command, Shape};
use super::joined::{Joined, Part};
use super::prefixed::Prefixed;
use super::prefixes::PREFIXED;
use super::provider::{Form, PROVIDERS, Provider};
use super::structure::{FORMS, Structure};
use super::word::{Promise, WORDS, Word};

/// What an anchor leads to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Prefixed(Prefixed),
    Provider(Provider),
    Word(Word),
    Command(Command),
    Form(Structure),
}

/// One anchor of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    text: Part,
    row: Row,
    /// Its first three characters, as [`shifted`] puts them together.
    window: u32,
    /// The next entry with the same hash.
    next: u16,
}

/// What an anchor leads to, by places in the table.
#[derive(Debug, Clone, Copy)]
enum Row {
    Prefixed { rule: Part, body: Part },
    Provider { rule: Part, forms: Part },
    Word { rule: Part, promise: Promise },
    Command { option: Part, shape: Shape },
    Form(Structure),
}

const NONE: u16 = u16::MAX;

/// Bits of the hash: eight times as many places as entries, so that most of a text hits none.
const HASH_BITS: u32 = 13;

struct Table<const ENTRIES: usize, const BYTES: usize, const FORMS: usize> {
    heads: [u16; 1 << HASH_BITS],
    entries: Joined<Entry, ENTRIES>,
    /// How anchors, options and rules are written.
    texts: Joined<u8, BYTES>,
    /// What secrets are made of.
    forms: Joined<Form, FORMS>,
}

/// The table without room, to learn how much it takes.
const SIZE: Table<0, 0, 0> = table();

static TABLE: Table<{ SIZE.entries.len() }, { SIZE.texts.len() }, { SIZE.forms.len() }> = table();

/// How anchors, options and rules are written, known to be UTF-8.
static TEXTS: &str = match str::from_utf8(&TABLE.texts.items) {
    Ok(texts) => texts,
    Err(_) => panic!("a part is no text"),
};

fn text(part: Part) -> &'static str {
    TEXTS.get(part.range()).unwrap_or_default()
}

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
            let entry = TABLE.entries.items.get(usize::from(self.next))?;
            self.next = entry.next;
            if entry.window == self.window {
                return Some(entry);
            }
        }
    }
}

impl Entry {
    /// How it is written.
    pub(super) fn text(&self) -> &'static str {
        text(self.text)
    }

    /// What it leads to.
    pub(super) fn anchor(&self) -> Anchor {
        match self.row {
            Row::Prefixed { rule, body } => {
                let Form { alphabet, least, most } =
                    TABLE.forms.part(body).first().copied().unwrap_or(Form::NONE);
                let (rule, start) = (text(rule), text(self.text));
                Anchor::Prefixed(Prefixed { rule, start, body: alphabet, least, most })
            }
            Row::Provider { rule, forms } => {
                Anchor::Provider(Provider { rule: text(rule), forms: TABLE.forms.part(forms) })
            }
            Row::Word { rule, promise } => {
                Anchor::Word(Word { rule: text(rule), text: text(self.text), promise })
            }
            Row::Command { option, shape } => {
                Anchor::Command(Command { program: text(self.text), option: text(option), shape })
            }
            Row::Form(structure) => Anchor::Form(structure),
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
const fn table<const ENTRIES: usize, const BYTES: usize, const FORMS_LEN: usize>()
-> Table<ENTRIES, BYTES, FORMS_LEN> {
    let mut table = Table::new();
    let mut place = 0;
    while place < PREFIXED.len() {
        let mut row = 0;
        while row < PREFIXED[place].len() {
            let Prefixed { rule, start, body, least, most } = PREFIXED[place][row];
            let body = table.forms.add(&[Form { alphabet: body, least, most }]);
            let rule = table.texts.add(rule.as_bytes());
            table.enter(start, Row::Prefixed { rule, body });
            row += 1;
        }
        place += 1;
    }
    place = 0;
    while place < PROVIDERS.len() {
        let (names, Provider { rule, forms }) = PROVIDERS[place];
        let rule = table.texts.add(rule.as_bytes());
        let forms = table.forms.add(forms);
        let mut name = 0;
        while name < names.len() {
            table.enter(names[name], Row::Provider { rule, forms });
            name += 1;
        }
        place += 1;
    }
    place = 0;
    while place < WORDS.len() {
        let Word { rule, text, promise } = WORDS[place];
        let rule = table.texts.add(rule.as_bytes());
        table.enter(text, Row::Word { rule, promise });
        place += 1;
    }
    place = 0;
    while place < COMMANDS.len() {
        let Command { program, option, shape } = COMMANDS[place];
        let option = table.texts.add(option.as_bytes());
        table.enter(program, Row::Command { option, shape });
        place += 1;
    }
    place = 0;
    while place < FORMS.len() {
        table.enter(FORMS[place].0, Row::Form(FORMS[place].1));
        place += 1;
    }
    table.link();
    table
}

impl<const ENTRIES: usize, const BYTES: usize, const FORMS: usize> Table<ENTRIES, BYTES, FORMS> {
    const fn new() -> Self {
        let row = Row::Form(Structure::Redacted);
        Self {
            heads: [NONE; 1 << HASH_BITS],
            entries: Joined::new(Entry { text: Part::EMPTY, row, window: 0, next: NONE }),
            texts: Joined::new(0),
            forms: Joined::new(Form::NONE),
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which checks the bounds"
    )]
    const fn enter(&mut self, text: &str, row: Row) {
        let bytes = text.as_bytes();
        let window = shifted(shifted(shifted(0, bytes[0]), bytes[1]), bytes[2]);
        let text = self.texts.add(bytes);
        self.entries.add(&[Entry { text, row, window, next: NONE }]);
    }

    /// Chains the entries by hash; from the last to the first, so that each chain is in order.
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which checks the bounds"
    )]
    #[expect(clippy::cast_possible_truncation, reason = "the table has fewer entries than 2^16")]
    const fn link(&mut self) {
        let mut place = ENTRIES;
        while place > 0 {
            place -= 1;
            let head = &mut self.heads[hash(self.entries.items[place].window)];
            self.entries.items[place].next = *head;
            *head = place as u16;
        }
    }
}
