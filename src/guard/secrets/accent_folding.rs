//! A text as people type names without their accents: Latin letters without marks, Greek and Cyrillic in lower case, letters
//! and marks composed, and nothing that has no width. So one spelling of a name is enough (`tables/names.txt`), and the
//! same name is found however a system wrote it down. Keeps the origin of each byte. Not here: the rules.

use super::escapes::UnescapedText;

/// The letter without its mark of each character from U+00C0 on, and from U+1E00 on; `.` stays as it is.
const LATIN: &str = concat!(
    "AAAAAAACEEEEIIIIDNOOOOO.OUUUUYTsaaaaaaaceeeeiiiidnooooo.ouuuuytyAaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGg",
    "HhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs",
);
const LATIN_MORE: &str = concat!(
    "AaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLlLlLlLlMmMmMmNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSs",
    "SsSsSsTtTtTtTtUuUuUuUuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwyas....AaAaAaAaAaAaAaAaAaAaAaAaEeEeEeEeEeEeEeEe",
    "IiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy......",
);
const LATIN_FROM: u32 = 0xC0;
const LATIN_MORE_FROM: u32 = 0x1E00;

/// Reads a text without accents; `None` if that changes nothing.
pub(super) fn folded(text: &[u8]) -> Option<UnescapedText> {
    if text.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if !text.chars().any(|letter| meant(letter) != Some(letter) || is_medial(letter)) {
        return None;
    }
    let mut layer = UnescapedText::default();
    let mut last: Option<char> = None;
    for (place, letter) in text.char_indices() {
        if let Some(whole) = last.and_then(|last| composed(last, letter)) {
            layer.replace_last(whole);
            last = Some(whole);
        } else if let Some(meant) = meant(letter) {
            layer.push(meant, place);
            last = Some(meant);
        }
    }
    layer.close(text.len());
    Some(layer)
}

/// Returns the letter that stands for a character, or nothing if it has no width or is a mark of another one.
fn meant(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let from = |table: &'static str, first: u32| {
        let base = *table.as_bytes().get(usize::try_from(code - first).ok()?)?;
        (base != b'.').then_some(char::from(base))
    };
    match code {
        0..0xC0 if code != 0xAD => Some(letter),
        0xC0..0x180 => from(LATIN, LATIN_FROM).or(Some(letter)),
        0x1E00..0x1F00 => from(LATIN_MORE, LATIN_MORE_FROM).or(Some(letter)),
        0x1A0 | 0x1A1 => Some('o'),
        0x1AF | 0x1B0 => Some('u'),
        0x218 | 0x219 => Some('s'),
        0x21A | 0x21B => Some('t'),
        0x259 => Some('e'),
        0x370..0x530 => letter.to_lowercase().next(),
        // Fullwidth forms of ASCII.
        0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0),
        // Soft hyphen, marks of Latin and of Arabic, the bar that stretches Arabic words, no width.
        0xAD | 0x300..0x370 | 0x640 | 0x64B..0x660 | 0x670 | 0x200B..=0x200F | 0x2060 | 0xFEFF => {
            None
        }
        _ => Some(letter),
    }
}

/// Tells whether a character may be part of the one before it.
fn is_medial(letter: char) -> bool {
    matches!(u32::from(letter), 0x9BE | 0xBBE | 0xD3E | 0x1161..=0x11FF | 0x3099 | 0x309A)
}

/// Returns the syllable or the kana that two characters make (Unicode, section 3.12).
fn composed(first: char, second: char) -> Option<char> {
    let (first, second) = (u32::from(first), u32::from(second));
    // Vowels of Bengali, Tamil and Malayalam that are written on both sides.
    if let (0x9C7 | 0xBC6 | 0xBC7 | 0xD46 | 0xD47, 0x9BE | 0xBBE | 0xD3E) = (first, second) {
        return char::from_u32(first + 4);
    }
    let syllable = first.wrapping_sub(0xAC00);
    let code = match second {
        0x1161..=0x1175 if (0x1100..=0x1112).contains(&first) => {
            0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        }
        0x11A8..=0x11C2 if syllable < 11_172 && syllable % 28 == 0 => first + second - 0x11A7,
        0x3099 if (0x304B..=0x30DB).contains(&first) => first + 1,
        0x309A if (0x306F..=0x30DB).contains(&first) => first + 2,
        _ => return None,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        folded(text.as_bytes())
            .map_or_else(|| text.to_owned(), |layer| String::from_utf8(layer.bytes).unwrap())
    }

    #[test]
    fn accents_and_widths_go() {
        for (text, expected) in [
            ("Contraseña", "Contrasena"),
            ("contrasen\u{303}a", "contrasena"),
            ("mật_khẩu: Lösenord", "mat_khau: Losenord"),
            ("hasło ŞİFRE slaptažodis", "haslo SIFRE slaptazodis"),
            ("ПАРОЛЬ Κωδικός", "пароль κωδικός"),
            ("گذر\u{200C}واژه", "گذرواژه"),
            ("ｐａｓｓ：x", "pass:x"),
            ("\u{1107}\u{1175}\u{1107}\u{1165}\u{11AB}", "비번"),
            ("ハ\u{309A}スワート\u{3099}", "パスワード"),
        ] {
            assert_eq!(read(text), expected);
        }
    }

    #[test]
    fn plain_text_is_not_read_again() {
        assert!(folded(b"the password").is_none());
        assert!(folded("密码 — пароль".as_bytes()).is_none());
    }

    #[test]
    fn each_byte_knows_its_origin() {
        let text = "eé\u{200B}x";
        let layer = folded(text.as_bytes()).unwrap();
        let origins: Vec<_> = (0..=layer.bytes.len()).map(|place| layer.origin(place)).collect();
        assert_eq!(origins, [0, 1, 6, 7]);
    }
}
