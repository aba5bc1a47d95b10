//! Random keys that no table knows. Names of tests, ids of records and digests look alike, and a false
//! redaction loses text for ever. So a random run must also stand where a key is likely: after a word for its
//! purpose (`acme_live_…`), in an environment variable, in the address of a webhook, or after its maker's word
//! and longer than ids are. Not here: prefixes of known providers (`prefixed`), and names (`named_secret`).

use super::charset::{ALNUM, Charset, DIGIT, DOTTED, UPPER, URL};
use super::context::{is_about, is_public_name};
use super::hit::{Hit, Rank};
use super::ids::{is_digest_named, is_ulid};
use super::judge::{Hint, is_mixed, is_random};
use super::placeholder::is_placeholder;
use super::text::{Text, words};
use super::value_statistics::ValueStatistics;

/// The name of the rule.
pub(super) const RULE: &str = "drawn-key";

/// Bytes of a random run. Shorter runs are names: short ids, build numbers, camel case with a digit.
const RUN_BYTES_MIN: usize = 20;

/// Longer runs are data, not keys.
const RUN_BYTES_MAX: usize = 256;

/// Bytes of a run after its maker's word alone: more than ids have. A nanoid has 21, a KSUID 27, a deployment
/// 28.
const MADE_BYTES_MIN: usize = 30;

/// Bytes of a run of digits and letters of one case: more than ids have. A ULID has 26.
const PLAIN_BYTES_MIN: usize = 28;

/// Bytes of hexadecimal digits after a purpose.
const HEX_BYTES_MIN: usize = 32;

/// Bytes of the maker and of the purpose in `acme_live_…`.
const TAG_BYTES_MAX: usize = 12;

/// Bytes of an address that are read back, and of a name before a value.
const ADDRESS_BYTES_MAX: usize = 128;
const NAME_BYTES_MAX: usize = 40;

/// Bytes of the next line that make both the lines of one block.
const BLOCK_BYTES_MIN: usize = 48;

/// Words before public ids: objects of payment services, messages, runs and deployments.
const NUMBERED: &str = "\
    acct asst ba batch call card ch chatcmpl claude cmpl col cs ctr cus dp dpl evt fc file \
    fp ft ftjob fu gen ii in inst inv item job li msg msgbatch obj org pi pm po price prj \
    prod proj promo py req resp rs run ses sess session seti si srv srvtoolu step sub task \
    team thread toolu tr trace txn user vs wf workflow ws";

/// Purposes of keys. After one of these any random run is a key.
const PURPOSES: &str = "live secret sk token pat";

/// Purposes that also stand before ids and digests.
const LIKELY_PURPOSES: &str = "key prod production sandbox staging";

/// Characters of a run; a dot separates two runs.
const RUN: Charset = URL;

