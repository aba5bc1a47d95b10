//! What a value is made of: the kinds of its characters, its pieces, and how much its letters stand in pairs that words have.
//! Not here: what follows from that (`judge`, `password`).

use super::text::count;

/// Bytes of a value that are judged. The longest keys of fixed length are shorter, and a bound keeps the work
/// linear where many names stand before one long value.
pub(super) const JUDGED_BYTES_MAX: usize = 128;

/// Letters of a piece in common pairs that make it a word.
const WORD_LETTERS_MIN: usize = 4;

/// For each letter those that often follow it in English and in identifiers: 28 % of all possible pairs, and
/// nine in ten of those in the words of this project.
const FOLLOWERS: [&str; 26] = [
    "bcdgilmnprsty",
    "aeiloru",
    "aehiklort",
    "adeios",
    "acdefilmnpqrstvx",
    "aefio",
    "aehilrs",
    "aeio",
    "acdefglmnoprstv",
    "",
    "eis",
    "adeilosty",
    "abeimops",
    "acdefginost",
    "cdklmnoprstuw",
    "aeiloprst",
    "u",
    "acdegikmorstuy",
    "acehiopstuy",
    "acehiorstuy",
    "bcelmnrst",
    "aei",
    "aehinor",
    "t",
    "",
    "e",
];

/// For each letter the set of its followers, one bit each.
const COMMON: [u32; 26] = common();

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which checks the bounds")]
const fn common() -> [u32; 26] {
    let (mut table, mut first) = ([0; 26], 0);
    while first < 26 {
        let mut rest = FOLLOWERS[first].as_bytes();
        while let [second, others @ ..] = rest {
            table[first] |= 1 << (*second - b'a');
            rest = others;
        }
        first += 1;
    }
    table
}

/// The statistics of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ValueStatistics {
    pub(super) bytes: usize,
    pub(super) digits: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) hex_letters: usize,
    /// Punctuation that names and paths do not have.
    pub(super) marks: usize,
    /// Different characters.
    pub(super) distinct: u32,
    /// Changes between letter and digit.
    pub(super) switches: usize,
    /// Changes between lower case, upper case and digit.
    pub(super) changes: usize,
    /// The longest row of one letter or of zeros.
    pub(super) longest_row: usize,
    /// Letters side by side, and how many of these pairs are common.
    pub(super) pairs: usize,
    pub(super) common: usize,
    /// Words and numbers of a name in camel case or with separators: `http2Server` has three.
    pieces: usize,
    /// Separators of names.
    pub(super) separators: usize,
    /// Letters in pieces of four letters or more that have common pairs alone.
    word_letters: usize,
    /// Whether there is such a piece.
    pub(super) has_word: bool,
}

impl ValueStatistics {
    pub(super) fn count(value: &[u8]) -> Self {
        let value = value.get(..JUDGED_BYTES_MAX).unwrap_or(value);
        count(value.len());
        let mut make = Self { bytes: value.len(), ..Self::default() };
        let (mut seen, mut last, mut row) = (0_u128, 0_u8, 0);
        let (mut large, mut word) = (0, 0);
        for &byte in value {
            seen |= 1_u128.checked_shl(u32::from(byte)).unwrap_or(0);
            make.digits += usize::from(byte.is_ascii_digit());
            make.lower += usize::from(byte.is_ascii_lowercase());
            make.upper += usize::from(byte.is_ascii_uppercase());
            make.marks += usize::from(b"!@#$%^&*~?|".contains(&byte));
            let is_letter = byte.is_ascii_alphabetic();
            make.hex_letters += usize::from(is_letter && byte.is_ascii_hexdigit());
            let switched = (is_letter && last.is_ascii_digit())
                || (byte.is_ascii_digit() && last.is_ascii_alphabetic());
            make.switches += usize::from(switched);
            let changed = is_letter
                && last.is_ascii_alphabetic()
                && last.is_ascii_lowercase() != byte.is_ascii_lowercase();
            make.changes += usize::from(switched || changed);
            let repeats = last.eq_ignore_ascii_case(&byte) && (is_letter || byte == b'0');
            row = if repeats { row + 1 } else { 1 };
            make.longest_row = make.longest_row.max(row);
            make.separators += usize::from(b"-_.".contains(&byte));
            let is_pair = is_letter && last.is_ascii_alphabetic();
            if is_pair {
                make.pairs += 1;
                make.common += usize::from(is_common(last, byte));
            }
            let is_hump = byte.is_ascii_uppercase() && last.is_ascii_lowercase();
            // In `HTTPServer` the last capital begins a piece.
            let is_split = byte.is_ascii_lowercase() && last.is_ascii_uppercase() && large > 1;
            let begins = is_letter && (!is_pair || is_hump)
                || byte.is_ascii_digit() && !last.is_ascii_digit();
            make.pieces += usize::from(begins) + usize::from(is_split);
            large = if byte.is_ascii_uppercase() { large + 1 } else { 0 };
            word = match () {
                () if begins || !is_letter => usize::from(is_letter),
                () if is_common(last, byte) && word > 0 => word + 1,
                () => 0,
            };
            make.word_letters += match word {
                WORD_LETTERS_MIN => WORD_LETTERS_MIN,
                longer => usize::from(longer > WORD_LETTERS_MIN),
            };
            make.has_word |= word >= WORD_LETTERS_MIN;
            last = byte;
        }
        make.distinct = seen.count_ones();
        make
    }

