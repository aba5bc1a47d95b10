//! Random keys that no table knows. Names of tests, ids of records and digests look alike, and a false
//! redaction loses text for ever. So a random run must also stand where a key is likely: after a word for its
//! purpose (`acme_live_…`), in an environment variable, in the address of a webhook, or after its maker's word
//! and longer than ids are. Not here: prefixes of known providers (`prefixed`), and names (`named`).

use super::charset::{ALNUM, Charset, DIGIT, DOTTED, UPPER, URL};
use super::context::{is_about, is_public_name};
use super::hit::{Hit, Rank};
use super::judge::{Hint, Make, is_digest_named, is_mixed, is_placeholder, is_random, is_ulid};
use super::text::{Text, words};

/// The name of the rule.
pub(super) const RULE: &str = "drawn-key";

/// Bytes of a drawn run. Shorter ones are names of things: short ids, build numbers, camel case with a digit.
const RUN_BYTES_MIN: usize = 20;

/// Longer runs are data, not keys.
const RUN_BYTES_MAX: usize = 256;

/// Bytes of a run behind a maker's word that tells nothing of a purpose: more than ids of records have, of
/// which a nanoid has 21, a KSUID 27 and a deployment 28.
const MADE_BYTES_MIN: usize = 30;

/// Bytes of a run of digits and letters of one size: more than record ids have, of which a ULID has 26.
const PLAIN_BYTES_MIN: usize = 28;

/// Bytes of hexadecimal digits behind a purpose.
const HEX_BYTES_MIN: usize = 32;

/// Bytes of one of the words before a key that name its maker and its purpose, as in `acme_live_…`.
const TAG_BYTES_MAX: usize = 12;

/// How far an address is read back for what it leads to, and a name before a value.
const ADDRESS_BYTES_MAX: usize = 128;
const NAME_BYTES_MAX: usize = 40;

/// Bytes of the next line from which on both are lines of one block.
const BLOCK_BYTES_MIN: usize = 48;

/// Words before numbers of things, which are told freely: objects of payment services, messages, runs and
/// deployments of services for models and builds.
const NUMBERED: &str = "\
    acct asst ba batch call card ch chatcmpl claude cmpl col cs ctr cus dp dpl evt fc file \
    fp ft ftjob fu gen ii in inst inv item job li msg msgbatch obj org pi pm po price prj \
    prod proj promo py req resp rs run ses sess session seti si srv srvtoolu step sub task \
    team thread toolu tr trace txn user vs wf workflow ws";

/// Purposes of keys: what stands behind one of these is drawn, whatever it is made of.
const PURPOSES: &str = "live secret sk token pat";

/// The like that stands before numbers and digests as well.
const LIKELY_PURPOSES: &str = "key prod production sandbox staging";

/// What a run is made of; a point parts two.
const RUN: Charset = URL;

