//! Judges of values: whether a value is random, a UUID, a header. Random values have digits
//! between letters and pairs of letters that words do not have. Not here: where the value was found,
//! and placeholders (`placeholder`).

use super::ids::is_digest_named;
use super::placeholder::is_placeholder;
use super::value_statistics::ValueStatistics;

/// How much a name before a value says about it.
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
    let make = ValueStatistics::count(value);
    value.len() >= 20
        && make.upper >= 2
        && make.lower >= 2
        && make.digits >= 2
        && is_disordered(make, Hint::Weak)
        && !is_digest_named(value)
        && !is_place(value)
        && !is_placeholder(value)
}

fn is_disordered(make: ValueStatistics, hint: Hint) -> bool {
    if make.distinct < 6 || make.letters() == 0 {
        return false;
    }
    if make.is_hex() {
        return make.digits > 0 && make.bytes >= if hint == Hint::Weak { 32 } else { 16 };
    }
    // No name has a letter beside a digit seven times, or sixteen letters and digits in a row with few
    // common pairs.
    let is_plain = make.letters() + make.digits == make.bytes;
    let is_dense = hint == Hint::Strong && is_plain && make.bytes >= 16 && make.digits >= 2;
    if make.switches >= 7 || (is_dense && make.switches >= 2 && make.is_unlike_words(80)) {
        return true;
    }
    let is_marked = make.marks >= 2 && make.digits > 0 && make.letters() >= 6;
    if make.is_unlike_words(75) && (make.is_disorderly() || (is_marked && hint == Hint::Strong)) {
        return true;
    }
    // Salts have much punctuation between letters and digits, which no name has.
    if make.marks >= 4 && make.digits >= 2 && make.letters() >= 8 && make.is_unlike_words(75) {
        return true;
    }
    if hint == Hint::Strong && make.has_random_letters() {
        return true;
    }
    let limit = if hint == Hint::Weak { 52 } else { 60 };
    match make.digits {
        0 | 1 => make.letters() >= 16 && make.pairs >= 12 && make.is_unlike_words(limit - 10),
        2 => make.switches >= 2 && make.is_unlike_words(limit),
        _ => make.switches >= 3 && make.is_unlike_words(limit),
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
    let make = ValueStatistics::count(value);
    let refers = value.first().is_some_and(|byte| b"$<{[*%(".contains(byte));
    let is_word =
        make.digits == 0 && (make.upper == 0 || make.lower == 0 || !make.is_unlike_words(50));
    value.len() >= 8
        && !refers
        && !is_placeholder(value)
        && !is_word
        && !["aws4-hmac", "base64-"].iter().any(|scheme| begins(scheme))
        && make.distinct >= 5
}
