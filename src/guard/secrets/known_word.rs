//! Words that stand where a password could and are none: words of code, and names for the password itself. Not here: the
//! other judges of a password (`password`).

use super::context::mentions;
use super::text::{WordTable, words};
use super::value_statistics::JUDGED_BYTES_MAX;

/// Words that people and code write where a password could stand: types, keywords, states, placeholders.
static WORDS: WordTable = WordTable::new(include_str!("tables/words.txt"));

/// Words that make a value a name for the password, as in `dbpassword`.
pub(super) const NAMES: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "placeholder",
    "passwort",
    "username",
];

/// Beginnings of the names of encodings, and of methods that hash, sign or authenticate: `utf-8`, `scram-sha-256`.
const METHODS: [&str; 14] = [
    "base64", "sha1", "sha2", "sha5", "md5", "utf", "argon", "pbkdf", "bcrypt", "latin1", "urllib",
    "iso-", "aws4-", "scram",
];

/// Those of them whose result is the encoded password, which is told with its method.
const HASHES: [&str; 8] = ["sha1", "sha2", "sha5", "md5", "argon", "pbkdf", "bcrypt", "scram"];

/// Further words of such names, as in `utf8mb4`, `md5crypt` and `PBKDF2WithHmacSHA256`.
const METHOD_WORDS: &str = "\
    sha hmac b id i d url sum crypt encode decode encodestring decodestring parse quote unquote plus mb bin le be js hex prng rsa \
    request signature general ci";

/// Bytes of an encoded password at least: those of its method and of the shortest digest in base64.
const ENCODED_BYTES_MIN: usize = 25;

/// Marks in the order of ASCII that are a list of them.
const MARKS_ROW_MIN: usize = 6;

/// Removes the punctuation of a sentence from the end.
pub(super) fn without_end_punctuation(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b'.' | b':' | b'?' | b'!' | b',' | b';' | b'*');
    let end = value.iter().rposition(is_text).map_or(0, |last| last + 1);
    value.get(..end).unwrap_or_default()
}

/// Tells whether a value is a name for the password rather than one.
pub(super) fn names_secret(core: &[u8]) -> bool {
    let is_parted = core.iter().any(|byte| b"-_:.".contains(byte));
    // V1SecretReference
    let is_versioned = core.last().is_some_and(u8::is_ascii_alphabetic)
        && core.iter().filter(|byte| byte.is_ascii_digit()).count() < 3
        && core.iter().skip(1).any(u8::is_ascii_uppercase);
    let is_bare = core.iter().all(|byte| {
        byte.is_ascii_alphabetic()
            || b"-_:.".contains(byte)
            || (is_parted || is_versioned) && byte.is_ascii_digit()
    });
    let is_short = || [&b"pass"[..], b"pwd", b"pw"].iter().any(|end| core.ends_with(end));
    is_bare && (mentions(core, &NAMES) || is_short())
}

/// Tells whether a word is one that people write about passwords.
pub(super) fn is_word_of_passwords(value: &[u8]) -> bool {
    is_known_word(without_end_punctuation(value))
}

pub(super) fn is_known_word(core: &[u8]) -> bool {
    // password2
    let word = core.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_counted_name = core.len() <= word + 2
        && core.iter().skip(word).all(u8::is_ascii_digit)
        && core.get(..word).is_some_and(|word| {
            NAMES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
        });
    is_counted_name || WORDS.has(core) || is_counted(core) || is_method(core) || is_encoded(core)
}

/// Tells whether a word is a number of things, as in `128-bit`.
fn is_counted(core: &[u8]) -> bool {
    let mut parts = core.splitn(2, |byte| *byte == b'-');
    let has = |part: Option<&[u8]>, is_member: fn(&u8) -> bool| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(is_member))
    };
    has(parts.next(), u8::is_ascii_digit) && has(parts.next(), u8::is_ascii_lowercase)
}

/// Tells whether a word names an encoding or a method: it begins as one, and its other words are known.
fn is_method(core: &[u8]) -> bool {
    let goes_on = |before: &u8, next: &u8| {
        before.is_ascii_alphabetic() == next.is_ascii_alphabetic()
            && !(before.is_ascii_lowercase() && next.is_ascii_uppercase())
    };
    let is_known = |word: &[u8]| {
        !word.first().is_some_and(u8::is_ascii_alphabetic)
            || WORDS.has(word)
            || words(METHOD_WORDS).any(|other| other.eq_ignore_ascii_case(word))
    };
    let is_of_names = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    after_method(core, &METHODS)
        .is_some_and(|rest| rest.iter().all(is_of_names) && rest.chunk_by(goes_on).all(is_known))
}

