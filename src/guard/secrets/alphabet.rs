//! Sets of ASCII characters that keys are made of. Not here: which key is made of which.

/// A set of ASCII characters, one bit each. No other byte is ever a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alphabet(u128);

impl Alphabet {
    /// The characters of `members`.
    pub(super) const fn of(members: &str) -> Self {
        Self(0).and(members)
    }

    /// These, and the characters of `members`.
    pub(super) const fn and(self, members: &str) -> Self {
        let (mut set, mut rest) = (self.0, members.as_bytes());
        while let [first, others @ ..] = rest {
            if first.is_ascii() {
                set |= 1 << *first;
            }
            rest = others;
        }
        Self(set)
    }

    /// Tells whether a byte is a member.
    pub(super) const fn has(self, byte: u8) -> bool {
        byte.is_ascii() && (self.0 >> byte) & 1 == 1
    }
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

pub(super) const DIGIT: Alphabet = Alphabet::of("0123456789");
pub(super) const HEX: Alphabet = DIGIT.and("abcdefABCDEF");
/// Hexadecimal with hyphens, as in a UUID.
pub(super) const UUID: Alphabet = HEX.and("-");
pub(super) const UPPER: Alphabet = DIGIT.and("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const ALNUM: Alphabet = DIGIT.and(LETTERS);
pub(super) const WORD: Alphabet = ALNUM.and("_");
pub(super) const URL: Alphabet = WORD.and("-");
pub(super) const DOTTED: Alphabet = URL.and(".");
/// What many providers leave open: any character that needs no quoting.
pub(super) const OPEN: Alphabet = URL.and("=");
pub(super) const BASE64: Alphabet = ALNUM.and("+/=");
/// Both forms of base64, and the points of tokens in parts.
pub(super) const PARTS: Alphabet = BASE64.and("-_.");
