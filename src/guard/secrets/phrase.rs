//! Secrets made of words or of groups: the words from which a wallet is restored, and passwords that
//! a service shows in groups of four. Not here: passwords of one piece (`password`).

use super::hit::{Hit, Rank};
use super::text::Text;

/// Words of such a phrase (BIP 39): a multiple of three.
const WORDS_MIN: usize = 12;
const WORDS_MAX: usize = 24;

/// Letters of one of them.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=8;

/// Looks for the words behind a name such as `seed phrase`, which ends at `end`.
pub(super) fn words(text: Text<'_>, end: usize) -> Option<Hit> {
    let is_gap = |byte: u8| matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'`' | b'\n');
    let gap = text.run_while(end, 8, is_gap);
    let from = if text.is_at(gap, "is ") { text.run_while(gap + 3, 4, is_gap) } else { gap };
    let (mut place, mut to, mut count) = (from, from, 0);
    while count < WORDS_MAX {
        let word = text.run_while(place, 9, |byte| byte.is_ascii_lowercase());
        if !LETTERS.contains(&(word - place)) {
            break;
        }
        (to, count) = (word, count + 1);
        place = text.run_while(word, 2, |byte| matches!(byte, b' ' | b','));
        if place == word {
            break;
        }
    }
    let stands = !text.at(to).is_ascii_alphanumeric();
    (count >= WORDS_MIN && count % 3 == 0 && stands).then_some(Hit {
        rule: "seed-phrase",
        from,
        to,
        rank: Rank::Form,
    })
}

/// Groups of a password that is shown in groups, and the characters of each.
const GROUPS_MIN: usize = 4;
const GROUPS_MAX: usize = 8;
const GROUP_BYTES: usize = 4;

/// Looks for a password in groups behind a name such as `app password`, which ends at `end`.
pub(super) fn groups(text: Text<'_>, end: usize) -> Option<Hit> {
    let is_gap = |byte: u8| matches!(byte, b' ' | b':' | b'=' | b'"' | b'\'' | b'`');
    let gap = text.run_while(end, 8, is_gap);
    let from = if text.is_at(gap, "is ") { text.run_while(gap + 3, 4, is_gap) } else { gap };
    let (mut place, mut to, mut count) = (from, from, 0);
    while count < GROUPS_MAX {
        let group = text.run_while(place, GROUP_BYTES + 1, |byte| byte.is_ascii_alphanumeric());
        if group - place != GROUP_BYTES {
            break;
        }
        (to, count) = (group, count + 1);
        place = text.run_while(group, 1, |byte| matches!(byte, b' ' | b'-'));
        if place == group {
            break;
        }
    }
    (count >= GROUPS_MIN).then_some(Hit { rule: "app-password", from, to, rank: Rank::Form })
}
