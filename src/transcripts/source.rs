//! What a reader of transcripts is, and where it looks. Not here: what it reports (`transcript`), the readers
//! themselves (`readers`), which files were read before (the importer).

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use guard::secrets::RedactedText;
use thiserror::Error;

use super::transcript::TranscriptSink;

/// Reads the transcripts of one tool. Files are only ever opened for reading.
pub trait TranscriptReader: Sync {
    /// Describes the tool.
    fn tool(&self) -> &'static Tool;

    /// Returns the folders in which this tool keeps its transcripts. They need not exist.
    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf>;

    /// Lists the transcripts below a root. Use [`files_below`]; a session must not be listed twice.
    ///
    /// # Errors
    /// [`ReadError`]
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError>;

    /// Tells whether a file holds only the prompts of sessions. Where a session has a transcript, that counts instead.
    fn holds_only_prompts(&self, _file: &TranscriptFile) -> bool {
        false
    }

    /// Reads a transcript and reports it. `resume` is what the last call for this file returned, if the file has only
    /// grown since; a reader that cannot go on reads it whole.
    ///
    /// # Errors
    /// [`ReadError`]. What was reported until then counts.
    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError>;
}

/// A tool whose transcripts can be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name in commands and answers, such as `claude-code`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Raised when the reader learns to read more: then its files are read again.
    pub parser_version: u32,
    /// Whether the reader was tried on files that the tool itself wrote.
    pub is_tried: bool,
    /// After how many days the tool deletes transcripts by default, if it does.
    pub days_kept: Option<u32>,
}

/// Where transcripts may be.
pub struct TranscriptPlaces<'a> {
    /// The home directory.
    pub home: PathBuf,
    /// The platform's directory for the data of programs: `~/.local/share`, `~/Library/Application Support`, `%APPDATA%`.
    pub data: PathBuf,
    /// The platform's directory for configuration: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub config: PathBuf,
    /// The work trees that are known, for tools that keep transcripts there.
    pub work_trees: Vec<PathBuf>,
    /// Looks up an environment variable.
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
}

impl TranscriptPlaces<'_> {
    /// Returns the path in an environment variable, unless it is unset or empty.
    #[must_use]
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        (self.lookup)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Returns the path in an environment variable, or a path below the home directory.
    #[must_use]
    pub fn named_or_home(&self, variable: &str, below_home: &str) -> PathBuf {
        self.named(variable).unwrap_or_else(|| self.home.join(below_home))
    }
}

/// A file that holds one transcript or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// Its path.
    pub path: PathBuf,
    /// The root below which it was found.
    pub root: PathBuf,
}

impl TranscriptFile {
    /// Returns the name of the file without its extensions, or nothing if it is not UTF-8.
    #[must_use]
    pub fn stem(&self) -> Option<&str> {
        let name = self.path.file_name()?.to_str()?;
        Some(name.split_once('.').map_or(name, |(stem, _)| stem))
    }
}

/// Where to go on in a file that has grown.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Resume {
    /// The byte after the last complete record; the importer may set it back to the start of the last exchange.
    pub offset: u64,
    /// What the reader must remember from the beginning of the file. It must not depend on the offset. For a database:
    /// what tells which sessions have changed.
    pub state: serde_json::Value,
}

/// Why a transcript cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file or folder cannot be read.
    #[error("failed to read {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not what its name says.
    #[error("{} is {what}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
}

impl ReadError {
    /// Returns a function that adds the path to an error of the system.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }

    /// Says it of a file whose path is shown as `shown`: the path itself may hold what nobody should see.
    #[must_use]
    pub fn about(&self, shown: &RedactedText) -> String {
        match self {
            Self::Io { error, .. } => format!("failed to read {shown}: {error}"),
            Self::Form { what, .. } => format!("{shown} is {what}"),
        }
    }

