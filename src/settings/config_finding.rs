//! What a configuration file holds that this version does not understand. A newer version may have written it, so it stops
//! no save: it is left out and named. Not here: finding it (`unknown_keys`, `config`), which table is held by it (`config_table`).

use std::fmt;
use std::path::{Path, PathBuf};

use super::config_table::{ConfigTable, UnknownRule};

/// One thing in a configuration file that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFinding {
    /// The file, where it was read from one.
    pub file: Option<PathBuf>,
    /// The line, where it is known.
    pub line: Option<usize>,
    /// The key, with its table before a dot; empty where the whole file is meant.
    pub key: String,
    /// The table it belongs to, if this version knows it.
    pub section: Option<ConfigTable>,
    /// What is wrong, as a sentence without its end.
    pub why: String,
}

impl fmt::Display for ConfigFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(out, "{}", file.display())?;
        }
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        if self.file.is_some() {
            write!(out, ": ")?;
        }
        write!(out, "{}", self.why)?;
        match self.section.map(ConfigTable::unknown_rule) {
            Some(UnknownRule::Holds { held }) => {
                write!(out, "; until it is removed, or a newer version reads it, {held}")?;
                write!(out, "; correct or remove that line")
            }
            _ if self.key.is_empty() => Ok(()),
            _ => write!(out, "; it is left out"),
        }
    }
}

impl ConfigFinding {
    /// Returns the finding that a named configuration does not exist.
    #[must_use]
    pub fn absent(file: &Path, variable: &str) -> Self {
        let why = format!(
            "{variable} names this file, which does not exist, so that all settings have their defaults; make it, or unset \
             {variable}"
        );
        Self { file: Some(file.to_owned()), line: None, key: String::new(), section: None, why }
    }

    pub(crate) fn of_value(key: &str, section: Option<ConfigTable>, why: String) -> Self {
        Self { file: None, line: None, key: key.to_owned(), section, why }
    }
}
