//! What the terminal shows, line by line, whatever its size: the words typed, the rows, a preview. Pure. Not here:
//! writing it (`raw_terminal`).

use unicode_width::UnicodeWidthChar;

use crate::choice_list::{ChoiceList, PickRow};
use crate::fuzzy::{fit, folded_letters};

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Lines.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

/// Whether words that fit are bold and the selected row is inverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenStyle {
    /// Yes.
    Styled,
    /// No: a mark shows the selected row.
    Plain,
}

const BOLD: &str = "\u{1B}[1m";
const INVERSE: &str = "\u{1B}[7m";
const DIM: &str = "\u{1B}[2m";
const USUAL: &str = "\u{1B}[0m";

/// What begins a row, so that the selected one is seen without colours.
const MARK: &str = "> ";
const NO_MARK: &str = "  ";

/// Columns a row must have for the day to be shown.
const DAY_COLUMNS_MIN: usize = 50;

/// Lines a terminal must have for the preview to be shown.
const PREVIEW_ROWS_MIN: usize = 8;

const KEYS: &str = "type to filter, ↑ ↓ choose, Enter takes it, Esc leaves";

impl Screen {
    /// How many rows of the list fit. Two fifths of the lines are for the preview, if there are enough.
    #[must_use]
    pub fn page(self) -> usize {
        let taken = if self.rows < PREVIEW_ROWS_MIN { 1 } else { 2 + self.preview_rows() };
        self.rows.saturating_sub(taken).max(1)
    }

    fn preview_rows(self) -> usize {
        if self.rows < PREVIEW_ROWS_MIN { 0 } else { (self.rows - 2) * 2 / 5 }
    }
}

/// Returns the lines of a screen, at most as many as it has, none wider than it is.
#[must_use]
pub fn screen_lines(
    list: &ChoiceList,
    preview: &str,
    screen: Screen,
    style: ScreenStyle,
) -> Vec<String> {
    let words: Vec<Vec<char>> = list.query().split_whitespace().map(folded_letters).collect();
    let page = screen.page();
    let top = (list.place() + 1).saturating_sub(page);
    let mut lines = vec![prompt(list, screen.columns)];
    for (place, one) in (top..).zip(list.from(top).take(page)) {
        lines.push(row(one, &words, place == list.place(), screen.columns, style));
    }
    if screen.preview_rows() == 0 {
        lines.truncate(screen.rows);
        return lines;
    }
    lines.resize(page + 1, String::new());
    let keys = cut(&format!("── {KEYS} "), screen.columns);
    let rule = format!("{keys}{}", "─".repeat(screen.columns.saturating_sub(width(&keys))));
    lines.push(match style {
        ScreenStyle::Styled => format!("{DIM}{rule}{USUAL}"),
        ScreenStyle::Plain => rule,
    });
    lines.extend(wrapped_lines(preview, screen.columns).into_iter().take(screen.preview_rows()));
    lines
}

/// The words typed, and how many fit. Of long words the end is shown, where the cursor stands.
fn prompt(list: &ChoiceList, columns: usize) -> String {
    let (fitting, all) = list.counts();
    let counts = format!("  {fitting}/{all}");
    let room = columns.saturating_sub(width(MARK) + 1);
    let shown = end_of(list.query(), room);
    let spare = room.saturating_sub(width(&shown));
    let counts = if counts.len() <= spare { counts } else { String::new() };
    cut(&format!("{MARK}{shown}▏{counts}"), columns)
}

fn row(
    one: &PickRow,
    words: &[Vec<char>],
    is_it: bool,
    columns: usize,
    style: ScreenStyle,
) -> String {
    let day = if columns < DAY_COLUMNS_MIN || one.day.is_empty() {
        String::new()
    } else {
        format!("{} ", one.day)
    };
    let mark = if is_it { MARK } else { NO_MARK };
    let room = columns.saturating_sub(mark.len() + day.len());
    let text = cut(&one.text, room);
    if style == ScreenStyle::Plain {
        return format!("{mark}{day}{text}");
    }
    let base = if is_it { INVERSE } else { "" };
    let fits = bold(&text, words, base);
    format!("{base}{mark}{day}{fits}{USUAL}")
}

/// Puts what fits into bold; afterwards the style of the row goes on.
fn bold(text: &str, words: &[Vec<char>], base: &str) -> String {
    let letters = folded_letters(text);
    let places: Vec<_> = words.iter().filter_map(|word| Some(fit(word, &letters)?.place)).collect();
    let mut shown = String::with_capacity(text.len());
    let mut was_bold = false;
    for (at, letter) in text.chars().enumerate() {
        let is_bold = places.iter().any(|place| place.contains(&at));
        if is_bold != was_bold {
            shown.push_str(if is_bold { BOLD } else { USUAL });
            shown.push_str(if is_bold { "" } else { base });
        }
        was_bold = is_bold;
        shown.push(letter);
    }
    shown
}

