//! Secrets that are known by the form around them: PEM, addresses, `curl -u`. Not here: where each form shows
//! itself (`structure`), and what begins like no other (`prefixed`) or follows a name (`named`).

use super::alphabet::{ALNUM, Alphabet, BASE64, DIGIT, DOTTED, HEX, UPPER, URL};
use super::hit::{Hit, Rank};
use super::judge::{Hint, JUDGED_BYTES_MAX, Make, is_random, is_stand_in};
use super::password::is_said_of_passwords;
use super::structure::Structure;
use super::text::{Text, count};
use super::{command, phrase, vendor};

/// Characters of an address, up to the end of its path.
const ADDRESS: Alphabet = DOTTED.and(":/@%~+=&?#!$*");

const AZURE: Alphabet = DOTTED.and("~");

/// The longest name and password before an `@`.
const USER_BYTES_MAX: usize = 512;

/// How far back a command is read for the name of its program.
const COMMAND_BYTES_MAX: usize = 192;

/// Looks for a secret of this form; its anchor stands from `start` to `end`.
pub(super) fn found(text: Text<'_>, start: usize, end: usize, form: Structure) -> Option<Hit> {
    match form {
        Structure::Pem => pem(text, start, end),
        Structure::Putty => {
            let body = text.run(end, DIGIT.and(" \r\n"), 16);
            let to = key_body_end(text, body)?;
            hit("private-key", body, to)
        }
        Structure::Jwt => jwt(text, start),
        Structure::Address => address(text, end),
        Structure::CurlUser => curl_user(text, start, end),
        Structure::Echo => command::echoed(text, end),
        Structure::HereString => command::here(text, start, end),
        Structure::Discord => vendor::discord(text, start),
        Structure::AzureKey => vendor::azure_key(text, start, end),
        Structure::AzureMarked => vendor::azure_marked(text, start, end),
        Structure::Authress => vendor::authress(text, start, end),
        Structure::Convex => vendor::convex(text, start, end),
        Structure::Unleash => vendor::unleash(text, start, end),
        Structure::Salesforce => vendor::salesforce(text, start),
        Structure::Mailchimp => vendor::mailchimp(text, start, end),
        Structure::Firebase => vendor::firebase(text, start, end),
        Structure::Purposed => vendor::purposed(text, start, end),
        Structure::SeedPhrase => phrase::words(text, end),
        Structure::AppPassword => phrase::groups(text, end),
        Structure::SlackHook => hook(text, start, end, "slack-webhook"),
        Structure::OtherHook => hook(text, start, end, "webhook"),
        Structure::Azure => {
            let (from, to) = (text.run_back(start, AZURE, 4), text.run(end, AZURE, 64));
            let is_whole = (3..=4).contains(&(start - from)) && (31..=36).contains(&(to - end));
            (is_whole && !is_stand_in(text.slice(end, to)))
                .then(|| hit("azure-secret", from, to))?
        }
        Structure::Telegram => {
            let (from, to) = (text.run_back(start, DIGIT, 16), text.run(end, URL, 64));
            ((5..=16).contains(&(start - from)) && (30..=40).contains(&(to - end)))
                .then(|| hit("telegram-token", from, to))?
        }
        Structure::TelegramAddress => {
            let to = text.run(end, URL.and(":"), 64);
            (to - end >= 36).then(|| hit("telegram-token", end, to))?
        }
        Structure::Terraform => {
            let (from, to) =
                (text.run_back(start, ALNUM.and("."), 15), text.run(end, URL.and("="), 100));
            ((14..=15).contains(&(start - from)) && to - end >= 50)
                .then(|| hit("terraform-token", from, to))?
        }
        Structure::Maxmind => {
            let from = text.run_back(start, ALNUM.and("_"), 40);
            (start - from == 36).then(|| hit("maxmind-key", from, end))?
        }
        Structure::Twilio => {
            let to = text.run(start + 2, HEX, 33);
            let stands = !text.before(start).is_ascii_alphanumeric()
                && !text.at(to).is_ascii_alphanumeric()
                && text.slice(start, start + 2) == b"SK";
            let is_random = Make::of(text.slice(start, to)).distinct > 6;
            (stands && is_random && to - start == 34).then(|| hit("twilio-key", start, to))?
        }
        Structure::Pgpass => command::pgpass(text, end),
        Structure::Cookie | Structure::KubernetesSecret | Structure::Redacted => None,
    }
}

