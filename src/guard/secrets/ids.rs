//! Values that name a record, a digest or a number, however random they look. Not here: names (`nearby_value`, `password`).

use std::ops::Range;

/// Bytes of the ids of memories: a ULID, and the end of one, which people type.
const ID_BYTES: [usize; 2] = [26, 8];

/// Changes between letters and digits that no numbered name has, such as `DB2PW123`.
const ID_CHANGES_MIN: usize = 4;

/// Tells whether a token is an id of a memory in which the letters of a name stand by chance, as in `PW7X0MTE`. A name that
/// is numbered is none: its digits come last, as in `DBPASS12`.
pub(super) fn is_id_around(token: &[u8], name: Range<usize>) -> bool {
    let before = token.get(..name.start).unwrap_or_default();
    let after = token.get(name.end..).unwrap_or_default();
    let mut from_digit = after.iter().skip_while(|byte| !byte.is_ascii_digit());
    let is_mixed = token.first().is_some_and(u8::is_ascii_digit)
        || from_digit.any(u8::is_ascii_uppercase)
        || token.windows(2).filter(|pair| is_change(pair)).count() >= ID_CHANGES_MIN;
    ID_BYTES.contains(&token.len())
        && is_mixed
        && token.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && before.iter().chain(after).all(is_of_ids)
}

/// Tells whether a token can be an id of a memory, whatever stands in it.
pub(super) fn can_be_id(token: &[u8]) -> bool {
    ID_BYTES.contains(&token.len())
        && token.iter().any(u8::is_ascii_digit)
        && token.iter().all(is_of_ids)
}

/// Tells whether a byte is one of base32 without the letters that look like others (Crockford).
fn is_of_ids(byte: &u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(byte)
}

fn is_change(pair: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    is_digit(pair.first()) != is_digit(pair.last())
}

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

#[cfg(test)]
mod tests {
    use super::super::redacted;
    use super::super::table::TableKind;
    use super::super::tests::anchors;

    /// What our programs answer, with ids for `{a}` and `{b}`.
    const REPLIES: [&str; 8] = [
        "{a}: linked.",
        "{a} depends_on {b}: linked.",
        "{b} depends_on {a}: linked.",
        "{a}: no longer linked.",
        "superseded {a}: finished.",
        "{a}: superseded by {b}; undo with `restore {a}`.",
        "forgot {a}: it was mistaken.",
        "supersedes: {a}, related_to={a} (finished)",
    ];

    /// What stands before and after a name in an id.
    const PARTS: [[&str; 2]; 6] = [
        ["", "7X0MTE"],
        ["", "4Q7ZKB2"],
        ["7X0", "MTE4"],
        ["K7X0T3", ""],
        ["2", "HNZWEB5"],
        ["9", "00000W"],
    ];

    /// Returns ids of both lengths in which each short name of the tables stands.
    fn ids_with_names() -> Vec<String> {
        let kinds = [TableKind::Name, TableKind::Provider, TableKind::Hint, TableKind::Command];
        let names = kinds.into_iter().flat_map(anchors).map(|(name, _)| {
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase()
        });
        let names: Vec<String> = names.filter(|name| (2..=4).contains(&name.len())).collect();
        let filled = |name: &String, [before, after]: [&str; 2], length: usize| {
            let left = length - name.len();
            let before: String = before.chars().take(left).collect();
            let rest = after.chars().chain("7H2M9TZ3WB4X8V6KQ0R5J1N2".chars());
            format!("{before}{name}{}", rest.take(left - before.len()).collect::<String>())
        };
        let whole = |name| PARTS.into_iter().map(move |parts| filled(name, parts, 8));
        let long = |name: &String| filled(name, ["01K5PZ", "7X0MTE"], 26);
        names.iter().flat_map(|name| whole(name).chain([long(name)])).collect()
    }

    // S-WRITE-8
    #[test]
    fn ids_before_a_word_stay() {
        for id in ["KTSY3PW2", "SKVA45PW", "A4690PWD", "NZDN6PSK", "XBN10MDP", "PW2DQHSQ"] {
            let text = format!("2XYW6QSW depends_on {id}: linked.");
            assert_eq!(redacted(&text), text);
        }
        for kept in ["TEST1PWD=copperlantern", "TEST1PWD: copper9Lantern"] {
            assert_ne!(redacted(kept), kept);
        }
    }

    // S-WRITE-8
    #[test]
    fn ids_with_names_in_them_stay() {
        let ids = ids_with_names();
        assert!(ids.iter().any(|id| id == "PW7X0MTE") && ids.len() > 200, "{}", ids.len());
        let mut changed = Vec::new();
        for id in ids {
            for reply in REPLIES {
                let text = reply.replace("{a}", &id).replace("{b}", "1TEAVJ6S");
                let clean = redacted(&text);
                if clean != text {
                    changed.push(clean.into_owned());
                }
            }
        }
        assert!(changed.is_empty(), "{} {changed:#?}", changed.len());
    }

    // S-WRITE-8
    #[test]
    fn values_of_numbered_names_go() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("PW: {secret}"),
            format!("DB_PW2={secret}"),
            format!("PW1: {secret}9"),
            format!("DBPASS12={secret}"),
            format!("MYPASS12: {secret}"),
            format!("SQLPASS1={secret}"),
            format!("DB2PW123={secret}"),
            format!("S3PASSWD={secret}"),
            format!("PASSWORD={secret}"),
            format!("ROOTPW01: {secret}"),
            format!("PW: PW7X0MTE{secret}"),
        ] {
            assert!(!redacted(&text).contains(&secret), "{}", redacted(&text));
        }
    }
}
