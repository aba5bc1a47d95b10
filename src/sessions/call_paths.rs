//! The paths in the calls of a session, by how much they say about the repository that it worked on: edited files first, then the
//! directories of its commands, then what it only looked at. Not here: which repositories these are (`repo_of_session`).

use learning::commands::{directory, working_parts};
use transcripts::exchange::{Exchange, PartKind};
use transcripts::transcript::Outcome;

/// Most paths of one kind. A session that touches more has told enough.
const PATHS_MAX: usize = 200;

/// Options of programs before the directory in which they work.
const DIRECTORY_OPTIONS: [(&str, &str); 6] = [
    ("git", "-C"),
    ("make", "-C"),
    ("npm", "--prefix"),
    ("pnpm", "-C"),
    ("pnpm", "--dir"),
    ("yarn", "--cwd"),
];

/// The absolute paths in the calls of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallPaths {
    /// Files that were edited.
    pub(super) edited: Vec<String>,
    /// How many edits have a path that counts from the session's directory.
    pub(super) relative_edits: usize,
    /// Directories in which commands ran.
    pub(super) entered: Vec<String>,
    /// Other paths that tools were given.
    pub(super) named: Vec<String>,
}

impl CallPaths {
    /// Collects the paths of a session.
    pub(super) fn of_exchanges(exchanges: &[Exchange]) -> Self {
        let mut paths = Self::default();
        for part in exchanges.iter().flat_map(|exchange| &exchange.parts) {
            match &part.kind {
                PartKind::Edited { outcome: Outcome::Refused(_), .. } => {}
                PartKind::Edited { path, .. } if is_absolute(path) => add(&mut paths.edited, path),
                PartKind::Edited { .. } => paths.relative_edits += 1,
                PartKind::Ran { command, .. } => {
                    directories(command).iter().for_each(|path| add(&mut paths.entered, path));
                }
                PartKind::Called { argument, .. } => add(&mut paths.named, argument),
                _ => {}
            }
        }
        paths
    }
}

fn add(paths: &mut Vec<String>, path: &str) {
    let is_plain = !path.contains(['\n', '$', '*', '\0']);
    if paths.len() < PATHS_MAX
        && is_plain
        && is_absolute(path)
        && !paths.iter().any(|known| known == path)
    {
        paths.push(path.to_owned());
    }
}

fn is_absolute(path: &str) -> bool {
    let is_drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    path.starts_with('/') || path.starts_with("~/") || is_drive
}

/// Returns the directories to which a command goes, or in which it says that a program shall work.
fn directories(command: &str) -> Vec<String> {
    let mut found: Vec<String> = directory(command).into_iter().collect();
    for part in working_parts(command) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let program = words.first().copied().unwrap_or_default();
        let values = words.windows(2).filter_map(|pair| match pair {
            [option, value] if DIRECTORY_OPTIONS.contains(&(program, *option)) => Some(*value),
            _ => None,
        });
        found.extend(values.map(|value| value.trim_matches(['"', '\'']).to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work_trail::made_up::{edited, exchange, ran};

    #[test]
    fn calls_name_files_and_directories() {
        let called = PartKind::Called {
            tool: "Read".to_owned(),
            argument: "/w/blog/a.md".to_owned(),
            outcome: Outcome::Succeeded,
            excerpt: String::new(),
        };
        let parts = [
            edited("/w/shop/a.rs"),
            edited("src/b.rs"),
            ran("cd /w/shop && make x"),
            ran("git -C '/w/web' push"),
            ran("cd $HOME && make x"),
            called,
        ];
        let paths = CallPaths::of_exchanges(&[exchange(&parts)]);
        assert_eq!((paths.edited, paths.relative_edits), (vec!["/w/shop/a.rs".to_owned()], 1));
        assert_eq!(paths.entered, ["/w/shop", "/w/web"]);
        assert_eq!(paths.named, ["/w/blog/a.md"]);
    }
}
