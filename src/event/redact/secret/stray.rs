//! Secrets that no table knows: runs of characters drawn by lot, as machines make keys of. What stands
//! beside such a run tells what it is: nothing of a path, of base64 or of a call, a short word before it
//! that names its maker (`acme_…`), or a name that it is assigned to. Not here: secrets that say what they
//! are (`prefixed`), and names that promise one (`named`).

use super::alphabet::{ALNUM, Alphabet, DOTTED, URL};
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_mixed, is_random, is_stand_in};
use super::named::{is_about, is_harmless_name};
use super::text::Text;

/// Bytes of a drawn run: behind a maker's word or in an assignment, and with nothing beside it. Shorter
/// ones are names of things: short ids, build numbers, camel case with a digit.
const TAGGED_BYTES_MIN: usize = 20;
const BARE_BYTES_MIN: usize = 24;

/// Bytes of a run that is made of one size of letters and digits only, which digests, versions and names
/// are made of too.
const PLAIN_BYTES_MIN: usize = 24;

/// Longer runs are data, not keys.
const RUN_BYTES_MAX: usize = 256;

/// Bytes of the words before a key that name its maker and its purpose, as in `acme_live_…`.
const TAG_BYTES_MAX: usize = 12;

/// How far an address is read back for what it leads to.
const ADDRESS_BYTES_MAX: usize = 128;

/// Makers' words before numbers of things, which are told freely: objects of payment services, messages,
/// runs and deployments of services for models and builds.
const NUMBERED: [&str; 66] = [
    "acct", "asst", "ba", "batch", "call", "card", "ch", "chatcmpl", "claude", "cmpl", "col", "cs",
    "ctr", "cus", "dp", "dpl", "evt", "fc", "file", "fp", "ft", "ftjob", "fu", "gen", "ii", "in",
    "inst", "inv", "item", "job", "li", "msg", "msgbatch", "obj", "org", "pi", "pm", "po", "price",
    "prj", "prod", "proj", "promo", "py", "req", "resp", "rs", "run", "seti", "si", "srv",
    "srvtoolu", "step", "sub", "task", "team", "thread", "toolu", "tr", "trace", "txn", "user",
    "vs", "wf", "workflow", "ws",
];

/// What stands before the data of an address that holds them (RFC 2397).
const DATA: &str = "base64,";

/// Purposes: what stands behind one of these is drawn, whatever it is made of.
const PURPOSES: [&str; 9] =
    ["live", "prod", "production", "sandbox", "staging", "secret", "token", "pat", "sk"];

/// What a run is made of; a point parts two.
const RUN: Alphabet = URL;

/// Reports the runs of a text that look drawn by lot, each walked once.
pub(super) fn report(text: Text<'_>, hits: &mut Vec<Hit>) {
    let (mut place, last) = (0, text.0.len());
    while place < last {
        let end = text.run(place, RUN, usize::MAX);
        if (TAGGED_BYTES_MIN..=RUN_BYTES_MAX).contains(&(end - place))
            && let Some(hit) = found(text, place, end)
        {
            hits.push(hit);
        }
        place = end + 1;
    }
}

/// Tells whether the run between two places is a secret.
fn found(text: Text<'_>, from: usize, to: usize) -> Option<Hit> {
    let from = text.run_while(from, 2, |byte| byte == b'-');
    let run = text.slice(from, to);
    let (tag, body) = parts(run);
    // Most long runs are names, digests and paths: what is cheap to tell is asked first.
    if !looks_drawn(tag, body, run) || !stands_alone(text, from, to) || is_stand_in(run) {
        return None;
    }
    let is_secret = match name_before(text, from) {
        Some(name) => is_key(tag, body, run) && names_key(name),
        None => is_key(tag, body, run) && (!tag.is_empty() || is_long_mix(body)),
    };
    let from = first_part(text, from);
    is_secret.then_some(Hit { rule: "drawn-key", from, to, rank: Rank::Stray })
}

/// Returns where a key in parts begins whose last part begins at `from`: behind a quote, an operator or a space,
/// and with a part that looks drawn as well.
fn first_part(text: Text<'_>, from: usize) -> usize {
    let start = text.run_back(from, DOTTED, RUN_BYTES_MAX);
    let first = text.slice(start, text.run(start, RUN, RUN_BYTES_MAX));
    let make = Make::of(first);
    let is_drawn = make.upper > 1 && make.lower > 1 && make.bytes >= 12 && make.is_unlike_words(60);
    if text.before(from) == b'.' && is_drawn { start } else { from }
}

