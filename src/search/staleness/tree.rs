//! Reads the files of a work tree that memories name. It reads nothing outside of the tree and follows no link. Not
//! here: history (`git`).

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use event::Timestamp;

/// Longest path that is looked up, in bytes; systems allow few more.
const PATH_BYTES_MAX: usize = 1_024;

/// Longest file that is searched for names, in bytes: longer ones are made by machines.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Most bytes of files that are searched for one answer.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Most files of one memory that are searched.
const FILES_MAX: usize = 16;

/// Returns a path as git names it, from the top of the work tree on: without line numbers and symbols behind it.
/// `None` for what cannot be a path in it.
#[must_use]
pub fn path_in(top: &Path, named: &str) -> Option<String> {
    let named = named.trim();
    let named = named.split_once("::").map_or(named, |(file, _)| file);
    let named = named.split_once("#L").map_or(named, |(file, _)| file);
    let named = without_line(named);
    if named.len() > PATH_BYTES_MAX || named.contains(['\\', '*', '?', '<', '{', '\0', '\n']) {
        return None;
    }
    let path = Path::new(named);
    let path = path.strip_prefix(top).unwrap_or(path);
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    // Git's own files are no files of the tree.
    let is_plain = parts.first().is_some_and(|first| *first != ".git");
    is_plain.then(|| parts.join("/"))
}

/// Tells whether a file is known to be gone from a work tree: its path begins with a folder that is there, and it is
/// not. Of a bare name, the end of a path, a pattern or a path of another machine nothing is known.
#[must_use]
pub fn is_gone(top: &Path, file: &str) -> bool {
    let file = without_line(file.trim());
    if file.len() > PATH_BYTES_MAX || file.contains(['\\', '*', '?', '<', '{', '\0']) {
        return false;
    }
    let path = Path::new(file);
    let path = path.strip_prefix(top).unwrap_or(path);
    let parts: Vec<Component<'_>> =
        path.components().filter(|part| *part != Component::CurDir).collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let [first, _, ..] = parts.as_slice() else { return false };
    if !is_plain {
        return false;
    }
    let is_folder = top.join(first).symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder
        && top.join(path).symlink_metadata().is_err_and(|error| {
            use std::io::ErrorKind::{NotADirectory, NotFound};
            matches!(error.kind(), NotFound | NotADirectory)
        })
}

/// A path without the line numbers that tools write behind it.
fn without_line(file: &str) -> &str {
    let numbers = |c: char| c.is_ascii_digit() || c == ':' || c == '-';
    let bare = file.trim_end_matches(numbers);
    match file.get(bare.len()..) {
        Some(rest) if rest.starts_with(':') => bare,
        _ => file,
    }
}

/// Finds a plain file in a work tree; `None` where a link, or anything else, stands in its place or above it.
fn plain_file(top: &Path, path: &str) -> Option<(PathBuf, std::fs::Metadata)> {
    let mut at = top.to_owned();
    let mut found = None;
    for part in Path::new(path).components() {
        at.push(part);
        let metadata = at.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            return None;
        }
        found = Some(metadata);
    }
    let metadata = found.filter(std::fs::Metadata::is_file)?;
    Some((at, metadata))
}

/// When a file of a work tree was last written; `None` where it is no plain file of it.
pub(super) fn written_at(top: &Path, path: &str) -> Option<Timestamp> {
    let (_, metadata) = plain_file(top, path)?;
    Timestamp::try_from(metadata.modified().ok()?).ok()
}

/// Reads files of a work tree for one answer.
pub(super) struct TreeReader<'a> {
    top: &'a Path,
    bytes_left: u64,
}

impl<'a> TreeReader<'a> {
    pub(super) fn new(top: &'a Path) -> Self {
        Self { top, bytes_left: BYTES_MAX }
    }