/// Reports the runs of a text that look drawn by lot, each walked once.
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
    // Most long runs are names and paths: what is cheap to tell is asked first.
    if !ends(text, to) || Make::of(run).digits < 2 || is_known_form(run) || is_placeholder(run) {
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

/// Returns where a key in parts begins whose last part begins at `from`: with a part that looks drawn as well.
fn first_part(text: Text<'_>, from: usize) -> usize {
    if text.before(from) != b'.' {
        return from;
    }
    let start = text.run_back(from, DOTTED, RUN_BYTES_MAX);
    let make = Make::of(text.slice(start, text.run(start, RUN, RUN_BYTES_MAX)));
    let is_drawn = make.upper > 1 && make.lower > 1 && make.bytes >= 12 && make.is_unlike_words(60);
    if is_drawn { start } else { from }
}

/// Parts a run into the words that name its maker and purpose, and the rest.
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

/// Tells whether the words before a run make it a key: they name its purpose, or its maker where it is longer
/// than ids are.
fn is_tagged(tag: &[u8], body: &[u8]) -> bool {
    let Some(words) = tag.strip_suffix(b"_") else { return tag == b"sk-" && is_drawn(body) };
    let mut words = words.split(|byte| b"_-".contains(byte));
    let (first, last) = (words.next().unwrap_or_default(), words.next());
    match last {
        Some(last) if is_in(PURPOSES, last) => {
            let make = Make::of(body);
            let is_hex = make.hex_letters == make.letters() && body.len() >= HEX_BYTES_MIN;
            is_hex || !is_ulid(body) && is_random(body, Hint::Strong) && make.is_unlike_words(50)
        }
        Some(last) if is_in(LIKELY_PURPOSES, last) => is_drawn(body),
        None if first == b"sk" => is_drawn(body) || is_plain_key(tag, body),
        _ => body.len() >= MADE_BYTES_MIN && is_drawn(body) && !is_in(NUMBERED, first),
    }
}

/// Tells whether a word is one of those, in any case.
fn is_in(known: &str, word: &[u8]) -> bool {
    words(known).any(|known| word.eq_ignore_ascii_case(known))
}

/// Tells whether a run is of letters of both sizes and digits in such disorder as no name has.
fn is_drawn(body: &[u8]) -> bool {
    let make = Make::of(body);
    make.upper >= 3 && make.lower >= 3 && make.is_unlike_words(50) && is_mixed(body)
}

/// Tells whether a run is of a known form that is no secret: a public key of SSH, minisign or age, a digest with
/// its name, an address or a public key of a chain of blocks, a mangled symbol.
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

/// Tells whether a run is the value of a variable of the environment whose name may be that of a key, as
/// in `ZEBRA=…`.
fn is_variable(text: Text<'_>, from: usize, to: usize) -> bool {
    let run = text.slice(from, to);
    let (tag, body) = parts(run);
    let is_value = || is_drawn(run) || is_drawn(body) || is_plain_key(tag, body);
    variable(text, from).is_some_and(names_key) && is_value() && !goes_on_below(text, to)
}

/// Returns the name of the variable that a value is assigned to, in one piece or as manifests of containers
/// have it: `name: ZEBRA`, and `value: …` behind it.
fn variable(text: Text<'_>, from: usize) -> Option<&[u8]> {
    let gap = text.run_back(from, Charset::of(" \"'`=:>\\"), 8);
    let is_assigned = text.slice(gap, from).iter().any(|byte| matches!(byte, b'=' | b':'));
    let word = |end| text.slice(text.run_back(end, URL, NAME_BYTES_MAX), end);
    let name = match word(gap) {
        b"value" => word(text.run_back(gap - 5, Charset::of(" \t\r\n\"',\\"), NAME_BYTES_MAX)),
        name => name,
    };
    let is_capital = name.iter().all(|byte| UPPER.has(*byte) || *byte == b'_');
    (is_assigned && is_capital).then_some(name)
}

/// Tells whether a run of digits and letters of one size is drawn by lot and longer than ids, or behind a word
/// that is not that of numbers of things.
fn is_plain_key(tag: &[u8], body: &[u8]) -> bool {
    let make = Make::of(body);
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

/// Tells whether a name may be that of a key: not of a number, a digest or something public, and more than a
/// letter of a formula.
fn names_key(name: &[u8]) -> bool {
    let says = |word: &&str| {
        name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_public =
        ["pub", "cursor", "etag", "nonce", "mapping", "state", "image", "sheet", "folder", "build"];
    name.len() >= 3 && !is_about(name) && !is_public_name(name) && !is_public.iter().any(says)
}

/// Tells whether a run may begin there: behind no path, no base64 and no letter.
fn begins(text: Text<'_>, from: usize) -> bool {
    let before = text.before(from);
    !before.is_ascii() || before.is_ascii_control() || b" \"'`=:([{<>,;|*.".contains(&before)
}

/// Tells whether a run may end there: before no path, no base64, no call and no rest of a name.
fn ends(text: Text<'_>, to: usize) -> bool {
    let is_name = text.at(to) == b'.' && text.at(to + 1).is_ascii_alphabetic();
    !is_name && !b"/+=@%(~$#".contains(&text.at(to))
}

/// Tells whether an address, of which a run is a part, posts to somebody.
fn leads_to_hook(text: Text<'_>, place: usize) -> bool {
    let start = text.run_back(place, DOTTED.and(":/"), ADDRESS_BYTES_MAX);
    let address = text.slice(start, place);
    address.ends_with(b"/") && address.windows(4).any(|part| part.eq_ignore_ascii_case(b"hook"))
}

/// Tells whether the number of an app of Facebook's and a stroke stand before a run, which is its secret then.
fn follows_app(text: Text<'_>, from: usize, run: &[u8]) -> bool {
    let stroke = from.saturating_sub(1);
    let app = text.run_back(stroke, DIGIT, 17);
    text.at(stroke) == b'|'
        && (15..=16).contains(&(stroke - app))
        && text.before(app) != b'|'
        && is_drawn(run)
}

/// Tells whether a run is the drawn part of a token of Vault as older versions make them, `s.` and 24 characters.
fn is_of_vault(text: Text<'_>, from: usize, run: &[u8]) -> bool {
    let start = from.saturating_sub(2);
    run.len() == 24 && text.slice(start, from) == b"s." && begins(text, start) && is_drawn(run)
}

/// Tells whether a run is the first line of a block in base64: the next line is one run of data as well.
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
