//! Highlights the words of a query in the answer, for a person at a terminal. Only escape codes are added: without them
//! the text is the same. Not here: which words made a memory a hit (`search`).

use std::collections::BTreeSet;

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl ColourChoice {
    /// Reads a word that clap has checked.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Auto,
        }
    }

    /// Tells whether colours are used, where the output by itself would have them or not.
    pub(crate) fn decides(self, is_colourful: bool) -> bool {
        match self {
            Self::Auto => is_colourful,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Bold, in whatever colour the terminal has.
const BEGIN: &str = "\u{1B}[1m";
const END: &str = "\u{1B}[0m";

/// Shorter words of a query are highlighted only where they stand alone: as beginnings they are everywhere.
const BEGINNING_CHARS_MIN: usize = 4;

/// Most words of a query that are looked for; a long query is a log, of which every word would be bold.
const WORDS_MAX: usize = 32;

/// Returns the text of an answer with the words of the query in bold.
pub(super) fn highlighted(text: &str, query: &str) -> String {
    let tokens = query.split_whitespace().filter(|token| !is_filter(token));
    let wanted: BTreeSet<String> =
        tokens.flat_map(words).map(str::to_lowercase).take(WORDS_MAX).collect();
    let is_wanted = |word: &str| {
        let word = word.to_lowercase();
        let begins = |wanted: &String| {
            wanted.chars().count() >= BEGINNING_CHARS_MIN && word.starts_with(wanted.as_str())
        };
        wanted.contains(&word) || wanted.iter().any(begins)
    };
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // The heading and its legend are ours, not a memory's.
        if line.starts_with("**") {
            shown.push_str(line);
            continue;
        }
        for piece in pieces(line) {
            match piece.chars().next().is_some_and(is_word_char) && is_wanted(piece) {
                true => shown.extend([BEGIN, piece, END]),
                false => shown.push_str(piece),
            }
        }
    }
    shown
}

/// The filters inside a query (`search::Filter` reads them). Other words with colons are words, such as `std::io`.
const FILTERS: [&str; 8] = ["repo", "kind", "tag", "file", "agent", "branch", "since", "until"];

/// Tells whether a token is a filter, such as `kind:error`.
fn is_filter(token: &str) -> bool {
    token.split_once(':').is_some_and(|(name, value)| {
        !value.is_empty() && !value.starts_with(':') && FILTERS.contains(&name)
    })
}

fn words(token: &str) -> impl Iterator<Item = &str> {
    token.split(|letter| !is_word_char(letter)).filter(|word| word.chars().count() > 1)
}

fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Cuts a line into words and what is between them.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_word = is_word_char(rest.chars().next()?);
        let end = rest.find(|letter| is_word_char(letter) != is_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-COLOR-1
    #[test]
    fn only_words_of_the_query_are_bold() {
        let text = "**Npm (1):** npm\n\n1. NPM installs fail, npmrc is ünder_way\n";
        let shown = highlighted(text, "npm install: kind:fail ünder_way a");
        let expected = "**Npm (1):** npm\n\n1. <NPM> <installs> fail, npmrc is <ünder_way>\n";
        assert_eq!(shown.replace(BEGIN, "<").replace(END, ">"), expected);
        assert_eq!(shown.replace(BEGIN, "").replace(END, ""), text);
        assert_eq!(highlighted(text, ""), text);
    }

    // S-COLOR-1
    #[test]
    fn a_word_with_colons_is_no_filter() {
        let shown = highlighted("std::io::Error is an error\n", "std::io::Error kind:is");
        let expected = "<std>::<io>::<Error> is an <error>\n";
        assert_eq!(shown.replace(BEGIN, "<").replace(END, ">"), expected);
    }
}