    /// Returns the texts of files, of those that are there, not too long, and within what is left to be read.
    pub(super) fn texts<'p>(&mut self, paths: impl Iterator<Item = &'p String>) -> Vec<Vec<u8>> {
        paths.take(FILES_MAX).filter_map(|path| self.text(path)).collect()
    }

    fn text(&mut self, path: &str) -> Option<Vec<u8>> {
        let (file, metadata) = plain_file(self.top, path)?;
        let bytes = metadata.len();
        if bytes > FILE_BYTES_MAX {
            return None;
        }
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        let mut text = Vec::new();
        File::open(file).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut text).ok()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STALE-5
    #[test]
    fn a_path_stays_within_the_work_tree() {
        let top = Path::new("/repo/api");
        for (named, path) in [
            ("src/a.rs", "src/a.rs"),
            ("./src//a.rs:12:3", "src/a.rs"),
            ("/repo/api/src/a.rs", "src/a.rs"),
            ("src/a.rs::Store::open", "src/a.rs"),
            ("docs/a.md#L4-L9", "docs/a.md"),
            ("Cargo.toml", "Cargo.toml"),
            (":(top)x", ":(top)x"),
            ("-x", "-x"),
        ] {
            assert_eq!(path_in(top, named).as_deref(), Some(path), "{named}");
        }
        for outside in
            ["", ".", "../x", "src/../../x", "/etc/passwd", "src/*.rs", "src\\a.rs", ".git/config"]
        {
            assert_eq!(path_in(top, outside), None, "{outside}");
        }
    }

    // S-STALE-5
    #[cfg(unix)]
    #[test]
    fn links_in_the_tree_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (top, outside) = (folder.path().join("top"), folder.path().join("outside"));
        std::fs::create_dir_all(top.join("src")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("a.rs"), "secret_name").unwrap();
        std::fs::write(top.join("src/a.rs"), "open_name").unwrap();
        symlink(outside.join("a.rs"), top.join("src/b.rs")).unwrap();
        symlink(&outside, top.join("lib")).unwrap();
        let paths = ["src/a.rs", "src/b.rs", "lib/a.rs", "src"].map(str::to_owned);
        assert_eq!(TreeReader::new(&top).texts(paths.iter()), [b"open_name".to_vec()]);
        let written = paths.iter().filter(|path| written_at(&top, path).is_some());
        assert_eq!(written.count(), 1);
    }

    // S-STALE-5
    #[test]
    fn long_files_are_not_searched_and_all_together_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a", 10), ("b", FILE_BYTES_MAX + 1)] {
            File::create(folder.path().join(name)).unwrap().set_len(bytes).unwrap();
        }
        let mut reading = TreeReader { top: folder.path(), bytes_left: 15 };
        assert!(reading.text("b").is_none() && reading.text("a").is_some());
        assert!(reading.text("a").is_none(), "there is room for one");
    }

    // S-CONTEXT-5
    #[test]
    fn only_a_file_git_knew_counts_as_gone() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        std::fs::create_dir_all(top.join("src/lib")).unwrap();
        std::fs::write(top.join("src/lib/a.rs"), "").unwrap();
        for gone in [
            "src/b.rs",
            "./src/b.rs",
            "src/lib/b.rs:12",
            "src/b.rs:3:4",
            "src/lib/a.rs/x",
            "src/v-2",
        ] {
            assert!(is_gone(top, gone), "{gone}");
        }
        assert!(is_gone(top, top.join("src/b.rs").to_str().unwrap()));
        for unknown in [
            "",
            "src",
            "src/lib",
            "src/lib/a.rs",
            "src/lib/a.rs:12",
            "b.rs",
            "lib/b.rs",
            "/etc/nothing",
            "../src/b.rs",
            "src/../b.rs",
            "src/*.rs",
            "src\\b.rs",
            "https://example.org/src/b.rs",
        ] {
            assert!(!is_gone(top, unknown), "{unknown}");
        }
        assert!(!is_gone(top, &format!("src/{}", "x".repeat(2_000))));
    }
}
