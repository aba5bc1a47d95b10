//! Which characters a memory may contain, and how unsafe text is made safe to show. Not here: secrets
//! (`secrets`).

use std::borrow::Cow;
use std::fmt::Write;

/// The layout of neutralised text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One line: every run of white space becomes one space.
    Line,
    /// Many lines: line breaks and tabs stay.
    Block,
}

/// Tells whether a character could mislead a terminal or hide text from a reader: control
/// characters (ANSI escapes begin with one), bidirectional overrides and isolates, and tag
/// characters. Line break and tab are safe. Writers refuse such characters.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    is_control
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// Tells whether a character is always invisible: zero-width and filler characters, direction marks, the
/// variation selectors that only carry data, and the blank of Braille (U+2800). No lesson needs them, and
/// they could hide words from people, rules and searches.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0080}'..='\u{E0FFF}'
    )
}

/// Zero-width joiner and non-joiner: invisible, but Persian, Indic scripts and emoji need them.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// Variation selectors choose a form of the character before them.
pub fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}')
}

/// Returns `text` without invisible characters. A joiner stays between two characters beyond ASCII, and one
/// variation selector after such a character or in a keycap; elsewhere they only hide something.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let may_hide = |c: char| is_invisible(c) || is_joiner(c) || is_variation_selector(c);
    // No ASCII character is invisible, and most texts are ASCII.
    if text.is_ascii() || !text.chars().any(may_hide) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if stays(out.chars().next_back(), c, chars.peek().copied()) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Tells whether `c` stays between the character kept before it and the one that follows.
fn stays(before: Option<char>, c: char, after: Option<char>) -> bool {
    // Beyond ASCII, and visible.
    let is_seen = |c: char| {
        let is_shown = !is_invisible(c) && !is_unsafe(c) && !is_joiner(c) && !c.is_whitespace();
        !c.is_ascii() && is_shown
    };
    if is_variation_selector(c) {
        let is_base = before.is_some_and(|c| is_seen(c) && !is_variation_selector(c));
        let is_keycap = before.is_some_and(|c| c.is_ascii_digit() || matches!(c, '#' | '*'))
            && c == '\u{FE0F}'
            && after == Some('\u{20E3}');
        return is_base || is_keycap;
    }
    if is_joiner(c) {
        let is_joined = after.is_some_and(|c| is_seen(c) && !is_variation_selector(c));
        return is_joined && before.is_some_and(is_seen);
    }
    !is_invisible(c)
}

/// Returns `text` without escape sequences, unsafe and invisible characters.
#[must_use]
pub fn neutralise(text: &str, layout: Layout) -> String {
    // In this order: an escape sequence may take the character with it that a joiner needs beside it.
    let safe = without_commands(text);
    let mut out = String::with_capacity(safe.len());
    visible(&safe).chars().for_each(|c| push(&mut out, c, layout));
    if layout == Layout::Line {
        out.truncate(out.trim_end().len());
    }
    out
}

/// Returns `text` without escape sequences and unsafe characters, and with one kind of line break.
fn without_commands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1B}' => skip_escape(&mut chars),
            '\u{2028}' | '\u{2029}' | '\u{85}' => out.push('\n'),
            // A lone carriage return would let later text overwrite earlier text on a terminal.
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if is_unsafe(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Returns `text` without whole ANSI escape sequences, as terminals colour their output. What only begins like one stays, because
/// its end could be words.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    let begins = |c: char| matches!(c, '\u{1B}' | '\u{9B}');
    if !text.contains(begins) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.find(begins).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let first = from.chars().next().map_or(0, char::len_utf8);
        let (kept, length) = escape_bytes(from).map_or((first, first), |length| (0, length));
        out.push_str(from.get(..kept).unwrap_or_default());
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the length in bytes of the escape sequence at the beginning of a text, if it is a whole one.
fn escape_bytes(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, first) = chars.next()?;
    let kind = if first == '\u{9B}' { '[' } else { chars.next()?.1 };
    let is_final = |c: char| ('\u{40}'..='\u{7E}').contains(&c);
    let (at, last) = match kind {
        '[' => {
            chars.find(|(_, c)| !('\u{20}'..='\u{3F}').contains(c)).filter(|(_, c)| is_final(*c))
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let mut before = ' ';
            chars.find(|(_, c)| {
                let ends = *c == '\u{7}' || (before == '\u{1B}' && *c == '\\');
                before = *c;
                ends
            })
        }
        // The next character names a set of characters.
        '(' | ')' | '*' | '+' | '#' | '%' => chars.next().filter(|(_, c)| c.is_ascii_graphic()),
        kind if kind.is_ascii_graphic() => Some((first.len_utf8(), kind)),
        _ => None,
    }?;
    Some(at + last.len_utf8())
}

/// Returns JSON with escapes in the place of unsafe and invisible characters and of the separators at which some
/// tools split text into lines. JSON allows all of them raw. No information is lost.
#[must_use]
pub fn escaped(json: &str) -> Cow<'_, str> {
    let separates = |c: char| matches!(c, '\u{2028}' | '\u{2029}');
    let is_odd = |c: char| separates(c) || is_unsafe(c) || is_invisible(c);
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~');
    if json.bytes().all(is_plain) || !json.chars().any(is_odd) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_odd(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut String, c: char, layout: Layout) {
    match layout {
        Layout::Line if c.is_whitespace() => {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        }
        // Several blank lines become one.
        Layout::Block if c == '\n' && out.ends_with("\n\n") => {}
        Layout::Line | Layout::Block => out.push(c),
    }
}

