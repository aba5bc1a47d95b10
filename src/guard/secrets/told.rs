//! Secrets that a sentence tells, by more than the name right before them: `acme rejected key 'VALUE'`. Not here: names
//! and what is assigned to them (`named`).

use std::ops::Range;

use super::alphabet::{Alphabet, DOTTED};
use super::assigned::{Assigned, Bond, is_in_identifier, value_at};
use super::judge::{Hint, is_random, is_uuid};
use super::named::{
    OF_COMMITS, is_about, is_data_key, is_harmless_name, is_login, is_near, is_public, trimmed,
};
use super::password::is_password;
use super::stray::is_ulid;
use super::text::Text;
use super::word::{Promise, Word};

/// Words that promise a secret behind a provider's name.
const PROMISES: [&str; 4] = ["token", "key", "secret", "password"];

/// Those that promise it of a digest or a UUID as well: the key of an object or of a cache is made alike.
const FULL_PROMISES: [&str; 9] = [
    "token",
    "secret",
    "password",
    "api key",
    "api_key",
    "api-key",
    "access key",
    "access_key",
    "access-key",
];

/// How far the value of a provider may stand behind its name.
const WORDS_BYTES_MAX: usize = 40;

/// Tells whether a word between a provider's name and a value promises that the value is a secret.
pub(super) fn is_promised(text: Text<'_>, name: Range<usize>, assigned: &Assigned<'_>) -> bool {
    let start = name.start;
    let value = trimmed(assigned);
    let said = verb(assigned.tail).filter(|_| assigned.bond == Bond::Sentence);
    let tail = assigned.tail.get(..said.map_or(assigned.tail.len(), |verb| verb.start));
    let tail = tail.unwrap_or_default().trim_ascii_end();
    let ends = |words: &[&str]| words.iter().any(|word| ends_in(tail, word));
    let is_commit = || is_near(text, start, &OF_COMMITS) || is_near(text, assigned.to, &OF_COMMITS);
    let is_secret = if value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        let is_key = ends(&FULL_PROMISES)
            || ends(&PROMISES)
                && (is_near(text, start, &["reject", "revoke"])
                    || is_near(text, start, &OF_REFUSALS));
        is_key && !is_commit()
    } else {
        ends(&PROMISES) && is_random(value, Hint::Strong)
    };
    is_secret && !is_of_data(text, (name.end + tail.len()).saturating_sub("key".len()))
}

/// Tells whether `key` stands at a place, and is that of a cache, of an object or the like.
fn is_of_data(text: Text<'_>, place: usize) -> bool {
    text.is_at(place, "key") && (is_data_key(text, place) || is_public(text, place))
}

fn ends_in(tail: &[u8], word: &str) -> bool {
    let start = tail.len().checked_sub(word.len());
    start
        .and_then(|start| tail.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns where the first word such as ` is ` stands.
fn verb(tail: &[u8]) -> Option<Range<usize>> {
    let verbs = [
        " is ", " was ", " to ", " are ", " ist ", " war ", " lautet ", " est ", " es ", " era ",
        " jest ", " je ",
    ];
    let verb = |verb: &&str| {
        let place = tail.windows(verb.len()).position(|window| window == verb.as_bytes())?;
        Some(place..place + verb.len())
    };
    verbs.iter().filter_map(verb).min_by_key(|verb| verb.end)
}

/// Returns where the value begins in a sentence such as ` for the database is now hunter2`.
pub(super) fn sentence_end(tail: &[u8]) -> Option<usize> {
    if !tail.contains(&b' ') {
        return None;
    }
    let after = verb(tail)?.end;
    let rest = tail.get(after..)?;
    let adverbs = ["now ", "still ", "set to ", "simply ", "just "];
    let adverb = adverbs.iter().find(|word| rest.starts_with(word.as_bytes()));
    Some(after + adverb.map_or(0, |word| word.len()))
}

/// Returns the value behind the last word that promises one, a few words behind a provider's name that ends at `end`.
pub(super) fn after_words(text: Text<'_>, end: usize) -> Option<Assigned<'_>> {
    const TAIL: Alphabet = DOTTED.and(" ");
    let tail = text.slice(end, text.run(end, TAIL, WORDS_BYTES_MAX));
    let behind = |word: &&str| {
        let place = tail.windows(word.len()).rposition(|part| part == word.as_bytes())?;
        (tail.get(place + word.len()) == Some(&b' ')).then_some((place, place + word.len() + 1))
    };
    let (place, length) = PROMISES.iter().filter_map(behind).max()?;
    (!is_of_data(text, end + place))
        .then(|| value_at(text, end + length, Bond::Neighbour, tail.get(..length)?))?
}

/// Returns a password that is only named beside its user, as in `user bob and password X`.
pub(super) fn beside_user<'a>(
    text: Text<'_>,
    start: usize,
    promise: Promise,
    assigned: &Assigned<'a>,
) -> Option<&'a [u8]> {
    let is_told = matches!(promise, Promise::Password | Promise::Pass)
        && assigned.bond == Bond::Neighbour
        && is_login(text, start);
    is_told.then(|| is_password(assigned, Hint::Strong, Bond::Sentence))?
}

/// Returns a UUID of which a sentence says that it is the secret of a program's name.
pub(super) fn uuid<'a>(
    text: Text<'_>,
    start: usize,
    promise: Promise,
    assigned: &Assigned<'a>,
) -> Option<&'a [u8]> {
    let value = trimmed(assigned);
    let is_told = promise == Promise::Token
        && matches!(assigned.bond, Bond::Sentence | Bond::Identifier)
        && is_uuid(value)
        && is_in_identifier(text, start);
    is_told.then_some(value)
}

