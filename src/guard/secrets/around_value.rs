//! What the text around a value tells of it: that it is the type of a pointer, has a name of its own, or is a digest. Not
//! here: values themselves (`nearby_value`, `judge`).

use super::charset::WORD;
use super::context::{OF_DIGESTS, mentions};
use super::text::Text;

/// Bytes of a name after a value, of the spaces around one, and of a line on each side.
const NAME_BYTES_MAX: usize = 128;
const GAP_BYTES_MAX: usize = 4;
const LINE_BYTES_MAX: usize = 160;

/// Tells whether what stands before a place is the type of a pointer, as in `Key *key,` and `Key* key)`.
pub(super) fn is_pointer(text: Text<'_>, place: usize) -> bool {
    let is_gap = |byte: u8| byte == b' ';
    let star = text.run_while(place, 1, is_gap);
    let name = text.run_while(star + 1, 1, is_gap);
    let end = text.run(name, WORD, NAME_BYTES_MAX);
    let closing = text.run_while(end, GAP_BYTES_MAX, is_gap);
    text.at(star) == b'*'
        && (star > place || name > star + 1)
        && end > name
        && matches!(text.at(closing), b',' | b';' | b')' | b'=')
}

/// Tells whether a quoted value has a name of its own, as in `label: "value"`, or stands between others in a list.
pub(super) fn has_other_name(text: Text<'_>, from: usize, end: usize) -> bool {
    let is_gap = |byte: u8| byte == b' ';
    let quote = text.run_back_while(from - 1, GAP_BYTES_MAX, is_gap);
    let before = text.before(quote);
    let name = text.before(text.run_back_while(quote - 1, 1, is_gap));
    let next = text.run_while(end + 2, GAP_BYTES_MAX, is_gap);
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'');
    let is_named = matches!(before, b':' | b'=')
        && (name.is_ascii_alphanumeric() || is_quote(name) || name == b'_');
    // ['a', 'value', 'b']
    let (is_after, is_before) =
        (before == b',' && is_quote(name), text.at(end + 1) == b',' && is_quote(text.at(next)));
    let is_member = is_before && (is_after || before == b'[');
    is_named || is_member
}

/// Tells whether the line says that hexadecimal digits are a digest or a commit.
pub(super) fn is_digest(text: Text<'_>, place: usize) -> bool {
    let line = text.run_back_while(place, LINE_BYTES_MAX, |byte| byte != b'\n');
    let end = text.run_while(place, LINE_BYTES_MAX, |byte| byte != b'\n');
    mentions(text.slice(line, end), &OF_DIGESTS)
}
