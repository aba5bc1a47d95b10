//! Looks for lines that may stand in a store already, before they are written a second time: those of an append whose log
//! got another file meanwhile, and those of a spooled write. Not here: writing what is missing (`append`, `spool`).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use event::{DecodedLine, EventId, Timestamp, codec};

use super::{Store, StoreError, Tail, lines_of};

/// How each of our lines begins.
const ID_FIRST: &[u8] = b"{\"id\":\"";

/// Returns those of some lines that stand neither in their log nor in a segment, each once and with its line break.
/// `None` if that is not known: a segment may have them, and this program cannot unpack segments. A line stands there
/// also if `scrub` or a person changed its text meanwhile: then it has the same id and the same time.
///
/// `since` is a time by the clock of the file system, before which none of the lines stood anywhere; without one, all
/// segments are read.
///
/// # Errors
/// [`StoreError`].
pub(super) fn missing_lines(
    store: &Store,
    log: &Path,
    lines: &str,
    since: Option<SystemTime>,
) -> Result<Option<String>, StoreError> {
    let mut missing: HashSet<&str> = lines.lines().collect();
    let places = KeptPlaces { store, log, since };
    let mut read = places.each_line(&mut |line| {
        if let Ok(line) = str::from_utf8(line) {
            missing.remove(line);
        }
    })?;
    if !missing.is_empty() {
        let mut names = SoughtNames::from_lines(&missing);
        read = places.each_line(&mut |line| {
            if let Some(found) = names.remove_namesake(line) {
                missing.remove(found);
            }
        })?;
    }
    if read == PlacesRead::WithoutSegments && !missing.is_empty() {
        return Ok(None);
    }
    let in_order = lines.lines().filter(|line| missing.remove(line));
    Ok(Some(in_order.map(|line| format!("{line}\n")).collect()))
}

/// How much was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlacesRead {
    All,
    /// There are segments, and this program cannot unpack them.
    WithoutSegments,
}

/// Where lines may stand.
struct KeptPlaces<'a> {
    store: &'a Store,
    log: &'a Path,
    since: Option<SystemTime>,
}

impl KeptPlaces<'_> {
    /// Passes on every complete line. Lines move from the log to a segment, so reading in this order misses none.
    fn each_line(&self, each: &mut dyn FnMut(&[u8])) -> Result<PlacesRead, StoreError> {
        Tail::from_beginning(self.log).read(|line| each(line.bytes))?;
        let segments = self.segments()?;
        if !cfg!(feature = "archive") && !segments.is_empty() {
            return Ok(PlacesRead::WithoutSegments);
        }
        for segment in segments {
            // A line in a damaged part cannot be read there, so it is written again.
            lines_of(&segment, |line| each(line.bytes))?;
        }
        Ok(PlacesRead::All)
    }

    /// Lists the segments that were written since.
    fn segments(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut segments = self.store.segments_of(self.log)?;
        segments.retain(|segment| {
            let written = segment.symlink_metadata().and_then(|found| found.modified()).ok();
            self.since.is_none_or(|since| written.is_none_or(|written| written >= since))
        });
        Ok(segments)
    }
}

/// What stays of a line when its text is changed. The time is part of it, because callers may use an id of their own twice.
type LineName = (EventId, Option<Timestamp>);

/// The names of lines.
struct SoughtNames<'a> {
    lines: HashMap<LineName, &'a str>,
    ids: HashSet<Vec<u8>>,
}

impl<'a> SoughtNames<'a> {
    fn from_lines(lines: &HashSet<&'a str>) -> Self {
        let named = |line: &&'a str| Some((name_of(line.as_bytes())?, *line));
        let lines: HashMap<LineName, &'a str> = lines.iter().filter_map(named).collect();
        let ids = lines.keys().map(|(id, _)| id.as_str().as_bytes().to_vec()).collect();
        Self { lines, ids }
    }

    /// Returns the line that has the name of another line, once.
    fn remove_namesake(&mut self, line: &[u8]) -> Option<&'a str> {
        // Almost no line needs to be decoded.
        if id_at_the_beginning(line).is_some_and(|id| !self.ids.contains(id)) {
            return None;
        }
        self.lines.remove(&name_of(line)?)
    }
}

fn name_of(line: &[u8]) -> Option<LineName> {
    match codec::decode(line, "") {
        DecodedLine::Event(event) => Some((event.id, event.timestamp)),
        DecodedLine::Blank | DecodedLine::Skipped(_) => None,
    }
}

/// Returns the id of a line that begins as our writer begins each.
fn id_at_the_beginning(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(ID_FIRST)?.split(|byte| *byte == b'"').next()
}
