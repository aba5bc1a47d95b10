//! Sets of ASCII characters that keys are made of, and their names in the tables. Not here: the tables.

/// A set of ASCII characters, one bit each. No other byte is ever a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charset(u128);

impl Charset {
    /// The characters of `members`.
    pub(super) const fn new(members: &str) -> Self {
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

    /// Reads a set as tables write it: a name, and after `+` further characters, as in `url+.:`.
    pub(super) fn named(written: &str) -> Self {
        let (name, more) = written.split_once('+').unwrap_or((written, ""));
        let named = NAMES.iter().find(|(known, _)| *known == name);
        named.map_or(Self::new(""), |(_, set)| *set).and(more)
    }

    /// Tells whether a byte is a member.
    pub(super) const fn has(self, byte: u8) -> bool {
        byte.is_ascii() && (self.0 >> byte) & 1 == 1
    }
}

const NAMES: [(&str, Charset); 13] = [
    ("none", Charset::new("")),
    ("digit", DIGIT),
    ("hex", HEX),
    ("uuid", UUID),
    ("upper", UPPER),
    ("alnum", ALNUM),
    ("word", WORD),
    ("url", URL),
    ("dotted", DOTTED),
    ("open", OPEN),
    ("base64", BASE64),
    ("parts", PARTS),
    ("address", ADDRESS),
];

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

pub(super) const DIGIT: Charset = Charset::new("0123456789");
pub(super) const HEX: Charset = DIGIT.and("abcdefABCDEF");
/// Hexadecimal with hyphens, as in a UUID.
const UUID: Charset = HEX.and("-");
pub(super) const UPPER: Charset = DIGIT.and("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const ALNUM: Charset = DIGIT.and(LETTERS);
pub(super) const WORD: Charset = ALNUM.and("_");
pub(super) const URL: Charset = WORD.and("-");
pub(super) const DOTTED: Charset = URL.and(".");
/// The characters of many providers: those that need no quotes in a shell.
const OPEN: Charset = URL.and("=");
pub(super) const BASE64: Charset = ALNUM.and("+/=");
/// Both variants of base64, and the dots between the parts of a token.
const PARTS: Charset = BASE64.and("-_.");
/// Characters of an address up to the end of its path.
const ADDRESS: Charset = DOTTED.and(":/@%~+=&?#!$*");