/// Parts a run into the words that name its maker and purpose, and the rest.
fn parts(run: &[u8]) -> (&[u8], &[u8]) {
    let mut length = 0;
    for _ in 0..2 {
        let rest = run.get(length..).unwrap_or_default();
        let word = rest.iter().position(|byte| matches!(byte, b'_' | b'-')).unwrap_or(0);
        let is_word = |word: &[u8]| {
            (1..=TAG_BYTES_MAX).contains(&word.len())
                && word.first().is_some_and(u8::is_ascii_alphabetic)
                && word.iter().filter(|byte| byte.is_ascii_digit()).count() < 2
                && (word.iter().all(|byte| !byte.is_ascii_uppercase())
                    || word.iter().all(|byte| !byte.is_ascii_lowercase()))
        };
        let left = rest.len().saturating_sub(word + 1);
        if word == 0 || left < TAGGED_BYTES_MIN || !rest.get(..word).is_some_and(is_word) {
            break;
        }
        length += word + 1;
    }
    (run.get(..length).unwrap_or_default(), run.get(length..).unwrap_or_default())
}

/// Tells whether a run can be a key at all, by what it is made of.
fn looks_drawn(tag: &[u8], body: &[u8], run: &[u8]) -> bool {
    let make = Make::of(body);
    let is_split = body.iter().filter(|byte| matches!(byte, b'_' | b'-')).count() * 8 > body.len();
    make.digits >= 2 && !is_split && !is_numbered(tag) && !is_known_form(run)
}