    /// Tells whether the system failed to read, so that the same file may be read another time. What a file says stays the same;
    /// what unpacks a file makes errors of its own, without a number of the system.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.raw_os_error().is_some())
    }

    /// Returns an error about the form of a file.
    #[must_use]
    pub fn form(path: &Path, what: impl Into<String>) -> Self {
        Self::Form { path: path.to_owned(), what: what.into() }
    }
}

/// Most files and folders that are looked at below one root: a root that is the whole disk must not stop the import.
const ENTRIES_MAX: usize = 2_000_000;

/// Lists the files below a root that `wanted` accepts, at most `depth` folders down, sorted by path. A missing root has
/// none. A link is followed only to a file below the same root; folders are never entered through one.
///
/// # Errors
/// [`ReadError::Io`] if the root exists and cannot be listed. A folder further down that cannot be listed is left out.
pub fn files_below(
    root: &Path,
    depth: usize,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<TranscriptFile>, ReadError> {
    let real_root = match root.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ReadError::io(root)(error)),
    };
    if root.is_file() {
        let file = TranscriptFile { path: root.to_owned(), root: root.to_owned() };
        return Ok(wanted(root).then_some(file).into_iter().collect());
    }
    let (mut found, mut left) = (Vec::new(), ENTRIES_MAX);
    let mut open = vec![(root.to_owned(), depth)];
    while let Some((folder, depth)) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(ReadError::io(root)(error)),
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                _ if left == 0 => break,
                Ok(kind) if kind.is_dir() && depth > 0 => open.push((path, depth - 1)),
                Ok(kind) if kind.is_file() && wanted(&path) => found.push(path),
                Ok(kind) if kind.is_symlink() && wanted(&path) && is_inside(&path, &real_root) => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }
    found.sort_unstable();
    let file = |path| TranscriptFile { path, root: root.to_owned() };
    Ok(found.into_iter().map(file).collect())
}

/// Tells whether a link leads to a file below the root.
fn is_inside(link: &Path, real_root: &Path) -> bool {
    link.canonicalize().is_ok_and(|real| real.is_file() && real.starts_with(real_root))
}

/// Tells whether a path exists and is not below a folder, because of a link.
#[must_use]
pub fn leads_out_of(folder: &Path, path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    folder.canonicalize().is_ok_and(|folder| !real.starts_with(folder))
}

/// Tells whether a path has this extension; several may be given, such as `jsonl.zst`.
#[must_use]
pub fn has_extension(path: &Path, extension: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.') && stem.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_root_has_no_files() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(files_below(&folder.path().join("none"), 3, &|_| true).unwrap(), []);
    }

    #[cfg(unix)]
    // S-SESS-2
    #[test]
    fn links_never_lead_out_of_a_root() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        for file in [root.join("a/b/x.jsonl"), root.join("y.jsonl"), outside.join("z.jsonl")] {
            std::fs::write(file, "{}\n").unwrap();
        }
        symlink(&outside, root.join("folder")).unwrap();
        symlink(outside.join("z.jsonl"), root.join("z.jsonl")).unwrap();
        symlink(root.join("y.jsonl"), root.join("a/link.jsonl")).unwrap();
        let found = files_below(&root, 2, &|path| has_extension(path, "jsonl")).unwrap();
        let names: Vec<_> =
            found.iter().map(|file| file.path.strip_prefix(&root).unwrap()).collect();
        let expected = ["a/b/x.jsonl", "a/link.jsonl", "y.jsonl"].map(Path::new);
        assert_eq!(names, expected);
        let near = files_below(&root, 0, &|path| has_extension(path, "jsonl")).unwrap();
        assert_eq!(near.len(), 1, "no folder is entered");
    }

    #[test]
    fn extensions_may_have_several_parts() {
        assert!(has_extension(Path::new("a/rollout.jsonl.zst"), "jsonl.zst"));
        assert!(!has_extension(Path::new("a/rollout.jsonl.zst"), "jsonl"));
        assert!(!has_extension(Path::new("a/.jsonl"), "jsonl"));
    }
}
