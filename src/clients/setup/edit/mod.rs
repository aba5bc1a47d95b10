//! Changes to configuration files that leave every byte of others alone. A damaged text, or a form that is not
//! supported, is refused. Not here: files, and what is written into them.

pub(super) mod json;
pub(super) mod toml;
pub(super) mod yaml;
mod yaml_check;

/// A block below a top-level key.
#[derive(Debug, Clone, Copy)]
pub(super) struct YamlBlock<'a> {
    /// The key, such as `extensions`.
    pub(super) key: &'a str,
    /// Whether the children of the key are list elements with a `name`, or members.
    pub(super) is_list: bool,
    /// The name of our child.
    pub(super) name: &'a str,
}

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
    /// Makes an error for a byte position in a text.
    pub(super) fn at(text: &str, place: usize, why: &str) -> Self {
        let before = text.get(..place).unwrap_or(text);
        let before = before.trim_start_matches('\u{FEFF}');
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, why: why.to_owned() }
    }
}