/// Columns of a letter: 2 for wide ones, 0 for accents.
fn columns_of(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// Returns the columns that a text takes in a line.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// What turns the letter before it into a picture that terminals draw in one column or in two: the letter stays without it.
const PICTURE: char = '\u{FE0F}';

/// What is shown for a tab: how wide that is depends on where it stands.
const TAB: &str = "    ";

/// A text whose width is known: without what changes it.
fn measurable(text: &str) -> String {
    text.replace(PICTURE, "").replace('\t', TAB)
}

/// Returns the beginning of a text that fits, with a mark where it was cut.
pub fn cut(text: &str, columns: usize) -> String {
    let text = measurable(text);
    if width(&text) <= columns {
        return text;
    }
    let room = columns.saturating_sub(1);
    let mut taken = 0;
    let fits = |letter: &char| {
        taken += columns_of(*letter);
        taken <= room
    };
    let begin: String = text.chars().take_while(fits).collect();
    if columns == 0 { String::new() } else { format!("{begin}…") }
}

/// Returns the end of a text that fits.
fn end_of(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let fits = |letter: &char| {
        taken += columns_of(*letter);
        taken <= columns
    };
    let end: Vec<char> = text.chars().rev().take_while(fits).collect();
    end.into_iter().rev().collect()
}

/// Breaks a text between words; a word that is wider than a line is broken inside. A letter that no line has room for is left out.
#[must_use]
pub fn wrapped_lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut now = String::new();
        for piece in measurable(line).split_inclusive(' ') {
            if !now.is_empty() && width(&now) + width(piece.trim_end()) > columns {
                lines.push(std::mem::take(&mut now));
            }
            for letter in piece.chars() {
                if width(&now) + columns_of(letter) > columns {
                    lines.push(std::mem::take(&mut now));
                    if letter == ' ' {
                        continue;
                    }
                }
                now.push(letter);
            }
        }
        lines.push(now);
    }
    lines.retain(|line| width(line) <= columns);
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::TerminalKey;

    fn list(texts: &[&str], query: &str) -> ChoiceList {
        let of = |text: &&str| PickRow {
            id: "i".to_owned(),
            day: "2026-01-02".to_owned(),
            text: (*text).to_owned(),
        };
        ChoiceList::new(texts.iter().map(of).collect(), query)
    }

    // S-PICK-1
    #[test]
    fn the_screen_shows_words_rows_and_a_preview() {
        let mut list = list(&["npm ci fails", "漢字 npm"], "npm");
        let screen = Screen { rows: 10, columns: 60 };
        let plain = screen_lines(&list, "lesson: use npm ci", screen, ScreenStyle::Plain);
        assert_eq!(plain[0], "> npm▏  2/2");
        assert_eq!(plain[1..3], ["> 2026-01-02 npm ci fails", "  2026-01-02 漢字 npm"]);
        assert!(plain[6].starts_with("── type to filter"), "{plain:?}");
        assert_eq!(plain[7], "lesson: use npm ci");
        list.press(TerminalKey::Down, screen.page());
        let styled = screen_lines(&list, "", screen, ScreenStyle::Styled);
        assert_eq!(styled[1], format!("  2026-01-02 {BOLD}npm{USUAL} ci fails{USUAL}"));
        assert_eq!(styled[2], format!("{INVERSE}> 2026-01-02 漢字 {BOLD}npm{USUAL}"));
    }

    // S-PICK-1
    #[test]
    fn the_selected_row_is_always_on_the_screen() {
        let texts: Vec<String> = (0..50).map(|number| format!("row {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut list = list(&texts, "");
        for rows in [2, 3, 8, 24] {
            let screen = Screen { rows, columns: 20 };
            for key in [
                TerminalKey::Last,
                TerminalKey::Up,
                TerminalKey::PageUp,
                TerminalKey::First,
                TerminalKey::PageDown,
            ] {
                list.press(key, screen.page());
                let lines = screen_lines(&list, "", screen, ScreenStyle::Plain);
                let marked = format!("> row {}", list.place());
                assert!(lines.contains(&marked), "{rows} {key:?} {lines:?}");
            }
        }
    }

    // S-PICK-1
    #[test]
    fn a_tab_takes_its_columns() {
        assert_eq!(wrapped_lines("\tab cd", 8), ["    ab ", "cd"]);
        assert_eq!(cut("a\tbc", 6), "a    …");
    }

    proptest! {
        // S-PICK-1
        #[test]
        fn no_line_is_wider_than_the_terminal(
            texts in prop::collection::vec("[a-z 漢字🦀é\u{301}\u{FE0F}]{0,60}", 0..6),
            query in "[a-z 漢]{0,30}", preview in "[a-z 漢🦀\t\n]{0,200}", rows in 1_usize..30, columns in 1_usize..90
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (list, screen) = (list(&texts, &query), Screen { rows, columns });
            let lines = screen_lines(&list, &preview, screen, ScreenStyle::Plain);
            prop_assert!(lines.len() <= rows, "{lines:?}");
            for line in &lines {
                prop_assert!(width(line) <= columns.max(2), "{line:?}");
            }
        }
    }
}
