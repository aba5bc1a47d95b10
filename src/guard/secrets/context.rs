//! The meaning of a value's name and the words around it: a digest, a public key, the key of a record, a
//! login. Not here: values themselves (`judge`, `password`).

use super::charset::{Charset, DOTTED, URL};
use super::text::{Text, count, words};

/// Bytes of a name that are read.
pub(super) const NAME_BYTES_MAX: usize = 40;

/// Bytes around a name that are searched for words.
const AROUND_BYTES: usize = 40;

/// Words in the rest of a name after which a value is public though it looks random.
const PUBLIC: &str =
    "hash sha1 sha2 digest checksum chksum integrity revision rev fingerprint version";

/// Last words of names that belong to a secret without being it, as in `token_url`.
const ABOUT: &str = "id ids name names url uri path file type size length len count limit max ttl expiry \
    expires at field column format pattern prefix store ring word index label alias endpoint host uid \
    guid uuid source selector chars policy get servers realm list lists ref refs complexity strength interval encryption encoder request rules required h1 zh user users \
    chiave chiavi board";

/// Words before `key` that make it the key of a record, not a secret.
const DATA_KEYS: &str = "recv public pub foreign primary cache sort partition issuer idempotency object \
    row dedup event host translation bucket message duplicate record document";

/// Words near the hash of a commit.
pub(super) const OF_COMMITS: [&str; 5] = ["commit", "sha", "revision", "git ", "head"];

/// Words on a line whose hexadecimal digits are no secret.
pub(super) const OF_DIGESTS: [&str; 15] = [
    "sha",
    "md5",
    "hash",
    "digest",
    "checksum",
    "commit",
    "revision",
    "etag",
    "fingerprint",
    "bcrypt",
    "pbkdf",
    "git ",
    "trace",
    " id ",
    "-id ",
];

/// Tells whether a word begins at `place`: after no letter, or with a capital in camel case.
pub(super) fn begins_word(text: Text<'_>, place: usize) -> bool {
    let (before, first) = (text.before(place), text.at(place));
    // SMBPass
    let ends_capitals = before.is_ascii_uppercase()
        && first.is_ascii_uppercase()
        && text.at(place + 1).is_ascii_lowercase();
    !before.is_ascii_alphabetic()
        || (before.is_ascii_lowercase() && first.is_ascii_uppercase())
        || ends_capitals
}

/// Tells whether the rest of a name makes its value a digest or the like.
pub(super) fn is_public_name(tail: &[u8]) -> bool {
    words(PUBLIC).any(|word| holds(tail, word))
}

/// Tells whether the last word of a name makes it the name of something else, as in `token_url`.
pub(super) fn is_about(tail: &[u8]) -> bool {
    let tail = tail.trim_ascii_end();
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

/// Whose password it is, in names in one word such as `dbpass`.
const OWNERS: &str = "db user usr root admin adm smtp mail imap my sql ftp ssh ldap wifi key store login web app redis mongo pg git \
    proxy vpn super boot bind env http sudo auth get vault router server keystore old new unix samba jdbc remote local ssl tls cert domain \
    service svc system master backup zip pdf client api site forum cms portal broker queue cache node agent registry nexus elastic kafka \
    rabbit amqp mqtt sip ppp snmp ipmi bios wlan radius oracle mssql postgres maria";

/// Tells whether the word before a place is that of an owner.
pub(super) fn follows_owner(text: Text<'_>, place: usize) -> bool {
    words(OWNERS).any(|owner| {
        let start = place.saturating_sub(owner.len());
        place >= owner.len()
            && text.slice(start, place).eq_ignore_ascii_case(owner)
            && !text.before(start).is_ascii_lowercase()
    })
}

/// Tells whether the name is that of a public key or its token.
pub(super) fn is_public(text: Text<'_>, start: usize) -> bool {
    // badCredentials is the name of a message, and encodedPassword that of a hash; in a sentence a wrong password is close
    // to the right one.
    words("public publickey empty palabra palabras").any(|word| precedes(text, start, word))
        || text.before(start) != b' '
            && words("bad invalid wrong missing encoded hashed encrypted")
                .any(|word| precedes(text, start, word))
}

/// Tells whether the `key` at `start` is that of a record, as in `cache_key`.
pub(super) fn is_data_key(text: Text<'_>, start: usize) -> bool {
    words(DATA_KEYS).any(|word| precedes(text, start, word))
}

/// Tells whether a line ends at a place, or a text in JSON that ends its object.
pub(super) fn ends_line(text: Text<'_>, place: usize) -> bool {
    matches!(text.at(place), 0 | b'\n' | b'\r') || text.slice(place, place + 2) == b"\"}"
}

/// Tells whether a word stands right before `start`, perhaps with a separator.
pub(super) fn precedes(text: Text<'_>, start: usize, word: &[u8]) -> bool {
    let separator = usize::from(matches!(text.before(start), b'_' | b'-' | b'.' | b' '));
    start
        .checked_sub(separator + word.len())
        .is_some_and(|place| text.slice(place, place + word.len()).eq_ignore_ascii_case(word))
}

/// Tells whether one of the words stands in a text, in any case.
pub(super) fn mentions(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| holds(text, word.as_bytes()))
}

pub(super) fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// Tells whether one of the words stands shortly before or after a place.
pub(super) fn is_near(text: Text<'_>, place: usize, words: &[&str]) -> bool {
    let around = text.slice(place.saturating_sub(AROUND_BYTES), place + AROUND_BYTES);
    count(around.len());
    mentions(around, words)
}

/// Tells whether a user is named near a password.
pub(super) fn is_login(text: Text<'_>, start: usize) -> bool {
    is_near(text, start.saturating_sub(AROUND_BYTES), &["user", "login", "account", "smtp", "auth"])
        || is_near(text, start, &["user", "login", "smtp", "auth"])
}

/// Returns where the name begins in which `place` stands.
pub(super) fn name_start(text: Text<'_>, place: usize) -> usize {
    text.run_back(place, DOTTED, NAME_BYTES_MAX)
}

/// Tells whether a name is an identifier: with an underscore or in camel case.
pub(super) fn is_identifier(name: &[u8]) -> bool {
    let is_hump = |pair: &[u8]| {
        pair.first().is_some_and(u8::is_ascii_lowercase)
            && pair.last().is_some_and(u8::is_ascii_uppercase)
    };
    name.contains(&b'_') || name.windows(2).any(is_hump)
}

/// Tells whether the name in which `place` stands is an identifier, or has a hyphen.
pub(super) fn is_in_identifier(text: Text<'_>, place: usize) -> bool {
    let name = text.slice(name_start(text, place), text.run(place, URL, NAME_BYTES_MAX));
    is_identifier(name) || name.contains(&b'-')
}

/// Tells whether the name in which a word stands is a flag, such as `--db-password`.
pub(super) fn is_flag(text: Text<'_>, start: usize) -> bool {
    let name = name_start(text, start);
    text.at(name) == b'-'
        && matches!(text.before(name), 0 | b' ' | b'\n' | b'\t' | b'`' | b'"' | b'\'' | b'[')
}

/// Tells whether a name and one value after it fill a line, as in configuration files.
pub(super) fn is_directive(text: Text<'_>, start: usize, name_end: usize) -> bool {
    let line = text.run_back(name_start(text, start), Charset::new(" \t"), NAME_BYTES_MAX);
    let value_end = text.run_while(name_end + 1, 640, |byte| byte > b' ');
    matches!(text.before(line), 0 | b'\n') && matches!(text.at(value_end), 0 | b'\n' | b'\r')
}
