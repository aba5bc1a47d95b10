//! A log as an open file: opening it, one write at its end, taking a short write back. Only `append` and
//! `spool` use it. Not here: locks and turns (`append`).

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{StoreError, layout};

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The crash of any process; the system writes it to the disk in its own time.
    Written,
    /// Also the loss of power: it is on the disk.
    Synced,
}

pub(super) fn open(log: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    // Reading as well as appending: Windows cannot lock, and we could not look at the tail, otherwise.
    options.create(true).read(true).append(true);
    layout::private(&mut options);
    let file = options.open(log).map_err(|source| layout::why_not_opened(log, source))?;
    let metadata = file.metadata().map_err(StoreError::io("inspect", log))?;
    match what_instead(&metadata) {
        Some(what) => Err(StoreError::NotALog { path: log.to_owned(), what }),
        None => Ok(file),
    }
}

pub(super) fn what_instead(metadata: &Metadata) -> Option<&'static str> {
    if !metadata.is_file() {
        return Some(layout::NO_PLAIN_FILE);
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(metadata) > 1 {
        return Some("it has a second name (hard link)");
    }
    None
}

/// Writes lines in one go at the end of the file and returns where they begin. Under the log's lock.
pub(super) fn write(file: &mut File, log: &Path, lines: &str) -> Result<u64, StoreError> {
    let length = file.metadata().map_err(StoreError::io("inspect", log))?.len();
    let seal = if ends_in_line_break(file, length).map_err(StoreError::io("read", log))? {
        ""
    } else {
        "\n"
    };
    let buffer = format!("{seal}{lines}");
    let (written_bytes, outcome) = write_counted(file, buffer.as_bytes());
    match outcome {
        Ok(()) => Ok(length + u64::try_from(seal.len()).unwrap_or(0)),
        Err(source) => Err(take_back(file, log, length, (written_bytes, source))),
    }
}

/// Writes as `write_all` does, and tells how much went out when not all of it did.
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

/// Takes back the part that was written, if nobody wrote behind it: our lock does not hold off
/// programs that know nothing of it. Else the part stays, sealed off like any torn line.
pub(super) fn take_back(
    file: &mut File,
    log: &Path,
    length: u64,
    (written_bytes, source): (usize, io::Error),
) -> StoreError {
    let end = length + u64::try_from(written_bytes).unwrap_or(0);
    let rolled_back = |source| StoreError::RolledBack { path: log.to_owned(), source };
    if written_bytes == 0 {
        return rolled_back(source);
    }
    if file.metadata().is_ok_and(|found| found.len() == end) {
        let failed = StoreError::io("take back a partial write to", log);
        return file.set_len(length).map_or_else(failed, |()| rolled_back(source));
    }
    // Best effort: the next append seals a torn tail as well.
    let _ = file.write_all(b"\n");
    let why = format!(
        "{source}; a part that was written stays, since another program wrote behind it; try again"
    );
    StoreError::io("write all of the event to", log)(io::Error::other(why))
}

/// A log whose last line has no line break was torn by a crash. Its bytes stay; a line break seals
/// them off, so that they cannot swallow the next event.
fn ends_in_line_break(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0_u8; 1];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
