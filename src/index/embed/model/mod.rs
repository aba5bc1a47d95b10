//! The model directory: which files belong in it, whether they are the right ones, and how they are
//! installed.
//!
//! A file that is not byte for byte the pinned one is never loaded: the graph compiled into the
//! program names offsets in the weights, and a damaged library would take the process down with it.
//! A small file of earlier checksums saves hashing 91 MB at each start ([`checksum_cache`]).
//!
//! What is not here: loading anything (`minilm`), and where the directory is (the caller says).

mod atomic_write;
mod checksum_cache;
mod fetch;
mod fetch_turn;
#[cfg(not(target_env = "musl"))]
pub(crate) mod int8;
pub(crate) mod pins;

pub use fetch::{FetchError, fetch};
pub use fetch_turn::{FetchState, STARTING, fetch_state};

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use self::checksum_cache::ChecksumCache;
use self::pins::Pin;
use super::EmbedError;
use super::error::one_line;

/// The file by which `scripts/fetch-model` says that there is no ONNX Runtime for this machine.
const NO_RUNTIME: &str = "no-runtime";

/// The state of one file of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It is the pinned one.
    Present,
    /// It is missing.
    Missing,
    /// It is not the pinned one.
    WrongChecksum,
    /// It could not be read.
    Unreadable,
    /// It is a runtime library that somebody installed under another name: used, not checked.
    OwnCopy,
}

impl FileState {
    fn usable(self) -> bool {
        matches!(self, Self::Present | Self::OwnCopy)
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::WrongChecksum => "wrong checksum",
            Self::Unreadable => "unreadable",
            Self::OwnCopy => "your own copy",
        })
    }
}

/// One file of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Name inside the model directory.
    pub name: String,
    /// Its state.
    pub state: FileState,
    /// Size on disk in bytes; zero if it is missing.
    pub bytes: u64,
}

/// The state of the model directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelStatus {
    /// The directory.
    pub dir: PathBuf,
    /// Weights, vocabulary, then the runtime library, where there is one for this machine.
    pub files: Vec<FileStatus>,
    /// Bytes on disk of the weights in eight bits; zero before the first start.
    pub made_bytes: u64,
}

impl ModelStatus {
    /// Whether the local provider can be loaded from these files.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.files.iter().all(|file| file.state.usable())
    }

    /// Bytes on disk, all files together and what was made of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum::<u64>() + self.made_bytes
    }
}

/// Paths of files that were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// The weights, as published.
    pub weights: PathBuf,
    /// The vocabulary.
    pub tokenizer: PathBuf,
    /// The ONNX Runtime library; `None` where there is none for this machine, and the model runs without.
    pub runtime: Option<PathBuf>,
}

/// Checks every file. Hashes the files that changed since the last check (all 121 MB: about a second), else
/// takes well under a millisecond.
#[must_use]
pub fn status(dir: &Path) -> ModelStatus {
    let mut checksums = ChecksumCache::read(dir);
    let mut files: Vec<FileStatus> =
        pins::MODEL_FILES.iter().map(|pin| file_status(dir, pin, &mut checksums)).collect();
    files.extend(runtime_status(dir, &mut checksums));
    checksums.save(dir);
    ModelStatus { dir: dir.to_path_buf(), files, made_bytes: made_bytes(dir) }
}

/// Not checked: a damaged file is made again.
#[cfg(not(target_env = "musl"))]
fn made_bytes(dir: &Path) -> u64 {
    let made = std::fs::metadata(dir.join(pins::INT8_WEIGHTS.name));
    made.ok().filter(std::fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
}

#[cfg(target_env = "musl")]
fn made_bytes(_dir: &Path) -> u64 {
    0
}

/// The checked files of `dir`.
///
/// # Errors
/// The first file that is missing, altered, unreadable or open to other users.
pub fn verify(dir: &Path) -> Result<ModelFiles, EmbedError> {
    let status = status(dir);
    for file in &status.files {
        usable(dir, file)?;
    }
    trust(dir, status.files.iter().map(|file| file.name.as_str()))?;
    let runtime = status.files.get(pins::MODEL_FILES.len()).map(|file| dir.join(&file.name));
    Ok(ModelFiles {
        weights: dir.join(pins::WEIGHTS.name),
        tokenizer: dir.join(pins::TOKENIZER.name),
        runtime,
    })
}

/// Refuses files that another user could have written. The library is code, and the checksums of the other files are
/// not computed again while their times are unchanged.
///
/// # Errors
/// [`EmbedError::Untrusted`].
fn trust<'a>(dir: &Path, names: impl Iterator<Item = &'a str>) -> Result<(), EmbedError> {
    for place in std::iter::once(dir.to_owned()).chain(names.map(|name| dir.join(name))) {
        store::trusted(&place).map_err(|error| EmbedError::Untrusted {
            dir: dir.to_owned(),
            why: one_line(&error),
        })?;
    }
    Ok(())
}

