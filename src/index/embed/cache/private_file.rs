//! Reading and opening a file that only its owner can read. Not here: what is in it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Fills `block` from `offset`, or as much of it as the file has. The position of the file does not change.
pub(super) fn read_at(file: &File, mut offset: u64, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, rest, offset);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, rest, offset);
        match read {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                offset += to_u64(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

pub(super) fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Opens or makes a file that only its owner can read, since texts can be guessed from vectors. A link, a pipe or
/// a device in its place is an error.
pub(super) fn open_private(path: &Path, mut options: OpenOptions) -> io::Result<File> {
    let file = store::open_private(&mut options, path)?;
    let metadata = file.metadata()?;
    #[cfg(unix)]
    let has_one_name = std::os::unix::fs::MetadataExt::nlink(&metadata) == 1;
    #[cfg(not(unix))]
    let has_one_name = true;
    if metadata.is_file() && has_one_name {
        return Ok(file);
    }
    Err(io::Error::other("it is not a plain file of its own; move it away"))
}
