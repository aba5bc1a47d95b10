//! Secrets that say by their first characters what they are, and the forms of keys that tables give.
//! Not here: the tables (`tables/prefixes.txt`, `tables/services.txt`, `tables/providers.txt`).

use std::ops::RangeInclusive;

use super::charset::{ALNUM, Charset};
use super::hit::{Hit, Rank};
use super::judge::{Hint, is_random};
use super::placeholder::{is_placeholder, says_placeholder};
use super::text::Text;
use super::value_statistics::ValueStatistics;
use crate::prefilter::TableRow;

/// Characters of a key, and how many it has.
#[derive(Debug, Clone)]
pub(super) struct KeyForm {
    pub(super) charset: Charset,
    pub(super) length: RangeInclusive<usize>,
}

/// The value for "no maximum".
const NO_MAX: usize = usize::MAX;

impl KeyForm {
    /// Reads a form: the name of a charset, and a length as `16`, `20..` or `20..40`.
    pub(super) fn parse(charset: &str, length: &str) -> Self {
        let number = |text: &str| text.parse().unwrap_or(NO_MAX);
        let length = match length.split_once("..") {
            Some((least, most)) => number(least)..=number(most),
            None => number(length)..=number(length),
        };
        Self { charset: Charset::named(charset), length }
    }

    /// Reads the forms of a provider, as in `hex:32 url:20..40`.
    pub(super) fn list(written: &str) -> impl Iterator<Item = Self> {
        written
            .split(' ')
            .filter_map(|form| form.rsplit_once(':'))
            .map(|(set, len)| Self::parse(set, len))
    }

    fn fits(&self, value: &[u8]) -> bool {
        self.length.contains(&value.len()) && value.iter().all(|byte| self.charset.has(*byte))
    }
}

/// Tells whether a value has one of a provider's forms and is neither a word nor a placeholder.
pub(super) fn is_key_of(provider: &TableRow, value: &[u8]) -> bool {
    let [forms, ..] = provider.fields;
    if !KeyForm::list(forms).any(|form| form.fits(value)) {
        return false;
    }
    let make = ValueStatistics::count(value);
    let is_word = make.digits < 3
        && make.pairs >= 8
        && make.hex_letters < make.letters()
        && !make.is_unlike_words(75);
    make.distinct >= 5 && !is_word && !is_placeholder(value)
}

/// Prefixes this long are no accident, so that even a dull body is a secret.
const TELLING_PREFIX_BYTES: usize = 15;

/// Shorter prefixes also occur in base64 and in names.
const SHORT_PREFIX_BYTES: usize = 5;

/// Line breaks inside one secret that are stepped over: a terminal 40 columns wide needs as many for the
/// longest keys of fixed length.
const JOINTS_MAX: usize = 8;

/// Checks a prefix, which stands from `place` to `body`.
pub(super) fn found(
    text: Text<'_>,
    place: usize,
    body: usize,
    prefix: &str,
    row: &TableRow,
) -> Option<Hit> {
    let [charset, length, judge] = row.fields;
    let form = KeyForm::parse(charset, length);
    // A name may end in what a key begins with, and base64 holds anything.
    let before = text.before(place);
    if before.is_ascii_alphanumeric() || before == b'+' && prefix.len() < SHORT_PREFIX_BYTES {
        return None;
    }
    if text.slice(place, body) != prefix.as_bytes() {
        return None;
    }
    let enough = body_end(text, body, &form)?;
    let value =
        text.slice(body, text.run(enough, form.charset, super::value_statistics::JUDGED_BYTES_MAX));
    let make = ValueStatistics::count(value);
    let is_mixed = make.digits > 0 || make.upper > 0 && make.lower > 0;
    let is_dull = make.distinct < 5
        || if judge == "mixed" { !is_mixed } else { make.digits < 2 && !make.is_unlike_words(80) };
    let can_be_word = prefix.len() < SHORT_PREFIX_BYTES && form.charset.has(b'-');
    let is_word = || can_be_word && follows_name(before) && !has_random_part(value);
    let is_telling = prefix.len() >= TELLING_PREFIX_BYTES;
    if (!is_telling && (is_dull || is_placeholder(value) || is_word())) || says_placeholder(value) {
        return None;
    }
    // Only a secret is walked to its end; the pass goes on behind it.
    let end = text.run(enough, form.charset, usize::MAX);
    // A dot or hyphen at the end belongs to the sentence.
    let body = text.slice(body, end);
    let trailing = body.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-' | b',')).count();
    Some(Hit { rule: row.name, from: place, to: end - trailing, rank: Rank::Telling })
}

/// Tells whether a byte parts a key from a name before it. There a short beginning may be that of a word, as in `docs/sk-…`, a
/// translation.
fn follows_name(before: u8) -> bool {
    matches!(before, b'-' | b'_' | b'/' | b'.')
}

fn has_random_part(value: &[u8]) -> bool {
    value.split(|byte| !ALNUM.has(*byte)).any(|part| is_random(part, Hint::Strong))
}

/// Returns where enough of a body ends, across line breaks and string joints. A body of fixed length must
/// end there.
fn body_end(text: Text<'_>, body: usize, form: &KeyForm) -> Option<usize> {
    let (least, most) = (*form.length.start(), *form.length.end());
    let is_exact = most != NO_MAX;
    let read_max = if is_exact { most + 1 } else { least };
    let (mut end, mut length, mut joints) = (body, 0, 0);
    loop {
        let part = text.run(end, form.charset, read_max - length);
        length += part - end;
        end = part;
        if length >= least {
            let goes_on = is_exact && (length > most || text.at(end).is_ascii_alphanumeric());
            return (!goes_on).then_some(end);
        }
        if length == 0 || joints == JOINTS_MAX {
            return None;
        }
        joints += 1;
        end = joint_end(text, end)?;
    }
}

/// Returns the end of a break inside a string: a line break and the indent of the next line, or a
/// closing quote, `+`, and an opening one.
fn joint_end(text: Text<'_>, place: usize) -> Option<usize> {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if matches!(text.at(place), b'"' | b'\'' | b'`') {
        let operator = text.run_while(place + 1, 32, is_blank);
        let next = text.run_while(operator, 2, |byte| matches!(byte, b'+' | b'.' | b'&' | b'\\'));
        let opening = text.run_while(next, 32, is_blank);
        let joined = opening > place + 1 && matches!(text.at(opening), b'"' | b'\'' | b'`');
        return joined.then_some(opening + 1);
    }
    let line = text.run_while(place, 2, |byte| matches!(byte, b'\\' | b'\r'));
    (text.at(line) == b'\n').then(|| text.run_while(line, 32, is_blank))
}
