//! Changes to configuration files that leave every byte alone that is not ours. A text that is not plainly
//! understood is refused. Not here: files, and what is put into them.

pub(super) mod json;
pub(super) mod toml;
pub(super) mod yaml;

/// Why a text is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub why: String,
}

impl EditError {
    /// Names a place in a text, by its byte.
    pub(super) fn at(text: &str, place: usize, why: &str) -> Self {
        let before = text.get(..place).unwrap_or(text);
        let before = before.trim_start_matches('\u{FEFF}');
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, why: why.to_owned() }
    }
}
