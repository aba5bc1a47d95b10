//! Rewrites a segment beside the old one and renames it over it, so that a complete file, old or new, exists at
//! every moment. Not here: what changes (`upkeep::scrub`, `doubled`).

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::super::rewrite::LineFate;
use super::super::{LogLine, Store, StoreError, layout};
use super::segment_reader::{SegmentPiece, read};
use super::segment_writer::SegmentWriter;
use super::settled_turn::SettledTurn;

/// Rewrites a segment: each line for which `change` returns other bytes is replaced by them.
pub(crate) fn reseal(
    store: &Store,
    segment: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    // Appenders do not touch segments, so only the turn of those who rewrite is needed.
    let turn = SettledTurn::acquire(store, segment)?;
    reseal_lines(&turn, segment, &mut |line| {
        change(line).map_or(LineFate::Stays, LineFate::Becomes)
    })
}

/// Rewrites a segment. Damaged parts stay unchanged. A segment without lines stays too, so that no other one gets its name.
pub(super) fn reseal_lines(
    _turn: &SettledTurn,
    segment: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> LineFate,
) -> Result<(), StoreError> {
    let Some((mut file, metadata)) = layout::open_to_read(segment)? else { return Ok(()) };
    let mut packed = file.try_clone().map_err(StoreError::io("read", segment))?;
    let folder = segment.parent().unwrap_or(Path::new("."));
    let mut sealing = SegmentWriter::begin(folder, &metadata)?;
    let mut damaged = Vec::new();
    // Damaged parts are copied in a second pass, because both passes share one file position.
    read(&mut file, segment, &mut |piece| match piece {
        SegmentPiece::Damaged(place) => {
            damaged.push(place);
            Ok(())
        }
        SegmentPiece::Line(line, ended) => match change(line) {
            LineFate::Stays => sealing.add(line.bytes, ended),
            LineFate::Becomes(other) => sealing.add(&other, ended),
            LineFate::Leaves => Ok(()),
        },
    })?;
    sealing.end_part()?;
    for place in damaged {
        let length = place.end.saturating_sub(place.start);
        packed.seek(SeekFrom::Start(place.start)).map_err(StoreError::io("read", segment))?;
        sealing.add_packed(&mut (&packed).take(length))?;
    }
    sealing.end()?;
    sealing.sync()?;
    sealing.put_at(segment)
}
