//! From a name to its value: every form in which text, code and configuration bind the two. Each form says
//! where the value begins; how a value is cut is the same for all. Not here: which names there are
//! (`tables/names.txt`), and which values are secrets (`named`).

use std::ops::Range;

use super::around::{before_name, in_brackets};
use super::binding_form::{AFTER_OPERATOR, FORMS};
use super::charset::{Charset, DOTTED, URL};
use super::context::{NAME_BYTES_MAX, is_directive, is_flag, is_identifier, name_start};
use super::text::{Text, words};

/// Bytes of a value that are read before it is known to be a secret: the longest form of a key.
const VALUE_BYTES_MAX: usize = 640;

/// Bytes of a secret: the longest tokens (with claims) stay under it.
const SECRET_BYTES_MAX: usize = 8_192;

/// Bytes of a list of secrets.
const LIST_BYTES_MAX: usize = 4_096;

/// The end of a value without quotes.
const ENDS: Charset = Charset::of("\"'`,;<>(){}[]&\\");

const TAIL: Charset = DOTTED.and(" \t");

/// What stands before a name at the beginning of a line of YAML.
const INDENT: Charset = Charset::of(" -");

/// Words before a credential that name its scheme.
const SCHEMES: &str =
    "bearer basic token apikey api-key api-token digest key bot negotiate genie sso-key";

/// Words that bind a value to its name in a sentence, and adverbs that may follow them.
const VERBS: &str = "is was to are ist war lautet est es era jest je contains este är er é è là है هي هو היא הוא adalah yra ir είναι - – —";
/// Bytes of words between a name and its verb or colon.
const WORDS_BYTES_MAX: usize = 48;
/// Bytes of spaces between two columns.
const COLUMN_BYTES_MAX: usize = 40;
const ADVERBS: [&str; 9] = [
    "now ",
    "still ",
    "set to ",
    "simply ",
    "just ",
    "changed to ",
    "reset to ",
    "rotated to ",
    "again ",
];

/// How a value is bound to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// By an operator such as `=` or `:`.
    Operator,
    /// By a space after a flag.
    Flag,
    /// By a word such as `is`.
    Sentence,
    /// By a space.
    Neighbour,
    /// By a space or a line break after an identifier, such as `ACME_TOKEN`.
    Identifier,
}

/// A value bound to a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundValue<'a> {
    pub(super) bond: Bond,
    /// The words between the name and the operator.
    pub(super) tail: &'a [u8],
    pub(super) is_quoted: bool,
    /// Whether a variable in capitals is set to it, as in `DB_PASSWORD=value`.
    pub(super) is_variable_set: bool,
    quote: Option<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) value: &'a [u8],
}

/// The finding after a name, and the values that were read.
pub(super) struct Look<T> {
    pub(super) found: Option<T>,
    pub(super) values: Range<usize>,
}

/// Calls `accept` on every value that may be bound to a name, which stands from `start` to `end`, until one is
/// accepted.
pub(super) fn look<'a, T>(
    text: Text<'a>,
    start: usize,
    end: usize,
    mut accept: impl FnMut(BoundValue<'a>) -> Option<T>,
) -> Look<T> {
    let tail_end = text.run(end, TAIL, NAME_BYTES_MAX);
    let name_end = text.run(end, URL, NAME_BYTES_MAX);
    let tail = text.slice(end, tail_end);
    let name_tail = text.slice(end, name_end);
    let mut values = tail_end..end;
    let mut offer = |bound: Option<BoundValue<'a>>| {
        let bound = bound?;
        values = values.start.min(bound.from)..values.end.max(bound.to);
        accept(bound)
    };
    let in_form = |number: usize| {
        let form = FORMS.get(number)?;
        let (at, tail) = if form.follows_words { (tail_end, tail) } else { (name_end, name_tail) };
        let place = form.value(text, at)?;
        let mut bound = value_at(text, place, Bond::Operator, tail)?;
        let last = text.before(at);
        let is_set = place == at + 1 && text.at(at) == b'=';
        let is_line = place == at + 2
            && text.at(at) == b':'
            && matches!(text.before(text.run_back(name_start(text, start), INDENT, 64)), b'\n' | 0)
            && matches!(text.at(bound.to), b'\n' | 0);
        bound.is_variable_set = (is_set || is_line)
            && (last.is_ascii_uppercase() || last.is_ascii_digit() || last == b'_')
            && text.slice(start, end).iter().any(u8::is_ascii_uppercase);
        (bound.is_quoted || !form.is_quoted).then_some(bound)
    };
    // Words of other languages are no part of a name, but may stand between it and its value.
    let words_end = text.run_while(end, WORDS_BYTES_MAX, |byte| TAIL.has(byte) || byte >= 0x80);
    let words = text.slice(end, words_end);
    let placed = |(place, is_quoted)| BoundValue::of(text, place, is_quoted);
    let found = offer(in_form(AFTER_OPERATOR))
        .or_else(|| offer(beside(text, start, name_end, name_tail)))
        .or_else(|| offer(said(text, end, tail)))
        .or_else(|| (1..FORMS.len()).find_map(|number| offer(in_form(number))))
        .or_else(|| offer(below(text, start, name_end, name_tail)))
        .or_else(|| offer(said(text, end, words).filter(|_| words_end > tail_end)))
        .or_else(|| offer(after_colon(text, words_end).filter(|_| words_end > tail_end)))
        .or_else(|| offer(last_word(text, end, words).filter(|_| words_end > tail_end)))
        .or_else(|| offer(in_brackets(text, name_end).map(placed)))
        .or_else(|| offer(before_name(text, start).map(placed)));
    Look { found, values }
}