fn hit(rule: &'static str, from: usize, to: usize) -> Option<Hit> {
    Some(Hit { rule, from, to, rank: Rank::Form })
}

/// A private key in PEM (RFC 7468): from its first line to its last, or as far as it was copied.
fn pem(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let label_end = text.run_while(end, 40, |byte| byte == b' ' || UPPER.has(byte));
    let label = text.slice(end, label_end);
    let is_private = label.windows(7).any(|window| window == b"PRIVATE");
    if !is_private || text.slice(label_end, label_end + 5) != b"-----" {
        return None;
    }
    hit("private-key", start, key_body_end(text, label_end + 5)?)
}

/// Most lines with a name and a value before those of a key: a key has two or three.
const PEM_HEADS_MAX: usize = 8;

/// Returns where the lines of a key end that begin at `place`: after its last line, or with the last
/// line that can be one. Each is long, but for the last.
fn key_body_end(text: Text<'_>, place: usize) -> Option<usize> {
    let is_gap = |byte: u8| {
        matches!(
            byte,
            b' ' | b'\t'
                | b'\r'
                | b'\n'
                | b'"'
                | b'\''
                | b'`'
                | b'+'
                | b','
                | b'\\'
                | b'>'
                | b'|'
                | b'#'
        )
    };
    let (mut end, mut key_bytes, mut heads) = (place, 0, 0);
    loop {
        let line = text.run_while(end, 64, is_gap);
        if text.is_at(line, "-----end") {
            let label = text.run_while(line + 5, 48, |byte| byte != b'-' && byte != b'\n');
            let closed = text.run_while(label, 5, |byte| byte == b'-');
            return (key_bytes > 0).then_some(closed);
        }
        let to = text.run(line, BASE64, usize::MAX);
        // Proc-Type: 4,ENCRYPTED
        let head = text.run(line, DOTTED, 24);
        let is_head = key_bytes == 0 && heads < PEM_HEADS_MAX;
        if is_head && head > line && text.slice(head, head + 2) == b": " {
            heads += 1;
            end = text.run_while(head, 128, |byte| byte != b'\n' && byte != b'\\');
            continue;
        }
        // Between its marks even a short key is one.
        let closes = text.is_at(text.run_while(to, 64, is_gap), "-----end");
        let is_cut = text.at(to) == 0 && key_bytes > 0;
        if to - line < 16 && (to == line || !(closes || is_cut)) {
            break;
        }
        (end, key_bytes) = (to, key_bytes + to - line);
    }
    (key_bytes >= 16).then_some(end)
}

/// A JSON web token (RFC 7519): parts in base64, divided by points, of which the first is an object.
/// That begins with a brace and a quote, or a brace and white space. None begins inside a run of what it is made of, so that each run is walked once.
fn jwt(text: Text<'_>, start: usize) -> Option<Hit> {
    let begins = |place: usize| matches!(text.slice(place, place + 2), b"ey" | b"ew");
    if !begins(start) || DOTTED.has(text.before(start)) {
        return None;
    }
    // Padding ends a part, so that no walk goes over the beginning of another.
    let part_end =
        |from: usize| text.run_while(text.run(from, URL, usize::MAX), 2, |byte| byte == b'=');
    let first = part_end(start);
    if text.at(first) != b'.' {
        return None;
    }
    let second = part_end(first + 1);
    // An encrypted token's second part is no object.
    let is_jose = text.slice(start, start + 3) == b"eyJ" || begins(first + 1);
    let is_token = is_jose && first - start >= 10 && second - first > 10;
    if !is_token || is_stand_in(text.slice(start, second)) {
        return None;
    }
    hit("jwt", start, text.run(second, DOTTED.and("/+="), usize::MAX))
}

