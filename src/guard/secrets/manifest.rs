//! The values of a Kubernetes manifest of kind `Secret`: each is a secret, whatever its name. Not here: other
//! YAML.

use super::hit::{Hit, Rank};
use super::text::Text;

/// Shorter values hold nothing worth hiding.
const VALUE_BYTES_MIN: usize = 6;

/// Tells whether the kind after `kind:` is `Secret`.
pub(super) fn is_secret(text: Text<'_>, place: usize) -> bool {
    let word = text.run_while(place, 8, |byte| matches!(byte, b' ' | b'"' | b'\''));
    let end = word + "secret".len();
    text.is_at(word, "secret") && !text.at(end).is_ascii_alphanumeric()
}

/// Reports the values under `data:` and `stringData:` in the manifest around `place`, and returns
/// where it ends.
pub(super) fn report(text: Text<'_>, place: usize, from: usize, hits: &mut Vec<Hit>) -> usize {
    let (start, end) = manifest(text, place, from);
    let mut data_indent = None;
    let mut line = start;
    while line < end {
        let to = text.run_while(line, end - line, |byte| byte != b'\n');
        let content = text.run_while(line, to - line, |byte| matches!(byte, b' ' | b'\t'));
        let indent = content - line;
        let is_data = data_indent.is_some_and(|data| indent > data);
        match pair(text, content, to) {
            // Our own mark contains a colon.
            Some(_) if text.at(content) == b'[' => {}
            Some((_, value)) if is_data => hits.extend(report_value(text, value, to)),
            // A line of a block.
            None if is_data && text.at(content) != b'#' => {
                hits.extend(report_value(text, content, to));
            }
            None if indent == to - line => {}
            other => {
                let name = other.map(|(name_end, _)| text.slice(content, name_end));
                let names = [b"data".as_slice(), b"stringData", b"\"data\"", b"\"stringData\""];
                data_indent = name.filter(|name| names.contains(name)).map(|_| indent);
            }
        }
        line = to + 1;
    }
    end
}

fn report_value(text: Text<'_>, from: usize, end: usize) -> Option<Hit> {
    let closing = |byte: &&u8| matches!(byte, b'"' | b'\'' | b' ' | b'\r' | b',');
    let to = end - text.slice(from, end).iter().rev().take_while(closing).count();
    let value = text.slice(from, to);
    (value.len() >= VALUE_BYTES_MIN && !refers(value)).then_some(Hit {
        rule: "kubernetes-secret",
        from,
        to,
        rank: Rank::Form,
    })
}

/// Returns the bounds of the document in which `place` stands.
fn manifest(text: Text<'_>, place: usize, from: usize) -> (usize, usize) {
    let mark = b"\n---";
    let start = text.slice(from, place).windows(4).rposition(|window| window == mark);
    let rest = text.slice(place, text.0.len());
    let end = rest.windows(4).position(|window| window == mark).unwrap_or(rest.len());
    (start.map_or(from, |start| from + start + 4), place + end)
}

/// Splits a line at its colon: where the name ends, and where the value begins.
fn pair(text: Text<'_>, content: usize, to: usize) -> Option<(usize, usize)> {
    let colon = text.slice(content, to).iter().position(|byte| *byte == b':')? + content;
    let value = text.run_while(colon + 1, to - colon, |byte| matches!(byte, b' ' | b'"' | b'\''));
    Some((colon, value.min(to)))
}

fn refers(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| b"{$<*&|>[".contains(byte))
}
