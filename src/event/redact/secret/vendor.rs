//! Secrets whose tell-tale stands in their middle or whose parts have known lengths. Not here: those
//! that begin like no other (`prefixed`).

use super::alphabet::{ALNUM, Alphabet, BASE64, DIGIT, DOTTED, HEX, URL, WORD};
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_random, is_stand_in};
use super::named::is_data_key;
use super::text::Text;

fn hit(rule: &'static str, from: usize, to: usize) -> Option<Hit> {
    Some(Hit { rule, from, to, rank: Rank::Form })
}

/// A bot's token of Discord: its number in base64, a time, and a code.
pub(super) fn discord(text: Text<'_>, start: usize) -> Option<Hit> {
    if PARTS.has(text.before(start)) || text.slice(start, start + 2) != b"MT" {
        return None;
    }
    let first = text.run(start, ALNUM, 29);
    let second = text.run(first + 1, URL, 7);
    let third = text.run(second + 1, URL, 48);
    let lengths = (24..=28).contains(&(first - start))
        && second - first == 7
        && (28..=46).contains(&third.saturating_sub(second));
    let divided = text.at(first) == b'.' && text.at(second) == b'.';
    (lengths && divided).then(|| hit("discord-token", start, third))?
}

const PARTS: Alphabet = ALNUM.and("._-");

/// Keys that Azure makes to be recognised, of 84 characters with `JQQJ9` in them.
pub(super) fn azure_key(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let (from, to) = (text.run_back(start, ALNUM, 64), text.run(end, BASE64, 64));
    let is_whole = (44..=60).contains(&(start - from)) && (20..=40).contains(&(to - end));
    (is_whole && text.slice(start, end) == b"JQQJ9").then(|| hit("azure-key", from, to))?
}

/// A session of Salesforce: the number of an organisation, `!`, and a code.
pub(super) fn salesforce(text: Text<'_>, start: usize) -> Option<Hit> {
    let mark = text.run(start, ALNUM, 19);
    let to = text.run(mark + 1, DOTTED, 200);
    let is_token = matches!(mark - start, 15 | 18) && text.at(mark) == b'!' && to - mark > 60;
    (is_token && !ALNUM.has(text.before(start))).then(|| hit("salesforce-token", start, to))?
}

/// A key of Mailchimp: 32 digits and its data centre.
pub(super) fn mailchimp(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let (from, to) = (text.run_back(start, HEX, 33), text.run(end, DIGIT, 3));
    let stands = !ALNUM.has(text.before(from)) && !ALNUM.has(text.at(to));
    let is_random = Make::of(text.slice(from, start)).distinct > 6;
    (stands && is_random && start - from == 32 && to > end)
        .then(|| hit("mailchimp-key", from, to))?
}

/// A sender's key of Firebase: a number in base64, `:APA91b`, and a code.
pub(super) fn firebase(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let (from, to) = (text.run_back(start, URL, 16), text.run(end, URL, 160));
    (start - from >= 7 && to - end >= 100).then(|| hit("firebase-key", from, to))?
}

/// Shortest body behind a word such as `_live_`: shorter ones are ids that may be told.
const BODY_BYTES_MIN: usize = 20;

/// A key whose beginning says what it is for, as many providers make them: `acme_live_…`.
pub(super) fn purposed(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let from = text.run_back(start, WORD, 16);
    let to = text.run(end, WORD, 128);
    let (name, body) = (text.slice(from, start), text.slice(end, to));
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic);
    let is_key = body.len() >= BODY_BYTES_MIN && is_random(body, Hint::Strong);
    let make = Make::of(body);
    let is_drawn = is_key && make.digits >= 2 && !body.contains(&b'_') && !is_stand_in(body);
    let stands = !matches!(text.before(from), b'/' | b'.' | b'-');
    (is_name && is_drawn && stands && !is_data_key(text, start))
        .then(|| hit("vendor-key", from, to))?
}
