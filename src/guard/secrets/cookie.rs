//! The values of a cookie header that log somebody in. Not here: tokens that say what they are (`prefixed`,
//! `shape`), which are found in cookies as elsewhere.

use super::charset::DOTTED;
use super::hit::{Hit, Rank};
use super::judge::{Hint, is_random};
use super::known_word::is_word_of_passwords;
use super::password::is_short_token;
use super::placeholder::is_placeholder;
use super::text::Text;

/// Cookies of one header that are read. Browsers send some tens at most.
const COOKIES_MAX: usize = 64;

/// The longest value of a cookie (RFC 6265, section 6.1).
const VALUE_BYTES_MAX: usize = 4_096;

/// Bytes of the value of a session that may be a word or a number.
const PLAIN_BYTES_MIN: usize = 10;

/// Words in the names of cookies that log somebody in.
const NAMES: [&str; 7] = ["sess", "sid", "auth", "token", "login", "jwt", "remember"];

/// Reports the values of a header that log in; its name ends at `end`. Returns where the header ends.
pub(super) fn report(text: Text<'_>, end: usize, hits: &mut Vec<Hit>) -> usize {
    let colon = text.run_while(end, 3, |byte| matches!(byte, b'"' | b'\'' | b' '));
    if !matches!(text.at(colon), b':' | b'=') {
        return end;
    }
    let is_gap = |byte: u8| matches!(byte, b' ' | b';' | b'"' | b'\'' | b'=' | b':' | b'[');
    let mut place = colon;
    for _ in 0..COOKIES_MAX {
        let name = text.run_while(place, 8, is_gap);
        let name_end = text.run(name, DOTTED, 64);
        if name_end == name || text.at(name_end) != b'=' {
            break;
        }
        let value = name_end + 1;
        let goes_on =
            |byte: u8| byte > b' ' && !matches!(byte, b';' | b',' | b'"' | b'\'' | b'`' | b'\\');
        let to = text.run_while(value, VALUE_BYTES_MAX, goes_on);
        if logs_in(text.slice(name, name_end), text.slice(value, to)) {
            hits.push(Hit { rule: "cookie", from: value, to, rank: Rank::Word });
        }
        place = to;
    }
    place
}

fn logs_in(name: &[u8], value: &[u8]) -> bool {
    let is_session_name = NAMES.iter().any(|word| {
        name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    });
    let is_plain = || {
        value.len() >= PLAIN_BYTES_MIN
            && value.iter().all(u8::is_ascii_alphanumeric)
            && !is_word_of_passwords(value)
            && !is_placeholder(value)
    };
    let is_announced = is_session_name && (is_short_token(value) || is_plain());
    is_announced || is_random(value, if is_session_name { Hint::Strong } else { Hint::Weak })
}
