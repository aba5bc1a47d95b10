//! Rollouts of Codex, in the terminal, on the desktop and in editors: a file for each session, plain or compressed, in
//! folders by date. Not here: the beginning of a file (`codex_head`), how its lines make a session (`codex_session`), what
//! one line means (`codex_line`), how calls end (`codex_calls`).

mod codex_calls;
mod codex_head;
mod codex_line;
mod codex_session;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::codex_head::CodexHead;
use self::codex_line::is_noise;
use self::codex_session::CodexReading;
use super::loose_json::{has_bytes, head_of};
use crate::records::{RecordLine, RecordLines, each_record};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::TranscriptSink;

/// The reader.
pub(super) struct Codex;

static TOOL: Tool =
    Tool { name: "codex", title: "Codex", parser_version: 1, is_tried: true, days_kept: None };

/// Folders below `sessions`: year, month, day.
const DEPTH: usize = 3;

impl TranscriptReader for Codex {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.named_or_home("CODEX_HOME", ".codex")]
    }

    /// An active session counts more than its archived copy, and a plain file more than its compressed copy.
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let folders = ["sessions", "archived_sessions"].map(|name| root.join(name));
        let is_home = folders.iter().any(|folder| folder.is_dir());
        let folders = if is_home { folders.to_vec() } else { vec![root.to_owned()] };
        let mut files: BTreeMap<String, TranscriptFile> = BTreeMap::new();
        for folder in folders {
            let mut found = files_below(&folder, DEPTH, &is_rollout)?;
            found.sort_by_key(|file| is_compressed(&file.path));
            for file in found {
                let Some(stem) = file.stem().map(str::to_owned) else { continue };
                files.entry(stem).or_insert(file);
            }
        }
        Ok(files.into_values().collect())
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let head = CodexHead::read(file)?;
        let is_open = head.is_open();
        let offset = resume.map_or(0, |resume| resume.offset);
        let is_whole = is_compressed(&file.path) || has_rollback(&file.path, offset)?;
        let offset = if is_whole { 0 } else { offset };
        let mut reading = CodexReading::new(head, offset, sink);
        let mut each = |line, sink: &mut dyn TranscriptSink| reading.read_line(line, sink);
        let end = each_record(&file.path, offset, sink, &is_noise, &mut each)?;
        Ok(Resume { offset: if is_open { 0 } else { end }, ..Resume::default() })
    }
}

fn is_compressed(path: &Path) -> bool {
    has_extension(path, "jsonl.zst")
}

fn is_rollout(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("rollout-") && (has_extension(path, "jsonl") || is_compressed(path))
}

/// Tells whether something was taken back after an offset. It may be older than the offset, so all is read again.
fn has_rollback(path: &Path, offset: u64) -> Result<bool, ReadError> {
    if offset == 0 {
        return Ok(false);
    }
    let mut lines = RecordLines::open(path, offset)?;
    while let Some(line) = lines.next_line().map_err(ReadError::io(path))? {
        let RecordLine::Whole { bytes, .. } = line else { continue };
        if has_bytes(head_of(bytes), b"\"thread_rolled_back\"") {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
