//! Secrets that are known by the name before them. Not here: how the value is found (`assigned`).

use super::assigned::{Assigned, Bond, Look, look};
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_mixed, is_random, is_stand_in, is_uuid};
use super::password::is_password;
use super::provider::Provider;
use super::text::Text;
use super::word::{Promise, Word};

/// Words in a name that say that its value is no secret though it looks like one.
const HARMLESS: [&str; 11] = [
    "hash",
    "sha1",
    "sha2",
    "digest",
    "checksum",
    "chksum",
    "integrity",
    "revision",
    "rev",
    "fingerprint",
    "version",
];

/// Last words of names of things that belong to a secret but are not it.
const ABOUT: [&str; 38] = [
    "id", "ids", "name", "names", "url", "uri", "path", "file", "type", "size", "length", "len",
    "count", "limit", "max", "ttl", "expiry", "expires", "at", "field", "column", "format",
    "pattern", "prefix", "store", "ring", "word", "index", "label", "alias", "endpoint", "host",
    "uid", "guid", "uuid", "source", "selector", "chars",
];

/// Words before `key` that make it a key of data.
const DATA_KEYS: [&str; 16] = [
    "public",
    "pub",
    "foreign",
    "primary",
    "cache",
    "sort",
    "partition",
    "issuer",
    "idempotency",
    "object",
    "row",
    "dedup",
    "event",
    "host",
    "translation",
    "bucket",
];

/// What a provider's name may go on with in one small word, as in `githubtoken`.
const GLUED: [&str; 12] = [
    "token", "key", "api", "secret", "access", "auth", "client", "app", "pass", "oauth", "bot",
    "web",
];

/// Looks for a provider's secret behind its name, which stands from `start` to `end`.
pub(super) fn of_provider(
    text: Text<'_>,
    start: usize,
    end: usize,
    provider: &Provider,
) -> Look<Hit> {
    let (last, next) = (text.before(end), text.at(end));
    let hump = !last.is_ascii_lowercase() && text.at(end + 1).is_ascii_lowercase();
    let continues = next.is_ascii_lowercase() || (next.is_ascii_uppercase() && hump);
    let is_other_word = continues && !GLUED.iter().any(|word| text.is_at(end, word));
    if !begins_word(text, start) || is_other_word {
        return Look { found: None, values: end..end };
    }
    look(text, start, end, |assigned| {
        let value = trimmed(&assigned);
        let is_known = match assigned.bond {
            Bond::Operator | Bond::Flag => provider.accepts(value),
            Bond::Sentence => provider.accepts(value) && is_random(value, Hint::Weak),
            Bond::Neighbour => provider.accepts(value) && is_mixed(value),
        };
        let is_likely =
            || assigned.bond == Bond::Operator && !is_about(assigned.tail) && is_mixed(value);
        let (rule, rank) =
            if is_known { (provider.rule, Rank::Provider) } else { ("key", Rank::Hint) };
        let is_secret = (is_known || is_likely()) && !is_harmless(&assigned);
        let from = assigned.from;
        is_secret.then(|| Hit { rule, from, to: assigned.end(text, value.len()), rank })
    })
}

/// Looks for a secret behind a word, which stands from `start` to `end`.
pub(super) fn of_word(text: Text<'_>, start: usize, end: usize, word: &Word) -> Look<Hit> {
    let is_free = begins_word(text, start);
    let next = text.at(end);
    let is_large = text.slice(start, end).iter().all(u8::is_ascii_uppercase);
    let continues =
        (next.is_ascii_lowercase() && next != b's') || (is_large && next.is_ascii_uppercase());
    let stands = match word.promise {
        Promise::Token | Promise::Password | Promise::Header => !continues,
        Promise::Key => is_free && !continues && !is_data_key(text, start),
        Promise::Pass => is_free && !continues,
        Promise::Pin => is_free && text.slice(start, end) == b"PIN",
    };
    if !stands || is_public(text, start) {
        return Look { found: None, values: end..end };
    }
    look(text, start, end, |assigned| {
        let value = accepted(word.promise, &assigned)?;
        let rank = if word.promise == Promise::Key { Rank::Hint } else { Rank::Word };
        let to = assigned.end(text, value.len());
        Some(Hit { rule: word.rule, from: assigned.from, to, rank })
    })
}

