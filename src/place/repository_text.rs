//! What somebody gives as a repository: its name, the path of a work tree, or a word for the one at hand. Models and clients write such
//! words into a field that they could leave out. Not here: which repository a name or a directory means.

use std::path::PathBuf;

use crate::foreign_path::{directory_of_text, is_foreign, is_placeholder};
use crate::machine::Machine;

/// A word in the place of a repository's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryWord {
    /// No value was given: a program wrote that it has none, or nobody replaced a variable.
    Missing,
    /// The repository at hand.
    AtHand,
}

/// Words for the repository at hand. No repository is known by one of them alone: a program that had no name for it made the log.
const AT_HAND: [&str; 12] = [
    ".", "./", "current", "here", "this", "self", "cwd", "pwd", "auto", "default", "unknown",
    "same",
];

/// Words for no value, besides those that stand for a missing path.
const MISSING: [&str; 6] = ["n/a", "unset", "unspecified", "not specified", "not given", "empty"];

/// What may follow `this` and `current`.
const NOUNS: [&str; 8] =
    ["repo", "repository", "project", "directory", "folder", "workspace", "work tree", "worktree"];

impl RepositoryWord {
    /// Reads a word; nothing for a name or a path.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let is_bracket =
            |c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>');
        let word = text.trim().trim_matches(is_bracket).trim().to_ascii_lowercase();
        let spaced = word.replace(['_', '-'], " ");
        let mut parts = spaced.splitn(2, ' ');
        let begins = parts.next().is_some_and(|first| matches!(first, "this" | "current"));
        if AT_HAND.contains(&&*word)
            || (begins && parts.next().is_some_and(|rest| NOUNS.contains(&rest)))
        {
            return Some(Self::AtHand);
        }
        let is_missing =
            is_placeholder(&word) || MISSING.contains(&&*spaced) || is_placeholder(text);
        is_missing.then_some(Self::Missing)
    }
}

/// Returns the directory that a text names in the place of a repository: an absolute path of any system, one from the home
/// directory, one that begins with a dot, or the URI of a file. A relative one counts from where its writer stands.
#[must_use]
pub fn repository_directory(text: &str, machine: &Machine) -> Option<PathBuf> {
    let text = text.trim();
    let begins =
        ["/", "~/", "~\\", "./", "../", ".\\", "..\\", "file:", "vscode-remote:", "vscode-local:"];
    let is_path = begins.iter().any(|begin| text.starts_with(begin))
        || matches!(text, "~" | "..")
        || is_foreign(&PathBuf::from(text));
    is_path.then(|| directory_of_text(text, machine)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REPO-8
    #[test]
    fn words_mean_the_repository_at_hand_or_nothing() {
        for word in [
            "current",
            "Current",
            ".",
            "./",
            "here",
            "<current>",
            "this repo",
            "current_repository",
            "\"current\"",
            "current-project",
            "(this workspace)",
            "cwd",
            "unknown",
        ] {
            assert_eq!(RepositoryWord::read(word), Some(RepositoryWord::AtHand), "{word}");
        }
        for word in [
            "undefined",
            "null",
            "None",
            "NaN",
            "",
            " ",
            "${workspaceFolder}",
            "<repo>",
            "$PWD",
            "N/A",
            "unset",
        ] {
            let read = RepositoryWord::read(word);
            assert_eq!(read, Some(RepositoryWord::Missing), "{word}");
        }
        for name in [
            "api",
            "github.com/acme/current",
            "acme/undefined",
            "null-island",
            "currently",
            "this-is-it",
            "global",
            "shop~1a2b3c4d",
            "git@github.com:acme/api.git",
            "/srv/current",
            "nonesuch",
        ] {
            assert_eq!(RepositoryWord::read(name), None, "{name}");
        }
    }

    // S-REPO-8
    #[test]
    fn a_path_is_told_from_a_name() {
        let mut machine = Machine::default();
        machine.home = Some(PathBuf::from("/home/ana"));
        for (text, expected) in [
            ("/home/ana/code/shop", Some("/home/ana/code/shop")),
            ("~/code/shop", Some("/home/ana/code/shop")),
            ("file:///srv/my%20shop", Some("/srv/my shop")),
            ("./packages/web", Some("./packages/web")),
            ("../shop", Some("../shop")),
            ("packages/web", None),
            ("github.com/acme/api", None),
            ("https://github.com/acme/api", None),
            ("git@github.com:acme/api.git", None),
            ("ssh://git@github.com/acme/api", None),
            ("shop~1a2b3c4d", None),
        ] {
            let expected = expected.map(PathBuf::from);
            assert_eq!(repository_directory(text, &machine), expected, "{text}");
        }
    }
}
