//! Which characters may stand in a memory, and how doubtful text is made harmless for display.
//! Not here: secrets; they are `redact`'s.

use std::fmt::Write;

/// How neutralised text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One line: every run of white space becomes one space.
    Line,
    /// Many lines: line breaks and tabs stay.
    Block,
}

/// Tells whether a character could mislead a terminal or hide text from a reader: control
/// characters (ANSI escapes begin with one), bidirectional overrides and isolates, and tag
/// characters. Line break and tab are safe. Such characters are refused at the door.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    is_control
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// Tells whether a character shows nothing. Harmless in a log, dropped from replies, where it could
/// hide words or spend tokens. The joiners that scripts and emoji need are not among them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{061C}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2060}'..='\u{2064}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

/// Returns `text` without escape sequences, unsafe and invisible characters.
#[must_use]
pub fn neutralise(text: &str, layout: Layout) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1B}' => skip_escape(&mut chars),
            '\u{2028}' | '\u{2029}' | '\u{85}' => push(&mut out, '\n', layout),
            c if is_invisible(c) => {}
            // A lone carriage return would let later text overwrite earlier text on a terminal.
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => push(&mut out, '\n', layout),
            c if is_unsafe(c) => {}
            c => push(&mut out, c, layout),
        }
    }
    if layout == Layout::Line {
        out.truncate(out.trim_end().len());
    }
    out
}

/// Returns JSON with every unsafe character as an escape, so that nothing is lost and nothing happens
/// where it is shown. Such characters stand only inside strings.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn push(out: &mut String, c: char, layout: Layout) {
    match layout {
        Layout::Line if c.is_whitespace() => {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        }
        // One blank line parts as well as many.
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

    proptest! {
        #[test]
        fn nothing_unsafe_survives(text in any::<String>()) {
            for layout in [Layout::Line, Layout::Block] {
                let clean = neutralise(&text, layout);
                prop_assert!(!clean.chars().any(|c| is_unsafe(c) || is_invisible(c)));
                prop_assert_eq!(neutralise(&clean, layout), clean.clone());
            }
        }
    }
}
