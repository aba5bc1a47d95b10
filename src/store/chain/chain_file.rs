//! The file of a chain: reading it, adding to it, replacing it, joining its old entries. Not here: the open entry, which
//! is in the file of the lock (`open_entry`).

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::open_private;
use super::ChainHash;
use super::chain_entry::ChainEntry;
use crate::{Store, StoreError, layout};

/// The folder of the chains, inside the store.
pub(super) const FOLDER: &str = ".chain";

/// A file above this length, in bytes, has its older ranges joined. Usual lines make a file of 3 % of the log.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How many entries at the end stay as they are when older ones are joined.
pub(super) const KEPT_ENTRIES: usize = 4_096;

/// How many ranges become one.
const JOINED_RANGES: u64 = 64;

/// How many events are kept, some 300 bytes each.
pub(super) const EVENTS_MAX: usize = 1_000;

/// A longer file is none of ours, in bytes.
const READ_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Returns the file of the chain of a log.
pub(super) fn path_of(log: &Path) -> PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(".chain");
    log.parent().unwrap_or(Path::new(".")).join(FOLDER).join(name)
}

/// Returns the file with the chain of a log that is being rewritten.
pub(super) fn next_of(log: &Path) -> PathBuf {
    path_of(log).with_extension("next")
}

/// Reads the sealed entries in a file. `None` if there is no file. Lines that are no entries are left out; the lines of
/// the log that they would have covered are then missing.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if there are entries that only a newer version understands.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<ChainEntry>>> {
    if !is_own_folder(path)? {
        return Ok(None);
    }
    let Some((file, _)) = layout::open_to_read(path).map_err(io_error)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The last line may have been torn by a crash.
    let complete = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let mut entries = Vec::new();
    for line in complete {
        match ChainEntry::parse(line) {
            Some(entry) => entries.push(entry),
            None if is_whole_entry(line) => {
                let why = "it has entries of a newer version, or somebody changed it";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            None => {}
        }
    }
    Ok(Some(entries))
}

/// Tells whether a line has the form that entries of every version have: a number, words, and a head.
fn is_whole_entry(line: &str) -> bool {
    let number = line.split(' ').next().is_some_and(|word| word.parse::<u64>().is_ok());
    let head = line.rsplit_once(" head ").is_some_and(|(_, head)| ChainHash::parse(head).is_some());
    number && head
}

fn is_own_folder(path: &Path) -> io::Result<bool> {
    layout::is_own_folder(path.parent().unwrap_or(Path::new("."))).map_err(io_error)
}

pub(super) fn io_error(error: StoreError) -> io::Error {
    io::Error::other(error)
}

/// Adds sealed entries to the chain of a log.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if the file is gone.
pub(super) fn append(log: &Path, entries: &str) -> io::Result<()> {
    let path = path_of(log);
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    let mut file = open_private(&mut options, &path)?;
    let length = file.metadata()?.len();
    if length > 0 {
        let mut last = [0; 1];
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    file.write_all(entries.as_bytes())?;
    if file.metadata()?.len() > FILE_BYTES_MAX
        && let Some(entries) = read(&path)?
    {
        replace(log, &path, &text_of(&joined(entries)))?;
    }
    Ok(())
}

/// Writes a file of a chain as a whole: the old one or the new one is there at any moment.
pub(super) fn replace(log: &Path, path: &Path, text: &str) -> io::Result<()> {
    let root = log.parent().unwrap_or(Path::new("."));
    Store::at(root).ensure_folder(FOLDER).map_err(io_error)?;
    let new = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    let mut file = open_private(&mut options, &new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

pub(super) fn text_of(entries: &[ChainEntry]) -> String {
    entries.iter().map(ChainEntry::text).collect()
}

/// Joins old ranges, so that the file stays bounded. Their lines are then checked together, not one by one.
pub(super) fn joined(entries: Vec<ChainEntry>) -> Vec<ChainEntry> {
    let old = entries.len().saturating_sub(KEPT_ENTRIES);
    let (mut all, mut ranges): (Vec<ChainEntry>, u64) = (Vec::new(), 0);
    for (at, entry) in entries.into_iter().enumerate() {
        match (all.last_mut(), &entry) {
            (Some(ChainEntry::Range(last)), ChainEntry::Range(range))
                if at < old && ranges < JOINED_RANGES =>
            {
                last.join(range);
                ranges += 1;
            }
            _ => {
                all.push(entry);
                ranges = 1;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::chain_entry::{LineAuthor, Range};
    use super::super::{ChainEvent, ChainEventKind};
    use super::*;

    fn begun() -> ChainEvent {
        let (segment, found, at) = (None, "whole".to_owned(), "2026-01-01T00:00:00Z".to_owned());
        let (after, head) = (ChainHash::NONE, ChainHash::NONE);
        let (number, kind, changed, moved) = (1, ChainEventKind::Begin, 0, 0);
        ChainEvent { number, kind, at, changed, moved, segment, found, after, head }.sealed()
    }

    // S-CHAIN-2
    #[test]
    fn old_ranges_are_joined_and_still_follow_each_other() {
        let event = begun();
        let mut entries = vec![ChainEntry::Event(event.clone())];
        let mut range = Range::first_after(&event);
        for line in 0..20_000_u32 {
            range.add(ChainHash::digest(&line.to_le_bytes()), 10, LineAuthor::Own);
            if range.is_full() {
                entries.push(ChainEntry::Range(range.clone()));
                range = range.following();
            }
        }
        let (before, last) = (entries.len(), entries.last().unwrap().head());
        entries.extend(std::iter::repeat_n(ChainEntry::Event(event), KEPT_ENTRIES));
        let joined = joined(entries);
        let ranges: Vec<&Range> = joined
            .iter()
            .filter_map(|entry| match entry {
                ChainEntry::Range(range) => Some(range),
                ChainEntry::Event(_) => None,
            })
            .collect();
        assert!(ranges.len() < before / 32, "{} of {before}", ranges.len());
        assert!(ranges.windows(2).all(|two| two[0].bytes.end == two[1].bytes.start));
        assert_eq!((ranges[0].bytes.start, ranges.last().unwrap().head), (0, last));
    }
}
