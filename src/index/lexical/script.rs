//! Classes of characters: which ones join a piece of text, and which scripts are written without spaces. Not here:
//! turning the pieces into terms (`tokenize`, `identifier`).

use unicode_normalization::char::is_combining_mark;

/// The class of a character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CharacterClass {
    /// Part of a word, an identifier, a path or a flag.
    Code,
    /// A character of a script without spaces between words, or of Hangul, whose words carry endings.
    Spaceless,
    /// A separator of two pieces.
    Gap,
}

/// Characters that join words to kebab names, dotted names, paths, flags and `a::b`.
pub(super) const JOINERS: [char; 5] = ['-', '.', '/', '\\', ':'];

/// Characters that separate the folders of a path.
pub(super) const SEPARATORS: [char; 2] = ['/', '\\'];

/// Returns true for characters that may stand inside a compound but not at its ends: joiners and apostrophes.
/// `don't` is one stop word, and `tool's` stems to `tool`.
pub(super) fn is_inner(character: char) -> bool {
    matches!(character, '-' | '.' | '/' | '\\' | ':' | '\'' | '’')
}

/// Returns a character as everybody writes it: hyphens that only forbid or allow a line break are plain ones, and ё is
/// е. `None` for signs that most writers leave out: Arabic and Hebrew vowels, and hyphens that show at a line's end.
pub(super) fn without_option(character: char) -> Option<char> {
    match character {
        '\u{2010}' | '\u{2011}' => Some('-'),
        'ё' => Some('е'),
        'Ё' => Some('Е'),
        '\u{AD}' | '\u{640}' => None,
        '\u{591}'..='\u{5C7}' | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}'
            if is_combining_mark(character) =>
        {
            None
        }
        '\u{6D6}'..='\u{6ED}' if is_combining_mark(character) => None,
        other => Some(other),
    }
}

/// Returns the class of a character.
pub(super) fn class_of(character: char) -> CharacterClass {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => CharacterClass::Code,
        _ if is_inner(character) => CharacterClass::Code,
        '\0'..='\x7f' => CharacterClass::Gap,
        _ if is_spaceless(character) => CharacterClass::Spaceless,
        _ if character.is_alphanumeric() || is_combining_mark(character) => CharacterClass::Code,
        _ => CharacterClass::Gap,
    }
}

/// The ranges follow the Unicode blocks. The text is in NFKC, so half-width kana, compatibility ideographs and
/// conjoining jamo have become their ordinary forms.
fn is_spaceless(character: char) -> bool {
    matches!(
        u32::from(character),
        0x0E00..=0x0EFF // Thai, Lao
            | 0x1000..=0x109F // Myanmar
            | 0x1100..=0x11FF // jamo that compose to no syllable
            | 0x1780..=0x17FF // Khmer
            | 0x3005..=0x3007 // iteration mark, closing mark, zero
            | 0x3041..=0x30FA // hiragana, katakana
            | 0x30FC..=0x30FF // long vowel and iteration marks, without the middle dot
            | 0x3105..=0x31BF // bopomofo, compatibility jamo
            | 0x31F0..=0x31FF // small katakana
            | 0x3400..=0x4DBF // Han, extension A
            | 0x4E00..=0x9FFF // Han
            | 0xAC00..=0xD7FF // Hangul syllables and rare jamo
            | 0x20000..=0x3FFFF // Han, later extensions
    )
}

/// Returns overlapping pairs of neighbouring characters; a single character is its own token. Pairs need no
/// dictionary, and both sides of a search are cut alike wherever the words end.
pub(super) fn bigrams(run: &str) -> impl Iterator<Item = &str> {
    let starts = run.char_indices().map(|(start, _)| start);
    let end_places = run.char_indices().map(|(start, c)| start + c.len_utf8()).skip(1);
    let lone = run.chars().nth(1).is_none().then_some(run).filter(|run| !run.is_empty());
    starts.zip(end_places).filter_map(|(start, end)| run.get(start..end)).chain(lone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(run: &str) -> Vec<&str> {
        bigrams(run).collect()
    }

    // S-RANK-1
    #[test]
    fn bigrams_overlap_and_a_lone_character_stands_alone() {
        assert_eq!(pairs("データ"), ["デー", "ータ"]);
        assert_eq!(pairs("猫"), ["猫"]);
        assert!(pairs("").is_empty());
    }

    #[test]
    fn scripts_without_spaces_are_told_from_spaced_ones() {
        for character in ['漢', 'か', 'カ', 'ー', '한', 'ไ', '𠀋'] {
            assert_eq!(class_of(character), CharacterClass::Spaceless, "{character}");
        }
        for character in ['é', 'ж', 'ß', 'λ', '٣', 'न', '्'] {
            assert_eq!(class_of(character), CharacterClass::Code, "{character}");
        }
        for character in ['。', '・', '→', '🍕', '"', '`', '@', '\n'] {
            assert_eq!(class_of(character), CharacterClass::Gap, "{character}");
        }
    }
}