/// Name and password in an address (RFC 3986, section 3.2.1).
fn address(text: Text<'_>, authority: usize) -> Option<Hit> {
    let ends = |byte: u8| {
        !(b'!'..=b'~').contains(&byte)
            || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#')
    };
    let whole = text.run_while(authority, USER_BYTES_MAX, |byte| !ends(byte));
    let at = text.slice(authority, whole).iter().rposition(|byte| *byte == b'@')?;
    let user_info = text.slice(authority, authority + at);
    let to = authority + at;
    let refers = |part: &[u8]| {
        part.is_empty()
            || part.iter().any(|byte| b"${}<>*[]".contains(byte))
            || is_stand_in(part)
            || (part.starts_with(b"%") && !part.get(1).is_some_and(u8::is_ascii_hexdigit))
    };
    let Some(colon) = user_info.iter().position(|byte| *byte == b':') else {
        return (is_random(user_info, Hint::Strong) && !refers(user_info))
            .then(|| hit("url-user", authority, to))?;
    };
    let (user, password) = user_info.split_at(colon);
    let password = password.get(1..).unwrap_or_default();
    if refers(password) {
        return (is_random(user, Hint::Strong))
            .then(|| hit("url-user", authority, authority + colon))?;
    }
    let is_name =
        user.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_' | b'.'));
    let from = if is_name { authority + colon + 1 } else { authority };
    hit("url-password", from, to)
}

/// `-u name:password` of curl and programs like it.
fn curl_user(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let gap = text.run_while(end, 4, |byte| matches!(byte, b' ' | b'='));
    let is_curl = is_argument_of(text, start, &["curl", "wget", "http"]);
    // `-ubob:…` stands for itself only where the program is known; a container's user is no login.
    let is_other =
        is_argument_of(text, start, &["docker", "podman", "kubectl", "nerdctl", "compose"]);
    if !is_curl && (gap == end || is_other) {
        return None;
    }
    let quote = text.at(gap);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let from = gap + usize::from(is_quoted);
    let to = text.run_while(from, USER_BYTES_MAX, |byte| {
        byte > b' ' && byte != b'\\' && byte != b'`' && if is_quoted { byte != quote } else { true }
    });
    let pair = text.slice(from, to);
    let colon = pair.iter().position(|byte| *byte == b':')?;
    let (user, password) = pair.split_at(colon);
    let password = password.get(1..).unwrap_or_default();
    let chosen = |part: &[u8]| {
        let make = Make::of(part);
        let refers =
            part.first().is_some_and(|byte| b"$<{[(%".contains(byte)) || part.contains(&b'{');
        let is_strange = make.digits > 0 && make.letters() > 0 || make.upper > 1 && make.lower > 1;
        let is_typed = is_curl && part.len() >= 4 && !is_said_of_passwords(part);
        (is_typed || part.len() >= 6 && is_strange) && !refers && !is_stand_in(part)
    };
    // `<user:password>` and `test:test` stand for others.
    let refers = pair.first().is_some_and(|byte| b"<[(".contains(byte)) || user == password;
    let is_secret = !refers && (chosen(password) || (password.is_empty() && chosen(user)));
    is_secret.then(|| hit("curl-user", from, to))?
}

/// Tells whether one of the programs stands before `place` on its line, in the same command.
fn is_argument_of(text: Text<'_>, place: usize, programs: &[&str]) -> bool {
    let before = text.slice(place.saturating_sub(COMMAND_BYTES_MAX), place);
    let in_command = |byte: &&u8| !matches!(byte, b'\n' | b'|' | b';');
    let length = before.iter().rev().take_while(in_command).count();
    count(length);
    let line = before.get(before.len() - length..).unwrap_or_default();
    programs.iter().any(|name| line.windows(name.len()).any(|part| part == name.as_bytes()))
}

/// An address to which whoever knows it can post.
fn hook(text: Text<'_>, start: usize, end: usize, rule: &'static str) -> Option<Hit> {
    let path = text.slice(end, text.run(end, ADDRESS, JUDGED_BYTES_MAX));
    let is_code = |part: &[u8]| {
        let make = Make::of(part);
        part.len() >= 8 && make.digits >= 2 && make.letters() >= 2
    };
    let has_code = path.split(|byte| !URL.has(*byte)).any(is_code);
    if path.len() < 30 || !path.contains(&b'/') || !has_code || is_stand_in(path) {
        return None;
    }
    hit(rule, text.run_back(start, ADDRESS, 64), text.run(end, ADDRESS, USER_BYTES_MAX))
}
