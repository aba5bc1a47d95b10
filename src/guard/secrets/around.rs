//! Values that stand before their name or in brackets behind it, as people put them in sentences: "use `X` as the
//! password", "X is the password", "password (X)". Not here: values that an operator or a verb binds (`binding`).

use std::ops::Range;

use super::text::Text;

/// What stands between a value and the name after it. A word may stand before the name, as in `the root password`.
const LEADS: [&str; 6] = [" as the ", " as ", " is the ", " is my ", " as my ", " is our "];

/// Bytes of a value, and of the word before a name.
const VALUE_BYTES_MAX: usize = 64;
const WORD_BYTES_MAX: usize = 16;

/// Where a value stands, and whether it is in quotes.
pub(super) type Place = (Range<usize>, bool);

/// Returns the value before a name that begins at `start`.
pub(super) fn before_name(text: Text<'_>, start: usize) -> Option<Place> {
    if text.before(start) != b' ' {
        return None;
    }
    let word = text.run_back_while(start - 1, WORD_BYTES_MAX, |byte| byte.is_ascii_alphabetic());
    let leads = |at: usize| {
        LEADS
            .iter()
            .find(|lead| at >= lead.len() && text.slice(at - lead.len(), at) == lead.as_bytes())
    };
    let (end, lead) = [start, word].into_iter().find_map(|at| Some((at, leads(at)?)))?;
    let to = end - lead.len();
    let quote = Some(text.before(to)).filter(|byte| matches!(byte, b'`' | b'"' | b'\''));
    let to = to - usize::from(quote.is_some());
    let from = text.run_back_while(to, VALUE_BYTES_MAX, |byte| byte > b' ' && Some(byte) != quote);
    let is_quoted = quote.is_some_and(|quote| text.before(from) == quote);
    (is_quoted || quote.is_none()).then_some((from..to, is_quoted))
}

/// Returns the value in brackets right behind a name.
pub(super) fn in_brackets(text: Text<'_>, end: usize) -> Option<Place> {
    let from = end + 2;
    let to = text.run_while(from, VALUE_BYTES_MAX, |byte| byte > b' ' && byte != b')');
    let is_it = text.slice(end, from) == b" (" && text.at(to) == b')';
    is_it.then_some((from..to, false))
}
