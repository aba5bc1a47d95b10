//! Keys of repositories with `*` for any text. Not here: the settings that hold them (`table`).

/// Compares a key with a pattern in which `*` stands for any text, also one with slashes.
pub(super) fn is_match(pattern: &str, key: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == key };
    let Some(mut left) = key.strip_prefix(start) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return left.ends_with(piece);
        }
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    true
}

/// Tells whether a text can be the key of a repository, with `*` for any text.
pub(super) fn is_pattern(text: &str) -> bool {
    let is_fine = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' | b'~' | b'+' | b'*');
    !text.is_empty() && text.bytes().all(is_fine)
}
