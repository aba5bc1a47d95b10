//! Users and passwords in addresses and behind `-u`: `https://bob:PASSWORD@host`, `curl -u bob:PASSWORD`. Not here: other
//! arguments of programs (`login`), and hosts without a scheme (`bare_address`).

use super::context::mentions;
use super::hit::Hit;
use super::judge::{Hint, is_random};
use super::known_word::is_word_of_passwords;
use super::placeholder::is_placeholder;
use super::text::Text;
use super::typed_word::{command_before, hit};
use super::value_statistics::ValueStatistics;

/// Bytes of a user name and a password before an `@`.
const USER_BYTES_MAX: usize = 512;

/// Checks the user part of an address (RFC 3986, section 3.2.1), which begins at `authority`.
pub(super) fn password_in_address(text: Text<'_>, authority: usize) -> Option<Hit> {
    let whole = text.run_while(authority, USER_BYTES_MAX, |byte| {
        (b'!'..=b'~').contains(&byte) && !b"/\"'`<>\\?".contains(&byte)
    });
    // People write `#` in a password as it is; after a port it begins a fragment.
    let whole = fragment(text, authority, whole).unwrap_or(whole);
    let at = text.slice(authority, whole).iter().rposition(|byte| *byte == b'@')?;
    let user_info = text.slice(authority, authority + at);
    let to = authority + at;
    let Some(colon) = user_info.iter().position(|byte| *byte == b':') else {
        let is_token = is_random(user_info, Hint::Strong) && !refers_in_address(user_info);
        return is_token.then(|| hit("url-user", authority, to))?;
    };
    let (user, password) = user_info.split_at(colon);
    if refers_in_address(password.get(1..).unwrap_or_default()) {
        let is_token = is_random(user, Hint::Strong);
        return is_token.then(|| hit("url-user", authority, authority + colon))?;
    }
    let is_name =
        user.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.'));
    hit("url-password", if is_name { to - password.len() + 1 } else { authority }, to)
}

/// Tells whether a part of an address is no secret: a reference, a placeholder, a word that people write there.
pub(super) fn refers_in_address(part: &[u8]) -> bool {
    let is_open = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'{' | b'(' | b'_');
    part.is_empty()
        || part.iter().any(|byte| b"{}<>[]".contains(byte))
        || part.starts_with(b"$") && part.get(1).is_none_or(is_open)
        || part.windows(2).any(|pair| pair == b"$(" || pair == b"**")
        || part == b"*"
        || is_placeholder(part)
        || is_word_of_passwords(part)
        || (part.starts_with(b"%") && !part.get(1).is_some_and(u8::is_ascii_hexdigit))
}

/// Returns where a fragment begins: at a `#` after a host with or without a port.
fn fragment(text: Text<'_>, authority: usize, end: usize) -> Option<usize> {
    let part = text.slice(authority, end);
    let hash = part.iter().position(|byte| *byte == b'#')?;
    let before = part.get(..hash)?;
    let after_colon = before.iter().position(|byte| *byte == b':').map(|colon| colon + 1);
    let port = after_colon.and_then(|from| before.get(from..));
    let is_host = port.is_none_or(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit));
    is_host.then_some(authority + hash)
}

/// Programs whose `-u` is a login, and those whose `--user` is not.
const HTTP_CLIENTS: [&str; 3] = ["curl", "wget", "http"];
const CONTAINER_TOOLS: [&str; 5] = ["docker", "podman", "kubectl", "nerdctl", "compose"];

/// Checks `-u name:password` of curl and programs like it.
pub(super) fn password_of_curl(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
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
        let make = ValueStatistics::count(part);
        let refers =
            part.first().is_some_and(|byte| b"$<{[(%".contains(byte)) || part.contains(&b'{');
        let is_strange = make.digits > 0 && make.letters() > 0 || make.upper > 1 && make.lower > 1;
        let is_of_admin = [&b"root:"[..], b"admin:"].iter().any(|name| pair.starts_with(name));
        let is_typed = (is_curl && part.len() >= 4 || is_of_admin && part.len() >= 8)
            && !is_word_of_passwords(part);
        (is_typed || part.len() >= 6 && is_strange) && !refers && !is_placeholder(part)
    };
    // `<user:password>` and `test:test` are placeholders.
    let refers = pair.first().is_some_and(|byte| b"<[(".contains(byte)) || user == password;
    let is_secret = !refers && (is_chosen(password) || (password.is_empty() && is_chosen(user)));
    is_secret.then(|| hit("curl-user", from, to))?
}