/// Returns the value right behind `api key` or `access key`, which have no other meaning.
pub(super) fn as_key<'a>(word: &Word, assigned: &Assigned<'a>) -> Option<&'a [u8]> {
    let value = trimmed(assigned);
    let is_key = matches!(word.rule, "api-key" | "access-key")
        && assigned.bond == Bond::Neighbour
        && !is_about(assigned.tail)
        && !is_harmless_name(assigned.tail)
        && !is_ulid(value)
        && (word.rule == "api-key" || !is_uuid(value))
        && is_random(value, Hint::Strong);
    is_key.then_some(value)
}

/// What is said of keys that let somebody in, and hardly of keys of data.
const OF_REFUSALS: [&str; 7] = [
    "unauthorized",
    "http 401",
    "error 401",
    "error: 401",
    "status 401",
    "leaked key",
    "revoked key",
];

/// Returns the quoted value of which a sentence says that it was refused as a key.
pub(super) fn refused<'a>(
    text: Text<'_>,
    start: usize,
    promise: Promise,
    assigned: &Assigned<'a>,
) -> Option<&'a [u8]> {
    let value = assigned.value;
    let is_refused = promise == Promise::Key
        && assigned.is_quoted
        && assigned.bond == Bond::Neighbour
        && !is_about(assigned.tail)
        && value.iter().all(u8::is_ascii_alphanumeric)
        && !value.iter().all(u8::is_ascii_hexdigit)
        && is_random(value, Hint::Strong)
        && is_near(text, start, &OF_REFUSALS);
    is_refused.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    /// Pieces of keys, put together here so that this file holds none.
    const PLAIN: [&str; 2] = ["x4k9q2m7w1", "z8r5t3b6n0vjghd4s9f2ee"];
    const DIGEST: [&str; 2] = ["3f2a9c1b7d4e5f60", "a1b2c3d4e5f60718"];

    // S-WRITE-8
    #[test]
    fn what_a_sentence_says_of_a_key_is_enough() {
        let (plain, digest) = (PLAIN.concat(), DIGEST.concat());
        let uuid = "3593fde0-17d4-4707-ab72-fcdaf171e715";
        for (text, secret) in [
            (format!("bitbucket api key {plain} was revoked"), plain.as_str()),
            (format!("bitbucket rejected key '{plain}'"), &plain),
            (format!("the bitbucket token is {plain}"), &plain),
            (format!("adobe refused the api key {digest}"), &digest),
            (format!("adobe rejected key '{digest}'"), &digest),
            (format!("heroku wants the token {uuid}"), uuid),
            (format!("set heroku.token \"{uuid}\""), uuid),
            (format!("zebra api key {plain} was revoked"), &plain),
            (format!("the api key {uuid} works"), uuid),
            (format!("error: 401 for key '{plain}'"), &plain),
            (format!("zebra says unauthorized: key '{plain}' has expired"), &plain),
            (format!("the asana token is {}", "7149477240014139"), "7149477240014139"),
        ] {
            assert!(!redacted(&text).contains(secret), "{}", redacted(&text));
        }
    }

    #[test]
    fn what_a_sentence_says_of_other_things_stays() {
        let (plain, digest) = (PLAIN.concat(), DIGEST.concat());
        let uuid = "3593fde0-17d4-4707-ab72-fcdaf171e715";
        for text in [
            format!("the key '{plain}' was evicted"),
            format!("rejected key 'users:{plain}:profile'"),
            format!("the key '{digest}' was rejected"),
            format!("sentry token for event {digest} was missing"),
            format!("circleci key {digest} missed; algolia object key {digest} is gone"),
            format!("mongodb key {} is doubled", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
            "github token 8843d7f92416211de9ebb963ff4ce28125932878 is the commit".to_owned(),
            "bitbucket keys of pull-request-2024-build-42 are cached".to_owned(),
            "heroku key vault-name-of-the-staging-environment2".to_owned(),
            "adobe token 3593fde0-17d4-4707 is cut".to_owned(),
            "heroku-key-id 3593fde0-17d4-4707-ab72-fcdaf171e715 is listed".to_owned(),
            format!("api_key_id {digest} and api_key_hash {digest} are logged"),
            format!("key_id '{plain}' was revoked"),
            format!("memory leak: subscriptions under key '{plain}' never close"),
            format!("of 40123 rows the one with key '{plain}' is odd, and 401 have key '{plain}'"),
            format!("E11000 rejected duplicate key '{plain}'; Kafka rejected key '{plain}'"),
            format!("sessions.rs:403: no row has the key '{plain}'"),
            format!("mongodb rejected duplicate key '{uuid}'"),
            format!("codecov cache key {plain} was missed, bitbucket public key {plain} is known"),
            format!("bitbucket dedup key {plain} and idempotency key {plain} were used twice"),
            format!("aws s3 object key a1/b2c3x9/{plain}0 is gone"),
            format!("confluent message key {} is null", plain.get(..16).unwrap()),
            format!("heroku-api {uuid} GET /v1/apps 200; snyk-api {uuid} GET"),
            format!("coinbase-api-worker {uuid} crashed"),
            format!("kubectl logs heroku-api-7d9f8b6c5-x2k4q {uuid}"),
            format!(
                "buildkite-access-token-service {} deployed",
                "8843d7f92416211de9ebb963ff4ce28125932878"
            ),
            "the deleted api key 01h45ytscbebyvny4gc8cr8ma2 is its id".to_owned(),
            format!("the access key {uuid} of the map is stable"),
        ] {
            assert_eq!(redacted(&text), text);
        }
    }
}
