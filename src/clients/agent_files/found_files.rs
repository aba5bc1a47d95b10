//! Finds the rule files of a work tree: at its top and in its packages, as far as clients look. The walk is bounded; what is there
//! and is not read is named with the reason. Not here: which paths those are (`rule_sources`), and reading them (`source`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::path::Path;

use super::rule_sources::{RULE_SOURCES, RulePlace, is_rule_word, is_text_name};

/// How deep packages lie, at most.
const DEPTH_MAX: usize = 16;
/// Most folders that are entered. A work tree with more has its rules near the top.
const FOLDERS_MAX: usize = 20_000;
/// Most rule files of a work tree, and most of one folder of rules.
const FILES_MAX: usize = 1_000;

/// Folders that hold what others wrote or what a build made. Hidden folders are entered only for a row of the table.
const NOT_OURS: &[&str] = &[
    "node_modules",
    "bower_components",
    "vendor",
    "third_party",
    "target",
    "dist",
    "build",
    "out",
    "venv",
    "env",
    "site-packages",
    "__pycache__",
    "Pods",
    "DerivedData",
    "coverage",
];

/// Folders that clients keep beside rules for what a person starts.
const NO_RULES: &[&str] = &["workflows", "hooks", "skills"];

/// Rule files of a work tree.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// Their paths from the top, in the order of the table; packages come after the top.
    pub files: Vec<String>,
    /// What is there and not read.
    pub left: Vec<UnreadPath>,
}

/// A path that looks like rules and is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadPath {
    /// Its path from the top.
    pub path: String,
    /// How many files it has, if it is a folder.
    pub files: Option<usize>,
    /// Why it is not read, for people.
    pub reason: String,
}

impl FoundFiles {
    /// Looks through a work tree.
    #[must_use]
    pub fn below(top: &Path) -> Self {
        let mut walk = RuleWalk { top, found: Self::default(), folders: 0, ignored: Vec::new() };
        walk.enter("", 0);
        walk.found
    }

    /// Looks through one folder for rules: those that clients read there, or else all texts of a folder that a client hides.
    /// Returns nothing for any other folder.
    #[must_use]
    pub fn in_folder(top: &Path, folder: &str) -> Self {
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let mut found = Self::below(top);
        found.files.retain(|file| inside(file));
        found.left.retain(|left| inside(&left.path) && left.files.is_none());
        let is_hidden = folder.split('/').any(|part| part.starts_with('.'));
        if !found.files.is_empty() && is_hidden {
            return found;
        }
        let mut walk = RuleWalk { top, found: Self::default(), folders: 0, ignored: Vec::new() };
        let ends: &[&str] =
            if is_hidden { &[".md", ".mdc", ".txt"] } else { &[".mdc", ".instructions.md"] };
        walk.take_folder(folder, ends);
        if walk.found.files.is_empty() { Self::default() } else { walk.found }
    }

    /// Returns all Markdown of one folder, without a look elsewhere.
    pub(super) fn of_folder(top: &Path, folder: &str) -> Self {
        let mut walk = RuleWalk { top, found: Self::default(), folders: 0, ignored: Vec::new() };
        walk.take_folder(folder, &[".md", ".mdc"]);
        walk.found
    }

    /// Tells whether there is nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.left.is_empty()
    }
}

/// A folder's entries, sorted by name.
type Entries = BTreeMap<String, FileType>;

struct RuleWalk<'a> {
    top: &'a Path,
    found: FoundFiles,
    folders: usize,
    /// Names of folders that git ignores wherever they are, as far as its files say so in plain words.
    ignored: Vec<String>,
}

