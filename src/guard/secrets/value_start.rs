//! Marks before a value that are no part of it: a tag of HTML, a bracket. Not here: where its name binds it
//! (`binding`).

use super::bound_value::is_quote;
use super::charset::URL;
use super::context::NAME_BYTES_MAX;
use super::text::Text;

/// Bytes of the name of a tag of HTML that stresses a value.
const TAG_BYTES_MAX: usize = 6;

/// Bytes of the text between two tags.
const WORDS_BYTES_MAX: usize = 64;

/// Returns where a value begins that a tag stresses, as in `<b>value</b>`.
pub(super) fn after_tag(text: Text<'_>, place: usize) -> usize {
    if text.at(place) != b'<' {
        return place;
    }
    let tag = text.run_while(place + 1, TAG_BYTES_MAX, |byte| byte.is_ascii_alphabetic());
    let end = text.run_while(tag + 1, WORDS_BYTES_MAX, |byte| byte > b' ' && byte != b'<');
    let is_tag = tag > place + 1 && text.at(tag) == b'>' && text.slice(end, end + 2) == b"</";
    if is_tag { tag + 1 } else { place }
}

/// Returns the length of the bracket that opens a list whose first member is quoted.
pub(super) fn bracket(text: Text<'_>, place: usize) -> usize {
    if !matches!(text.at(place), b'[' | b'{') {
        return 0;
    }
    let first = text.run_while(place + 1, 32, |byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
    // The first member of an object is a name.
    let close = text.run_while(first + 1, NAME_BYTES_MAX, |byte| !is_quote(byte) && byte > b' ');
    let colon = text.run_while(close + 1, 2, |byte| byte == b' ');
    let is_object = text.at(place) == b'{' && text.at(colon) == b':';
    // [value]
    let end = text.run(place + 1, URL, NAME_BYTES_MAX);
    let is_sole = text.at(place) == b'[' && text.at(end) == b']' && text.before(place) == b' ';
    match () {
        () if is_sole => 1,
        () if is_quote(text.at(first)) && !is_object => first - place,
        () => 0,
    }
}
