//! From a name to the value assigned to it: `name = "value"` in the ways of many languages, formats
//! and sentences. Not here: which values are secrets (`named`).

use std::ops::Range;

use super::alphabet::{ALNUM, Alphabet, DOTTED, URL};
use super::text::Text;
use super::told;

/// Bytes between a word and its operator: the rest of a long name, or a few words.
const TAIL_BYTES_MAX: usize = 40;

/// White space between an operator and its value: an indented line after a line break.
const GAP_BYTES_MAX: usize = 64;

/// Bytes of a value that are looked at before it is known to be a secret: the longest form of a key.
/// Where names stand side by side each looks at the same value.
const VALUE_BYTES_MAX: usize = 640;

/// Bytes of a secret: the longest tokens (with claims) stay under it.
const SECRET_BYTES_MAX: usize = 8_192;

/// What ends a value that stands in no quotes.
const ENDS: Alphabet = Alphabet::of("\"'`,;<>(){}[]&\\");

const TAIL: Alphabet = DOTTED.and(" \t");

/// Words before a credential that name its kind.
const SCHEMES: [&str; 12] = [
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "api-token",
    "digest",
    "key",
    "bot",
    "negotiate",
    "genie",
    "sso-key",
];

/// What stands for an operator in Chinese, Japanese and Korean.
const PARTICLES: [&str; 7] = ["：", "是", "为", "為", "は", "는", "은"];

/// How a value is bound to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// By an operator such as `=` or `:`.
    Operator,
    /// By nothing but a space, after a name that is a flag.
    Flag,
    /// By a word such as `is`.
    Sentence,
    /// By nothing but a space.
    Neighbour,
    /// The same, or a line break, after a name that no sentence has, such as `ACME_TOKEN`.
    Identifier,
}

/// A value bound to a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assigned<'a> {
    pub(super) bond: Bond,
    /// What stands between the word and the operator.
    pub(super) tail: &'a [u8],
    pub(super) is_quoted: bool,
    quote: Option<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) value: &'a [u8],
}

/// What a look behind a name found, and which values it looked at.
pub(super) struct Look<T> {
    pub(super) found: Option<T>,
    pub(super) values: Range<usize>,
}

/// Calls `accept` on every reading of what stands behind a name, which stands from `start` to `end`,
/// until one is accepted.
pub(super) fn look<'a, T>(
    text: Text<'a>,
    start: usize,
    end: usize,
    mut accept: impl FnMut(Assigned<'a>) -> Option<T>,
) -> Look<T> {
    let tail_end = text.run(end, TAIL, TAIL_BYTES_MAX);
    let tail = text.slice(end, tail_end);
    let name_end = text.run(end, URL, TAIL_BYTES_MAX);
    let name_tail = text.slice(end, name_end);
    let readings: [&dyn Fn() -> Option<Assigned<'a>>; 6] = [
        &|| {
            let from = operator_end(text, tail_end)?;
            let value = value_at(text, gap_end(text, from), Bond::Operator, tail)?;
            // Between arguments of a call both are quoted; elsewhere a comma only ends a clause.
            let is_clause = text.before(from) == b',' && !value.is_quoted;
            (!is_clause).then_some(value)
        },
        &|| {
            let bond = neighbour(text, start, name_end);
            (text.at(name_end) == b' ').then(|| value_at(text, name_end + 1, bond, name_tail))?
        },
        &|| {
            let length = told::sentence_end(tail)?;
            value_at(text, end + length, Bond::Sentence, tail.get(..length)?)
        },
        &|| value_at(text, pair_end(text, name_end)?, Bond::Operator, name_tail),
        &|| {
            let value = value_at(text, note_end(text, tail_end)?, Bond::Operator, tail)?;
            (value.is_quoted || text.at(tail_end) == b'(').then_some(value)
        },
        &|| {
            let line = line_below(text, start, name_end)?;
            let value = value_at(text, line, Bond::Identifier, name_tail)?;
            matches!(text.at(value.to), 0 | b'\n' | b'\r').then_some(value)
        },
    ];
    let mut values = tail_end..end;
    for reading in readings {
        let Some(assigned) = reading() else { continue };
        values = values.start.min(assigned.from)..values.end.max(assigned.to);
        let found = accept(assigned);
        if found.is_some() {
            return Look { found, values };
        }
    }
    Look { found: None, values }
}