/// A value that only a space parts from its name.
fn beside<'a>(
    text: Text<'a>,
    start: usize,
    name_end: usize,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    if text.at(name_end) != b' ' {
        return None;
    }
    let is_name = is_identifier(text.slice(name_start(text, start), name_end));
    let bond = match () {
        () if is_flag(text, start) => Bond::Flag,
        () if is_name || is_directive(text, start, name_end) => Bond::Identifier,
        () => Bond::Neighbour,
    };
    let is_flagged = bond == Bond::Flag;
    let from = text.run_while(name_end, COLUMN_BYTES_MAX, |byte| byte == b' ');
    // In a table of two columns many spaces bind.
    let is_column = !is_flagged && from > name_end + 1 && is_directive(text, start, from - 1);
    let bond = if is_column { Bond::Operator } else { bond };
    value_at(text, if is_column { from } else { name_end + 1 }, bond, tail)
}

/// A value that ends a sentence in another language without a verb.
fn last_word<'a>(text: Text<'a>, end: usize, words: &[u8]) -> Option<BoundValue<'a>> {
    let place = words.iter().rposition(|byte| *byte == b' ')?;
    value_at(text, end + place + 1, Bond::Neighbour, b"")
}

/// A value that a colon binds to its name and the words after it, which are not part of the name.
fn after_colon(text: Text<'_>, place: usize) -> Option<BoundValue<'_>> {
    let is_colon = text.at(place) == b':';
    let from = text.run_while(place + 1, 4, |byte| byte == b' ');
    is_colon.then(|| value_at(text, from, Bond::Operator, b""))?
}

/// A value that a verb binds to its name.
fn said<'a>(text: Text<'a>, end: usize, tail: &'a [u8]) -> Option<BoundValue<'a>> {
    let (_, mut after) = verb(tail).map(|verb| (verb.start, verb.end))?;
    let rest = tail.get(after..)?;
    after +=
        ADVERBS.iter().find(|word| rest.starts_with(word.as_bytes())).map_or(0, |word| word.len());
    value_at(text, end + after, Bond::Sentence, tail.get(..after)?)
}

/// Returns where the first verb stands, with the spaces around it.
pub(super) fn verb(tail: &[u8]) -> Option<Range<usize>> {
    let mut start = 0;
    for word in tail.split(|byte| *byte == b' ') {
        let end = start + word.len();
        let is_verb = || words(VERBS).any(|verb| verb == word);
        if start > 0 && end < tail.len() && is_verb() {
            return Some(start - 1..end + 1);
        }
        start = end + 1;
    }
    None
}

/// A value on the line after a name that fills its own line.
fn below<'a>(
    text: Text<'a>,
    start: usize,
    name_end: usize,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    let name = name_start(text, start);
    let is_alone = text.at(name_end) == b'\n'
        && matches!(text.before(name), 0 | b'\n')
        && is_identifier(text.slice(name, name_end));
    let line = is_alone.then(|| text.run_while(name_end + 1, 64, |byte| byte == b' '))?;
    let bound = value_at(text, line, Bond::Identifier, tail)?;
    matches!(text.at(bound.to), 0 | b'\n' | b'\r').then_some(bound)
}

/// Reads the value that begins at `place`, after its opening quote and the name of its scheme.
pub(super) fn value_at<'a>(
    text: Text<'a>,
    place: usize,
    bond: Bond,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    // b"…" and @"…"
    let is_letter = matches!(text.at(place), b'b' | b'r' | b'f' | b'u' | b'@' | b'L');
    let marked = usize::from(is_letter && is_quote(text.at(place + 1)));
    let opening = place + marked + bracket(text, place);
    let from = text.run_while(opening, 3, is_quote);
    let quote = (from > opening).then(|| text.at(opening));
    let mut bound = cut(text, from, quote, bond, tail);
    let is_scheme = words(SCHEMES).any(|scheme| bound.value.eq_ignore_ascii_case(scheme));
    if is_scheme && text.at(bound.to) == b' ' {
        let next = text.run_while(bound.to, 4, |byte| byte == b' ');
        bound = cut(text, next, quote, bond, tail);
    }
    (!bound.value.is_empty()).then_some(bound)
}

