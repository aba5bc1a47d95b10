//! Values near a word that means a secret. What nobody could have written as a word, a name or a number is a secret on the
//! line of the word and on the next lines, whatever parts them, so that no form of writing has to be known. Not here:
//! values that could be words, which need a binding (`named_secret`, `binding`).

use super::around_value::{has_other_name, is_digest, is_pointer};
use super::charset::Charset;
use super::context::{holds, mentions};
use super::hit::{Hit, Rank};
use super::ids::{is_digest_named, is_object_id, is_ulid, is_uuid};
use super::known_word::{is_encoded, is_list_of_characters};
use super::password::{
    is_compound, is_marked, is_numbered_word, is_phrase, is_short_token, is_underived,
};
use super::placeholder::is_placeholder;
use super::text::{Text, count, list};
use super::value_statistics::ValueStatistics;

/// Bytes before a word that are searched, and after it.
const BEFORE_BYTES_MAX: usize = 160;
const AFTER_BYTES_MAX: usize = 240;

/// Lines that are searched above a word and below it.
const LINES_ABOVE: usize = 1;
const LINES_BELOW: usize = 3;

/// Bytes of a value.
const VALUE_BYTES_MIN: usize = 6;
const VALUE_BYTES_MAX: usize = 128;
/// Bytes of one near a word that names none: ids are longer.
const ACCOUNT_BYTES_MAX: usize = 28;
/// Bytes of a value with the names that `=`, `:` and `/` part from it.
const RUN_BYTES_MAX: usize = 512;
/// Digits of a number that is a password: dates and times of day have fewer, account numbers more.
const NUMBER_BYTES: std::ops::RangeInclusive<usize> = 9..=11;
/// Bytes of white space around a value.
const GAP_BYTES_MAX: usize = 4;

/// What parts two values.
const ENDS: Charset = Charset::new(" \t\r\n\"'`,;<>(){}[]|\\");

/// Words in names that mix letters and digits, and pieces of formats of dates and of sets of characters.
const TECHNICAL: &str = include_str!("tables/technical.txt");

/// Words in names of things that handle secrets.
const OF_SECRETS: [&str; 6] = ["credential", "password", "secret", "token", "auth", "login"];

/// How surely a word means that a secret is near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nearness {
    /// It names one.
    Name,
    /// It means an account or a service that people log in to. Ids stand there too.
    Account,
}

/// Text around a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) nearness: Nearness,
}

impl Reach {
    /// The line of a word that names a secret, and the lines around it.
    pub(super) fn of_name(text: Text<'_>, start: usize, end: usize) -> Self {
        Self::lines(text, start, end, [LINES_ABOVE, LINES_BELOW], Nearness::Name)
    }

    /// The line of a word that means an account.
    pub(super) fn of_account(text: Text<'_>, start: usize, end: usize) -> Self {
        Self::lines(text, start, end, [0, 0], Nearness::Account)
    }

    /// The argument of an option that ends at `end`, or of a here-string.
    pub(super) fn of_option(text: Text<'_>, end: usize, nearness: Nearness) -> Self {
        let glued = text.run_while(end, VALUE_BYTES_MAX, |byte| byte > b' ');
        let is_glued = glued > end + 2 && text.at(end) != b'=';
        let next = text.run_while(glued, GAP_BYTES_MAX, |byte| byte == b' ');
        let argument = text.run_while(next, VALUE_BYTES_MAX, |byte| byte > b' ');
        Self { from: end, to: if is_glued { glued } else { argument }, nearness }
    }

    fn lines(
        text: Text<'_>,
        start: usize,
        end: usize,
        [above, below]: [usize; 2],
        nearness: Nearness,
    ) -> Self {
        let within = |most: usize| {
            let mut breaks = 0;
            move |byte: u8| {
                breaks += usize::from(byte == b'\n');
                breaks <= most
            }
        };
        let (mut is_above, is_below) = (within(above), within(below));
        let before = text.slice(start.saturating_sub(BEFORE_BYTES_MAX), start);
        count(before.len());
        let from = start - before.iter().rev().take_while(|byte| is_above(**byte)).count();
        Self { from, to: text.run_while(end, AFTER_BYTES_MAX, is_below), nearness }
    }
}