/// Consumes the rest of an ANSI escape sequence (ECMA-48): `ESC [ … final`, or `ESC ] … BEL | ESC \`,
/// or `ESC` and one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next().is_some_and(|c| !('\u{40}'..='\u{7E}').contains(&c)) {},
        Some(']' | 'P' | '_' | '^') => {
            while let Some(c) = chars.next() {
                let ends_with_st = c == '\u{1B}' && chars.next_if_eq(&'\\').is_some();
                if c == '\u{7}' || ends_with_st {
                    break;
                }
            }
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_vanish_whole() {
        assert_eq!(neutralise("\u{1B}[1;31merror\u{1B}[0m: no", Layout::Line), "error: no");
        assert_eq!(neutralise("a\u{1B}]0;title\u{7}b\u{1B}]8;;x\u{1B}\\c", Layout::Line), "abc");
    }

    // S-MCP-14
    #[test]
    fn only_whole_escape_sequences_are_removed() {
        for (given, left) in [
            ("\u{1B}[1;31merror\u{1B}[0m: no", "error: no"),
            ("\u{9B}32mok\u{1B}(B\u{1B}[m", "ok"),
            ("a\u{1B}]8;;https://x.example\u{1B}\\link\u{1B}]8;;\u{7}b", "alinkb"),
            ("\u{1B}[38;2;1;2;3mtrue\u{1B}[K colour", "true colour"),
            ("\u{1B}7\u{1B}=kept\u{1B}8", "kept"),
            ("cut \u{1B}[31", "cut \u{1B}[31"),
            ("cut \u{1B}]title without an end", "cut \u{1B}]title without an end"),
            ("end \u{1B}", "end \u{1B}"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_escapes(given), left, "{given:?}");
        }
    }

    // S-REPLY-3
    #[test]
    fn one_line_means_one_line() {
        assert_eq!(neutralise("  a\r\n\tb\u{2028}c  ", Layout::Line), "a b c");
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(neutralise("a\n\tb", Layout::Block), "a\n\tb");
        assert_eq!(neutralise("a\r\nb\rc", Layout::Block), "a\nb\nc");
        assert_eq!(neutralise("a\n\n\n\nb", Layout::Block), "a\n\nb");
    }

    // S-WRITE-3, S-REPLY-3
    #[test]
    fn bidi_and_tag_characters_never_pass_but_joiners_do() {
        assert_eq!(neutralise("a\u{202E}b\u{2066}c\u{E0041}d\u{200B}e", Layout::Line), "abcde");
        assert_eq!(neutralise("👩\u{200D}💻", Layout::Line), "👩\u{200D}💻");
    }

    // S-WRITE-3
    #[test]
    fn what_shows_nothing_goes_and_what_shapes_a_character_stays() {
        for (given, kept) in [
            ("ig\u{200B}no\u{AD}re\u{FEFF}", "ignore"),
            ("a\u{200D}b\u{200C}", "ab"),
            ("\u{645}\u{6CC}\u{200C}\u{62E}\u{648}", "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}"),
            ("\u{2764}\u{FE0F}\u{200D}\u{1F525}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}"),
            ("1\u{FE0F}\u{20E3} #\u{FE0F} x\u{FE0F}", "1\u{FE0F}\u{20E3} # x"),
            // Bytes carried behind one emoji.
            ("\u{1F600}\u{FE00}\u{FE01}\u{E0101}\u{E0150}!", "\u{1F600}\u{FE00}!"),
            ("a\u{3164}\u{115F}\u{17B4}\u{2800}b", "ab"),
        ] {
            assert_eq!(visible(given), kept, "{given:?}");
        }
    }

    /// Texts in which the characters to remove are frequent, between all others.
    fn dirty() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\u{200B}',
            '\u{200C}',
            '\u{200D}',
            '\u{FE0F}',
            '\u{FE00}',
            '\u{E0100}',
            '\u{AD}',
            '\u{202E}',
            '\u{E0041}',
            '\u{1B}',
            '[',
            'm',
            '\u{9B}',
            '\u{2028}',
            '\u{3000}',
            '\r',
            '\n',
            ' ',
            '1',
            '\u{20E3}',
            '\u{2764}',
            '\u{645}',
            'a',
        ]);
        let any_or_odd = prop_oneof![4 => odd, 1 => any::<char>()];
        prop::collection::vec(any_or_odd, 0..40).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        // S-REPLY-3
        #[test]
        fn nothing_unsafe_survives(text in dirty()) {
            for layout in [Layout::Line, Layout::Block] {
                let clean = neutralise(&text, layout);
                prop_assert!(!clean.chars().any(is_unsafe), "{clean:?}");
                prop_assert_eq!(visible(&clean), clean.clone());
                prop_assert_eq!(neutralise(&clean, layout), clean.clone());
            }
        }
    }
}
