//! Passwords among the arguments of programs and in addresses: `mysql -pPASSWORD`, `curl -u`,
//! `echo PASSWORD | docker login --password-stdin`, `https://bob:PASSWORD@host`. Not here: options that say
//! what they hold, such as `--password` (`named`).

use super::context::mentions;
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_placeholder, is_random};
use super::password::{is_compound, is_numbered_word, is_phrase, is_word_of_passwords};
use super::text::{Text, count};
use crate::prefilter::TableRow;

/// Bytes of a command that are read after or before the name of its program.
const COMMAND_BYTES_MAX: usize = 256;

/// Bytes of a typed password.
const ARGUMENT_BYTES_MAX: usize = 128;

/// Bytes of a word that is a password though nothing else says so.
const ALONE_BYTES_MIN: usize = 8;

/// Words of a command that are read, and bytes before a command that tell what was asked.
const WORDS_MAX: usize = 6;
const ASKED_BYTES_MAX: usize = 96;

/// Bytes of a user name and a password before an `@`.
const USER_BYTES_MAX: usize = 512;

fn hit(rule: &'static str, from: usize, to: usize) -> Option<Hit> {
    Some(Hit { rule, from, to, rank: Rank::Form })
}

/// Checks the arguments of a program of the table; its name stands from `start` to `end`.
pub(super) fn of_command(text: Text<'_>, start: usize, end: usize, row: &TableRow) -> Option<Hit> {
    let before = text.before(start);
    let is_member = !text.at(start).is_ascii_alphanumeric();
    let is_part =
        !is_member && before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-' | b'.');
    // A call may be that of a member, or of a longer name.
    if is_part && row.fields[1] != "argument" {
        return None;
    }
    // mysqldump, mysql.exe
    let is_word = text.before(end).is_ascii_alphanumeric();
    let suffix = |byte: u8| is_word && (byte.is_ascii_lowercase() || byte == b'.');
    let begin = text.run_while(end, 16, suffix);
    let line = rest_of(text, begin);
    let [option, shape, _] = row.fields;
    match shape {
        "first" => return nth_word(text, begin, 0, row.name),
        "quoted" => {
            let (from, to, is_quoted) = word_at(text, begin + 1);
            let told = command_before(text, start, b"\n;");
            let is_sql = mentions(told, &["user", "grant ", "role "]);
            let is_secret = is_sql && is_quoted && is_typed(text.slice(from, to), true);
            return is_secret.then(|| hit(row.name, from, to))?;
        }
        "login" => return pair(text, begin),
        "set" => {
            let equals = line.iter().position(|byte| *byte == b'=')?;
            return argument(text, begin + equals + 1, "both").filter(|_| line.contains(&b'\''));
        }
        "last" if text.at(end) != b' ' => return None,
        "last" => {
            let last = line.iter().rposition(|byte| *byte == b' ')?;
            return nth_word(text, begin + last, 0, row.name);
        }
        "upper" => {
            let is_command = text.slice(start, end).iter().all(u8::is_ascii_uppercase)
                && matches!(before, 0 | b'\n');
            return nth_word(text, begin, 0, row.name).filter(|_| is_command);
        }
        "second" => return nth_word(text, begin, 1, row.name),
        "third" => return nth_word(text, begin, 2, row.name),
        "argument" => return quoted_argument(text, end, option),
        "expect" => return sent(text, start, begin),
        _ => {}
    }
    if option == " " && !line.starts_with(b" ") {
        return None;
    }
    let mut places =
        line.windows(option.len()).enumerate().filter(|(_, part)| *part == option.as_bytes());
    places.find_map(|(place, _)| argument(text, begin + place + option.len(), shape))
}

/// Reads the word of a command at this place, not counting options.
fn nth_word(text: Text<'_>, place: usize, number: usize, rule: &'static str) -> Option<Hit> {
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
            let is_code =
                !is_quoted && text.slice(from, to).iter().any(|byte| b"([".contains(byte));
            let is_secret = !is_code && is_typed(text.slice(from, to), is_quoted);
            return is_secret.then(|| hit(rule, from, to))?;
        }
        left -= 1;
    }
    None
}

/// Reads an argument of a call that takes a user and a password, if it is quoted: the one of this number.
fn quoted_argument(text: Text<'_>, place: usize, number: &str) -> Option<Hit> {
    let mut comma = place;
    for _ in 0..number.trim().parse().unwrap_or(1) {
        comma = text.run_while(comma + 1, ARGUMENT_BYTES_MAX, |byte| !b",)\n".contains(&byte));
        if text.at(comma) != b',' {
            return None;
        }
    }
    let quote = text.run_while(comma + 1, 4, |byte| byte == b' ');
    let (from, to, is_quoted) = word_at(text, quote);
    let is_secret = is_quoted && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("call-password", from, to))?
}

