//! How paths are shown to people: safe for terminals, and safe to paste into a shell. Not here: the messages
//! around them.

use std::path::Path;

use guard::text::{Layout, neutralise};

/// Shows a path. Any program can put a file into the store, and its name may contain terminal commands.
pub(super) fn display_path(path: &Path) -> String {
    neutralise(&path.display().to_string(), Layout::Line)
}

/// Quotes a path as one word of a POSIX shell.
pub(super) fn shell_word(path: &Path) -> String {
    let shown = display_path(path);
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
            assert_eq!(shell_word(Path::new(path)), expected);
        }
    }
}