/// Tells whether a value is an encoded password that begins with its method: `md5` and its digest, or parts after `$` and `:`.
pub(super) fn is_encoded(core: &[u8]) -> bool {
    let is_long = core.len() >= ENCODED_BYTES_MIN;
    let is_digest = |rest: &[u8]| rest.len() >= 32 && rest.iter().all(u8::is_ascii_hexdigit);
    let mut parts = core.split(|byte| b"$:".contains(byte));
    let is_named = parts.next().is_some_and(is_method) && parts.next().is_some();
    is_long && after_method(core, &HASHES).is_some_and(|rest| is_named || is_digest(rest))
}

/// Returns what follows the beginning of a method.
fn after_method<'a>(core: &'a [u8], methods: &[&str]) -> Option<&'a [u8]> {
    methods.iter().find_map(|method| {
        let (start, rest) = core.split_at_checked(method.len())?;
        start.eq_ignore_ascii_case(method.as_bytes()).then_some(rest)
    })
}

/// Tells whether a value is a list of characters and no password: most of it is escapes of an address, or it counts up the
/// marks of ASCII.
pub(super) fn is_list_of_characters(value: &[u8]) -> bool {
    let value = value.get(..JUDGED_BYTES_MAX).unwrap_or(value);
    let is_escape =
        |part: &&[u8]| part.starts_with(b"%") && part.iter().skip(1).all(u8::is_ascii_hexdigit);
    let escapes = value.windows(3).filter(is_escape).count();
    let is_next = |pair: &[u8]| matches!(pair, [first, next] if first.checked_add(1) == Some(*next) && !next.is_ascii_alphanumeric());
    let is_row = |part: &[u8]| part.windows(2).all(is_next);
    escapes > 1 && escapes * 6 >= value.len() || value.windows(MARKS_ROW_MIN).any(is_row)
}

#[cfg(test)]
mod tests {
    use super::super::redacted;
    use super::is_known_word;

    // S-WRITE-8
    #[test]
    fn passwords_that_begin_as_known_words_go() {
        for text in [
            "password=7-copper-lantern-Xq9",
            "PGPASSWORD=4-horses-Staple",
            "password: 99-red-Balloons",
            "export DB_PASSWORD=9a8-copper#lantern-K2",
            "token: 1-abcdEFGH2345xyzQ",
            "DB_PASSWORD=utfcopperlantern9!",
            "password: md5copper!lantern9",
            "password=iso-copperK9#x",
            "password=base64copperK9#x",
            "password=scramcopperK9#x",
            "password=sha1:copper#lantern9",
        ] {
            let value = text.split(['=', ' ']).next_back().unwrap();
            assert!(!redacted(text).contains(value), "{text}");
        }
    }

    #[test]
    fn counts_and_methods_are_known() {
        for word in [
            "128-bit",
            "12-character",
            "utf-8",
            "UTF-16LE",
            "utf8mb4",
            "iso-8859-1",
            "scram-sha-256",
            "SCRAM-SHA-256-PLUS",
            "base64",
            "base64url",
            "base64.b64encode",
            "sha256",
            "sha512sum",
            "md5crypt",
            "argon2id",
            "bcrypt",
            "latin1",
            "PBKDF2WithHmacSHA256",
            "pbkdf2_sha256",
            "urllib.parse.quote",
            "AWS4-HMAC-SHA256",
        ] {
            assert!(is_known_word(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn encoded_passwords_stay() {
        let (salt, digest) = (["Zk3", "qLw9Xb"].concat(), "5f4dcc3b5aa765d61d8327deb882cf99");
        for value in [
            format!("$2b$10${salt}{salt}{salt}"),
            format!("{{SHA}}{salt}{salt}{salt}="),
            format!("md5{digest}"),
            format!("pbkdf2_sha256$260000${salt}${salt}{salt}="),
            format!("pbkdf2:sha256:150000${salt}${digest}"),
            format!("SCRAM-SHA-256$4096:{salt}=${salt}=:{salt}="),
            format!("argon2$argon2id$v=19$m=512,t=2,p=2${salt}${salt}"),
            format!("sha1${salt}${digest}"),
            format!("bcrypt_sha256$$2b$12${salt}{salt}"),
        ] {
            let text = format!("password: {value}");
            assert_eq!(redacted(&text), text);
        }
    }
}