/// Returns the part of the value that is a secret after a word of this promise.
fn accepted<'a>(promise: Promise, assigned: &Assigned<'a>) -> Option<&'a [u8]> {
    let value = trimmed(assigned);
    if is_harmless(assigned) || is_about(assigned.tail) {
        return None;
    }
    let is_loose = matches!(assigned.bond, Bond::Sentence | Bond::Neighbour);
    let is_secret = match promise {
        Promise::Header => is_header(value),
        Promise::Token if is_uuid(value) => !is_loose,
        Promise::Token if assigned.bond == Bond::Neighbour => is_mixed(value),
        Promise::Token => is_random(value, Hint::Strong),
        Promise::Key => !is_loose && !is_uuid(value) && is_random(value, Hint::Weak),
        Promise::Password => return is_password(assigned, Hint::Strong),
        Promise::Pass => return is_password(assigned, Hint::Weak),
        Promise::Pin => {
            assigned.bond != Bond::Neighbour
                && (4..=8).contains(&value.len())
                && value.iter().all(u8::is_ascii_digit)
        }
    };
    is_secret.then_some(value)
}

/// Takes punctuation of the sentence off the end of a value without quotes.
fn trimmed<'a>(assigned: &Assigned<'a>) -> &'a [u8] {
    let value = assigned.value;
    if assigned.is_quoted {
        return value;
    }
    let is_text = |byte: &u8| !matches!(byte, b'.' | b':' | b'?' | b'!' | b'*' | b'|');
    let end = value.iter().rposition(is_text).map_or(0, |last| last + 1);
    value.get(..end).unwrap_or_default()
}

/// Tells whether a value can be what stands in a header: only words and stand-ins cannot.
fn is_header(value: &[u8]) -> bool {
    let make = Make::of(value);
    let starts_as_reference = value.first().is_some_and(|byte| b"$<{[*%(".contains(byte));
    let is_word =
        make.digits == 0 && (make.upper == 0 || make.lower == 0 || !make.is_unlike_words(50));
    value.len() >= 8
        && !starts_as_reference
        && !is_stand_in(value)
        && !is_word
        && make.distinct >= 5
}

/// Tells whether a word begins at `place`: after no letter, or as a hump in camel case.
fn begins_word(text: Text<'_>, place: usize) -> bool {
    let (before, first) = (text.before(place), text.at(place));
    !before.is_ascii_alphabetic() || (before.is_ascii_lowercase() && first.is_ascii_uppercase())
}

/// Tells whether a name says that its value is a digest or the like.
fn is_harmless(assigned: &Assigned<'_>) -> bool {
    let is_digest = assigned.value.iter().all(u8::is_ascii_hexdigit);
    mentions(assigned.tail, &HARMLESS) || (is_digest && mentions(assigned.tail, &["commit"]))
}

fn mentions(tail: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        tail.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Tells whether the last word of a name makes it the name of something else, as in `token_url`.
fn is_about(tail: &[u8]) -> bool {
    let tail = tail.trim_ascii();
    ABOUT.iter().any(|word| {
        let Some(start) = tail.len().checked_sub(word.len()) else { return false };
        let (before, last) = tail.split_at(start);
        let begins = match (before.last(), last.first()) {
            (None, Some(first)) => first.is_ascii_uppercase(),
            (Some(before), Some(first)) => {
                !before.is_ascii_alphabetic()
                    || (before.is_ascii_lowercase() && first.is_ascii_uppercase())
            }
            (_, None) => false,
        };
        begins && last.eq_ignore_ascii_case(word.as_bytes())
    })
}

fn is_public(text: Text<'_>, start: usize) -> bool {
    precedes(text, start, "public")
}

fn is_data_key(text: Text<'_>, start: usize) -> bool {
    DATA_KEYS.iter().any(|word| precedes(text, start, word))
}

/// Tells whether a word stands right before `start`, perhaps with a separator.
fn precedes(text: Text<'_>, start: usize, word: &str) -> bool {
    let separator = usize::from(matches!(text.before(start), b'_' | b'-' | b'.' | b' '));
    start.checked_sub(separator + word.len()).is_some_and(|place| text.is_at(place, word))
}
