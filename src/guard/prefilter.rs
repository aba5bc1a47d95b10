//! Finds the anchors of rules (prefixes, names, marks) in a text with one pass. The anchors stand in text
//! tables; the compiler hashes the first three characters of each, so a process that checks one event builds
//! nothing at start. Not here: the tables and what their rows mean (`secrets::table`, `injection::signs`).

use std::ops::Range;

/// One anchor of a row: places in its table, not addresses, which the loader would have to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnchorEntry {
    pub(crate) table: u8,
    /// Where the row begins in its table, and which row it is.
    row: u16,
    pub(crate) number: u16,
    anchor: u16,
    length: u8,
    /// Whether it has words that anything may part.
    is_parted: bool,
    /// The first three characters of the anchor, as [`shifted`] packs them.
    window: u32,
    /// The next entry with the same hash.
    next: u16,
}

const NONE: u16 = u16::MAX;

/// Stands in an anchor where its words are parted: before a letter.
const PART: u8 = b'^';

/// Eight times as many slots as entries, so that most of a text hits none.
const HASH_BITS: u32 = 13;

/// Every anchor of some tables.
pub(crate) struct AnchorIndex<const ENTRIES: usize> {
    heads: [u16; 1 << HASH_BITS],
    entries: [AnchorEntry; ENTRIES],
    filled: usize,
}

/// Adds a byte to the last three, without case.
const fn shifted(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

/// The upper bits of a product with 2^32 / golden ratio (Knuth, volume 3, section 6.4).
const fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

/// A row of a table: fields that tabs divide. The second holds the anchors, divided by commas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRow {
    pub(crate) name: &'static str,
    #[cfg(test)]
    pub(crate) anchors: &'static str,
    pub(crate) fields: [&'static str; 3],
}

impl TableRow {
    fn parse(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (name, _anchors) = (next(), next());
        Self {
            name,
            #[cfg(test)]
            anchors: _anchors,
            fields: [next(), next(), next()],
        }
    }

    /// Returns every row of a table.
    #[cfg(test)]
    pub(crate) fn all(table: &'static str) -> impl Iterator<Item = Self> {
        table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Self::parse)
    }
}

