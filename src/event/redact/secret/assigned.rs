//! From a name to the value assigned to it: `name = "value"` in the ways of many languages, formats
//! and sentences. Not here: which values are secrets (`named`).

use std::ops::Range;

use super::alphabet::{Alphabet, DOTTED};
use super::text::Text;

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
    let readings: [&dyn Fn() -> Option<Assigned<'a>>; 3] = [
        &|| {
            let from = operator_end(text, tail_end)?;
            let value = value_at(text, gap_end(text, from), Bond::Operator, tail)?;
            // Between arguments of a call both are quoted; elsewhere a comma only ends a clause.
            let is_clause = text.before(from) == b',' && !value.is_quoted;
            (!is_clause).then_some(value)
        },
        &|| {
            let bond = if starts_flag(text, start) { Bond::Flag } else { Bond::Neighbour };
            (text.at(end) == b' ').then(|| value_at(text, end + 1, bond, b""))?
        },
        &|| {
            let length = sentence_end(tail)?;
            value_at(text, end + length, Bond::Sentence, tail.get(..length)?)
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
    let end = text.run_while(start, 4, is_operator);
    let operator = text.slice(start, end);
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
fn value_at<'a>(text: Text<'a>, place: usize, bond: Bond, tail: &'a [u8]) -> Option<Assigned<'a>> {
    // b"…" and @"…"
    let is_letter = matches!(text.at(place), b'b' | b'r' | b'f' | b'u' | b'@' | b'L');
    let marked = usize::from(is_letter && is_quote(text.at(place + 1)));
    let opening = place + marked;
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

fn run_at<'a>(
    text: Text<'a>,
    from: usize,
    quote: Option<u8>,
    bond: Bond,
    tail: &'a [u8],
) -> Assigned<'a> {
    let mut to = text.run_while(from, VALUE_BYTES_MAX, |byte| goes_on(byte, quote));
    // In a query `&` ends a value; in a password it need not.
    if quote.is_none() && text.at(to) == b'&' && to > from {
        let next = text.run(to + 1, DOTTED, TAIL_BYTES_MAX);
        if next > to + 1 && !matches!(text.at(next), b'=' | b'&') {
            to = next;
        }
    }
    let is_quoted = quote.is_some_and(|quote| text.at(to) == quote);
    // What is called or indexed is no value.
    let is_call = quote.is_none() && matches!(text.at(to), b'(' | b'[');
    let value = if is_call { b"" } else { text.slice(from, to) };
    Assigned { bond, tail, is_quoted, quote, from, to, value }
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

/// Returns where the value begins in a sentence such as ` for the database is now hunter2`.
fn sentence_end(tail: &[u8]) -> Option<usize> {
    if !tail.contains(&b' ') {
        return None;
    }
    let verbs = [" is ", " was ", " to ", " are "];
    let verb = |verb: &&str| {
        let place = tail.windows(verb.len()).position(|window| window == verb.as_bytes())?;
        Some(place + verb.len())
    };
    let after = verbs.iter().filter_map(verb).min()?;
    let rest = tail.get(after..)?;
    let adverbs = ["now ", "still ", "set to ", "simply ", "just "];
    let adverb = adverbs.iter().find(|word| rest.starts_with(word.as_bytes()));
    Some(after + adverb.map_or(0, |word| word.len()))
}
