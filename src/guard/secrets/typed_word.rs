//! Words that somebody typed in a command: where one begins and ends, and whether it can be a password. Not here: which
//! word of which command is one (`login`, `login_pair`).

use super::hit::{Hit, Rank};
use super::known_word::is_word_of_passwords;
use super::placeholder::is_placeholder;
use super::text::{Text, count};
use super::value_statistics::ValueStatistics;

/// Bytes of a typed password.
pub(super) const ARGUMENT_BYTES_MAX: usize = 128;

/// Words of a command that are read, and bytes before a command that tell what was asked.
pub(super) const WORDS_MAX: usize = 6;

/// Bytes of a command that are read after or before the name of its program.
pub(super) const COMMAND_BYTES_MAX: usize = 256;

/// Returns a finding whose form says what it is.
pub(super) fn hit(rule: &'static str, from: usize, to: usize) -> Option<Hit> {
    Some(Hit { rule, from, to, rank: Rank::Form })
}

/// Returns the text between the last end of a command and `place`.
pub(super) fn command_before<'a>(text: Text<'a>, place: usize, ends: &[u8]) -> &'a [u8] {
    let before = text.slice(place.saturating_sub(COMMAND_BYTES_MAX), place);
    let length = before.iter().rev().take_while(|byte| !ends.contains(byte)).count();
    count(length);
    before.get(before.len() - length..).unwrap_or_default()
}

/// Reads the word of a command at this place, not counting options.
pub(super) fn nth_word(
    text: Text<'_>,
    place: usize,
    number: usize,
    rule: &'static str,
) -> Option<Hit> {
    let mut next = place;
    let mut left = number;
    for _ in 0..WORDS_MAX {
        next = text.run_while(next, 4, |byte| byte == b' ');
        let (from, to, is_quoted) = word_at(text, next);
        if to == from || !matches!(text.before(next), b' ' | b'=') {
            return None;
        }
        next = to + usize::from(is_quoted);
        if text.at(from) == b'-' && !is_quoted {
            continue;
        }
        if left == 0 {
            // A call or a type is no password.
            let is_part = |byte: &u8| b"([".contains(byte);
            let is_code = !is_quoted
                && (text.slice(from, to).ends_with(b":=")
                    || text.slice(from, to).iter().any(is_part));
            let is_secret = !is_code && is_typed(text.slice(from, to), is_quoted);
            return is_secret.then(|| hit(rule, from, to))?;
        }
        left -= 1;
    }
    None
}

/// Reads one argument without its quotes.
pub(super) fn word_at(text: Text<'_>, place: usize) -> (usize, usize, bool) {
    let quote = text.at(place);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let from = place + usize::from(is_quoted);
    let to = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| match byte {
        _ if is_quoted => byte != quote && byte != b'\n',
        b'"' | b'\'' | b'`' | b'\\' | b')' => false,
        _ => byte > b' ',
    });
    // CORP\jane
    let is_domain = text.at(to) == b'\\'
        && text.at(to + 1).is_ascii_alphanumeric()
        && text.slice(from, to).starts_with(b"/user:");
    let to =
        if is_domain { text.run_while(to + 1, ARGUMENT_BYTES_MAX, |byte| byte > b' ') } else { to };
    (from, to, is_quoted)
}

/// Tells whether an argument can be a password: no reference, option, placeholder or word of a sentence.
pub(super) fn is_typed(value: &[u8], is_quoted: bool) -> bool {
    let bare = value.strip_prefix(b"\"").unwrap_or(value);
    let refers =
        bare.first().is_none_or(|byte| b"$<{[(-*%/&".contains(byte)) || value.ends_with(b"(");
    let make = ValueStatistics::count(value);
    let is_number = make.digits == value.len() && value.len() < 6;
    // href="…"
    let is_attribute = value.ends_with(b"=") && make.letters() + 1 == value.len();
    let letters = value.iter().filter(|byte| !b".,:!?".contains(byte)).count();
    let is_word = !is_quoted && make.lower == letters && letters < 6;
    value.len() >= 4
        && !refers
        && !is_number
        && !is_word
        && !is_attribute
        && !is_placeholder(value)
        && !is_word_of_passwords(value)
        && !value.split(|byte| *byte == b'@').next().is_some_and(is_word_of_passwords)
}
