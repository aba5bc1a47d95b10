//! Secrets whose tell-tale stands in their middle or whose parts have known lengths. Not here: those
//! that begin like no other (`prefixed`).

use super::alphabet::{ALNUM, Alphabet, BASE64, DIGIT, DOTTED, HEX, URL, WORD};
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_random, is_stand_in};
use super::named::{is_data_key, is_near};
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

/// How keys of Azure are marked, and how many characters stand before the mark.
const AZURE_MARKS: [(&[u8], usize); 11] = [
    (b"+ASt", 76),
    (b"ACDb", 76),
    (b"APIM", 76),
    (b"AzFu", 44),
    (b"AzSe", 42),
    (b"+ACR", 42),
    (b"+AEh", 33),
    (b"+ASb", 33),
    (b"+ARm", 33),
    (b"AzCa", 33),
    (b"AIoT", 33),
];

/// A key of one of Azure's services, with a mark for it at a certain place and a few characters behind.
pub(super) fn azure_marked(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    const KEY: Alphabet = BASE64.and("-_");
    let mark = text.slice(start, end);
    let (_, before) = AZURE_MARKS.into_iter().find(|(known, _)| *known == mark)?;
    let key = ALNUM.and("+/-_");
    let (from, to) = (text.run_back(start, key, before + 1), text.run(end, KEY, 13));
    let is_whole = start - from == before && (5..=12).contains(&(to - end));
    (is_whole && Make::of(text.slice(from, start)).digits > 0)
        .then(|| hit("azure-key", from, to))?
}

/// A key of Authress: the number of a service, the key's, the account's behind `.acc_`, and a code.
pub(super) fn authress(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let key = text.run_back(start, ALNUM, 7);
    let service = text.run_back(key - usize::from(key > 0), ALNUM, 31);
    let from = text.run_back(service, WORD, 10);
    let is_service =
        matches!(text.slice(from, service), b"sc_" | b"ext_" | b"scauth_" | b"authress_")
            && text.before(key) == b'.'
            && (5..=31).contains(&(key - service))
            && (4..=6).contains(&(start - key));
    let account = text.run(end, ALNUM.and("-"), 33);
    let to = text.run(account + 1, BASE64.and("-_"), 192);
    let is_key =
        (10..=32).contains(&(account - end)) && text.at(account) == b'.' && to - account > 30;
    (is_service && is_key && is_random(text.slice(account + 1, to), Hint::Strong))
        .then(|| hit("authress-key", from, to))?
}

/// Bytes of the code of a token of Unleash. Digests, as in the tags of images, have other lengths.
const UNLEASH_BYTES: usize = 56;

/// A token of Unleash: a project or `*`, an environment, and a code.
pub(super) fn unleash(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let from = text.run_back(start, URL.and("*[]"), 64);
    let to = text.run(end, HEX, 128);
    let code = text.slice(end, to);
    let is_code = code.len() >= 40 && Make::of(code).distinct > 6;
    let is_told = code.len() == UNLEASH_BYTES
        || text.slice(from, start).iter().any(|byte| b"*[]".contains(byte))
        || is_near(text, from, &["unleash", "authorization", "client key"]);
    (from < start && text.before(from) != b'/' && is_code && is_told)
        .then(|| hit("unleash-token", from, to))?
}

/// A key of Convex: an environment, the name of a deployment, a stroke, and a code.
pub(super) fn convex(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let name = text.run(end, URL.and(":"), 64);
    let to = text.run(name + 1, BASE64, 256);
    let is_key = name > end && text.at(name) == b'|' && to - name > 40;
    (is_key && is_random(text.slice(name + 1, to), Hint::Strong))
        .then(|| hit("convex-key", start, to))?
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
