//! Old lines, sealed beside the logs in `archive/<log>/<number>.jsonl.gz`. The format is gzip of the unchanged
//! lines, so `zcat` and `zgrep` read it too. A segment is written once and changes only to remove a secret, or lines that
//! an earlier one has.
//! Here: where segments are. Not here: which lines are archived (`upkeep::archive`).

#[cfg(feature = "archive")]
mod archiving;
#[cfg(feature = "archive")]
mod archiving_note;
#[cfg(feature = "archive")]
mod doubled_lines;
#[cfg(feature = "archive")]
mod interrupted_archiving;
#[cfg(feature = "archive")]
mod line_hash;
#[cfg(feature = "archive")]
mod reseal;
#[cfg(feature = "archive")]
mod segment_format;
#[cfg(feature = "archive")]
mod segment_moves;
#[cfg(feature = "archive")]
mod segment_reader;
#[cfg(feature = "archive")]
mod segment_writer;
#[cfg(feature = "archive")]
mod settled_turn;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Store, StoreError, layout};

#[cfg(feature = "archive")]
pub use archiving::{MovedLines, archive};
#[cfg(feature = "archive")]
pub use doubled_lines::{DoubledLines, take_out_doubled};
#[cfg(feature = "archive")]
pub(super) use reseal::reseal;
#[cfg(feature = "archive")]
pub use segment_moves::MoveRule;
#[cfg(feature = "archive")]
pub(super) use segment_reader::{SegmentPiece, lines_of, read};
#[cfg(feature = "archive")]
pub(super) use settled_turn::SettledTurn;

/// The folder of the segments, inside the store. It is not hidden, because it contains memories like the logs.
pub(super) const FOLDER: &str = "archive";

/// The ending of a segment's name.
const ENDING: &str = ".jsonl.gz";

/// Tells whether a path is named like a segment.
pub(super) fn is_segment(path: &Path) -> bool {
    stem_of_log(path).is_some()
}

/// Returns the stem of the log whose lines a segment contains; `None` if the path is not a segment.
pub(super) fn stem_of_log(path: &Path) -> Option<&OsStr> {
    let folder = path.parent()?;
    let is_there = folder.parent()?.file_name()? == FOLDER;
    (is_there && is_name(path.file_name()?)).then(|| folder.file_name())?
}

fn is_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(ENDING) && !name.starts_with('.')
}

/// Returns the folder of a log's segments.
fn folder_of(log: &Path) -> PathBuf {
    let root = log.parent().unwrap_or(Path::new("."));
    root.join(FOLDER).join(log.file_stem().unwrap_or_default())
}

/// Lists the segments in a folder, sorted by name. A missing folder has none.
fn segments_in(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !layout::is_own_folder(folder)? {
        return Ok(Vec::new());
    }
    let failed = || StoreError::io("list", folder);
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed())? {
        let name = entry.map_err(failed())?.file_name();
        if is_name(&name) {
            segments.push(folder.join(name));
        }
    }
    segments.sort();
    Ok(segments)
}

impl Store {
    /// Lists the segments of all logs, those of one log in the order in which they were sealed. A segment
    /// contains lines of its log, packed.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the archive exists but cannot be read, [`StoreError::Untrusted`] if it is not a
    /// folder that we made.
    pub fn segments(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut segments = Vec::new();
        // The first folder is the archive itself, which contains only folders.
        for folder in self.archive_folders()?.iter().skip(1) {
            segments.extend(segments_in(folder)?);
        }
        Ok(segments)
    }

    /// Returns the archive and its folders sorted by name; nothing if there is no archive.
    pub(super) fn archive_folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let archive = self.root().join(FOLDER);
        if !layout::is_own_folder(&archive)? {
            return Ok(Vec::new());
        }
        let failed = || StoreError::io("list", &archive);
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(&archive).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let kind = entry.file_type().map_err(failed())?;
            // A link is refused when its folder is listed. Other files are not ours.
            if kind.is_dir() || kind.is_symlink() {
                folders.push(entry.path());
            }
        }
        folders.sort();
        folders.insert(0, archive);
        Ok(folders)
    }

    /// Lists the segments of a log, in the order in which they were sealed.
    ///
    /// # Errors
    /// Those of [`Store::segments`].
    pub fn segments_of(&self, log: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let archive = self.root().join(FOLDER);
        if !layout::is_own_folder(&archive)? {
            return Ok(Vec::new());
        }
        segments_in(&folder_of(log))
    }

    /// Tells whether a file is a segment of sealed lines.
    #[must_use]
    pub fn is_segment(path: &Path) -> bool {
        is_segment(path)
    }

    /// Returns the log whose lines a segment contains; `None` if the file is not a segment.
    #[must_use]
    pub fn log_of_segment(path: &Path) -> Option<PathBuf> {
        let stem = stem_of_log(path)?;
        let mut name = stem.to_owned();
        name.push(".jsonl");
        Some(path.ancestors().nth(3)?.join(name))
    }
}

#[cfg(test)]
#[cfg(feature = "archive")]
mod tests;

#[cfg(test)]
#[cfg(feature = "archive")]
mod doubled_tests;
