//! Secrets that are known by the name before them. Not here: how the value is found (`assigned`).

use super::alphabet::Alphabet;
use super::assigned::{Assigned, Bond, Look, look};
use super::hit::{Hit, Rank};
use super::joined::words;
use super::judge::{Hint, Make, is_mixed, is_random, is_stand_in, is_uuid};
use super::password::is_password;
use super::provider::Provider;
use super::text::{Text, count};
use super::told;
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
pub(super) const ABOUT: &[u8] = b"\
    id ids name names url uri path file type size length len count limit max ttl expiry \
    expires at field column format pattern prefix store ring word index label alias endpoint \
    host uid guid uuid source selector chars";

/// Words before `key` that make it a key of data.
const DATA_KEYS: [&str; 21] = [
    "recv",
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
    "message",
    "duplicate",
    "record",
    "document",
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
    // The name of a resource, which says whose service it belongs to.
    let is_resource = start.checked_sub(4).is_some_and(|place| text.is_at(place, "arn:"));
    if !begins_word(text, start) || is_other_word || is_resource {
        return Look { found: None, values: end..end };
    }
    let accept = |assigned: Assigned<'_>| {
        let value = trimmed(&assigned);
        let is_known = match assigned.bond {
            _ if told::is_promised(text, start..end, &assigned) => provider.accepts(value),
            Bond::Operator | Bond::Flag => provider.accepts(value),
            Bond::Sentence => provider.accepts(value) && is_random(value, Hint::Weak),
            Bond::Neighbour => provider.accepts(value) && is_mixed(value),
            Bond::Identifier => provider.accepts(value) && is_random(value, Hint::Strong),
        };
        let is_likely =
            || assigned.bond == Bond::Operator && !is_about(assigned.tail) && is_mixed(value);
        let (rule, rank) =
            if is_known { (provider.rule, Rank::Provider) } else { ("key", Rank::Hint) };
        let is_secret = (is_known || is_likely())
            && !is_harmless(&assigned)
            && !is_trace(text, start, provider, &assigned);
        let from = assigned.from;
        is_secret.then(|| Hit { rule, from, to: assigned.end(text, value.len()), rank })
    };
    let mut look = look(text, start, end, accept);
    if look.found.is_none() {
        look.found = told::after_words(text, end).and_then(accept);
    }
    look
}

/// Looks for a secret behind a word, which stands from `start` to `end`.
pub(super) fn of_word(text: Text<'_>, start: usize, end: usize, word: &Word) -> Look<Hit> {
    let is_free = begins_word(text, start);
    let next = text.at(end);
    let is_large = text.slice(start, end).iter().all(u8::is_ascii_uppercase);
    let continues =
        (next.is_ascii_lowercase() && next != b's') || (is_large && next.is_ascii_uppercase());
    let stands = match word.promise {
        Promise::Token
        | Promise::Session
        | Promise::Login
        | Promise::Password
        | Promise::Header => !continues,
        Promise::Key => is_free && !continues && !is_data_key(text, start),
        Promise::Pass => is_free && !continues,
        Promise::Pin => is_free && text.slice(start, end) == b"PIN",
    };
    if !stands || is_public(text, start) {
        return Look { found: None, values: end..end };
    }
    look(text, start, end, |assigned| {
        let value = accepted(word.promise, &assigned)
            .filter(|value| word.promise != Promise::Session || logs_in(text, start, value))
            .or_else(|| told::beside_user(text, start, word.promise, &assigned))
            .or_else(|| told::uuid(text, start, word.promise, &assigned))
            .or_else(|| told::as_key(word, &assigned))
            .or_else(|| told::refused(text, start, word.promise, &assigned))?;
        // The pairs of a header are looked at one by one (`cookie`).
        let is_cookie = word.text == "cookie" && is_named_value(value);
        if is_cookie || is_other_thing(text, start, word.promise, &assigned) {
            return None;
        }
        let rank = if word.promise == Promise::Key { Rank::Hint } else { Rank::Word };
        let to = list_end(text, &assigned, assigned.end(text, value.len()));
        Some(Hit { rule: word.rule, from: assigned.from, to, rank })
    })
}

