//! A log as an open file: opening it, one write at its end, rolling back a short write. `lock` and
//! `mirror_file` ask it whether a file is a log. Not here: locks and turns (`append`).

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::open_private;
use super::{StoreError, layout};

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The crash of any process. The system writes the event to disk when it chooses.
    Written,
    /// Also a power loss: the event is on disk.
    Synced,
}

pub(super) fn open(log: &Path) -> Result<(File, Metadata), StoreError> {
    let mut options = OpenOptions::new();
    // Windows needs read access to lock the file, and the tail must be read.
    options.create(true).read(true).append(true);
    let file = open_private(&mut options, log).map_err(|source| layout::open_error(log, source))?;
    let metadata = file.metadata().map_err(StoreError::io("inspect", log))?;
    match describe_non_log(&metadata) {
        Some(what) => Err(StoreError::NotALog { path: log.to_owned(), what }),
        None => Ok((file, metadata)),
    }
}

pub(super) fn describe_non_log(metadata: &Metadata) -> Option<&'static str> {
    if !metadata.is_file() {
        return Some(layout::NO_PLAIN_FILE);
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(metadata) > 1 {
        return Some("it has a second name (a hard link)");
    }
    None
}

/// What one write added to a log.
pub(super) struct LogAddition {
    /// The length of the log before.
    pub from: u64,
    /// Where the lines begin.
    pub offset: u64,
    /// The lines, and before them the line break that seals a torn one.
    pub text: String,
}

/// Writes lines in one call at the end of the file, which has the given length in bytes. Without lines it writes nothing.
/// The caller holds the log's lock.
pub(super) fn write(
    file: &mut File,
    log: &Path,
    lines: &str,
    length: u64,
) -> Result<LogAddition, StoreError> {
    if lines.is_empty() {
        return Ok(LogAddition { from: length, offset: length, text: String::new() });
    }
    let seal = if ends_in_line_break(file, length).map_err(StoreError::io("read", log))? {
        ""
    } else {
        "\n"
    };
    let text = format!("{seal}{lines}");
    let (written_bytes, outcome) = write_counted(file, text.as_bytes());
    let offset = length + u64::try_from(seal.len()).unwrap_or(0);
    match outcome {
        Ok(()) => Ok(LogAddition { from: length, offset, text }),
        Err(source) => Err(roll_back(file, log, length, written_bytes, source)),
    }
}

/// Writes like `write_all`, and returns how many bytes were written if it fails.
pub(super) fn write_counted(file: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written_bytes = 0;
    while let Some(rest) = bytes.get(written_bytes..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return (written_bytes, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written_bytes += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written_bytes, Err(error)),
        }
    }
    (written_bytes, Ok(()))
}

/// Rolls back a partial write unless another program wrote after it, because our lock does not stop programs
/// that ignore it. In that case the part stays and is sealed like any torn line.
pub(super) fn roll_back(
    file: &mut File,
    log: &Path,
    length: u64,
    written_bytes: usize,
    source: io::Error,
) -> StoreError {
    let end = length + u64::try_from(written_bytes).unwrap_or(0);
    let rolled_back = |source| StoreError::RolledBack { path: log.to_owned(), source };
    if written_bytes == 0 {
        return rolled_back(source);
    }
    if file.metadata().is_ok_and(|found| found.len() == end) {
        let failed = StoreError::io("roll back a partial write to", log);
        return file.set_len(length).map_or_else(failed, |()| rolled_back(source));
    }
    // Best effort: the next append seals a torn tail too.
    let _ = file.write_all(b"\n");
    let why = format!(
        "{source}; the part that was written stays, because another program wrote after it; try again"
    );
    StoreError::io("write all of the event to", log)(io::Error::other(why))
}

/// Tells whether the file ends in a line break. A last line without one was torn by a crash. Its bytes stay,
/// and a line break seals them, so that they do not corrupt the next event.
fn ends_in_line_break(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0_u8; 1];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut last, length - 1)?;
    #[cfg(not(unix))]
    {
        io::Seek::seek(file, io::SeekFrom::Start(length - 1))?;
        io::Read::read_exact(file, &mut last)?;
    }
    Ok(last == *b"\n")
}
