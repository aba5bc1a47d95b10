//! Values that name a record, a digest or a number, however random they look. Not here: names (`near`, `password`).

/// Tells whether a value has the form of a UUID.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Tells whether a value is a ULID, which holds a time and a number.
pub(super) fn is_ulid(value: &[u8]) -> bool {
    value.len() == 26 && value.first().is_some_and(|byte| (b'0'..=b'7').contains(byte))
}

/// Tells whether a value has the form of the ids that Docker gives: 25 small letters and digits.
pub(super) fn is_object_id(value: &[u8]) -> bool {
    value.len() == 25 && value.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Tells whether a value begins with the name of its digest, as in `sha256-…`.
pub(super) fn is_digest_named(value: &[u8]) -> bool {
    matches!(value, [b's', b'h', b'a', b'1' | b'2' | b'3' | b'5', next, ..] if *next == b'-' || next.is_ascii_digit())
}
