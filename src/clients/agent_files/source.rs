//! Reads one agent file: a plain file of the work tree, of limited length. Not here: its content.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::at_imports::{AtImport, at_imports};
use super::visible_lines::{prose_lines, unclosed_block_line};
use guard::encoding::decoded_text;

/// Longest file that is read, in bytes. What agents load at every start is about a thousandth of it.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// An agent file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// Its path from the top of the work tree, with `/`.
    pub name: String,
    /// Its text; empty if the file is gone.
    pub text: String,
    /// The files that it imports with `@path`.
    pub imports: Vec<AtImport>,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum UnreadableFile {
    /// It does not exist.
    Missing,
    /// The folder in which it would be does not exist.
    NoFolder,
    /// It is outside the work tree.
    Outside,
    /// It is a link.
    Link,
    /// It is a folder, a device, too long, or not text.
    NotText,
    /// A block of ours begins on this line, from 1, and does not end, so it is unknown what is ours.
    UnclosedBlock(usize),
    /// An error of the operating system.
    Io(io::Error),
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("there is no such file"),
            Self::NoFolder => out.write_str("there is no such folder"),
            Self::Outside => {
                out.write_str("must be in the work tree of this directory, for example AGENTS.md")
            }
            Self::Link => out.write_str("is a link; name the file that it points to"),
            Self::NotText => out.write_str("is not a text file (UTF-8 or UTF-16, at most 1 MiB)"),
            Self::UnclosedBlock(line) => {
                write!(
                    out,
                    "line {line}: a block of agent-knowledge begins here and does not end; restore its end mark"
                )
            }
            Self::Io(error) => write!(out, "cannot be read: {error}"),
        }
    }
}

impl AgentFile {
    /// Reads a file of the work tree `top`, by its path from there.
    ///
    /// # Errors
    /// [`UnreadableFile`].
    pub fn read(top: &Path, name: &str) -> Result<Self, UnreadableFile> {
        let path = path_without_links(top, name)?;
        let found = path.symlink_metadata().map_err(UnreadableFile::Io)?;
        if !found.is_file() || found.len() > FILE_BYTES_MAX {
            return Err(UnreadableFile::NotText);
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(UnreadableFile::Io)?;
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(UnreadableFile::Io)?;
        let text = decoded_text(bytes).ok_or(UnreadableFile::NotText)?;
        if let Some(line) = unclosed_block_line(&text) {
            return Err(UnreadableFile::UnclosedBlock(line));
        }
        let imports = at_imports(top, name, &prose_lines(&text));
        Ok(Self { name: name.to_owned(), text, imports })
    }

    /// A file that was imported before and no longer exists.
    #[must_use]
    pub fn deleted(name: &str) -> Self {
        Self { name: name.to_owned(), text: String::new(), imports: Vec::new() }
    }
}

/// Returns the path of a file of the work tree. Every link on the way is refused.
fn path_without_links(top: &Path, name: &str) -> Result<PathBuf, UnreadableFile> {
    if !is_below(name) {
        return Err(UnreadableFile::Outside);
    }
    let mut path = top.to_owned();
    for part in Path::new(name).components() {
        let Component::Normal(part) = part else { return Err(UnreadableFile::Outside) };
        path.push(part);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => return Err(UnreadableFile::Link),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(UnreadableFile::Missing);
            }
            Err(error) => return Err(UnreadableFile::Io(error)),
        }
    }
    Ok(path)
}

/// Tells whether a name is a path from the top of a work tree downwards, outside the folder of git.
#[must_use]
pub fn is_below(name: &str) -> bool {
    let mut parts = Path::new(name).components().peekable();
    let is_outside_git = parts.peek().is_some_and(|first| first.as_os_str() != ".git");
    is_outside_git && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the path of a file from the top of the work tree, for a name that was given in a directory.
///
/// # Errors
/// [`UnreadableFile::Outside`] if it is not in the work tree.
pub fn path_below(top: &Path, directory: &Path, file: &Path) -> Result<String, UnreadableFile> {
    let path = directory.join(file);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(UnreadableFile::Outside);
    };
    let folder = folder.canonicalize().map_err(|_| UnreadableFile::NoFolder)?;
    let whole = folder.join(name);
    let below = whole.strip_prefix(top).map_err(|_| UnreadableFile::Outside)?;
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    match parts {
        Some(parts) if parts.first().is_some_and(|first| *first != ".git") => Ok(parts.join("/")),
        _ => Err(UnreadableFile::Outside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-1
    #[test]
    fn a_file_is_named_from_the_top_of_its_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("api");
        std::fs::create_dir_all(top.join("docs")).unwrap();
        let below = |file: &str| path_below(&top, &top.join("docs"), Path::new(file)).ok();
        assert_eq!(below("../AGENTS.md").as_deref(), Some("AGENTS.md"));
        assert_eq!(below("RULES.md").as_deref(), Some("docs/RULES.md"));
        let whole = top.join("AGENTS.md");
        assert_eq!(below(whole.to_str().unwrap()).as_deref(), Some("AGENTS.md"));
        for outside in ["../../x.md", "/etc/hosts", "..", "nowhere/x.md", "../.git/x"] {
            assert_eq!(below(outside), None, "{outside}");
        }
    }

    // S-FILE-1
    #[cfg(unix)]
    #[test]
    fn only_plain_text_files_are_read() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        std::fs::write(top.join("AGENTS.md"), "- a\n").unwrap();
        std::fs::write(top.join("bytes.md"), b"\xFF\xFEx").unwrap();
        std::fs::write(top.join("windows.md"), b"\xFF\xFE-\0 \0b\0\r\0\n\0").unwrap();
        std::fs::create_dir(top.join("folder")).unwrap();
        File::create(top.join("long.md")).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        symlink(top.join("AGENTS.md"), top.join("CLAUDE.md")).unwrap();
        symlink(top, top.join("round")).unwrap();
        assert_eq!(AgentFile::read(top, "AGENTS.md").unwrap().text, "- a\n");
        assert_eq!(AgentFile::read(top, "windows.md").unwrap().text, "- b\r\n");
        let why = |name: &str| AgentFile::read(top, name).unwrap_err().to_string();
        assert!(
            why("CLAUDE.md").starts_with("is a link")
                && why("round/AGENTS.md").starts_with("is a link")
        );
        for name in ["bytes.md", "folder", "long.md"] {
            assert!(why(name).starts_with("is not a text file"), "{name}");
        }
        assert!(why("none.md").starts_with("there is no"));
        for outside in ["../x", "folder/../../x", "/etc/hosts", ".git/config", ""] {
            assert!(!is_below(outside) && why(outside).starts_with("must be in"), "{outside}");
        }
        std::fs::write(top.join("open.md"), "- a\n<!-- agent-knowledge: begin -->\n- b\n").unwrap();
        assert!(why("open.md").starts_with("line 2: a block of agent-knowledge begins"));
    }
}