/// Reports the values in the reach of a word.
pub(super) fn report(text: Text<'_>, reach: Reach, rule: &'static str, hits: &mut Vec<Hit>) {
    let is_end = |byte: u8| byte <= b' ' || !byte.is_ascii();
    // A token that begins before the reach was read, or is too long.
    let mut place = reach.from;
    if place > 0 && !is_end(text.before(place)) {
        place = text.run_while(place, RUN_BYTES_MAX, |byte| !is_end(byte));
    }
    while place < reach.to {
        let end = text.run_while(place, RUN_BYTES_MAX, |byte| !is_end(byte));
        if (VALUE_BYTES_MIN..RUN_BYTES_MAX).contains(&(end - place)) {
            let token = NearbyToken { text, from: place, to: end };
            token.each_value(|from, to| {
                let value = text.slice(from, to);
                let is_near = reach.nearness == Nearness::Name || is_sure(value);
                if is_near && !is_path(text.slice(place, end)) {
                    hits.push(Hit { rule, from, to, rank: Rank::Hint });
                }
            });
        }
        place = end + 1;
    }
}

/// Reports a number on the line of a password that is longer than dates, and no time.
pub(super) fn report_number(
    text: Text<'_>,
    start: usize,
    end: usize,
    rule: &'static str,
    hits: &mut Vec<Hit>,
) {
    let reach = Reach::lines(text, start, end, [0, 0], Nearness::Name);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/#@".contains(&byte);
    let mut place = reach.from;
    while place < reach.to {
        let from = text.run_while(place, reach.to - place, |byte| !byte.is_ascii_digit());
        let to = text.run_while(from, VALUE_BYTES_MAX, |byte| byte.is_ascii_digit());
        let value = text.slice(from, to);
        let is_time = matches!(value, [b'1', b'5'..=b'9', ..]);
        let stands = !is_part(text.before(from)) && (!is_part(text.at(to)) || text.at(to) == b'.');
        if NUMBER_BYTES.contains(&value.len())
            && stands
            && !is_time
            && ValueStatistics::count(value).distinct > 4
        {
            hits.push(Hit { rule, from, to, rank: Rank::Hint });
        }
        place = to + 1;
    }
}

/// Tells whether a value is one without a word that names it.
fn is_sure(value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    let is_mixed = make.lower > 0 && make.upper > 0 && (make.digits > 0 || make.marks > 1);
    is_mixed && value.len() <= ACCOUNT_BYTES_MAX
}

/// Tells whether a token is an absolute path, whose folders may have names that were drawn. One of its parts is a word, as
/// no part of base64 is.
fn is_path(token: &[u8]) -> bool {
    let token = token.strip_prefix(b"~").unwrap_or(token);
    let is_plain = |part: &[u8]| part.len() > 2 && part.iter().all(u8::is_ascii_lowercase);
    token.first() == Some(&b'/')
        && token.iter().filter(|byte| **byte == b'/').count() > 1
        && token.split(|byte| *byte == b'/').any(is_plain)
}

/// Characters without white space.
#[derive(Clone, Copy)]
struct NearbyToken<'a> {
    text: Text<'a>,
    from: usize,
    to: usize,
}