impl RuleWalk<'_> {
    fn enter(&mut self, folder: &str, depth: usize) {
        self.folders += 1;
        let entries = self.entries(folder);
        let known = self.ignored.len();
        self.ignored.extend(self.ignored_folders(folder));
        for row in RULE_SOURCES {
            let path = joined(folder, row.path);
            match row.place {
                RulePlace::File if !row.path.contains('/') => {
                    if entries.get(row.path).is_some_and(|kind| !kind.is_dir()) {
                        self.add_file(path);
                    }
                }
                RulePlace::File => {
                    let (inner, _) = row.path.split_once('/').unwrap_or_default();
                    if entries.contains_key(inner) && self.top.join(&path).is_file() {
                        self.add_file(path);
                    }
                }
                RulePlace::Folder(ends) => self.take_row(folder, &entries, row.path, ends),
            }
        }
        self.name_unknown(folder, &entries);
        for (name, kind) in entries {
            if kind.is_dir() && !self.is_skipped(&name) {
                self.enter_package(&joined(folder, &name), depth + 1);
            }
        }
        self.ignored.truncate(known);
    }

    fn enter_package(&mut self, folder: &str, depth: usize) {
        let path = self.top.join(folder);
        if path.join(".git").symlink_metadata().is_ok() {
            let has_rules =
                ["AGENTS.md", "CLAUDE.md"].iter().find(|name| path.join(name).is_file());
            if let Some(name) = has_rules {
                self.leave(joined(folder, name), None, "of another repository");
            }
        } else if depth > DEPTH_MAX || self.folders >= FOLDERS_MAX {
            if self.folders == FOLDERS_MAX {
                self.folders += 1;
                self.leave(folder.to_owned(), None, "the search ends after 20,000 folders");
            }
        } else {
            self.enter(folder, depth);
        }
    }

    /// Takes a folder of a row, and those beside it for a mode.
    fn take_row(&mut self, folder: &str, entries: &Entries, row: &str, ends: &[&str]) {
        let Some((outer, inner)) = row.split_once('/') else {
            if entries.get(row).is_some_and(FileType::is_dir) {
                self.take_folder(&joined(folder, row), ends);
            }
            return;
        };
        if !entries.get(outer).is_some_and(FileType::is_dir) {
            return;
        }
        let outer = joined(folder, outer);
        for (name, kind) in self.entries(&outer) {
            let mode = name.strip_prefix(inner);
            if kind.is_dir() && mode.is_some_and(|mode| mode.is_empty() || mode.starts_with('-')) {
                self.take_folder(&joined(&outer, &name), ends);
            } else if kind.is_symlink() && name == inner {
                self.leave(joined(&outer, &name), None, "a link");
            }
        }
    }

    /// Takes all files of a folder of rules that end so, and names the others.
    fn take_folder(&mut self, folder: &str, ends: &[&str]) {
        let (mut open, mut others) = (vec![(folder.to_owned(), 0)], 0);
        while let Some((at, depth)) = open.pop() {
            for (name, kind) in self.entries(&at) {
                let path = joined(&at, &name);
                let is_rule = ends.iter().any(|end| name.ends_with(end));
                if kind.is_dir() && NO_RULES.contains(&&*name) {
                    self.leave(path, None, "is run by name, and no rule");
                } else if kind.is_dir() && depth < DEPTH_MAX {
                    open.push((path, depth + 1));
                } else if is_rule && !kind.is_dir() {
                    self.add_file(path);
                } else if !name.starts_with('.') {
                    others += 1;
                }
            }
        }
        if others > 0 {
            let reason = format!("its rules end in {}", ends.join(" or "));
            let path = format!("{folder}/*");
            self.found.left.push(UnreadPath { path, files: Some(others), reason });
        }
    }

    /// Names what looks like rules of a client that the table does not know.
    fn name_unknown(&mut self, folder: &str, entries: &Entries) {
        for (name, kind) in entries.iter().filter(|(name, _)| name.starts_with('.')) {
            let path = joined(folder, name);
            let is_known = |path: &str| {
                let below = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
                RULE_SOURCES.iter().any(|row| {
                    let rest = below.strip_prefix(row.path);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                })
            };
            if !kind.is_dir() {
                let is_rules = name.ends_with("rules") || name.ends_with("rules.md");
                if is_rules && !is_known(&path) {
                    self.leave_unknown(path, None);
                }
                continue;
            }
            for (inner, kind) in self.entries(&path) {
                let inside = joined(&path, &inner);
                if !is_rule_word(&inner) || is_known(&inside) {
                    continue;
                }
                let texts = self.entries(&inside).keys().filter(|name| is_text_name(name)).count();
                if kind.is_dir() && texts > 0 {
                    self.leave_unknown(inside, Some(texts));
                } else if kind.is_file() && is_text_name(&inner) {
                    self.leave_unknown(inside, None);
                }
            }
        }
    }

    fn leave_unknown(&mut self, path: String, files: Option<usize>) {
        let reason = format!("no client that is known; agent-knowledge import {path} reads it");
        self.found.left.push(UnreadPath { path, files, reason });
    }

    fn add_file(&mut self, path: String) {
        if self.found.files.len() >= FILES_MAX {
            self.leave(path, None, "there are more than 1,000 rule files");
        } else if !self.found.files.contains(&path) {
            self.found.files.push(path);
        }
    }

    fn leave(&mut self, path: String, files: Option<usize>, reason: &str) {
        if self.found.left.len() < FILES_MAX {
            self.found.left.push(UnreadPath { path, files, reason: reason.to_owned() });
        }
    }

    fn is_skipped(&self, name: &str) -> bool {
        name.starts_with('.')
            || NOT_OURS.contains(&name)
            || self.ignored.iter().any(|ignored| ignored == name)
    }

    fn entries(&self, folder: &str) -> Entries {
        let listed = std::fs::read_dir(self.top.join(folder));
        let entries = listed.into_iter().flatten().flatten();
        let named = |entry: std::fs::DirEntry| {
            Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?))
        };
        entries.filter_map(named).collect()
    }

    /// Reads the plain names of folders in `.gitignore`: `generated/`, `/tmp`. Patterns and exceptions would need git.
    fn ignored_folders(&self, folder: &str) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.top.join(joined(folder, ".gitignore")));
        let plain = |line: &str| {
            let name = line.trim().trim_start_matches('/').trim_end_matches('/');
            let is_plain = !name.is_empty() && !name.contains(['*', '?', '[', '!', '#', '/', '\\']);
            is_plain.then(|| name.to_owned())
        };
        text.unwrap_or_default().lines().filter_map(plain).collect()
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "- use pnpm\n").unwrap();
        }
        folder
    }

    fn left(found: &FoundFiles) -> Vec<String> {
        let text = |left: &UnreadPath| {
            let count = left.files.map(|files| format!(" ({files})")).unwrap_or_default();
            format!("{}{count}: {}", left.path, left.reason)
        };
        found.left.iter().map(text).collect()
    }

    // S-FILE-7
    #[test]
    fn rule_files_of_today_are_found() {
        let files = [
            "CLAUDE.md",
            "AGENTS.md",
            ".cursorrules",
            "GEMINI.md",
            ".github/copilot-instructions.md",
            ".claude/CLAUDE.md",
            "CLAUDE.local.md",
            ".claude/rules/api/http.md",
            ".cursor/rules/a.mdc",
            ".cursor/rules/deep/b.mdc",
            ".github/instructions/a.instructions.md",
            ".devin/rules/a.md",
            ".windsurf/rules/a.md",
            ".windsurfrules",
            ".clinerules/01-a.md",
            ".roo/rules/a.md",
            ".roo/rules-code/b.md",
            ".kiro/steering/tech.md",
            ".junie/guidelines.md",
            ".continue/rules/a.md",
            ".augment/rules/a.md",
            ".amazonq/rules/a.md",
            ".trae/rules/a.md",
            "packages/web/AGENTS.md",
            "packages/web/.cursor/rules/c.mdc",
            "services/api/CLAUDE.md",
        ];
        let folder = tree(&files);
        let found = FoundFiles::below(folder.path());
        let (mut sorted, mut expected) = (found.files.clone(), files.map(str::to_owned).to_vec());
        assert_eq!(found.files.first().map(String::as_str), Some("CLAUDE.md"));
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected);
        assert!(found.left.is_empty(), "{:?}", left(&found));
        assert_eq!(FoundFiles::below(tree(&[".clinerules"]).path()).files, [".clinerules"]);
    }

    // S-FILE-7
    #[test]
    fn files_of_others_and_of_builds_are_not_entered() {
        let folder = tree(&[
            "node_modules/x/AGENTS.md",
            "target/CLAUDE.md",
            ".git/CLAUDE.md",
            "generated/AGENTS.md",
            "web/tmp/AGENTS.md",
            "web/AGENTS.md",
            "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/AGENTS.md",
            "README.md",
        ]);
        std::fs::write(folder.path().join(".gitignore"), "# made\n/generated/\n*.log\ntmp\n")
            .unwrap();
        assert_eq!(FoundFiles::below(folder.path()).files, ["web/AGENTS.md"]);
    }

    // S-FILE-7
    #[test]
    fn what_is_there_and_not_read_is_named() {
        let folder = tree(&[
            ".cursor/rules/a.mdc",
            ".cursor/rules/notes.json",
            ".newtool/rules/a.md",
            ".newtool/rules/b.md",
            ".othertool/settings.md",
            ".somerules",
            "lib/.git/HEAD",
            "lib/AGENTS.md",
        ]);
        let found = FoundFiles::below(folder.path());
        assert_eq!(found.files, [".cursor/rules/a.mdc"]);
        let unknown = "no client that is known; agent-knowledge import";
        assert_eq!(
            left(&found),
            [
                ".cursor/rules/* (1): its rules end in .mdc or .md".to_owned(),
                format!(".newtool/rules (2): {unknown} .newtool/rules reads it"),
                format!(".somerules: {unknown} .somerules reads it"),
                "lib/AGENTS.md: of another repository".to_owned(),
            ]
        );
    }

    // S-FILE-8
    #[test]
    fn a_folder_of_rules_is_told_from_a_folder_of_notes() {
        let folder = tree(&[
            ".cursor/rules/a.mdc",
            ".cursor/rules/deep/b.mdc",
            ".newtool/rules/a.md",
            "docs/a.md",
            "shared/rules/c.mdc",
            ".github/copilot-instructions.md",
            ".github/SECURITY.md",
            "packages/web/AGENTS.md",
            "packages/web/README.md",
        ]);
        let files = |name: &str| {
            let mut files = FoundFiles::in_folder(folder.path(), name).files;
            files.sort();
            files
        };
        assert_eq!(files(".cursor/rules"), [".cursor/rules/a.mdc", ".cursor/rules/deep/b.mdc"]);
        assert_eq!(files(".cursor"), files(".cursor/rules"));
        assert_eq!(files(".cursor/rules/deep"), [".cursor/rules/deep/b.mdc"]);
        assert_eq!(files(".newtool/rules"), [".newtool/rules/a.md"]);
        assert_eq!(files("shared/rules"), ["shared/rules/c.mdc"]);
        assert_eq!(files(".github"), [".github/copilot-instructions.md"]);
        assert!(files("docs").is_empty() && files("packages/web").is_empty());
    }
}
