//! Passwords among the arguments of programs and in addresses: `mysql -pPASSWORD`, `curl -u`,
//! `echo PASSWORD | docker login --password-stdin`, `https://bob:PASSWORD@host`. Not here: options that say
//! what they hold, such as `--password` (`named`).

use super::context::mentions;
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_placeholder, is_random};
use super::password::is_word_of_passwords;
use super::text::{Text, count};
use crate::prefilter::TableRow;

/// Bytes of a command that are read after or before the name of its program.
const COMMAND_BYTES_MAX: usize = 256;

/// Bytes of a typed password.
const ARGUMENT_BYTES_MAX: usize = 128;

/// Bytes of a user name and a password before an `@`.
const USER_BYTES_MAX: usize = 512;

fn hit(rule: &'static str, from: usize, to: usize) -> Option<Hit> {
    Some(Hit { rule, from, to, rank: Rank::Form })
}

/// Checks the arguments of a program of the table; its name stands from `start` to `end`.
pub(super) fn of_command(text: Text<'_>, start: usize, end: usize, row: &TableRow) -> Option<Hit> {
    let before = text.before(start);
    if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-' | b'.') {
        return None;
    }
    // mysqldump, mysql.exe
    let begin = text.run_while(end, 16, |byte| byte.is_ascii_lowercase() || byte == b'.');
    let line = rest_of(text, begin);
    let [option, shape, _] = row.fields;
    let mut places =
        line.windows(option.len()).enumerate().filter(|(_, part)| *part == option.as_bytes());
    places.find_map(|(place, _)| argument(text, begin + place + option.len(), shape))
}

fn rest_of(text: Text<'_>, place: usize) -> &[u8] {
    let ends = |byte: u8| matches!(byte, b'\n' | b'|' | b';');
    text.slice(place, text.run_while(place, COMMAND_BYTES_MAX, |byte| !ends(byte)))
}

/// Reads the value of an option: `glued` to it, `apart`, or both.
fn argument(text: Text<'_>, place: usize, shape: &str) -> Option<Hit> {
    let gap = text.run_while(place, 4, |byte| matches!(byte, b' ' | b'='));
    let fits = match shape {
        "glued" => gap == place,
        "apart" => gap > place,
        _ => true,
    };
    let (from, to, is_quoted) = word_at(text, gap);
    let is_secret = fits && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

/// Reads one argument without its quotes.
fn word_at(text: Text<'_>, place: usize) -> (usize, usize, bool) {
    let quote = text.at(place);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let from = place + usize::from(is_quoted);
    let to = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| match byte {
        _ if is_quoted => byte != quote && byte != b'\n',
        b'"' | b'\'' | b'`' | b'\\' | b')' => false,
        _ => byte > b' ',
    });
    (from, to, is_quoted)
}

/// Tells whether an argument can be a password: no reference, option, placeholder or word of a sentence.
pub(super) fn is_typed(value: &[u8], is_quoted: bool) -> bool {
    let refers = value.first().is_none_or(|byte| b"$<{[(-*%/".contains(byte));
    let make = Make::of(value);
    let is_number = make.digits == value.len() && value.len() < 6;
    let letters = value.iter().filter(|byte| !b".,:!?".contains(byte)).count();
    let is_word = !is_quoted && make.lower == letters && letters < 6;
    value.len() >= 4
        && !refers
        && !is_number
        && !is_word
        && !is_placeholder(value)
        && !is_word_of_passwords(value)
}

/// Words of commands that read a password from a pipe.
const READERS: [&str; 10] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "login",
    "sudo -s",
    "credential",
    "_key",
    "auth",
];