/// Tells whether the name in which a word stands is a flag, such as `--db-password`.
fn starts_flag(text: Text<'_>, start: usize) -> bool {
    let name = text.run_back(start, DOTTED, TAIL_BYTES_MAX);
    text.at(name) == b'-'
        && matches!(text.before(name), 0 | b' ' | b'\n' | b'\t' | b'`' | b'"' | b'\'' | b'[')
}

/// Tells what a space behind a name means.
fn neighbour(text: Text<'_>, start: usize, name_end: usize) -> Bond {
    let name = text.slice(text.run_back(start, DOTTED, TAIL_BYTES_MAX), name_end);
    match () {
        () if starts_flag(text, start) => Bond::Flag,
        () if is_identifier(name) || is_directive(text, start, name_end) => Bond::Identifier,
        () => Bond::Neighbour,
    }
}

/// Tells whether a name and one word behind it are all of a line, as in files of settings.
fn is_directive(text: Text<'_>, start: usize, name_end: usize) -> bool {
    let name = text.run_back(start, DOTTED, TAIL_BYTES_MAX);
    let line = text.run_back(name, Alphabet::of(" \t"), TAIL_BYTES_MAX);
    let value_end = text.run_while(name_end + 1, VALUE_BYTES_MAX, |byte| byte > b' ');
    matches!(text.before(line), 0 | b'\n') && matches!(text.at(value_end), 0 | b'\n' | b'\r')
}

/// Tells whether the name in which `place` stands is one of a program.
pub(super) fn is_in_identifier(text: Text<'_>, place: usize) -> bool {
    let (from, to) =
        (text.run_back(place, DOTTED, TAIL_BYTES_MAX), text.run(place, URL, TAIL_BYTES_MAX));
    let name = text.slice(from, to);
    is_identifier(name) || name.contains(&b'-')
}

/// Tells whether a name is one of a program: with underscores, or with a hump in it.
pub(super) fn is_identifier(name: &[u8]) -> bool {
    let is_hump = |pair: &[u8]| {
        pair.first().is_some_and(u8::is_ascii_lowercase)
            && pair.last().is_some_and(u8::is_ascii_uppercase)
    };
    name.contains(&b'_') || name.windows(2).any(is_hump)
}

/// What a value is called where its name is another value, as in `name: A_TOKEN, value: …`.
const PAIRED: [&str; 7] = ["value", "body", "content", "default", "data", "-b", "secretstring"];

/// White space, quotes and a comma between such a name and what its value is called.
const PAIR_GAP_BYTES_MAX: usize = 40;

/// Returns where the value begins that is told in a pair of its own behind a name.
fn pair_end(text: Text<'_>, name_end: usize) -> Option<usize> {
    let is_gap = |byte: u8| {
        matches!(
            byte,
            b'"' | b'\'' | b'`' | b',' | b' ' | b'\n' | b'\r' | b'\t' | b'-' | b'<' | b'/'
        )
    };
    let gap = text.run_while(name_end, PAIR_GAP_BYTES_MAX, is_gap);
    // The hyphen of `-b` is part of the gap.
    let word = PAIRED.iter().map(|word| word.trim_start_matches('-'));
    let is_whole = |end: usize| !text.at(end).is_ascii_alphanumeric() && text.at(end) != b'_';
    let end = word
        .filter(|word| word.len() > 1 || text.before(gap) == b'-')
        .map(|word| (word, gap + word.len()))
        .find(|(word, end)| gap > name_end && text.is_at(gap, word) && is_whole(*end))?
        .1;
    let operator = text.run_while(end, 4, |byte| matches!(byte, b'"' | b'\'' | b' '));
    let value = text.run_while(operator, 4, |byte| matches!(byte, b'=' | b':' | b'>' | b' '));
    if value > operator {
        Some(value)
    } else {
        // `--body "…"`: the quote that was passed over opens the value.
        text.slice(end, operator).contains(&b' ').then_some(end)
    }
    .map(|place| text.run_while(place, 8, |byte| byte == b' '))
}

/// Bytes of a type or of a note between a name and its operator: `: Option<String> =`, ` (prod):`.
const NOTE_BYTES_MAX: usize = 40;