/// Reports the random runs of a text that are keys. Each run is read once.
pub(super) fn report(text: Text<'_>, hits: &mut Vec<Hit>) {
    let (mut place, last) = (0, text.0.len());
    while place < last {
        let end = text.run(place, RUN, usize::MAX);
        if (RUN_BYTES_MIN..=RUN_BYTES_MAX).contains(&(end - place))
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
    // The cheap tests come first: most long runs are names and paths.
    if !may_end_at(text, to)
        || ValueStatistics::count(run).digits < 2
        || is_known_form(run)
        || is_placeholder(run)
    {
        return None;
    }
    let (tag, body) = parts(run);
    let start = first_part(text, from);
    let is_key = begins(text, start) && (is_tagged(tag, body) || is_variable(text, start, to))
        || (is_drawn(body) || is_plain_key(b"hook_", body)) && leads_to_hook(text, from)
        || follows_app(text, from, run)
        || is_of_vault(text, from, run);
    is_key.then_some(Hit { rule: RULE, from: start, to, rank: Rank::Random })
}

/// Returns where a key of several parts begins whose last part begins at `from`. The first part is random too.
fn first_part(text: Text<'_>, from: usize) -> usize {
    if text.before(from) != b'.' {
        return from;
    }
    let start = text.run_back(from, DOTTED, RUN_BYTES_MAX);
    let make = ValueStatistics::count(text.slice(start, text.run(start, RUN, RUN_BYTES_MAX)));
    let is_drawn = make.upper > 1 && make.lower > 1 && make.bytes >= 12 && make.is_unlike_words(60);
    if is_drawn { start } else { from }
}

/// Splits a run into the words for its maker and purpose, and the rest.
fn parts(run: &[u8]) -> (&[u8], &[u8]) {
    let mut length = 0;
    for divider in [&b"_-"[..], b"_"] {
        let rest = run.get(length..).unwrap_or_default();
        let word = rest.iter().position(|byte| divider.contains(byte)).unwrap_or(0);
        let is_word = |word: &[u8]| {
            (1..=TAG_BYTES_MAX).contains(&word.len())
                && word.first().is_some_and(u8::is_ascii_alphabetic)
                && word.iter().filter(|byte| byte.is_ascii_digit()).count() < 2
                && (word.iter().all(|byte| !byte.is_ascii_uppercase())
                    || word.iter().all(|byte| !byte.is_ascii_lowercase()))
        };
        let left = rest.len().saturating_sub(word + 1);
        if word == 0 || left < RUN_BYTES_MIN || !rest.get(..word).is_some_and(is_word) {
            break;
        }
        length += word + 1;
    }
    (run.get(..length).unwrap_or_default(), run.get(length..).unwrap_or_default())
}

/// Tells whether the words before a run make it a key: they name its purpose, or its maker and the run is
/// longer than ids are.
fn is_tagged(tag: &[u8], body: &[u8]) -> bool {
    let Some(words) = tag.strip_suffix(b"_") else { return tag == b"sk-" && is_drawn(body) };
    let mut words = words.split(|byte| b"_-".contains(byte));
    let (first, last) = (words.next().unwrap_or_default(), words.next());
    match last {
        Some(last) if is_in(PURPOSES, last) => {
            let make = ValueStatistics::count(body);
            let is_hex = make.hex_letters == make.letters() && body.len() >= HEX_BYTES_MIN;
            is_hex || !is_ulid(body) && is_random(body, Hint::Strong) && make.is_unlike_words(50)
        }
        Some(last) if is_in(LIKELY_PURPOSES, last) => is_drawn(body),
        None if first == b"sk" => is_drawn(body) || is_plain_key(tag, body),
        _ => body.len() >= MADE_BYTES_MIN && is_drawn(body) && !is_in(NUMBERED, first),
    }
}

/// Tells whether a word is in a list, in any case.
fn is_in(known: &str, word: &[u8]) -> bool {
    words(known).any(|known| word.eq_ignore_ascii_case(known))
}

/// Tells whether a run mixes upper case, lower case and digits as no name does.
fn is_drawn(body: &[u8]) -> bool {
    let make = ValueStatistics::count(body);
    make.upper >= 3 && make.lower >= 3 && make.is_unlike_words(50) && is_mixed(body)
}

/// Tells whether a run has a known form that is no secret: a public key of SSH, minisign or age, a named
/// digest, an address or a public key of a blockchain, a mangled symbol.
fn is_known_form(run: &[u8]) -> bool {
    let begins = |start: &&str| run.starts_with(start.as_bytes());
    let is_base58 =
        || run.iter().all(|byte| ALNUM.has(*byte) && !matches!(byte, b'0' | b'O' | b'I' | b'l'));
    let is_address = match run.len() {
        25..=35 => matches!(run.first(), Some(b'1' | b'3')),
        43 | 44 => true,
        46 => run.starts_with(b"Qm"),
        52 => run.starts_with(b"12D3Koo"),
        _ => false,
    };
    is_digest_named(run)
        || ["AAAA", "RWQ", "_", "age1", "bc1", "addr1", "baf", "0x"].iter().any(begins)
        || is_address && is_base58()
}

/// Tells whether a run is the value of an environment variable whose name may be that of a key, as in
/// `ZEBRA=…`.
fn is_variable(text: Text<'_>, from: usize, to: usize) -> bool {
    let run = text.slice(from, to);
    let (tag, body) = parts(run);
    let is_value = || is_drawn(run) || is_drawn(body) || is_plain_key(tag, body);
    variable(text, from).is_some_and(names_key) && is_value() && !goes_on_below(text, to)
}

/// Returns the name of the variable that a value is assigned to, as in `ZEBRA=…` or in a manifest of a container:
/// `name: ZEBRA`, then `value: …`.
fn variable(text: Text<'_>, from: usize) -> Option<&[u8]> {
    let gap = text.run_back(from, Charset::new(" \"'`=:>\\"), 8);
    let is_assigned = text.slice(gap, from).iter().any(|byte| matches!(byte, b'=' | b':'));
    let word = |end| text.slice(text.run_back(end, URL, NAME_BYTES_MAX), end);
    let name = match word(gap) {
        b"value" => word(text.run_back(gap - 5, Charset::new(" \t\r\n\"',\\"), NAME_BYTES_MAX)),
        name => name,
    };
    let is_capital = name.iter().all(|byte| UPPER.has(*byte) || *byte == b'_');
    (is_assigned && is_capital).then_some(name)
}

/// Tells whether a run of digits and letters of one case is random, and is longer than ids or follows a word
/// that no public id has.
fn is_plain_key(tag: &[u8], body: &[u8]) -> bool {
    let make = ValueStatistics::count(body);
    let is_plain = (make.upper == 0 || make.lower == 0) && make.hex_letters < make.letters();
    let is_made = tag.ends_with(b"_") && {
        let maker = tag.split(|byte| *byte == b'_').next().unwrap_or_default();
        !is_in(NUMBERED, maker) && !is_ulid(body)
    };
    let is_whole = body.iter().all(u8::is_ascii_alphanumeric);
    is_plain
        && is_whole
        && (is_made || body.len() >= PLAIN_BYTES_MIN)
        && make.switches >= 5
        && is_random(body, Hint::Weak)
}

/// Tells whether a name may be that of a key: not of an id, a digest or something public, and not a letter of a
/// formula.
fn names_key(name: &[u8]) -> bool {
    let says = |word: &&str| {
        name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_public =
        ["pub", "cursor", "etag", "nonce", "mapping", "state", "image", "sheet", "folder", "build"];
    name.len() >= 3 && !is_about(name) && !is_public_name(name) && !is_public.iter().any(says)
}

/// Tells whether a run may begin there: not after a path, base64 or a letter.
fn begins(text: Text<'_>, from: usize) -> bool {
    let before = text.before(from);
    !before.is_ascii() || before.is_ascii_control() || b" \"'`=:([{<>,;|*.".contains(&before)
}

/// Tells whether a run may end there: not before a path, base64, a call or the rest of a name.
fn may_end_at(text: Text<'_>, to: usize) -> bool {
    let is_name = text.at(to) == b'.' && text.at(to + 1).is_ascii_alphabetic();
    !is_name && !b"/+=@%(~$#".contains(&text.at(to))
}

/// Tells whether a run is part of the address of a webhook.
fn leads_to_hook(text: Text<'_>, place: usize) -> bool {
    let start = text.run_back(place, DOTTED.and(":/"), ADDRESS_BYTES_MAX);
    let address = text.slice(start, place);
    address.ends_with(b"/") && address.windows(4).any(|part| part.eq_ignore_ascii_case(b"hook"))
}

/// Tells whether a run follows the id of an app of Facebook and `|`: it is the secret of the app then.
fn follows_app(text: Text<'_>, from: usize, run: &[u8]) -> bool {
    let stroke = from.saturating_sub(1);
    let app = text.run_back(stroke, DIGIT, 17);
    text.at(stroke) == b'|'
        && (15..=16).contains(&(stroke - app))
        && text.before(app) != b'|'
        && is_drawn(run)
}

/// Tells whether a run is a token of older versions of Vault: `s.` and 24 random characters.
fn is_of_vault(text: Text<'_>, from: usize, run: &[u8]) -> bool {
    let start = from.saturating_sub(2);
    run.len() == 24 && text.slice(start, from) == b"s." && begins(text, start) && is_drawn(run)
}

/// Tells whether a run is the first line of a block in base64: the next line is data as well.
fn goes_on_below(text: Text<'_>, to: usize) -> bool {
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    let next = text.run_while(to, 2, is_break);
    let end = text.run(next, ALNUM.and("+/"), RUN_BYTES_MAX);
    next > to && end - next >= BLOCK_BYTES_MIN && matches!(text.at(end), b'\n' | b'\r' | b'=' | 0)
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    /// Pieces of keys, put together here so that this file holds none.
    const MIXED: [&str; 2] = ["q7RtB2xKd9", "WmZ4pLs8VnYc3HfGj6"];
    const PLAIN: [&str; 2] = ["x4k9q2m7w1", "z8r5t3b6n0vjghd4s9"];

    // S-WRITE-8
    #[test]
    fn a_key_of_a_maker_nobody_knows_is_found_by_what_it_is_made_of() {
        let (mixed, plain) = (MIXED.concat(), PLAIN.concat());
        for (text, key) in [
            (format!("ZEBRA={mixed}"), &mixed),
            (format!("ZEBRA={mixed}\nPORT=3000"), &mixed),
            (format!("ZEBRA={mixed}{mixed}\nPORT=3000"), &mixed),
            (format!("env: {{\"ZEBRA\": \"{mixed}\"}}"), &mixed),
            (format!("ZEBRA=zbr_{mixed}"), &mixed),
            (format!("ZEBRA_VALUE={plain}"), &plain),
            (format!("- name: ZEBRA\n  value: zbr_{plain}"), &plain),
            (format!("{{\"name\": \"ZEBRA\", \"value\": \"{mixed}\"}}"), &mixed),
            (format!("see sk-{mixed}, it works"), &mixed),
            (format!("ZEBRA={}.part1.{mixed} y", "QkRwZtLmXpVbNcGd"), &mixed),
            (format!("see zbr_{mixed}{mixed}."), &mixed),
            (format!("see zbr_at_{mixed}{mixed}."), &mixed),
            (format!("“zbr_{mixed}{mixed}”"), &mixed),
            (format!("用的是zbr_{mixed}{mixed}。"), &mixed),
            (format!("see zbr_live_{mixed}."), &mixed),
            (format!("see shared_live_{mixed}."), &mixed),
            (format!("see user_secret_{mixed} and more"), &mixed),
            (format!("see team_token_{plain}"), &plain),
            (format!("https://chat.example/hooks/5f6/{mixed}"), &mixed),
        ] {
            assert!(!redacted(&text).contains(key.get(..12).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_machines_draw_for_everybody_to_see_stays() {
        let (mixed, plain) = (MIXED.concat(), PLAIN.concat());
        for text in [
            format!("it worked once I pasted {mixed} there"),
            format!("zbr_{mixed} may be the number of a thing"),
            format!("{{\"zebra\": \"{mixed}\"}}"),
            format!("ZEBRA=user_{plain}, ZEBRA=x4k9q2m7w1z8r5t3b6n0vjgh")
                .replace(&plain, "01h45ytscbebyvny4gc8cr8ma2"),
            format!("- name: zebra\n  value: {mixed}"),
            format!("BUILD={mixed}, ZEBRA_ID={mixed}"),
            format!("CERTIFICATE={mixed}{mixed}\n{mixed}{mixed}\n"),
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