/// Tells whether the value of a session's name lets somebody in: UUIDs, what begins with the word itself, and a digest
/// in a field `"sessionId":`, as agents and traces write it, are its id, unless a program is told to send them.
/// Cookies are looked at apart (`cookie`).
fn logs_in(text: Text<'_>, start: usize, value: &[u8]) -> bool {
    let quote = text.run_back(start, Alphabet::of("\"' "), 3);
    let option = text.slice(quote.saturating_sub("--header".len()), quote);
    let is_sent = option.ends_with(b"-H") || option.ends_with(b"--header");
    let is_digest = || value.iter().all(u8::is_ascii_hexdigit) && is_session_field(text, start);
    let is_id =
        is_uuid(value) || value.starts_with(b"ses_") || value.starts_with(b"sess") || is_digest();
    is_sent || !is_id
}

/// Tells whether a session's name is that of a field of JSON, and not of one that is to be sent.
fn is_session_field(text: Text<'_>, start: usize) -> bool {
    let end = start + "sessionId".len();
    let quote = text.before(start);
    let closing = end + usize::from(text.at(end) == b'\\');
    let colon = text.run_while(closing + 1, 2, |byte| byte == b' ');
    let before = text.slice(start.saturating_sub(AROUND_BYTES), start);
    count(before.len());
    text.slice(start, end).starts_with(b"sessionI")
        && matches!(quote, b'"' | b'\'')
        && text.at(closing) == quote
        && text.at(colon) == b':'
        && !mentions(before, &["cookie", "header", " -b "])
}

/// Providers that give digests to what happened, which people tell with nothing but their name.
const TRACERS: [&str; 6] = [
    "sentry-token",
    "honeycomb-key",
    "rollbar-token",
    "bugsnag-key",
    "datadog-key",
    "mlflow-token",
];

/// Tells whether a value is the number of what happened rather than a key.
fn is_trace(text: Text<'_>, start: usize, provider: &Provider, assigned: &Assigned<'_>) -> bool {
    let is_digest = assigned.value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let is_bare = assigned.tail.trim_ascii().is_empty() && !assigned.is_quoted;
    is_digest
        && TRACERS.contains(&provider.rule)
        && (is_bare || is_near(text, start, &["trace", "event", "issue", "span"]))
}

/// Tells whether a value is a name, `=`, and another value.
fn is_named_value(value: &[u8]) -> bool {
    let equals = value.iter().position(|byte| *byte == b'=');
    equals.is_some_and(|place| place > 0 && value.get(place + 1).is_some_and(|byte| *byte != b'='))
}

/// How far around a name is looked for what it is about.
const AROUND_BYTES: usize = 40;

/// Tells whether one of the words stands shortly before or behind a place, in any case.
pub(super) fn is_near(text: Text<'_>, place: usize, words: &[&str]) -> bool {
    let around = text.slice(place.saturating_sub(AROUND_BYTES), place + AROUND_BYTES);
    count(around.len());
    mentions(around, words)
}

/// Words that say that four to eight digits let somebody in.
const OF_PEOPLE: [&str; 16] = [
    "card", "bank", "unlock", "sim ", "sim-", "door", "alarm", "login", "log in", "user",
    "account", "phone", "my ", "your ", "atm", "safe",
];

/// Words near a commit's name.
pub(super) const OF_COMMITS: [&str; 5] = ["commit", "sha", "revision", "git ", "head"];

/// Tells whether what stands around a value makes it something else: a number of a pin, a commit, a
/// pass of a compiler.
fn is_other_thing(text: Text<'_>, start: usize, promise: Promise, assigned: &Assigned<'_>) -> bool {
    let value = assigned.value;
    let is_digest = matches!(value.len(), 40 | 64) && value.iter().all(u8::is_ascii_hexdigit);
    match promise {
        Promise::Pin => !is_near(text, start, &OF_PEOPLE),
        Promise::Pass => !is_login(text, start) && !is_strong(value),
        Promise::Token | Promise::Key if is_digest => {
            is_near(text, start, &OF_COMMITS) || is_near(text, assigned.to, &OF_COMMITS)
        }
        _ => false,
    }
}

/// Tells whether a user is named shortly before.
pub(super) fn is_login(text: Text<'_>, start: usize) -> bool {
    is_near(text, start.saturating_sub(AROUND_BYTES), &["user", "login", "account", "smtp", "auth"])
        || is_near(text, start, &["user", "login", "smtp", "auth"])
}

/// Tells whether a value is too odd for a name: marks, or many digits.
fn is_strong(value: &[u8]) -> bool {
    let make = Make::of(value);
    make.marks > 0 || make.digits > 2 || (make.digits > 0 && make.upper > 0 && make.lower > 0)
}