/// Reads the password after a user name and a slash.
fn pair(text: Text<'_>, place: usize) -> Option<Hit> {
    let is_gap = |byte: u8| matches!(byte, b' ' | b'`' | b'*');
    let name = text.run_while(place, 4, is_gap);
    let name_end = text.run_while(name, 64, |byte| byte > b' ' && !b"/:`".contains(&byte));
    let slash = text.run_while(name_end, 3, is_gap);
    let value = text.run_while(slash + 1, 3, is_gap);
    // log in as jane with VALUE
    let is_with = text.is_at(name_end, " with ");
    let value = if is_with { name_end + " with ".len() } else { value };
    let is_pair = is_with
        || text.at(slash) == b'/' && (value > slash + 1 || matches!(text.at(place), b' '))
        || text.at(slash) == b':' && value == slash + 1 && slash == name_end;
    let (from, to, is_quoted) = word_at(text, value);
    let make = Make::of(text.slice(from, to));
    let is_told = is_numbered_word(text.slice(from, to)) || is_phrase(text.slice(from, to));
    // Two words that fill the rest of the line are a user and a password; `fix/frontend` is a branch.
    let is_path = text.at(slash) == b'/' && value == slash + 1 && make.lower == to - from;
    let is_alone = !is_path
        && to - from >= ALONE_BYTES_MIN
        && (matches!(text.at(to), 0 | b'\n' | b'`')
            || text.at(slash) == b':' && text.at(to) == b' ')
        && text.slice(from, to).iter().all(u8::is_ascii_alphanumeric);
    let is_chosen = is_quoted
        || is_told
        || is_alone
        || make.is_strong()
        || make.is_unlike_words(50)
        || is_with && is_compound(text.slice(from, to));
    let is_secret =
        name_end > name && is_pair && is_chosen && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("login-password", from, to))?
}

/// Reads what a script of `expect` sends after it was asked for a password.
fn sent(text: Text<'_>, start: usize, place: usize) -> Option<Hit> {
    let asked = text.slice(start.saturating_sub(ASKED_BYTES_MAX), start);
    count(asked.len());
    let opening = text.run_while(place, 8, |byte| b" -\\".contains(&byte));
    let (from, to, is_quoted) = word_at(text, opening);
    let value = text.slice(from, to);
    let value = value.strip_suffix(b"\\r").or_else(|| value.strip_suffix(b"\\n"))?;
    let is_secret =
        is_quoted && mentions(asked, &["assword", "assphrase"]) && is_typed(value, true);
    is_secret.then(|| hit("command-password", from, from + value.len()))?
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
    let (mut from, to, is_quoted) = word_at(text, gap);
    if shape == "pair" {
        from += text.slice(from, to).iter().position(|byte| b"%,/".contains(byte))? + 1;
    }
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
    let bare = value.strip_prefix(b"\"").unwrap_or(value);
    let refers =
        bare.first().is_none_or(|byte| b"$<{[(-*%/&".contains(byte)) || value.ends_with(b"(");
    let make = Make::of(value);
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

/// Words of commands that read a password from a pipe.
const READERS: [&str; 13] = [
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
    "kinit",
    "luks",
    "cryptsetup",
];

/// Checks `echo PASSWORD | …`; the value begins after `end`.
pub(super) fn echoed(text: Text<'_>, end: usize) -> Option<Hit> {
    let place = text.run_while(end, 8, |byte| matches!(byte, b' ' | b'-' | b'n' | b'e'));
    let (from, to, is_quoted) = word_at(text, place);
    let pipe = text.run_while(to, 4, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    // A statement that is sent to a program has more words.
    let spaces = text.slice(from, to).iter().filter(|byte| **byte == b' ').count();
    let reader = (spaces < WORDS_MAX && text.at(pipe) == b'|').then(|| rest_of(text, pipe + 1))?;
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
        (b'!'..=b'~').contains(&byte) && !b"/\"'`<>\\?".contains(&byte)
    });
    // People write `#` in a password as it is; after a port it begins a fragment.
    let whole = fragment(text, authority, whole).unwrap_or(whole);
    let at = text.slice(authority, whole).iter().rposition(|byte| *byte == b'@')?;
    let user_info = text.slice(authority, authority + at);
    let to = authority + at;
    let refers = |part: &[u8]| {
        let is_open = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'{' | b'(' | b'_');
        part.is_empty()
            || part.iter().any(|byte| b"{}<>[]".contains(byte))
            || part.starts_with(b"$") && part.get(1).is_none_or(is_open)
            || part.windows(2).any(|pair| pair == b"$(" || pair == b"**")
            || part == b"*"
            || is_placeholder(part)
            || is_word_of_passwords(part)
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
