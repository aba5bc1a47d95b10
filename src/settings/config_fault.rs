//! Why a configuration file is refused: it cannot be read, is no TOML, or has a value of a wrong type. Every fault says where it is,
//! what is allowed, and how to fix it. Not here: what is left out with a warning (`config_finding`), reading a file (`store`).

use std::fmt;

/// Why a configuration file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The line, where it is known.
    pub line: Option<usize>,
    /// The key, with its table before a dot; empty where the whole file is meant.
    pub key: String,
    /// What is wrong, what is allowed, and an example.
    pub why: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.why),
            None => out.write_str(&self.why),
        }
    }
}

impl ConfigFault {
    pub(crate) fn of_key(key: &str, why: String) -> Self {
        Self { line: None, key: key.to_owned(), why }
    }

    /// Returns the fault of a whole file.
    #[must_use]
    pub fn of_file(why: String) -> Self {
        Self { line: None, key: String::new(), why }
    }

    /// Returns the fault of a text that is no TOML.
    pub(crate) fn of_toml(error: &toml::de::Error, text: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let why = format!(
            "is no TOML from column {column} on: {}; a setting is a name, =, and a value, for example memory_mib = 1024 or \
             logs = \"~/knowledge/logs\"",
            error.message().replace('\n', ", ")
        );
        Self { line: Some(before.matches('\n').count() + 1), key: String::new(), why }
    }
}
