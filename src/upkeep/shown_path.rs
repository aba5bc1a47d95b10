//! How paths are named to people: harmless to terminals, and safe to paste into a shell.
//! Not here: what is said about them.

use std::path::Path;

use guard::text::{Layout, neutralise};

/// Anybody can put a file into the store, and its name may be made to command terminals.
pub(super) fn shown(path: &Path) -> String {
    neutralise(&path.display().to_string(), Layout::Line)
}

/// Writes a path as one word of a POSIX shell.
pub(super) fn word(path: &Path) -> String {
    let shown = shown(path);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~@:,=%".contains(c);
    if !shown.is_empty() && !shown.starts_with(['~', '-']) && shown.chars().all(is_plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_harmless_word() {
        for (path, expected) in [
            ("/a/b+c~1.jsonl", "/a/b+c~1.jsonl"),
            ("/a b", "'/a b'"),
            ("~x", "'~x'"),
            ("/a'; rm -rf $HOME #", r"'/a'\''; rm -rf $HOME #'"),
            ("/a\u{1B}[31m", "/a"),
        ] {
            assert_eq!(word(Path::new(path)), expected);
        }
    }
}
