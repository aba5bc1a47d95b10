//! The folder in which an event was learned, where that is a package of its repository. Older readers keep it as an unknown field.
//! Not here: which folders are packages (`place`), which paths a person may give (`writer`).

use std::fmt;

use serde_json::Value;

use super::Event;
use super::limits::SHORT_BYTES_MAX;
use guard::text;

/// The field that says in which folder an event was learned.
pub(super) const FOLDER: &str = "folder";

/// The path of a folder from the top of its repository on, with `/`. The top itself has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FolderPath(String);

impl FolderPath {
    /// Reads a path. `None` for one that is no clean relative path: empty, absolute, with `\`, `.`, `..` or an empty part.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let is_clean = |part: &str| !part.trim().is_empty() && !matches!(part, "." | "..");
        let has_odd = |c: char| matches!(c, '\\' | '\n') || text::is_unsafe(c);
        let is_drive = path.get(1..2) == Some(":") || path.starts_with('~');
        let is_visible = !path.contains(has_odd) && *text::visible(path) == *path;
        let fits = path.len() <= SHORT_BYTES_MAX && path.trim() == path && is_visible;
        (fits && !is_drive && path.split('/').all(is_clean)).then(|| Self(path.to_owned()))
    }

    /// Returns the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether it is another folder or below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(other.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Tells whether neither of two folders is the other or below it.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        !self.is_within(other) && !other.is_within(self)
    }
}

impl fmt::Display for FolderPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Event {
    /// Returns the folder in which it was learned; `None` where the field is absent or no clean path.
    #[must_use]
    pub fn folder(&self) -> Option<FolderPath> {
        self.extra.get(FOLDER).and_then(Value::as_str).and_then(FolderPath::parse)
    }

    /// Returns it without its folder, for comparing what it says.
    #[must_use]
    pub fn without_folder(mut self) -> Self {
        self.extra.shift_remove(FOLDER);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedLine, clean, codec};

    // S-LINE-3
    #[test]
    fn a_folder_is_a_clean_path_from_the_top_on() {
        for path in ["web", "packages/web", "a b/c", "über/x", ".github/actions"] {
            assert_eq!(FolderPath::parse(path).unwrap().as_str(), path);
        }
        let long = "x".repeat(SHORT_BYTES_MAX + 1);
        for path in [
            "", ".", "..", "/", "/web", "web/", "a//b", "a/../b", "./a", "C:/a", "~/a", "a\\b",
            " a", "a/ /b", "a\nb", &long,
        ] {
            assert_eq!(FolderPath::parse(path), None, "{path:?}");
        }
    }

    // S-PATH-5
    #[test]
    fn a_folder_is_within_itself_and_those_above() {
        let folder = |path| FolderPath::parse(path).unwrap();
        let web = folder("packages/web");
        for (other, is_within, is_beside) in [
            ("packages/web", true, false),
            ("packages", true, false),
            ("packages/web/src", false, false),
            ("packages/we", false, true),
            ("packages/api", false, true),
        ] {
            let other = folder(other);
            assert_eq!(
                (web.is_within(&other), web.is_beside(&other)),
                (is_within, is_beside),
                "{other}"
            );
        }
    }

    // S-LINE-3
    #[test]
    fn a_line_keeps_whatever_its_folder_is() {
        for (value, folder) in [
            ("\"packages/web\"", Some("packages/web")),
            ("\"../web\"", None),
            ("\"/srv/web\"", None),
            ("7", None),
            ("[\"a\"]", None),
        ] {
            let line = format!(r#"{{"id":"m1","lesson":"x","folder":{value}}}"#);
            let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "r") else {
                panic!("{line}")
            };
            assert_eq!(event.folder().as_ref().map(FolderPath::as_str), folder);
            let written = codec::encode(&clean::clean(*event));
            assert!(
                written.as_str().contains(&format!("\"folder\":{value}")),
                "{}",
                written.as_str()
            );
        }
    }
}
