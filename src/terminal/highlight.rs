//! Highlights the words of a query in the answer, for a person at a terminal. Only escape codes are added: without them
//! the text is the same. Not here: which words those are (`index::lexical`).

use index::lexical::QueryWords;

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
    pub fn from_word(word: &str) -> Self {
        match word {
            "always" => Self::Always,
            "never" => Self::Never,
            _ => Self::Auto,
        }
    }

    /// Tells whether colours are used, where the output by itself would have them or not.
    pub fn decides(self, is_colourful: bool) -> bool {
        match self {
            Self::Auto => is_colourful,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Bold, in the terminal's own colour.
const BEGIN: &str = "\u{1B}[1m";
const END: &str = "\u{1B}[0m";

/// Returns the text of an answer with the words in bold that the query matches. `filters` are those of its words that
/// were read as filters.
pub fn highlighted(text: &str, query: &str, filters: &[String]) -> String {
    let is_text = |word: &&str| !filters.iter().any(|filter| filter == word);
    let searched: Vec<&str> = query.split_whitespace().filter(is_text).collect();
    let mut words = QueryWords::parse(&searched.join(" "));
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // The heading and its legend are ours, not a memory's.
        let spans = if line.starts_with("**") { Vec::new() } else { words.spans(line) };
        let mut end = 0;
        for span in spans {
            let plain = line.get(end..span.start).unwrap_or_default();
            let word = line.get(span.clone()).unwrap_or_default();
            shown.extend([plain, BEGIN, word, END]);
            end = span.end;
        }
        shown.push_str(line.get(end..).unwrap_or_default());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highlighted_text(text: &str, query: &str) -> String {
        let shown = highlighted(text, query, &["kind:fact".to_owned()]);
        assert_eq!(shown.replace(BEGIN, "").replace(END, ""), text);
        shown.replace(BEGIN, "<").replace(END, ">")
    }

    // S-COLOR-1
    #[test]
    fn whole_words_of_the_query_are_bold() {
        let text = "**Npm (1):** npm\n\n1. NPM installs fail, npmrc is ünder_way\n";
        let expected = "**Npm (1):** npm\n\n1. <NPM> <installs> fail, npmrc is <ünder_way>\n";
        assert_eq!(highlighted_text(text, "npm install: kind:fact ünder_way a"), expected);
        assert_eq!(highlighted_text(text, ""), text);
        let secrets = "- it redacts what is red; the testament is tested\n";
        let expected = "- it redacts what is <red>; the testament is <tested>\n";
        assert_eq!(highlighted_text(secrets, "red test"), expected);
    }

    // S-COLOR-1
    #[test]
    fn a_word_with_colons_is_no_filter() {
        let shown = highlighted_text("std::io::Error is an error\n", "std::io::Error kind:fact");
        assert_eq!(shown, "<std::io::Error> is an <error>\n");
    }
}
