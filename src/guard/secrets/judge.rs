//! Judges of values: whether a value is random, a UUID, a header. Random values have digits
//! between letters and pairs of letters that words do not have. Not here: where the value was found,
//! and placeholders (`placeholder`).

use super::ids::is_digest_named;
use super::placeholder::is_placeholder;
use super::value_statistics::ValueStatistics;

/// How much a name before a value says about the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hint {
    /// The name of a company, or an ambiguous word, such as `key`.
    Weak,
    /// A word that promises a secret, such as `token`.
    Strong,
}

/// Tells whether a value is random. Names, paths, versions and hosts are not; digests are.
pub(super) fn is_random(value: &[u8], hint: Hint) -> bool {
    let least = if hint == Hint::Weak { 16 } else { 10 };
    // The cheap tests come first: most values are plain words.
    value.len() >= least
        && is_disordered(ValueStatistics::count(value), hint)
        && !is_place(value)
        && !is_placeholder(value)
}

/// Tells whether a value is random, of upper and lower case and digits, unlike digests and names.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let stats = ValueStatistics::count(value);
    value.len() >= 20
        && stats.upper >= 2
        && stats.lower >= 2
        && stats.digits >= 2
        && is_disordered(stats, Hint::Weak)
        && !is_digest_named(value)
        && !is_place(value)
        && !is_placeholder(value)
}

fn is_disordered(stats: ValueStatistics, hint: Hint) -> bool {
    if stats.distinct < 6 || stats.letters() == 0 {
        return false;
    }
    if stats.is_hex() {
        return stats.digits > 0 && stats.bytes >= if hint == Hint::Weak { 32 } else { 16 };
    }
    // No name has a letter beside a digit seven times, or sixteen letters and digits in a row with few
    // common pairs.
    let is_plain = stats.letters() + stats.digits == stats.bytes;
    let is_dense = hint == Hint::Strong && is_plain && stats.bytes >= 16 && stats.digits >= 2;
    if stats.switches >= 7 || (is_dense && stats.switches >= 2 && stats.is_unlike_words(80)) {
        return true;
    }
    let is_marked = stats.marks >= 2 && stats.digits > 0 && stats.letters() >= 6;
    if stats.is_unlike_words(75) && (stats.is_disorderly() || (is_marked && hint == Hint::Strong)) {
        return true;
    }
    // Salts have much punctuation between letters and digits, which no name has.
    if stats.marks >= 4 && stats.digits >= 2 && stats.letters() >= 8 && stats.is_unlike_words(75) {
        return true;
    }
    if hint == Hint::Strong && stats.has_random_letters() {
        return true;
    }
    let limit = if hint == Hint::Weak { 52 } else { 60 };
    match stats.digits {
        0 | 1 => stats.letters() >= 16 && stats.pairs >= 12 && stats.is_unlike_words(limit - 10),
        2 => stats.switches >= 2 && stats.is_unlike_words(limit),
        _ => stats.switches >= 3 && stats.is_unlike_words(limit),
    }
}

/// Tells whether a value is a path, an address or a host.
fn is_place(value: &[u8]) -> bool {
    let starts = |start: &[u8]| value.starts_with(start);
    starts(b"/")
        || starts(b"./")
        || starts(b"~/")
        || starts(b"../")
        || starts(b"http")
        || value.windows(3).any(|window| window == b"://")
        || value.get(1..3) == Some(b":\\")
}

/// Tells whether a value is a user name and a password, as in `admin/…`.
pub(super) fn is_login_pair(value: &[u8]) -> bool {
    let Some(middle) = value.iter().position(|byte| matches!(byte, b'/' | b':')) else {
        return false;
    };
    let (name, rest) = value.split_at(middle);
    let password = rest.get(1..).unwrap_or_default();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let is_path = password.iter().any(|byte| matches!(byte, b'/' | b':' | b'.' | b'{'));
    let is_strong = ValueStatistics::count(password).is_strong();
    is_name && password.len() >= 6 && !is_path && is_strong && !is_placeholder(value)
}

/// Tells whether a value can be that of an authorization header: no word, reference or placeholder.
pub(super) fn is_header(value: &[u8]) -> bool {
    let begins = |scheme: &str| {
        value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let stats = ValueStatistics::count(value);
    let refers = value.first().is_some_and(|byte| b"$<{[*%(".contains(byte));
    let is_word =
        stats.digits == 0 && (stats.upper == 0 || stats.lower == 0 || !stats.is_unlike_words(50));
    value.len() >= 8
        && !refers
        && !is_placeholder(value)
        && !is_word
        && !["aws4-hmac", "base64-"].iter().any(|scheme| begins(scheme))
        && stats.distinct >= 5
}