/// The longest list of secrets that is taken as one.
const LIST_BYTES_MAX: usize = 4_096;

/// Returns where a list of quoted values ends, of which a secret that ends at `to` is the first.
fn list_end(text: Text<'_>, assigned: &Assigned<'_>, to: usize) -> usize {
    let quote = text.at(to);
    let opening = text.run_back(assigned.from, Alphabet::of("\"' \n\t"), 32);
    if !assigned.is_quoted || !matches!(text.before(opening), b'[' | b'{' | b'(') {
        return to;
    }
    let (mut end, last) = (to, to + LIST_BYTES_MAX);
    while end < last {
        let gap = |byte: u8| matches!(byte, b',' | b' ' | b'\n' | b'\t' | b'\r');
        let next = text.run_while(end + 1, 64, gap);
        if next == end + 1 || text.at(next) != quote {
            break;
        }
        let close = text.run_while(next + 1, 512, |byte| byte != quote && byte != b'\n');
        if text.at(close) != quote {
            break;
        }
        end = close;
    }
    end
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
        Promise::Token | Promise::Session if is_uuid(value) => !is_loose,
        Promise::Token if assigned.bond == Bond::Identifier => is_random(value, Hint::Weak),
        Promise::Token if assigned.bond == Bond::Neighbour => {
            is_mixed(value) || (assigned.is_quoted && is_random(value, Hint::Strong))
        }
        Promise::Token | Promise::Session => is_random(value, Hint::Strong),
        Promise::Login if is_pair(value) => !is_loose,
        Promise::Login => is_random(value, Hint::Strong),
        Promise::Key if is_loose => is_mixed(value),
        Promise::Key => !is_uuid(value) && is_random(value, Hint::Weak),
        Promise::Password => return is_password(assigned, Hint::Strong, assigned.bond),
        Promise::Pass => return is_password(assigned, Hint::Weak, assigned.bond),
        Promise::Pin => {
            matches!(assigned.bond, Bond::Operator | Bond::Flag | Bond::Sentence)
                && (4..=8).contains(&value.len())
                && value.iter().all(u8::is_ascii_digit)
        }
    };
    is_secret.then_some(value)
}

/// Tells whether a value is a name and a password, as in `admin/…`.
fn is_pair(value: &[u8]) -> bool {
    let Some(middle) = value.iter().position(|byte| matches!(byte, b'/' | b':')) else {
        return false;
    };
    let (name, rest) = value.split_at(middle);
    let password = rest.get(1..).unwrap_or_default();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let is_path = password.iter().any(|byte| matches!(byte, b'/' | b':' | b'.' | b'{'));
    is_name && password.len() >= 6 && !is_path && is_strong(password) && !is_stand_in(value)
}

/// Takes punctuation of the sentence off the end of a value without quotes.
pub(super) fn trimmed<'a>(assigned: &Assigned<'a>) -> &'a [u8] {
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
    is_harmless_name(assigned.tail) || (is_digest && mentions(assigned.tail, &["commit"]))
}

/// Tells whether a name is that of a digest or the like.
pub(super) fn is_harmless_name(name: &[u8]) -> bool {
    mentions(name, &HARMLESS)
}

fn mentions(tail: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        tail.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Tells whether the last word of a name makes it the name of something else, as in `token_url`.
pub(super) fn is_about(tail: &[u8]) -> bool {
    let tail = tail.trim_ascii();
    words(ABOUT).any(|word| {
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
        begins && last.eq_ignore_ascii_case(word)
    })
}

pub(super) fn is_public(text: Text<'_>, start: usize) -> bool {
    // Assemblies of .NET name the token of a public key.
    ["public", "publickey"].iter().any(|word| precedes(text, start, word))
}

/// Tells whether a word is the name of a key of data, as in `cache_key`.
pub(super) fn is_data_key(text: Text<'_>, start: usize) -> bool {
    DATA_KEYS.iter().any(|word| precedes(text, start, word))
}

/// Tells whether a word stands right before `start`, perhaps with a separator.
fn precedes(text: Text<'_>, start: usize, word: &str) -> bool {
    let separator = usize::from(matches!(text.before(start), b'_' | b'-' | b'.' | b' '));
    start.checked_sub(separator + word.len()).is_some_and(|place| text.is_at(place, word))
}