/// Returns the length of the bracket that opens a list whose first member is quoted.
fn bracket(text: Text<'_>, place: usize) -> usize {
    let is_open = matches!(text.at(place), b'[' | b'{');
    let first = text.run_while(place + 1, 32, |byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
    // The first member of an object is a name.
    let close = text.run_while(first + 1, NAME_BYTES_MAX, |byte| !is_quote(byte) && byte > b' ');
    let colon = text.run_while(close + 1, 2, |byte| byte == b' ');
    let is_object = text.at(place) == b'{' && text.at(colon) == b':';
    if is_open && is_quote(text.at(first)) && !is_object { first - place } else { 0 }
}

/// Cuts the value that begins at `from`.
fn cut<'a>(
    text: Text<'a>,
    from: usize,
    quote: Option<u8>,
    bond: Bond,
    tail: &'a [u8],
) -> BoundValue<'a> {
    // A quote after a backslash belongs to the value, unless the opening quote was escaped as well.
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
    // In `"--token=a\"b"` the quote of the whole argument stands before the name.
    if quote.is_none() && to > from && !follows_escaped_quote(text, from) {
        to = inner_quotes_end(text, to, VALUE_BYTES_MAX - (to - from));
    }
    // In a query `&` ends a value, and in a shell `&&` does; in a password it need not.
    while quote.is_none() && text.at(to) == b'&' && to > from && to - from < VALUE_BYTES_MAX {
        let next = text.run(to + 1, DOTTED, NAME_BYTES_MAX);
        let is_query = next > to + 1 && text.at(next) == b'=';
        if is_query || !goes_on(text.at(to + 1), None) {
            break;
        }
        to = text.run_while(to + 1, VALUE_BYTES_MAX, |byte| goes_on(byte, None));
    }
    let closing = to + usize::from(is_escaped && text.at(to) == b'\\');
    let is_quoted = quote.is_some_and(|quote| text.at(closing) == quote);
    // A call or an index is no value.
    let is_call = quote.is_none() && matches!(text.at(to), b'(' | b'[');
    let value = if is_call { b"" } else { text.slice(from, to) };
    BoundValue { bond, tail, is_quoted, is_variable_set: false, quote, from, to, value }
}

/// Returns where a value ends that goes on after an escaped quote.
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
fn follows_escaped_quote(text: Text<'_>, from: usize) -> bool {
    let name = text.run_back(from, DOTTED.and("=:"), NAME_BYTES_MAX);
    is_quote(text.before(name)) && text.before(name - 1) == b'\\'
}

fn goes_on(byte: u8, quote: Option<u8>) -> bool {
    byte > b' ' && quote.map_or_else(|| !ENDS.has(byte), |quote| byte != quote)
}

/// Returns where a run that could go on a value ends.
pub(super) fn run_end(text: Text<'_>, place: usize) -> usize {
    text.run_while(place, SECRET_BYTES_MAX, |byte| goes_on(byte, None))
}

impl<'a> BoundValue<'a> {
    /// A value that only its place binds to a name.
    pub(super) fn of(text: Text<'a>, place: Range<usize>, is_quoted: bool) -> Self {
        let Range { start: from, end: to } = place;
        let (bond, quote) = (Bond::Neighbour, is_quoted.then(|| text.at(to)));
        let value = text.slice(from, to);
        Self { bond, tail: b"", is_quoted, is_variable_set: false, quote, from, to, value }
    }

    /// Returns the value; without quotes, the punctuation of the sentence at its end is not part of it.
    pub(super) fn trimmed(&self) -> &'a [u8] {
        let is_text = |byte: &u8| !matches!(byte, b'.' | b':' | b'?' | b'!' | b'*' | b'|');
        let length = match self.value.iter().rposition(is_text) {
            _ if self.is_quoted => self.value.len(),
            last => last.map_or(0, |last| last + 1),
        };
        self.value.get(..length).unwrap_or_default()
    }

    /// Returns where a secret ends whose first `length` bytes are known.
    pub(super) fn end(&self, text: Text<'_>, length: usize) -> usize {
        let rest = if length >= VALUE_BYTES_MAX { SECRET_BYTES_MAX } else { 0 };
        text.run_while(self.from + length, rest, |byte| goes_on(byte, self.quote))
    }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns where a list of quoted values ends whose first, a secret, ends at `to`.
pub(super) fn list_end(text: Text<'_>, bound: &BoundValue<'_>, to: usize) -> usize {
    let quote = text.at(to);
    let opening = text.run_back(bound.from, Charset::of("\"' \n\t"), 32);
    if !bound.is_quoted || !matches!(text.before(opening), b'[' | b'{' | b'(') {
        return to;
    }
    let (mut end, last) = (to, to + LIST_BYTES_MAX);
    while end < last {
        let next =
            text.run_while(end + 1, 64, |byte| matches!(byte, b',' | b' ' | b'\n' | b'\t' | b'\r'));
        if next == end + 1 || text.at(next) != quote {
            break;
        }
        let close = text.run_while(next + 1, 512, |byte| byte != quote && byte != b'\n');
        if text.at(close) != quote {
            break;
        }
        end = close;
    }
    end
}
