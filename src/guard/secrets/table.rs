//! The tables of rules (`tables/*.txt`) and the prefilter over them. The compiler hashes the first three
//! characters of every anchor (a prefix, a name, a mark), so a process that checks one event builds nothing
//! at start. A row is parsed when its anchor stands in a text. Not here: what rules do (`scan`).

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prefix,
    Provider,
    Name,
    Command,
    Shape,
    Place,
}

/// Every table. Anchors that begin alike are tried in this order.
pub(super) const TABLES: [(Kind, &str); 7] = [
    (Kind::Prefix, include_str!("tables/prefixes.txt")),
    (Kind::Prefix, include_str!("tables/services.txt")),
    (Kind::Provider, include_str!("tables/providers.txt")),
    (Kind::Name, include_str!("tables/names.txt")),
    (Kind::Command, include_str!("tables/commands.txt")),
    (Kind::Shape, include_str!("tables/shapes.txt")),
    (Kind::Place, include_str!("tables/places.txt")),
];

/// One anchor of a row: places in its table, not addresses, which the loader would have to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    table: u8,
    /// Where the row begins, and which row of its table it is.
    row: u16,
    pub(super) number: u16,
    anchor: u16,
    length: u8,
    /// The first three characters of the anchor, as [`shifted`] packs them.
    window: u32,
    /// The next entry with the same hash.
    next: u16,
}

const NONE: u16 = u16::MAX;

/// Eight times as many slots as entries, so that most of a text hits none.
const HASH_BITS: u32 = 13;

struct Index<const ENTRIES: usize> {
    heads: [u16; 1 << HASH_BITS],
    entries: [Entry; ENTRIES],
    filled: usize,
}

/// The index without room, which only counts.
const ENTRIES: usize = index::<0>().filled;

static INDEX: Index<ENTRIES> = index();

/// Adds a byte to the last three, without case.
pub(super) const fn shifted(window: u32, byte: u8) -> u32 {
    ((window << 8) | (byte | 0x20) as u32) & 0x00FF_FFFF
}

/// The upper bits of a product with 2^32 / golden ratio (Knuth, volume 3, section 6.4).
const fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

/// Returns the entries whose anchor begins with the last three bytes read.
pub(super) fn candidates(window: u32) -> Candidates {
    Candidates { window, next: INDEX.heads.get(hash(window)).copied().unwrap_or(NONE) }
}

/// Entries with the same first three characters.
pub(super) struct Candidates {
    window: u32,
    next: u16,
}

impl Iterator for Candidates {
    type Item = &'static Entry;

    fn next(&mut self) -> Option<&'static Entry> {
        loop {
            let entry = INDEX.entries.get(usize::from(self.next))?;
            self.next = entry.next;
            if entry.window == self.window {
                return Some(entry);
            }
        }
    }
}

impl Entry {
    fn table(&self) -> (Kind, &'static str) {
        TABLES.get(usize::from(self.table)).copied().unwrap_or((Kind::Place, ""))
    }

    pub(super) fn kind(&self) -> Kind {
        self.table().0
    }

    /// Returns the anchor as it is written.
    pub(super) fn anchor(&self) -> &'static str {
        let from = usize::from(self.anchor);
        self.table().1.get(from..from + usize::from(self.length)).unwrap_or_default()
    }

    /// Returns the row: its rule, and the fields after its anchors.
    pub(super) fn row(&self) -> Row {
        let rest = self.table().1.get(usize::from(self.row)..).unwrap_or_default();
        Row::of(rest.lines().next().unwrap_or_default())
    }
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) rule: &'static str,
    #[cfg(test)]
    pub(super) anchors: &'static str,
    pub(super) fields: [&'static str; 3],
}

impl Row {
    fn of(line: &'static str) -> Self {
        let mut fields = line.splitn(5, '\t');
        let mut next = || fields.next().unwrap_or_default();
        let (rule, _anchors) = (next(), next());
        Self {
            rule,
            #[cfg(test)]
            anchors: _anchors,
            fields: [next(), next(), next()],
        }
    }
}

/// Returns every row of the tables of a kind.
#[cfg(test)]
pub(super) fn rows(kind: Kind) -> impl Iterator<Item = Row> {
    let texts = TABLES.iter().filter(move |(of, _)| *of == kind).map(|(_, text)| *text);
    texts
        .flat_map(str::lines)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(Row::of)
}

const fn index<const ROOM: usize>() -> Index<ROOM> {
    let empty = Entry { table: 0, row: 0, number: 0, anchor: 0, length: 0, window: 0, next: NONE };
    let mut index = Index { heads: [NONE; 1 << HASH_BITS], entries: [empty; ROOM], filled: 0 };
    let mut table = 0;
    while table < TABLES.len() {
        index.read(table);
        table += 1;
    }
    index.link();
    index
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
#[expect(clippy::cast_possible_truncation, reason = "asserted, by the compiler")]
impl<const ROOM: usize> Index<ROOM> {
    /// Enters every anchor of a table: the second field of each row, divided by commas.
    const fn read(&mut self, table: usize) {
        let text = TABLES[table].1.as_bytes();
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
        assert!(
            length >= 3 && length <= u8::MAX as usize,
            "an anchor has three characters at least"
        );
        if ROOM > 0 {
            let first = shifted(shifted(0, text[anchor]), text[anchor + 1]);
            self.entries[self.filled] = Entry {
                table: of[0] as u8,
                row: of[1] as u16,
                number: of[2] as u16,
                anchor: anchor as u16,
                length: length as u8,
                window: shifted(first, text[anchor + 2]),
                next: NONE,
            };
        }
        self.filled += 1;
    }

    /// Chains the entries by hash, from the last to the first, so that each chain keeps the order.
    const fn link(&mut self) {
        let mut place = ROOM;
        while place > 0 {
            place -= 1;
            let head = &mut self.heads[hash(self.entries[place].window)];
            self.entries[place].next = *head;
            *head = place as u16;
        }
    }
}