/// Returns where the value begins behind a type or a note in brackets.
fn note_end(text: Text<'_>, place: usize) -> Option<usize> {
    const TYPE: Alphabet = ALNUM.and(" &<>[]?:*._'|");
    let operator = match text.at(place) {
        b':' | b'?' => {
            let end = text.run(place, TYPE, NOTE_BYTES_MAX);
            (text.at(end) == b'=' && text.at(end + 1) != b'=').then_some(end)?
        }
        b'(' => {
            let end = text.run_while(place, NOTE_BYTES_MAX, |byte| byte != b')' && byte != b'\n');
            let after = text.run_while(end + 1, 3, |byte| matches!(byte, b' ' | b'*'));
            (text.at(end) == b')' && matches!(text.at(after), b':' | b'=')).then_some(after)?
        }
        _ => return None,
    };
    Some(gap_end(text, operator + 1))
}

/// Returns where the line below a name begins, where the name is all there is on its own line.
fn line_below(text: Text<'_>, start: usize, name_end: usize) -> Option<usize> {
    let name = text.run_back(start, DOTTED, TAIL_BYTES_MAX);
    let stands_alone =
        matches!(text.before(name), 0 | b'\n') && is_identifier(text.slice(name, name_end));
    (stands_alone && text.at(name_end) == b'\n')
        .then(|| text.run_while(name_end + 1, GAP_BYTES_MAX, |byte| byte == b' '))
}

/// Returns where the operator ends that begins at `place` or behind closing quotes and brackets.
fn operator_end(text: Text<'_>, place: usize) -> Option<usize> {
    let closes = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b']' | b')' | b'*' | b' ' | b'\t');
    let mut start = text.run_while(place, 8, closes);
    let was_quoted =
        text.slice(place, start).iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    // <add key="Password" value="…" />
    if was_quoted && text.is_at(start, "value") {
        start += "value".len();
    }
    let is_operator = |byte: u8| {
        matches!(byte, b'=' | b':' | b'>' | b'?' | b'+' | b'|' | b'.' | b'-' | b'~' | b'!')
    };
    let mut end = text.run_while(start, 4, is_operator);
    // `=!` is no operator: the mark begins the value.
    if end > start + 1 && text.before(end) == b'!' {
        end -= 1;
    }
    let operator = text.slice(start, end);
    // Languages without spaces put a particle or a wide colon between the two.
    if let Some(particle) = PARTICLES.iter().find(|word| text.is_at(start, word)) {
        return Some(start + particle.len());
    }
    let assigns = operator.iter().any(|byte| matches!(byte, b'=' | b':' | b'>'));
    // A tag closes with one `>`; `->` and `::` lead to something else.
    let denies = operator.contains(&b'!')
        || (operator.starts_with(b">") && operator != b">")
        || operator.starts_with(b"->")
        || operator == b"::";
    let is_cell = operator == b"|" && text.before(start) == b' ' && text.at(end) == b' ';
    match text.at(start) {
        _ if assigns && !denies => Some(end),
        _ if is_cell || operator == b"||" => Some(end),
        b',' if was_quoted => Some(start + 1),
        b'(' if is_quote(text.at(start + 1)) => Some(start + 1),
        _ => None,
    }
}

/// Returns where the white space after an operator ends, and the mark of a YAML block in it.
fn gap_end(text: Text<'_>, from: usize) -> usize {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'*' | b'(' | b'=');
    let first = text.run_while(from, GAP_BYTES_MAX, blank);
    let mark = text.run_while(first, 2, |byte| matches!(byte, b'|' | b'>' | b'-'));
    if mark > first && text.at(mark) == b'\n' {
        text.run_while(mark, GAP_BYTES_MAX, blank)
    } else {
        first
    }
}

/// Reads the value that begins at `place`, behind its opening quote and the name of its scheme.
pub(super) fn value_at<'a>(
    text: Text<'a>,
    place: usize,
    bond: Bond,
    tail: &'a [u8],
) -> Option<Assigned<'a>> {
    // b"…" and @"…"
    let is_letter = matches!(text.at(place), b'b' | b'r' | b'f' | b'u' | b'@' | b'L');
    let marked = usize::from(is_letter && is_quote(text.at(place + 1)));
    let opening = place + marked + bracket(text, place);
    let from = text.run_while(opening, 3, is_quote);
    let quote = (from > opening).then(|| text.at(opening));
    let mut assigned = run_at(text, from, quote, bond, tail);
    if SCHEMES.iter().any(|scheme| assigned.value.eq_ignore_ascii_case(scheme.as_bytes()))
        && text.at(assigned.to) == b' '
    {
        let next = text.run_while(assigned.to, 4, |byte| byte == b' ');
        assigned = run_at(text, next, quote, bond, tail);
    }
    (!assigned.value.is_empty()).then_some(assigned)
}