/// Checks `echo PASSWORD | …`; the value begins after `end`.
pub(super) fn echoed(text: Text<'_>, end: usize) -> Option<Hit> {
    let place = text.run_while(end, 8, |byte| matches!(byte, b' ' | b'-' | b'n'));
    let (from, to, is_quoted) = word_at(text, place);
    let pipe = text.run_while(to, 4, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    let reader = (text.at(pipe) == b'|').then(|| rest_of(text, pipe + 1))?;
    let is_secret = mentions(reader, &READERS) && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

/// Checks `… <<< PASSWORD`; the value begins after `end`.
pub(super) fn here_string(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let reader = command_before(text, start, b"\n");
    let (from, to, is_quoted) = word_at(text, text.run_while(end, 4, |byte| byte == b' '));
    let is_secret = mentions(reader, &READERS) && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

/// Returns the text between the last end of a command and `place`.
fn command_before<'a>(text: Text<'a>, place: usize, ends: &[u8]) -> &'a [u8] {
    let before = text.slice(place.saturating_sub(COMMAND_BYTES_MAX), place);
    let length = before.iter().rev().take_while(|byte| !ends.contains(byte)).count();
    count(length);
    before.get(before.len() - length..).unwrap_or_default()
}

/// Checks the user part of an address (RFC 3986, section 3.2.1), which begins at `authority`.
pub(super) fn of_address(text: Text<'_>, authority: usize) -> Option<Hit> {
    let whole = text.run_while(authority, USER_BYTES_MAX, |byte| {
        (b'!'..=b'~').contains(&byte) && !b"/\"'`<>\\?#".contains(&byte)
    });
    let at = text.slice(authority, whole).iter().rposition(|byte| *byte == b'@')?;
    let user_info = text.slice(authority, authority + at);
    let to = authority + at;
    let refers = |part: &[u8]| {
        part.is_empty()
            || part.iter().any(|byte| b"${}<>*[]".contains(byte))
            || is_placeholder(part)
            || (part.starts_with(b"%") && !part.get(1).is_some_and(u8::is_ascii_hexdigit))
    };
    let Some(colon) = user_info.iter().position(|byte| *byte == b':') else {
        let is_token = is_random(user_info, Hint::Strong) && !refers(user_info);
        return is_token.then(|| hit("url-user", authority, to))?;
    };
    let (user, password) = user_info.split_at(colon);
    if refers(password.get(1..).unwrap_or_default()) {
        let is_token = is_random(user, Hint::Strong);
        return is_token.then(|| hit("url-user", authority, authority + colon))?;
    }
    let is_name =
        user.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.'));
    hit("url-password", if is_name { to - password.len() + 1 } else { authority }, to)
}

/// Programs whose `-u` is a login, and those whose `--user` is not.
const HTTP_CLIENTS: [&str; 3] = ["curl", "wget", "http"];
const CONTAINER_TOOLS: [&str; 5] = ["docker", "podman", "kubectl", "nerdctl", "compose"];

/// Checks `-u name:password` of curl and programs like it.
pub(super) fn of_curl(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let gap = text.run_while(end, 4, |byte| matches!(byte, b' ' | b'='));
    let command = command_before(text, start, b"\n|;");
    let is_curl = mentions(command, &HTTP_CLIENTS);
    if !is_curl && (gap == end || mentions(command, &CONTAINER_TOOLS)) {
        return None;
    }
    let quote = text.at(gap);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let from = gap + usize::from(is_quoted);
    let to = text.run_while(from, USER_BYTES_MAX, |byte| {
        byte > b' ' && byte != b'\\' && byte != b'`' && !(is_quoted && byte == quote)
    });
    let pair = text.slice(from, to);
    let (user, password) = pair.split_at(pair.iter().position(|byte| *byte == b':')?);
    let password = password.get(1..).unwrap_or_default();
    let is_chosen = |part: &[u8]| {
        let make = Make::of(part);
        let refers =
            part.first().is_some_and(|byte| b"$<{[(%".contains(byte)) || part.contains(&b'{');
        let is_strange = make.digits > 0 && make.letters() > 0 || make.upper > 1 && make.lower > 1;
        let is_typed = is_curl && part.len() >= 4 && !is_word_of_passwords(part);
        (is_typed || part.len() >= 6 && is_strange) && !refers && !is_placeholder(part)
    };
    // `<user:password>` and `test:test` are placeholders.
    let refers = pair.first().is_some_and(|byte| b"<[(".contains(byte)) || user == password;
    let is_secret = !refers && (is_chosen(password) || (password.is_empty() && is_chosen(user)));
    is_secret.then(|| hit("curl-user", from, to))?
}
