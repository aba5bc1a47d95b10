//! Reads the entries of a git configuration. Not here: what they mean (`repo`, `git_person`), and files that a
//! configuration includes.

use std::path::Path;

/// Longest git file that is read, in bytes. Configurations are small, and this one may come from anybody.
const GIT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// One setting of a configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    section: String,
    pub(super) subsection: String,
    key: String,
    pub(super) value: String,
}

impl ConfigEntry {
    /// Tells whether this is a setting of a section. Git ignores the case of both.
    pub(super) fn is(&self, section: &str, key: &str) -> bool {
        self.section.eq_ignore_ascii_case(section) && self.key.eq_ignore_ascii_case(key)
    }
}

/// Returns the settings of a configuration in their order.
pub(super) fn entries(config: &str) -> impl Iterator<Item = ConfigEntry> {
    let (mut section, mut subsection) = (String::new(), String::new());
    config.lines().filter_map(move |line| {
        let mut line = line.trim();
        if let Some((header, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let (kind, name) = header.split_once(char::is_whitespace).unwrap_or((header, ""));
            (section, subsection) =
                (kind.trim().to_owned(), name.trim().trim_matches('"').to_owned());
            line = rest;
        }
        let (key, value) = line.split_once('=')?;
        Some(ConfigEntry {
            section: section.clone(),
            subsection: subsection.clone(),
            key: key.trim().to_owned(),
            value: strip_quotes(value),
        })
    })
}

/// Strips quotes and comment from a value. A `#` inside quotes belongs to the value.
fn strip_quotes(value: &str) -> String {
    let value = value.trim();
    match value.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((inner, _)) => inner.to_owned(),
        None => value.split([';', '#']).next().unwrap_or(value).trim().to_owned(),
    }
}

/// Reads a small file of git.
pub(super) fn read(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    let is_small_file = metadata.is_file() && metadata.len() <= GIT_FILE_BYTES_MAX;
    is_small_file
        .then(|| std::fs::read(path).ok())?
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
