//! Lines of a log that stand in two of its files: in a segment, and again in a later one or in the log itself. A program
//! that keeps an old copy of a log and saves it after an archiving leaves such lines, and so did earlier versions of this
//! one. Here they are found, and the later ones taken out. Not here: the segment of an interrupted archiving (`interrupted_archiving`).
//!
//! Only a line with an id of its own is one event wherever it stands. Without one, a person may have written it twice, so
//! it stays. All lines of the segments are remembered, in some 40 bytes each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use event::codec;

use super::super::lines::lines_of;
use super::super::lock::{self, FileLock};
use super::super::rewrite::{self, LineFate, RewriteTurn};
use super::super::{LogLine, Store, StoreError};
use super::archiving_note::{ArchivingNote, note_of};
use super::interrupted_archiving::{remove_lines, sync_segment};
use super::line_hash::{LineCounts, LineHash, hash_of};
use super::reseal::reseal_lines;
use super::settled_turn::SettledTurn;

/// Lines of one file that a segment before it has, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubledLines {
    /// The file: the log, or one of its segments.
    pub file: PathBuf,
    /// The segment that has the lines, too.
    pub segment: PathBuf,
    /// How many lines.
    pub lines: u64,
    /// The number of the first of them in the file, from 1.
    pub first_line: u64,
}

impl Store {
    /// Finds the lines of a log that stand in two of its files: those that [`take_out_doubled`] takes out. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if a process archives or scrubs the log just now; other [`StoreError`]s.
    pub fn doubled(&self, log: &Path) -> Result<Vec<DoubledLines>, StoreError> {
        let segments = self.segments_of(log)?;
        if segments.is_empty() {
            return Ok(Vec::new());
        }
        let appenders = rewrite::lock_of(self, log);
        let only = FileLock::acquire(&RewriteTurn::lock_of_rewrites(&appenders), lock::WAIT_MS_MAX);
        if let Err(error @ StoreError::Busy { .. }) = only {
            return Err(error);
        }
        // Where no lock can be made, as on a disk that cannot be written, nobody archives.
        let noted = ArchivingNote::read(&note_of(&appenders), log)?;
        let left =
            noted.map_or_else(|| Ok(LineCounts::default()), |noted| noted.remaining_lines(log))?;
        Sealed::from_segments(segments)?.doubled(log, left)
    }
}

/// Takes out of a log, and of its segments, what a segment before has, too. Returns how many lines.
///
/// # Errors
/// [`StoreError`]. Every line is then still in one of the files.
pub fn take_out_doubled(store: &Store, log: &Path) -> Result<u64, StoreError> {
    if store.segments_of(log)?.is_empty() {
        return Ok(0);
    }
    store.ensure()?;
    let turn = SettledTurn::acquire(store, log)?;
    let sealed = Sealed::from_segments(store.segments_of(log)?)?;
    let doubled = sealed.doubled(log, LineCounts::default())?;
    let mut lines = turn.settled_lines;
    for (place, file) in sealed.files(log) {
        let has_them = |found: &&DoubledLines| found.file == file;
        let of_file: Vec<&DoubledLines> = doubled.iter().filter(has_them).collect();
        let segments: Vec<PathBuf> = of_file.iter().map(|found| found.segment.clone()).collect();
        let is_double = |line: &LogLine<'_>| sealed.before(place, line).is_some();
        if of_file.is_empty() {
            continue;
        }
        if file == log {
            lines += remove_lines(&turn, log, &segments, &|| Box::new(is_double))?;
            continue;
        }
        segments.iter().try_for_each(|segment| sync_segment(segment))?;
        reseal_lines(&turn, file, &mut |line| match is_double(&line) {
            true => LineFate::Leaves,
            false => LineFate::Stays,
        })?;
        lines += of_file.iter().map(|found| found.lines).sum::<u64>();
    }
    Ok(lines)
}

/// The segments of a log, and the first of them that has each line.
struct Sealed {
    segments: Vec<PathBuf>,
    first: HashMap<LineHash, usize>,
}

impl Sealed {
    fn from_segments(segments: Vec<PathBuf>) -> Result<Self, StoreError> {
        let mut first = HashMap::new();
        for (place, segment) in segments.iter().enumerate() {
            lines_of(segment, |line| {
                first.entry(hash_of(line.bytes)).or_insert(place);
            })?;
        }
        Ok(Self { segments, first })
    }

    /// Returns the files that may have lines of the segments, each with its place: the segments, and then the log.
    fn files<'a>(&'a self, log: &'a Path) -> impl Iterator<Item = (usize, &'a Path)> {
        let segments = self.segments.iter().map(PathBuf::as_path);
        segments.chain([log]).enumerate()
    }

    /// Returns the segment that has a line with an id of its own before the file at this place.
    fn before(&self, place: usize, line: &LogLine<'_>) -> Option<usize> {
        let first = *self.first.get(&hash_of(line.bytes))?;
        (first < place && codec::own_id(line.bytes).is_some()).then_some(first)
    }

    /// Finds the doubled lines. `left` are lines that an interrupted archiving left in the log, with or without an id.
    fn doubled(&self, log: &Path, mut left: LineCounts) -> Result<Vec<DoubledLines>, StoreError> {
        let mut doubled: Vec<DoubledLines> = Vec::new();
        for (place, file) in self.files(log) {
            let mut line_number = 0;
            lines_of(file, |line| {
                line_number += 1;
                let is_left = file == log && left.remove(line.bytes);
                let hash = || self.first.get(&hash_of(line.bytes)).copied();
                let before = if is_left { hash() } else { self.before(place, &line) };
                let Some(segment) = before.and_then(|first| self.segments.get(first)) else {
                    return;
                };
                let is_same =
                    |found: &&mut DoubledLines| found.file == file && found.segment == *segment;
                match doubled.iter_mut().find(is_same) {
                    Some(found) => found.lines += 1,
                    None => doubled.push(DoubledLines {
                        file: file.to_owned(),
                        segment: segment.clone(),
                        lines: 1,
                        first_line: line_number,
                    }),
                }
            })?;
        }
        Ok(doubled)
    }
}
