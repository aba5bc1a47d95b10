//! The values of a Kubernetes manifest of kind `Secret`: every one is a secret, whatever its name.
//! Not here: other YAML.

use super::hit::{Hit, Rank};
use super::text::Text;

/// Values shorter than this hold nothing worth hiding, and would blank out `data: {}`.
const VALUE_BYTES_MIN: usize = 6;

/// Reports the values under `data:` and `stringData:` in the manifest around `place`, and returns
/// where it ends.
pub(super) fn report(text: Text<'_>, place: usize, from: usize, hits: &mut Vec<Hit>) -> usize {
    let (start, end) = manifest(text, place, from);
    let mut data_indent = None;
    let mut line = start;
    while line < end {
        let to = text.run_while(line, end - line, |byte| byte != b'\n');
        let content = text.run_while(line, to - line, |byte| byte == b' ');
        let indent = content - line;
        if let Some((name_end, value)) = pair(text, content, to) {
            let name = text.slice(content, name_end);
            if data_indent.is_some_and(|data| indent > data) {
                if to - value >= VALUE_BYTES_MIN && !refers(text.slice(value, to)) {
                    hits.push(Hit { rule: "kubernetes-secret", from: value, to, rank: Rank::Form });
                }
            } else {
                data_indent =
                    matches!(name, b"data" | b"stringData" | b"\"data\"" | b"\"stringData\"")
                        .then_some(indent);
            }
        }
        line = to + 1;
    }
    end
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