impl AnchorEntry {
    /// Returns the anchor as its table writes it.
    pub(crate) fn anchor(&self, table: &'static str) -> &'static str {
        let from = usize::from(self.anchor);
        table.get(from..from + usize::from(self.length)).unwrap_or_default()
    }

    /// Returns the row of the anchor.
    pub(crate) fn row(&self, table: &'static str) -> TableRow {
        let rest = table.get(usize::from(self.row)..).unwrap_or_default();
        TableRow::parse(rest.lines().next().unwrap_or_default())
    }
}

/// Returns how many anchors tables have.
pub(crate) const fn len(tables: &[&str]) -> usize {
    AnchorIndex::<0>::build(tables).filled
}

impl<const ENTRIES: usize> AnchorIndex<ENTRIES> {
    /// Calls `found` with every anchor of a text and the bytes where it stands, without case. Anchors that begin
    /// alike come in the order of the tables.
    pub(crate) fn each(
        &self,
        tables: &[&'static str],
        text: &[u8],
        mut found: impl FnMut(Range<usize>, &'static str, &AnchorEntry),
    ) {
        let mut window = 0;
        for (place, byte) in text.iter().enumerate() {
            window = shifted(window, *byte);
            let mut next = self.heads.get(hash(window)).copied().unwrap_or(NONE);
            while let Some(entry) = self.entries.get(usize::from(next)) {
                next = entry.next;
                if entry.window != window {
                    continue;
                }
                let Some(start) = place.checked_sub(2) else { continue };
                let table = tables.get(usize::from(entry.table)).copied().unwrap_or_default();
                let anchor = entry.anchor(table);
                let length = if entry.is_parted {
                    parted(anchor.as_bytes(), text.get(start..).unwrap_or_default())
                } else {
                    let stands = text.get(start..start + anchor.len());
                    let is_same =
                        stands.is_some_and(|text| text.eq_ignore_ascii_case(anchor.as_bytes()));
                    is_same.then_some(anchor.len())
                };
                if let Some(length) = length {
                    found(start..start + length, anchor, entry);
                }
            }
        }
    }
}

/// What parts the words of a name: one of these, perhaps twice, a space without break, or nothing.
const PARTINGS: &[u8] = b" _-.";
const NO_BREAK_SPACE: &[u8] = &[0xC2, 0xA0];

/// Returns the length of a name of several words at the beginning of a text, whatever parts the words.
fn parted(anchor: &[u8], text: &[u8]) -> Option<usize> {
    let (mut length, mut is_first) = (0, true);
    for word in anchor.split(|byte| *byte == PART) {
        let rest = text.get(length..)?;
        if !std::mem::take(&mut is_first) {
            length += match rest {
                [first, second, ..] if first == second && PARTINGS.contains(first) => 2,
                [first, ..] if PARTINGS.contains(first) => 1,
                _ if rest.starts_with(NO_BREAK_SPACE) => NO_BREAK_SPACE.len(),
                _ => 0,
            };
        }
        let stands = text.get(length..length + word.len())?;
        if !stands.eq_ignore_ascii_case(word) {
            return None;
        }
        length += word.len();
    }
    Some(length)
}

/// Tells whether an anchor has words that anything may part: `^` before a letter, behind the bytes that are hashed.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
const fn is_parted(text: &[u8], anchor: usize, length: usize) -> bool {
    let mut place = anchor;
    while place + 1 < anchor + length {
        let next = text[place + 1];
        if text[place] == PART && (next.is_ascii_alphabetic() || next >= 0x80) {
            assert!(place >= anchor + 3, "the first three bytes are hashed");
            return true;
        }
        place += 1;
    }
    false
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
#[expect(clippy::cast_possible_truncation, reason = "asserted, by the compiler")]
impl<const ENTRIES: usize> AnchorIndex<ENTRIES> {
    /// Hashes every anchor of the tables. Without room it only counts them.
    pub(crate) const fn build(tables: &[&str]) -> Self {
        let empty = AnchorEntry {
            table: 0,
            row: 0,
            number: 0,
            anchor: 0,
            length: 0,
            is_parted: false,
            window: 0,
            next: NONE,
        };
        let mut index =
            Self { heads: [NONE; 1 << HASH_BITS], entries: [empty; ENTRIES], filled: 0 };
        let mut table = 0;
        while table < tables.len() {
            index.read(table, tables[table].as_bytes());
            table += 1;
        }
        index.link();
        index
    }

    const fn read(&mut self, table: usize, text: &[u8]) {
        assert!(text.len() < NONE as usize);
        let (mut place, mut row, mut number, mut field, mut anchor) = (0, 0, 0, 0, 0);
        while place < text.len() {
            let byte = text[place];
            if place == row && matches!(byte, b'#' | b'\n') {
                while text[place] != b'\n' {
                    place += 1;
                }
                row = place + 1;
            } else {
                if field == 1 && matches!(byte, b'\t' | b',' | b'\n') {
                    self.enter(text, anchor, place - anchor, [table, row, number]);
                    anchor = place + 1;
                }
                if byte == b'\t' {
                    field += 1;
                    if field == 1 {
                        anchor = place + 1;
                    }
                } else if byte == b'\n' {
                    (row, field, number) = (place + 1, 0, number + 1);
                }
            }
            place += 1;
        }
    }

    const fn enter(&mut self, text: &[u8], anchor: usize, length: usize, of: [usize; 3]) {
        assert!(length >= 3 && length <= u8::MAX as usize, "an anchor has three bytes at least");
        if ENTRIES > 0 {
            let first = shifted(shifted(0, text[anchor]), text[anchor + 1]);
            self.entries[self.filled] = AnchorEntry {
                table: of[0] as u8,
                row: of[1] as u16,
                number: of[2] as u16,
                anchor: anchor as u16,
                length: length as u8,
                is_parted: is_parted(text, anchor, length),
                window: shifted(first, text[anchor + 2]),
                next: NONE,
            };
        }
        self.filled += 1;
    }

    /// Chains the entries by hash, from the last to the first, so that each chain keeps the order.
    const fn link(&mut self) {
        let mut place = ENTRIES;
        while place > 0 {
            place -= 1;
            let head = &mut self.heads[hash(self.entries[place].window)];
            self.entries[place].next = *head;
            *head = place as u16;
        }
    }
}
