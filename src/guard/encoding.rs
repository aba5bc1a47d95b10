//! The text of a file whose first bytes may name its encoding: UTF-8, or UTF-16 as PowerShell and old editors of Windows write it.
//! Not here: which characters a text may have (`text`).

/// Reads bytes as text; `None` where they are none. A mark of UTF-8 at the beginning stays.
#[must_use]
pub fn decoded_text(bytes: Vec<u8>) -> Option<String> {
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => from_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => from_utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    }
}

/// Tells whether the first bytes of a file name UTF-16.
#[must_use]
pub fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF])
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.filter_map(|pair| Some(unit(pair.try_into().ok()?)));
    let text = char::decode_utf16(units).collect::<Result<String, _>>().ok()?;
    // UTF-32 begins alike; as UTF-16 every second character of it is a null.
    (!text.contains('\0')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-1, S-IMPORT-1
    #[test]
    fn the_first_bytes_name_the_encoding() {
        let utf16 = |text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            let units = text.encode_utf16().flat_map(bytes);
            mark.into_iter().chain(units).collect::<Vec<u8>>()
        };
        let text = "- use pnpm, für 🦀\r\n";
        for bytes in [
            utf16(text, [0xFF, 0xFE], u16::to_le_bytes),
            utf16(text, [0xFE, 0xFF], u16::to_be_bytes),
            text.as_bytes().to_vec(),
        ] {
            assert_eq!(decoded_text(bytes).as_deref(), Some(text));
        }
        for bytes in
            [&b"\xFF\xFEa"[..], b"\xFF\xFE\x00\x00a\x00\x00\x00", b"\xFF\xFE\x00\xD8", b"\xC3"]
        {
            assert_eq!(decoded_text(bytes.to_vec()), None, "{bytes:?}");
        }
        assert!(is_utf16(b"\xFE\xFF") && !is_utf16(b"\xEF\xBB\xBF"));
    }
}