fn usable(dir: &Path, file: &FileStatus) -> Result<(), EmbedError> {
    let path = dir.join(&file.name);
    match file.state {
        FileState::Present | FileState::OwnCopy => Ok(()),
        FileState::Missing => Err(EmbedError::NotInstalled(dir.to_path_buf())),
        FileState::WrongChecksum => Err(EmbedError::WrongChecksum { file: path }),
        FileState::Unreadable => {
            let error = std::fs::File::open(&path).err();
            let error = error.unwrap_or_else(|| io::Error::other("reading failed"));
            Err(EmbedError::unreadable(&path, &error))
        }
    }
}

fn file_status(dir: &Path, pin: &Pin, checksums: &mut ChecksumCache) -> FileStatus {
    let path = dir.join(pin.name);
    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let state = match checksums.sha256_of(&path, pin) {
        Ok(sum) if sum == pin.sha256 => FileState::Present,
        Ok(_) => FileState::WrongChecksum,
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
        Err(_) => FileState::Unreadable,
    };
    FileStatus { name: pin.name.to_owned(), state, bytes }
}

/// Returns the pinned library, or else one that somebody installed under another name. `None` where there is neither for this
/// machine, and in a static program, which can load none.
fn runtime_status(dir: &Path, checksums: &mut ChecksumCache) -> Option<FileStatus> {
    if cfg!(target_env = "musl") {
        return None;
    }
    let pin = pins::runtime_pin().filter(|_| !dir.join(NO_RUNTIME).exists());
    let pinned = pin.map(|pin| file_status(dir, &pin, checksums));
    let installed = pinned.clone().filter(|file| file.state != FileState::Missing);
    installed.or_else(|| own_runtime(dir)).or(pinned)
}

fn own_runtime(dir: &Path) -> Option<FileStatus> {
    let names =
        std::fs::read_dir(dir).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // The last in the alphabet, so that two of them give the same answer every time.
    let name = names.filter(|name| is_runtime_name(name)).max()?;
    let bytes = std::fs::metadata(dir.join(&name)).map_or(0, |metadata| metadata.len());
    Some(FileStatus { name, state: FileState::OwnCopy, bytes })
}

/// `libonnxruntime.so`, `.so.1.24.1`, `.dylib`, `.1.24.1.dylib`; not its helper
/// `libonnxruntime_providers_*`.
fn is_runtime_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libonnxruntime.") else { return false };
    rest == "so" || rest.starts_with("so.") || rest == "dylib" || rest.ends_with(".dylib")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_directory_misses_every_file() {
        let dir = tempfile::tempdir().unwrap();
        let status = status(dir.path());
        assert_eq!(status.files.len(), 3);
        assert!(
            status.files.iter().all(|file| file.state == FileState::Missing && file.bytes == 0)
        );
        assert!(!status.is_ready());
        assert_eq!(verify(dir.path()), Err(EmbedError::NotInstalled(dir.path().to_path_buf())));
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "looking leaves nothing behind"
        );
    }

    #[test]
    fn a_file_of_other_content_is_reported_and_refused() {
        let dir = tempfile::tempdir().unwrap();
        for pin in pins::MODEL_FILES {
            std::fs::write(dir.path().join(pin.name), "something else").unwrap();
        }
        let status = status(dir.path());
        let tokenizer = status.files.iter().find(|file| file.name == "tokenizer.json").unwrap();
        assert_eq!((tokenizer.state, tokenizer.bytes), (FileState::WrongChecksum, 14));
        let file = dir.path().join(pins::WEIGHTS.name);
        assert_eq!(verify(dir.path()), Err(EmbedError::WrongChecksum { file }));
    }

    // S-RANK-2
    #[test]
    fn without_a_runtime_for_this_machine_none_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NO_RUNTIME), "").unwrap();
        assert_eq!(status(dir.path()).files.len(), pins::MODEL_FILES.len());
        std::fs::write(dir.path().join("libonnxruntime.so.1.24.0"), "library").unwrap();
        let files = status(dir.path()).files;
        assert_eq!(files.last().map(|file| file.state), Some(FileState::OwnCopy), "it is used");
    }

    // S-STORE-7
    #[cfg(unix)]
    #[test]
    fn a_library_that_others_can_replace_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libonnxruntime.so.1.24.0");
        std::fs::write(&library, "library").unwrap();
        let trusted = || trust(dir.path(), ["libonnxruntime.so.1.24.0"].into_iter());
        assert_eq!(trusted(), Ok(()));
        for place in [library.as_path(), dir.path()] {
            let set = |mode| std::fs::set_permissions(place, PermissionsExt::from_mode(mode));
            set(0o777).unwrap();
            let refused = trusted().unwrap_err();
            assert!(refused.to_string().contains("chmod go-w"), "{refused}");
            set(0o700).unwrap();
        }
    }

    #[test]
    fn a_library_under_its_own_name_is_used_and_shown_as_such() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["libonnxruntime.so.1.24.0", "libonnxruntime_providers_shared.so", "notes.txt"]
        {
            std::fs::write(dir.path().join(name), "library").unwrap();
        }
        let status = status(dir.path());
        let runtime = status.files.last().unwrap();
        let expected = ("libonnxruntime.so.1.24.0", FileState::OwnCopy, 7);
        assert_eq!((runtime.name.as_str(), runtime.state, runtime.bytes), expected);
    }
}