impl NearbyToken<'_> {
    /// Calls `found` with every value in the token.
    fn each_value(self, mut found: impl FnMut(usize, usize)) {
        let Self { text, from, to } = self;
        let whole = text.slice(from, to);
        // The user part of an address has a rule of its own (`login`), and the hash of a password is none.
        if whole.windows(3).any(|part| part == b"://")
            || is_hash(whole)
            || has_escapes(whole)
            || is_list_of_characters(whole)
        {
            return;
        }
        let value = self.without_name();
        if is_encoded(text.slice(value.from, value.to)) {
            return;
        }
        if is_scrambled(text.slice(value.from, value.to)) {
            return found(value.from, value.to);
        }
        for part in self.parts(|byte| ENDS.has(byte) || matches!(byte, b'=' | b':')) {
            let pieces = part.parts(|byte| byte == b'/');
            if let Some((from, to)) = std::iter::once(part).chain(pieces).find_map(Self::value) {
                // The end of base64.
                found(from, text.run_while(to, 2, |byte| byte == b'='));
            }
        }
    }

    /// Returns the token without the name and the quotes in `name="value"`.
    fn without_name(self) -> Self {
        let Self { text, from, to } = self;
        let is_name = |byte: u8| byte.is_ascii_alphabetic() || b"\"'`-_.".contains(&byte);
        let end = text.run_while(from, to - from, is_name);
        let is_option = text.at(from) == b'-' && text.at(from + 1).is_ascii_alphabetic();
        let from = from + 2 * usize::from(is_option && end < from + 3);
        let from = if end > from && matches!(text.at(end), b'=' | b':') { end + 1 } else { from };
        let is_quote = |byte: u8| b"\"'`".contains(&byte);
        let first = text.run_while(from, to - from, is_quote);
        let last = text.run_while(first, to - first, |byte| first == from || !is_quote(byte));
        // What closes a sentence or a call is no part of it.
        let closes = |byte: u8| b"\"'`,;.)]}>".contains(&byte);
        Self { text, from: first, to: text.run_back_while(last, last - first, closes) }
    }

    /// Returns the parts between characters of a kind.
    fn parts(self, is_end: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = Self> {
        let Self { text, from, to } = self;
        let mut place = from;
        std::iter::from_fn(move || {
            let from = text.run_while(place, to.saturating_sub(place), is_end);
            let end = text.run_while(from, to.saturating_sub(from), |byte| !is_end(byte));
            place = end;
            (end > from).then_some(Self { text, from, to: end })
        })
    }

    /// Returns the value without what may stand before and behind it, if it is a secret.
    fn value(self) -> Option<(usize, usize)> {
        let Self { text, from, to } = self;
        // -pPASSWORD
        let is_option = text.at(from) == b'-' && text.at(from + 1).is_ascii_alphabetic();
        let from = if is_option { from + 2 } else { from };
        let length = |from: usize| to.saturating_sub(from);
        let from = text.run_while(from, length(from), |byte| b".-+*~_".contains(&byte));
        let to = text.run_back_while(to, length(from), |byte| b".?-".contains(&byte));
        let is_edge = |byte: u8| b"!*&#@$%+~^_".contains(&byte);
        let core = text.run_back_while(to, to.saturating_sub(from), is_edge);
        let value = text.slice(from, core);
        // A call, or the name of a parameter.
        let gap = text.run_while(to, 1, |byte| byte == b' ');
        let is_type = text.slice(from.saturating_sub(3), from) == b"-> ";
        let is_called = text.at(gap) == b'(' && (gap == to || text.slice(from, to).contains(&b'_'));
        if is_type
            || is_called
            || is_pointer(text, to)
            || text.at(gap) == b':' && text.at(gap + 1) == b' '
        {
            return None;
        }
        let is_secret = (VALUE_BYTES_MIN..=VALUE_BYTES_MAX).contains(&value.len())
            && !is_word(value)
            && (ValueStatistics::count(value).is_drawn() || is_chosen(text, from, value))
            && !is_name(value)
            && !is_technical(value)
            && !is_uuid(value)
            && !is_ulid(value)
            && !is_object_id(value)
            && text.slice(from.saturating_sub(3), from) != b"h1:"
            && !is_digest_named(value)
            && !is_placeholder(value)
            && !(value.iter().all(u8::is_ascii_hexdigit) && is_digest(text, from));
        is_secret.then_some((from, to))
    }
}

/// Tells whether a value holds a word of the table.
fn is_technical(value: &[u8]) -> bool {
    // Three letters in a row may stand in any long value by chance.
    list(TECHNICAL).any(|word| word.len() * 5 >= value.len() && holds(value, word))
}

/// Tells whether a value is a short word in lower case or with a capital.
fn is_word(value: &[u8]) -> bool {
    value.len() < 10 && value.iter().skip(1).all(u8::is_ascii_lowercase)
}

/// Tells whether a token as a whole can only have been drawn: it has characters of all kinds, and no words, so that it is
/// no code.
fn is_scrambled(token: &[u8]) -> bool {
    const CODE: [&str; 13] =
        ["()", "[]", "::", "=>", "->", "${", "%{", "&&", "||", "_", "\\fB", "\\fI", "\\fR"];
    // The cheap tests come first: most tokens are words.
    let is_long = (12..=64).contains(&token.len());
    if !is_long
        || !token.iter().any(u8::is_ascii_digit)
        || !token.iter().any(u8::is_ascii_uppercase)
    {
        return false;
    }
    let make = ValueStatistics::count(token);
    let others = make.bytes - make.letters() - make.digits - make.separators;
    make.lower > 1
        && make.upper > 1
        && make.digits > 0
        && others > 0
        && others * 2 < make.bytes
        && !make.has_word
        && make.distinct > 9
        && make.is_unlike_words(60)
        && !is_name(token)
        && !mentions(token, &CODE)
        && !is_technical(token)
}