    pub(super) fn letters(self) -> usize {
        self.lower + self.upper
    }

    /// Whether fewer than `percent` of the pairs of letters are common ones.
    pub(super) fn is_unlike_words(self, percent: usize) -> bool {
        self.common * 100 < self.pairs * percent || self.pairs < 4
    }

    /// Whether upper case, lower case and digits change more often than in any name. There even a word of
    /// three letters brings only two changes.
    pub(super) fn is_disorderly(self) -> bool {
        let both = self.upper >= 2 && self.lower >= 2;
        both && self.digits > 0 && self.changes * 100 >= (self.letters() + self.digits) * 45
    }

    /// Whether letters alone are random: upper and lower case not in camel case, in pairs no language has.
    pub(super) fn has_random_letters(self) -> bool {
        let both = self.upper >= 3 && self.lower >= 3;
        both && self.pairs >= 8
            && self.letters() + self.digits + self.marks == self.bytes
            && self.changes * 100 >= self.letters() * 40
            && self.is_unlike_words(50)
    }

    /// Whether a value is too odd for a name: punctuation, or many digits.
    pub(super) fn is_strong(self) -> bool {
        self.marks > 0 || self.digits > 2 || (self.digits > 0 && self.upper > 0 && self.lower > 0)
    }

    /// Whether nobody could have written the value as a word, a name or a number: its pieces are short, its letters stand in
    /// pairs that words do not have, and it has characters of several kinds. The weights part all of 16,000 drawn values but
    /// 1 % from all of 31,000 words of source lines about passwords but 2 %.
    pub(super) fn is_drawn(self) -> bool {
        let kinds = [self.lower, self.upper, self.digits, self.marks];
        let kinds = kinds.into_iter().filter(|count| *count > 0).count();
        let is_three = self.lower > 0 && self.upper > 0 && self.digits > 0;
        // `EVP_PKEY_get1` has one piece or two between its separators.
        let parts = self.separators + 1;
        let is_name = self.marks == 0 && parts > 1 && self.pieces * 10 < parts * 22;
        let for_it = self.pieces * 32
            + self.separators * 10
            + (self.pairs - self.common) * 15
            + self.marks.min(3) * 15
            + usize::from(is_three) * 20;
        let score = for_it.saturating_sub(self.bytes * 10 + self.common * 4);
        if self.is_hex() {
            return self.digits > 1 && self.letters() > 1 && self.bytes >= 16 && self.distinct > 6;
        }
        // Of letters in any order a quarter stand in common pairs, of words nine in ten.
        let is_noise = self.bytes >= 10 && self.common * 100 < self.pairs * 40;
        match kinds {
            _ if self.is_of_words() || is_name || self.distinct < 6 || self.bytes < 8 => false,
            3.. => score > if self.bytes < 10 { 70 } else { 60 },
            2 if self.digits == 0 => self.bytes >= 12 && score > 80 && self.marks == 0,
            1 if self.lower == self.bytes => is_noise,
            2 => self.bytes >= 10 && score > 100 && self.separators == 0,
            _ => false,
        }
    }

    /// Whether the value has a word in it, or several if it is long: four letters of a drawn one may look like a word.
    fn is_of_words(self) -> bool {
        let is_long = self.bytes >= 16
            && self.separators == 0
            && self.digits > 0
            && self.upper > 2
            && self.lower > 2;
        if is_long { self.word_letters * 4 > self.letters() } else { self.has_word }
    }

    pub(super) fn is_hex(self) -> bool {
        self.hex_letters == self.letters() && self.letters() + self.digits == self.bytes
    }
}

fn is_common(first: u8, second: u8) -> bool {
    let place = |byte: u8| byte.to_ascii_lowercase().wrapping_sub(b'a');
    COMMON.get(usize::from(place(first))).is_some_and(|set| (set >> place(second)) & 1 == 1)
}