/// Returns the length of the bracket that opens a list whose first member stands in quotes.
fn bracket(text: Text<'_>, place: usize) -> usize {
    let is_open = matches!(text.at(place), b'[' | b'{');
    let first = text.run_while(place + 1, 32, |byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
    if is_open && is_quote(text.at(first)) { first - place } else { 0 }
}

fn run_at<'a>(
    text: Text<'a>,
    from: usize,
    quote: Option<u8>,
    bond: Bond,
    tail: &'a [u8],
) -> Assigned<'a> {
    // Behind a backslash a quote is one more character, unless the first was written so as well.
    let is_escaped = text.before(from.saturating_sub(1)) == b'\\';
    let mut last = 0;
    let mut to = text.run_while(from, VALUE_BYTES_MAX, |byte| {
        let is_inner = last == b'\\' && !is_escaped && Some(byte) == quote;
        last = byte;
        is_inner || goes_on(byte, quote)
    });
    if is_escaped && quote.is_some() && text.before(to) == b'\\' && to > from {
        to -= 1;
    }
    // Around a whole argument, as in `"--token=a\"b"`, the quote stands before the name.
    if quote.is_none() && to > from && !follows_inner_quote(text, from) {
        to = inner_quotes_end(text, to, VALUE_BYTES_MAX - (to - from));
    }
    // In a query `&` ends a value; in a password it need not.
    if quote.is_none() && text.at(to) == b'&' && to > from {
        let next = text.run(to + 1, DOTTED, TAIL_BYTES_MAX);
        if next > to + 1 && !matches!(text.at(next), b'=' | b'&') {
            to = next;
        }
    }
    let closing = to + usize::from(is_escaped && text.at(to) == b'\\');
    let is_quoted = quote.is_some_and(|quote| text.at(closing) == quote);
    // What is called or indexed is no value.
    let is_call = quote.is_none() && matches!(text.at(to), b'(' | b'[');
    let value = if is_call { b"" } else { text.slice(from, to) };
    Assigned { bond, tail, is_quoted, quote, from, to, value }
}

/// Returns where a value ends that goes on behind escaped quotes, which another value would not.
fn inner_quotes_end(text: Text<'_>, place: usize, most: usize) -> usize {
    let mut to = place;
    while text.at(to) == b'\\'
        && is_quote(text.at(to + 1))
        && text.at(to + 2).is_ascii_alphanumeric()
        && to - place < most
    {
        to = text.run_while(to + 2, most, |byte| goes_on(byte, None));
    }
    to
}

/// Tells whether an escaped quote stands right before the name of a value: the next one then closes it.
fn follows_inner_quote(text: Text<'_>, from: usize) -> bool {
    let name = text.run_back(from, DOTTED.and("=:"), TAIL_BYTES_MAX);
    is_quote(text.before(name)) && text.before(name - 1) == b'\\'
}

fn goes_on(byte: u8, quote: Option<u8>) -> bool {
    byte > b' ' && quote.map_or_else(|| !ENDS.has(byte), |quote| byte != quote)
}

/// Returns where a run without white space and ends of values ends that goes on at `place`.
pub(super) fn run_end(text: Text<'_>, place: usize) -> usize {
    text.run_while(place, SECRET_BYTES_MAX, |byte| goes_on(byte, None))
}

impl Assigned<'_> {
    /// Returns where a secret ends of which the first `length` bytes of the value are the beginning.
    pub(super) fn end(&self, text: Text<'_>, length: usize) -> usize {
        let to = self.from + length;
        let is_cut = length >= VALUE_BYTES_MAX;
        let rest = if is_cut { SECRET_BYTES_MAX } else { 0 };
        text.run_while(to, rest, |byte| goes_on(byte, self.quote))
    }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