/// Tells whether a value is made of words as people make passwords, and not as names are.
fn is_chosen(text: Text<'_>, from: usize, value: &[u8]) -> bool {
    let gap = text.run_back_while(from, GAP_BYTES_MAX, |byte| byte == b' ');
    let end = from + value.len();
    let last = text.run_while(end, GAP_BYTES_MAX, |byte| matches!(byte, b' ' | b'.' | b'\r'));
    // `=`, a quote, a word of a language that has no spaces, or the end of the line.
    let before = text.before(gap);
    let is_last = matches!(text.at(last), 0 | b'\n');
    let is_bound = b"=:|\t\"'`>([".contains(&before) || before >= 0x80 || is_last;
    let is_name = text.before(from) == b'_' || matches!(text.at(end), b'_' | b'(');
    // A value in quotes that is no name of a member; in backticks stand names of code.
    let after = text.run_while(end + 1, GAP_BYTES_MAX, |byte| byte == b' ');
    let is_quoted = matches!(text.before(from), b'"' | b'\'') && text.at(end) == text.before(from);
    let is_lone = || is_underived(value) || is_shuffled(value);
    let is_long_word = is_quoted
        && !b":=".contains(&text.at(after))
        && (is_compound(value) || is_lone() && !has_other_name(text, from, end));
    // A bare `aws-credential-helper` names a thing that handles secrets.
    !is_name && is_numbered_word(value)
        || is_long_word
        || is_bound && is_phrase(value) && !mentions(value, &OF_SECRETS)
        || is_marked(value)
}

/// Tells whether a value is letters and digits in no order that a name has, as in `woRoWD87`.
fn is_shuffled(value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    make.letters() + make.digits == make.bytes
        && make.changes * 10 >= make.bytes * 4
        && is_short_token(value)
}

/// Tells whether a token is text with escapes such as `\u0414`.
fn has_escapes(token: &[u8]) -> bool {
    let is_escape =
        |part: &[u8]| part.starts_with(b"\\u") && part.iter().skip(2).all(u8::is_ascii_hexdigit);
    token.windows(6).any(is_escape)
}

/// Tells whether a token holds the hash of a password in the form of crypt, as in `$2b$10$…`.
fn is_hash(token: &[u8]) -> bool {
    const METHODS: [&str; 16] = [
        "$2a$", "$2b$", "$2y$", "$argon2", "$1$", "$5$", "$6$", "$y$", "$pbkdf2", "$scrypt",
        "{sha", "{ssha", "{md5}", "{smd5}", "{crypt}", "{pbkdf2",
    ];
    token.len() > 24 && mentions(token, &METHODS)
}

/// Tells whether a value is a host, a file, an address of mail, a version or a number in hexadecimal.
fn is_name(value: &[u8]) -> bool {
    let after = |mark: u8| {
        let last = value.iter().rposition(|byte| *byte == mark);
        last.and_then(|last| value.get(last + 1..)).filter(|rest| !rest.is_empty())
    };
    let is_suffix = after(b'.').is_some_and(|last| {
        (2..=5).contains(&last.len()) && last.iter().all(u8::is_ascii_lowercase)
    });
    // serde@1.0.2, jane@example.org, rust-lang/cargo#868, PubsubV1
    let is_at = after(b'@').is_some_and(|rest| rest.contains(&b'.'));
    let is_number = |mark| after(mark).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit));
    let is_version = [b'#', b'V', b'v'].into_iter().any(is_number);
    is_suffix || is_at || is_version || value.starts_with(b"0x") || value.starts_with(b"U+")
}

#[cfg(test)]
mod tests {
    use super::super::charset::ALNUM;
    use super::super::redacted;
    use super::super::tests::drawn;

    // S-WRITE-8
    #[test]
    fn what_was_drawn_near_a_name_goes_whatever_parts_them() {
        let (first, last) =
            (format!("k{}", drawn(ALNUM, 5, 3)), format!("{}7Z", drawn(ALNUM, 5, 4)));
        let secret = format!("{first}{last}");
        for text in [
            format!("the password, as far as I remember, might have been {secret} last week"),
            format!("{secret}\n^ that is the password"),
            format!("password <-- {secret} -->"),
            format!("$ some-tool read db/password --plain\n\n{secret}\n"),
            format!("password of the box\n- jane\n- {secret}"),
            format!("any-tool -p {secret} run"),
            format!("parola di accesso ({secret})"),
            format!("user jane ~ {secret}"),
            format!("password {first}(x;{last}"),
        ] {
            assert!(!redacted(&text).contains(&last), "{text}");
        }
    }

    #[test]
    fn what_has_a_name_stays_near_a_name() {
        for text in [
            "the password of jane@example.org on web-prod-03 is in OAuth2 since v1.2.3-rc4",
            "password check in src/auth/PasswordCheck2.java:42, commit 8f2e91c0d4",
            "password hash $2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
            "the id of the secret is 123e4567-e89b-12d3-a456-426614174000",
            "passwords match [A-Za-z0-9!@#$%^&*]{12,}",
            "amazon-ecr-credential-helper",
            "cp -p /srv/.tmpK432vO/logs/api.jsonl /srv/.tmpK432vO/logs/api.own",
            "it can be written by other users: chmod go-w /srv/.tmpAbC12x/logs",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
