//! Reads the files that rule files import with `@path`, and names the imports that are not read. Not here: which words are such paths
//! (`at_imports`).

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use super::at_imports::AtImport;
use super::found_files::UnreadPath;
use super::source::{AgentFile, UnreadableFile};

/// How many imports lead to a file at most, as in Claude Code.
const STEPS_MAX: usize = 5;
/// Most files that imports add.
const IMPORTED_MAX: usize = 200;

/// The files that imports add, and those that are not read.
#[derive(Debug, Default)]
pub struct FollowedImports {
    /// Files that no caller named, in the order in which they are met.
    pub files: Vec<AgentFile>,
    /// Imports that are not followed.
    pub left: Vec<UnreadPath>,
}

impl FollowedImports {
    /// Follows the imports of files, each file once: no circle is followed.
    #[must_use]
    pub fn follow(top: &Path, sources: &[&AgentFile]) -> Self {
        let mut followed = Self::default();
        let mut seen: BTreeSet<String> = sources.iter().map(|file| file.name.clone()).collect();
        let mut open: VecDeque<(usize, String, AtImport)> = VecDeque::new();
        let imports_of = |file: &AgentFile, steps: usize| {
            let named = |import: &AtImport| (steps, file.name.clone(), import.clone());
            file.imports.iter().map(named).collect::<Vec<_>>()
        };
        sources.iter().for_each(|file| open.extend(imports_of(file, 1)));
        while let Some((steps, by, AtImport { path, target })) = open.pop_front() {
            let name = match target {
                Ok(name) if seen.contains(&name) => continue,
                Ok(_) if steps > STEPS_MAX => {
                    followed.leave(&path, &by, "more than 5 imports deep");
                    continue;
                }
                Ok(_) if followed.files.len() >= IMPORTED_MAX => {
                    followed.leave(&path, &by, "there are more than 200 imports");
                    continue;
                }
                Ok(name) => name,
                Err(why) => {
                    followed.leave(&path, &by, &why);
                    continue;
                }
            };
            seen.insert(name.clone());
            match AgentFile::read(top, &name) {
                Ok(file) => {
                    open.extend(imports_of(&file, steps + 1));
                    followed.files.push(file);
                }
                Err(UnreadableFile::Link) => followed.leave(&path, &by, "a link"),
                Err(why) => followed.leave(&path, &by, &why.to_string()),
            }
        }
        followed
    }

    fn leave(&mut self, path: &str, by: &str, why: &str) {
        let (path, reason) = (format!("@{path}"), format!("{why}, in {by}"));
        let left = UnreadPath { path, files: None, reason };
        if !self.left.contains(&left) {
            self.left.push(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn followed(top: &Path, name: &str) -> (Vec<String>, Vec<String>) {
        let source = AgentFile::read(top, name).unwrap();
        let followed = FollowedImports::follow(top, &[&source]);
        let left = followed.left.into_iter().map(|left| format!("{}: {}", left.path, left.reason));
        (followed.files.into_iter().map(|file| file.name).collect(), left.collect())
    }

    // S-FILE-9
    #[test]
    fn imports_are_followed_within_the_work_tree() {
        let folder = tree(&[
            (
                "CLAUDE.md",
                "@AGENTS.md @~/.claude/mine.md\nSee @docs/style.md, and (@docs/none.md).\n\
                Use @acme/ui and @types/node, and ask @ana. `@docs/code.md`\n```\n@docs/code.md\n```\n@package.json\n@../../etc/x.md\n",
            ),
            ("AGENTS.md", "@CLAUDE.md\n@./docs/style.md\n"),
            ("docs/style.md", "- tabs\n@more/deep.md\n@README\n"),
            ("docs/more/deep.md", "- deeper\n"),
            ("docs/code.md", "- in code\n"),
            ("README", "- read me\n"),
            ("package.json", "{}"),
        ]);
        let (files, left) = followed(folder.path(), "CLAUDE.md");
        assert_eq!(files, ["AGENTS.md", "docs/style.md", "docs/more/deep.md", "README"]);
        assert_eq!(
            left,
            [
                "@~/.claude/mine.md: outside the work tree, in CLAUDE.md",
                "@docs/none.md: there is no such file, in CLAUDE.md",
                "@package.json: neither Markdown nor plain text, in CLAUDE.md",
                "@../../etc/x.md: outside the work tree, in CLAUDE.md",
            ]
        );
    }

    // S-FILE-9
    #[test]
    fn imports_end_after_five_steps() {
        let names: Vec<(String, String)> =
            (0..8).map(|n| (format!("d/{n}.md"), format!("@{}.md\n- rule {n}\n", n + 1))).collect();
        let names: Vec<(&str, &str)> =
            names.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let folder = tree(&names);
        let (files, left) = followed(folder.path(), "d/0.md");
        assert_eq!(files, ["d/1.md", "d/2.md", "d/3.md", "d/4.md", "d/5.md"]);
        assert_eq!(left, ["@6.md: more than 5 imports deep, in d/5.md"]);
    }

    // S-FILE-9
    #[cfg(unix)]
    #[test]
    fn an_import_of_a_link_is_not_followed() {
        let folder = tree(&[("CLAUDE.md", "@docs/out.md\n")]);
        std::fs::create_dir(folder.path().join("docs")).unwrap();
        std::os::unix::fs::symlink("/etc/hosts", folder.path().join("docs/out.md")).unwrap();
        let (files, left) = followed(folder.path(), "CLAUDE.md");
        assert!(files.is_empty());
        assert_eq!(left, ["@docs/out.md: a link, in CLAUDE.md"]);
    }
}
