//! Splits one identifier at snake_case, camelCase, acronym and name-number boundaries.
//! Not here: compounds of identifiers such as paths and flags (`tokenize`).

/// `getUserById` -> get, User, By, Id; `MAX_OLD_SPACE` -> MAX, OLD, SPACE; `HTTPServer` -> HTTP, Server; `TS2345` ->
/// TS, 2345. Case stays as it was; a plain word is its own only part.
pub(super) fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    identifier.split('_').flat_map(humps).flat_map(name_and_number)
}

/// Fewest digits of a code in hexadecimal: shorter numbers match too much.
const HEX_DIGITS_MIN: usize = 4;

/// Returns the digits of a code such as `0x80070005`, which some programs print without `0x`.
pub(super) fn hex_digits(word: &str) -> Option<&str> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?;
    let is_code = digits.len() >= HEX_DIGITS_MIN && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_code.then_some(digits)
}

/// Splits `word` at its case boundaries; empty for an empty word.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (hump, tail) = rest.split_at_checked(hump_bytes(rest))?;
        rest = tail;
        (!hump.is_empty()).then_some(hump)
    })
}

/// Returns the length of the first hump of `word`, in bytes.
fn hump_bytes(word: &str) -> usize {
    let mut previous: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, current)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        if previous.is_some_and(|previous| is_boundary(previous, current, next)) {
            return at;
        }
        previous = Some(current);
    }
    word.len()
}

/// Splits between `a` and `B`, and before the last capital of an acronym if a word follows.
fn is_boundary(previous: char, current: char, next: Option<char>) -> bool {
    current.is_uppercase()
        && (previous.is_lowercase()
            || (previous.is_uppercase() && next.is_some_and(char::is_lowercase)))
}

/// `utf8` -> utf, 8. A single letter is no name: `E0277` and `v8` say nothing once they are cut. A number with
/// letters behind it (`0x80070005`, a hash) is not cut either.
fn name_and_number(hump: &str) -> impl Iterator<Item = &str> {
    let digits_at = hump.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let (name, number) = hump.split_at_checked(digits_at).unwrap_or((hump, ""));
    let splits = name.chars().nth(1).is_some()
        && name.chars().all(char::is_alphabetic)
        && number.bytes().all(|byte| byte.is_ascii_digit());
    let (first, second) = if splits { (name, Some(number)) } else { (hump, None) };
    std::iter::once(first).chain(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(identifier: &str) -> Vec<&str> {
        parts(identifier).collect()
    }

    #[test]
    fn identifiers_split_where_their_writer_joined_them() {
        assert_eq!(split("getUserById"), ["get", "User", "By", "Id"]);
        assert_eq!(split("MAX_OLD_SPACE"), ["MAX", "OLD", "SPACE"]);
        assert_eq!(split("__init__"), ["init"]);
        assert_eq!(split("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(split("parseXMLDocs2"), ["parse", "XML", "Docs", "2"]);
        assert_eq!(split("TS2345"), ["TS", "2345"]);
        assert_eq!(split("größeÄndern"), ["größe", "Ändern"]);
    }

    #[test]
    fn a_code_has_digits_of_its_own() {
        assert_eq!(hex_digits("0x80070005"), Some("80070005"));
        for other in ["0x1f", "80070005", "0xzzzz", "x"] {
            assert_eq!(hex_digits(other), None, "{other}");
        }
    }

    #[test]
    fn codes_hashes_and_plain_words_stay_whole() {
        for whole in ["ECONNREFUSED", "E0277", "0x80070005", "a1b2c3", "Word", "404", "don't"] {
            assert_eq!(split(whole), [whole]);
        }
        assert!(split("").is_empty() && split("___").is_empty());
    }
}
