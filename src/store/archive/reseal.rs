//! Rewrites a segment beside the old one and renames it over it, so that a complete file, old or new, exists at
//! every moment. Not here: what changes (`upkeep::scrub`).

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::super::lock::{self, FileLock};
use super::super::{LogLine, Store, StoreError, layout, rewrite};
use super::read::{SegmentPiece, read};
use super::write::Sealing;

/// Rewrites a segment: each line for which `change` returns other bytes is replaced by them. Damaged parts stay
/// unchanged.
pub(crate) fn reseal(
    store: &Store,
    segment: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    let Some(log) = Store::log_of_segment(segment) else { return Ok(()) };
    // Appenders do not touch segments, so only the lock of archiving is needed.
    let lock = rewrite::lock_of(store, &log).with_extension("rewrite");
    let _only = FileLock::take(&lock, lock::WAIT_MS_MAX)?;
    let Some((mut file, metadata)) = layout::open_to_read(segment)? else { return Ok(()) };
    let mut packed = file.try_clone().map_err(StoreError::io("read", segment))?;
    let folder = segment.parent().unwrap_or(Path::new("."));
    let mut sealing = Sealing::begin(folder, &metadata)?;
    let mut damaged = Vec::new();
    // Damaged parts are copied in a second pass, because both passes share one file position.
    read(&mut file, segment, &mut |piece| match piece {
        SegmentPiece::Damaged(place) => {
            damaged.push(place);
            Ok(())
        }
        SegmentPiece::Line(line, ended) => {
            let changed = change(line);
            sealing.add(changed.as_deref().unwrap_or(line.bytes), ended)
        }
    })?;
    sealing.end_part()?;
    for place in damaged {
        let length = place.end.saturating_sub(place.start);
        packed.seek(SeekFrom::Start(place.start)).map_err(StoreError::io("read", segment))?;
        sealing.add_packed(&mut (&packed).take(length))?;
    }
    sealing.sync()?;
    sealing.put_at(segment)
}