/// Tells whether the first word of a tag is that of numbers of things.
fn is_numbered(tag: &[u8]) -> bool {
    let word = tag.split(|byte| matches!(byte, b'_' | b'-')).next().unwrap_or_default();
    NUMBERED.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Tells whether a run is of a known form that is no secret: a public key of SSH or age, a digest with
/// its name, a mangled symbol.
fn is_known_form(run: &[u8]) -> bool {
    let begins = |start: &&str| run.starts_with(start.as_bytes());
    ["AAAA", "sha", "_", "age1", "bc1", "0x"].iter().any(begins)
}

fn is_key(tag: &[u8], body: &[u8], run: &[u8]) -> bool {
    let make = Make::of(body);
    let is_hex = make.hex_letters == make.letters();
    // The letters of one size with which ULIDs and the like are written, after a time.
    let is_number = body.len() == 26 && body.first() == Some(&b'0');
    let is_plain = make.upper == 0 || make.lower == 0;
    let divider = tag.last();
    let purpose = tag.split(|byte| matches!(byte, b'_' | b'-')).rev().nth(1).unwrap_or_default();
    let has_purpose = tag.len() > purpose.len() + 1
        && PURPOSES.iter().any(|word| purpose.eq_ignore_ascii_case(word.as_bytes()));
    match () {
        () if has_purpose && divider == Some(&b'_') && !is_number => {
            is_random(body, Hint::Strong) || is_hex && body.len() >= 32
        }
        () if is_mixed(body) || is_mixed(run) => true,
        () if divider == Some(&b'_') && make.upper >= 3 && make.lower >= 3 => {
            is_random(body, Hint::Strong)
        }
        () if is_hex || is_number => false,
        () => {
            let least = if divider == Some(&b'_') { TAGGED_BYTES_MIN } else { PLAIN_BYTES_MIN };
            let is_long = body.len() >= if make.lower == 0 { 32 } else { least };
            let is_whole = body.iter().all(u8::is_ascii_alphanumeric);
            let is_drawn = make.switches >= 5 && is_random(body, Hint::Weak);
            is_plain && is_whole && is_long && is_drawn
        }
    }
}

/// Tells whether a run with no word before it and no name is a key: long, and of large and small letters.
fn is_long_mix(body: &[u8]) -> bool {
    body.len() >= BARE_BYTES_MIN && is_mixed(body)
}

/// Tells whether what stands on both sides of a run leaves it whole: no path, no base64, no call, no line of a
/// block of base64.
fn stands_alone(text: Text<'_>, from: usize, to: usize) -> bool {
    let (before, after) = (text.before(from), text.at(to));
    let opens = matches!(
        before,
        0 | b' '
            | b'\t'
            | b'\n'
            | b'\r'
            | b'"'
            | b'\''
            | b'`'
            | b'='
            | b':'
            | b'('
            | b'['
            | b'{'
            | b'<'
            | b'>'
            | b','
            | b';'
            | b'|'
            | b'*'
            | b'.'
    );
    let is_hook = || before == b'/' && leads_to_hook(text, from);
    let closes = !matches!(after, b'/' | b'+' | b'=' | b'@' | b'%' | b'(' | b'~' | b'$' | b'#')
        && after.is_ascii();
    // A point between two parts of a name or of a host.
    let is_host = after == b'.' && text.at(to + 1).is_ascii_alphabetic() && before == b'/';
    let is_data = before == b',' && text.is_at(from.saturating_sub(DATA.len()), DATA);
    (opens || is_hook()) && closes && !is_host && !is_data && !is_of_block(text, from, to)
}

/// Tells whether an address, of which a run is a part, posts to somebody.
fn leads_to_hook(text: Text<'_>, place: usize) -> bool {
    let start = text.run_back(place, DOTTED.and(":/"), ADDRESS_BYTES_MAX);
    let address = text.slice(start, place);
    address.windows(4).any(|part| part.eq_ignore_ascii_case(b"hook"))
}

/// Tells whether a run is one line of a block in base64: what is above or below goes on with it.
fn is_of_block(text: Text<'_>, from: usize, to: usize) -> bool {
    let is_data = |byte: u8| ALNUM.has(byte) || matches!(byte, b'+' | b'/');
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    let above = is_break(text.before(from)) && is_data(text.before(from.saturating_sub(1)));
    let below = is_break(text.at(to)) && is_data(text.at(to + 1));
    to - from >= 48 && (above || below)
}

/// Returns the name that a run is assigned to, if there is one.
fn name_before(text: Text<'_>, from: usize) -> Option<&[u8]> {
    let gap = text.run_back(from, Alphabet::of(" \"'`=:>"), 6);
    let is_assigned = text.slice(gap, from).iter().any(|byte| matches!(byte, b'=' | b':'));
    let start = text.run_back(gap, DOTTED, 40);
    is_assigned.then(|| text.slice(start, gap))
}

/// Tells whether a name may be that of a key: not of a number, a digest or something public, and more than a
/// letter of a formula.
fn names_key(name: &[u8]) -> bool {
    let says = |word: &&str| {
        name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_public = ["public", "pub", "cursor", "etag", "nonce", "mapping", "state"];
    name.len() >= 3 && !is_about(name) && !is_harmless_name(name) && !is_public.iter().any(says)
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    /// Pieces of keys, put together here so that this file holds none.
    const MIXED: [&str; 2] = ["q7RtB2xKd9", "WmZ4pLs8VnYc3HfGj6"];
    const PLAIN: [&str; 2] = ["x4k9q2m7w1", "z8r5t3b6n0vjgh"];

    // S-WRITE-8
    #[test]
    fn a_key_of_a_maker_nobody_knows_is_found_by_what_it_is_made_of() {
        let (mixed, plain) = (MIXED.concat(), PLAIN.concat());
        for (text, key) in [
            (format!("it worked once I pasted {mixed} there"), &mixed),
            (format!("ZEBRA={mixed}"), &mixed),
            (format!("{{\"zebra\": \"{mixed}\"}}"), &mixed),
            (format!("GET /v1/items?zebra={mixed}&page=2"), &mixed),
            (format!("see zbr_{mixed}."), &mixed),
            (format!("see zbr_at_{mixed}."), &mixed),
            (format!("zebra: zbr_{plain}"), &plain),
            (format!("ZEBRA_VALUE={plain}"), &plain),
            (format!("https://chat.example/hooks/5f6/{mixed}"), &mixed),
            (format!("x {}.part1.{mixed} y", "QkRwZtLmXpVbNcGd"), &mixed),
        ] {
            assert!(!redacted(&text).contains(key.get(..12).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_machines_draw_for_everybody_to_see_stays() {
        let (mixed, plain) = (MIXED.concat(), PLAIN.concat());
        for text in [
            format!("evt_{mixed} was delivered twice, see req_{mixed}"),
            format!("https://docs.example/document/d/{mixed}/edit"),
            format!("integrity sha512-{mixed}{mixed}=="),
            format!("data:image/png;base64,{mixed}{mixed}"),
            format!("publicKey: {mixed}"),
            format!("etag: {mixed}, build_id={mixed}"),
            format!("\"x\":\"{mixed}\""),
            format!("/nix/store/{plain}-openssl"),
            format!("{mixed}(1)"),
            format!("-----BEGIN PUBLIC KEY-----\n{mixed}{mixed}\n{mixed}{mixed}\n-----END"),
            format!("ssh-ed25519 AAAAC3{mixed}{mixed}"),
            "commit 8843d7f92416211de9ebb963ff4ce28125932878 mends it".to_owned(),
            "the id is 123e4567-e89b-12d3-a456-426614174000".to_owned(),
            "getUserNameFromHttp2SessionOrThrow7Errors fails".to_owned(),
            "test_utf8_to_utf16_le_on_x86_64_v2_of_2024".to_owned(),
        ] {
            assert_eq!(redacted(&text), text);
        }
    }
}
