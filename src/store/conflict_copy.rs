//! Copies that a program which synchronises folders makes of a log that two machines wrote to: Syncthing, Dropbox,
//! Nextcloud, iCloud and others. They are logs like any other; a line in one that names no repository is of the
//! original's. Not here: which repository a file belongs to by its own name (`repo_of_log`).

use std::path::{Path, PathBuf};

use event::RepoKey;

use super::Store;

/// How these programs call it.
const CONFLICT: &str = "conflict";
/// Fewest digits of a date: after a `-` or `_`, which names of repositories have too, fewer say nothing.
const DATE_DIGITS_MIN: usize = 6;

impl Store {
    /// Returns the log that a file is a copy of, by its name; the original need not be there.
    #[must_use]
    pub fn original_of_copy(log: &Path) -> Option<PathBuf> {
        let stem = log.file_stem()?.to_str()?;
        let original = conflicted(stem).or_else(|| numbered(stem))?;
        (!original.is_empty()).then(|| log.with_file_name(format!("{original}.jsonl")))
    }

    /// Returns the key of the repository of lines in a file that name none.
    #[must_use]
    pub fn repo_of_lines(log: &Path) -> RepoKey {
        Self::repo_of(Self::original_of_copy(log).as_deref().unwrap_or(log))
    }
}

/// `r 2`, `r (1)`, `r copy` and `r - Copy`: no name of ours has a space.
fn numbered(stem: &str) -> Option<&str> {
    let (original, mark) = stem.rsplit_once(' ')?;
    let number = mark.trim_start_matches('(').trim_end_matches(')');
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_copy = mark.eq_ignore_ascii_case("copy");
    (is_number || is_copy).then(|| original.trim_end_matches([' ', '-']))
}

/// `r (anna's conflicted copy 2026-11-20)`, `r.sync-conflict-20261120-101010-ABCDEFG` and the like.
fn conflicted(stem: &str) -> Option<&str> {
    let at = stem.to_ascii_lowercase().find(CONFLICT)?;
    let (before, mark) = stem.split_at_checked(at)?;
    if let Some((original, _)) = before.split_once(" (").or_else(|| before.split_once(" [")) {
        return Some(original);
    }
    let mark = mark.get(CONFLICT.len()..)?;
    let mark = mark.strip_prefix("ed").unwrap_or(mark);
    let digits = mark.trim_start_matches(['-', '_', '.', ' ']);
    let digits_len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let before = before.strip_suffix("sync-").unwrap_or(before);
    let original = before.trim_end_matches(['.', '_', '-', '~', ' ']);
    match before.get(original.len()..)?.chars().next_back()? {
        '-' | '_' => digits_len >= DATE_DIGITS_MIN,
        _ => digits_len > 0 || digits.is_empty(),
    }
    .then_some(original)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-LINE-7
    #[test]
    fn a_copy_of_a_log_is_known_by_its_name() {
        for (name, original) in [
            ("r.sync-conflict-20261120-101010-ABCDEFG", Some("r")),
            ("r (laptop's conflicted copy 2026-11-20)", Some("r")),
            ("r (conflicted copy 2026-11-20 101010)", Some("r")),
            ("r (SFConflict anna@example.org 2026-11-20)", Some("r")),
            ("github.com+acme+api_conflict-20261120-1010", Some("github.com+acme+api")),
            ("r.conflict1", Some("r")),
            ("r.Conflict", Some("r")),
            ("r 2", Some("r")),
            ("r (1)", Some("r")),
            ("r - Copy", Some("r")),
            ("github.com+acme+conflict-2", None),
            ("github.com+acme+merge-conflict-2", None),
            ("conflicts", None),
            ("my notes", None),
            ("r2", None),
            (" 2", None),
        ] {
            let log = PathBuf::from(format!("/s/{name}.jsonl"));
            let found = Store::original_of_copy(&log);
            let expected = original.map(|stem| PathBuf::from(format!("/s/{stem}.jsonl")));
            assert_eq!(found, expected, "{name}");
        }
        let copy = Path::new("/s/github.com+acme+api.sync-conflict-20261120-101010-A.jsonl");
        assert_eq!(Store::repo_of_lines(copy).as_str(), "github.com/acme/api");
    }
}
