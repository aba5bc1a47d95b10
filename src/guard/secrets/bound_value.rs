//! The value behind a name: where it ends, and what stands around it. Not here: where it begins (`binding`).

use super::charset::{Charset, DOTTED};
use super::context::NAME_BYTES_MAX;
use super::text::Text;

/// Bytes of a value that are read before it is known to be a secret: the longest form of a key.
const VALUE_BYTES_MAX: usize = 640;

/// Bytes of a secret: the longest tokens (with claims) stay under it.
const SECRET_BYTES_MAX: usize = 8_192;

/// Bytes of a list of secrets.
const LIST_BYTES_MAX: usize = 4_096;

/// The end of a value without quotes.
const ENDS: Charset = Charset::new("\"'`,;<>(){}[]&\\");

/// Names of quotes and brackets in markup, which end a value.
const MARKUP: [&str; 5] = ["quot;", "#39;", "apos;", "lt;", "gt;"];

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
    /// Whether the word before it is in another script than the Latin one.
    pub(super) is_foreign: bool,
    /// Whether the words around its name say that it is what the secret was changed to, or was tried.
    pub(super) is_told: bool,
    /// Whether its sentence ends behind it.
    pub(super) is_last: bool,
    /// Whether another word of a sentence follows it.
    pub(super) goes_on: bool,
    quote: Option<u8>,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) value: &'a [u8],
}

/// Cuts the value that begins at `from`.
pub(super) fn cut<'a>(
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
        if text.slice(to, next + 1) == b"&amp;" {
            to = text.run_while(next + 1, VALUE_BYTES_MAX, |byte| goes_on(byte, None));
            continue;
        }
        let is_query = next > to + 1 && text.at(next) == b'=';
        let is_markup = MARKUP.iter().any(|name| text.is_at(to + 1, name));
        if is_query || is_markup || !goes_on(text.at(to + 1), None) {
            break;
        }
        to = text.run_while(to + 1, VALUE_BYTES_MAX, |byte| goes_on(byte, None));
    }
    let closing = to + usize::from(is_escaped && text.at(to) == b'\\');
    let is_quoted = quote.is_some_and(|quote| text.at(closing) == quote);
    // A call, an index or a type is no value.
    let is_call = quote.is_none()
        && (matches!(text.at(to), b'(' | b'[') || text.at(to) == b'<' && text.at(to + 1) != b'/');
    // let password = form.shown ? …
    let is_term = quote.is_none()
        && matches!(text.slice(to, to + 3), b" ? " | b" + " | b" ==" | b" !=" | b" ??");
    let value = if is_call || is_term { b"" } else { text.slice(from, to) };
    let is_foreign = follows_script(text, from);
    let is_end = |byte: u8| matches!(byte, 0 | b'\n' | b'\r' | b',' | b';' | b'!' | b')');
    // A quote that opened before the sentence did closes it too, and so does an escaped one.
    let behind = to + usize::from(text.at(to) == b'\\');
    let closes_all = quote.is_none()
        && is_quote(text.at(behind))
        && matches!(text.at(behind + 1), 0 | b'\n' | b'}' | b',' | b']' | b')');
    let is_last = is_end(text.at(closing))
        || matches!(text.slice(closing, closing + 2), b" }" | b" )" | b" #")
        || text.before(from) == b'>' && text.slice(closing, closing + 2) == b"</"
        || closes_all
        || text.before(to) == b'.' && text.at(closing) == b' ';
    BoundValue {
        bond,
        tail,
        is_quoted,
        is_variable_set: false,
        is_foreign,
        is_told: false,
        is_last,
        goes_on: match quote {
            None => is_in_sentence(text, from, to),
            Some(_) => !is_quoted && text.at(to) == b' ',
        },
        quote,
        from,
        to,
        value,
    }
}

/// Tells whether a space stands before a value, and a word behind it that is no name of another value.
fn is_in_sentence(text: Text<'_>, from: usize, to: usize) -> bool {
    if text.before(from) != b' ' || text.at(to) != b' ' || !text.at(to + 1).is_ascii_alphabetic() {
        return false;
    }
    let end = text.run_while(to + 1, NAME_BYTES_MAX, |byte| byte.is_ascii_alphabetic());
    !matches!(text.at(end), b'=' | b':' | b'_' | b'@')
}

/// Tells whether the character before a place, not counting spaces, belongs to a script of words that is not Latin.
fn follows_script(text: Text<'_>, place: usize) -> bool {
    let end = text.run_back_while(place, 4, |byte| byte == b' ');
    let start = text.run_back_while(end, 4, |byte| (0x80..0xC0).contains(&byte));
    // Greek begins there; quotation marks and dashes stand from 0xE2 on.
    matches!(text.before(start), 0xCE..=0xE1 | 0xE3..=0xED) && start < end
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

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns where the second password ends in `password from OLD to NEW`.
pub(super) fn replaced_end(text: Text<'_>, bound: &BoundValue<'_>, to: usize) -> usize {
    let next = to + usize::from(bound.is_quoted) + " to ".len();
    if !bound.tail.ends_with(b"from ") || !text.is_at(next - " to ".len(), " to ") {
        return to;
    }
    text.run_while(next, NAME_BYTES_MAX, |byte| {
        goes_on(byte, None) || byte == b'"' || byte == b'\''
    })
}

/// Returns where a list of quoted values ends whose first, a secret, ends at `to`.
pub(super) fn list_end(text: Text<'_>, bound: &BoundValue<'_>, to: usize) -> usize {
    let quote = text.at(to);
    let opening = text.run_back(bound.from, Charset::new("\"' \n\t"), 32);
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
