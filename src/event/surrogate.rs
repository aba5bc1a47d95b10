//! JSON escapes of half a character (`\ud83d` without its second half). Programs that cut a text between two UTF-16
//! units write them, and the parser refuses them. Not here: any other damage.

use serde_json::Value;

/// The replacement for half a character.
const REPLACEMENT: &str = "\\ufffd";

/// Reads a JSON value as [`serde_json::from_str`] does, with half a character read as U+FFFD.
///
/// # Errors
/// The error of the parser.
pub fn from_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| {
        replace_lone_surrogates(text).map_or(Err(error), |text| serde_json::from_str(&text))
    })
}

/// Returns the text with every lone surrogate escape replaced, or `None` when there is none.
#[must_use]
pub fn replace_lone_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        out.push_str(before);
        let pair = unit(escape).zip(escape.get(6..).and_then(unit));
        let (kept, length) = match (unit(escape), pair) {
            (_, Some((0xD800..=0xDBFF, 0xDC00..=0xDFFF))) => (escape.get(..12), 12),
            (Some(0xD800..=0xDFFF), _) => {
                found = true;
                (Some(REPLACEMENT), 6)
            }
            // In any other escape the backslash and the next character belong together.
            _ => {
                let length = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..length), length)
            }
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Reads the UTF-16 unit of an escape at the beginning of `text`.
fn unit(text: &str) -> Option<u16> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        for (given, expected) in [
            (r"a\ud83d b", Some(r"a\ufffd b")),
            (r"\udc00", Some(r"\ufffd")),
            (r"\ud83d\ud83d\ude00", Some(r"\ufffd\ud83d\ude00")),
            (r"\ud83d\ude00", None),
            (r"\\ud83d", None),
            (r"\u00e9 \n \", None),
        ] {
            assert_eq!(replace_lone_surrogates(given).as_deref(), expected, "{given}");
        }
    }
}
