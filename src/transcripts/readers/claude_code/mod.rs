//! Transcripts of Claude Code: a folder for each project, a file for each session, and below it those of its subagents. Not
//! here: how the lines make sessions (`claude_session`), what one line means (`claude_line`), what was typed while the agent
//! worked (`claude_queue`), prompts without a transcript (`claude_history`).

mod claude_history;
mod claude_line;
mod claude_queue;
mod claude_session;

use std::path::{Path, PathBuf};

use self::claude_queue::PromptQueue;
use self::claude_session::ClaudeReading;
use crate::readers::loose_json::{has_bytes, head_of, may_be_glued};
use crate::records::each_record;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::TranscriptSink;

/// The reader.
pub(super) struct ClaudeCode;

static TOOL: Tool = Tool {
    name: "claude-code",
    title: "Claude Code",
    parser_version: 1,
    is_tried: true,
    days_kept: Some(30),
};

/// Folders below `projects`: project, session, `subagents`, `workflows`, the workflow.
const DEPTH: usize = 5;

/// The prompts of all sessions, in the directory for configuration.
const HISTORY: &str = "history.jsonl";

impl TranscriptReader for ClaudeCode {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let named = places.named("CLAUDE_CONFIG_DIR").map(|list| {
            let list = list.to_string_lossy().into_owned();
            list.split(',')
                .map(str::trim)
                .filter(|one| !one.is_empty())
                .map(PathBuf::from)
                .collect()
        });
        // Versions before 1.0.30 kept them in the second one, also on macOS.
        let usual = || vec![places.home.join(".claude"), places.home.join(".config/claude")];
        named.unwrap_or_else(usual)
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let projects = root.join("projects");
        let folder = if projects.is_dir() { &projects } else { root };
        let mut files = files_below(folder, DEPTH, &is_transcript)?;
        if projects.is_dir() {
            files.extend(files_below(root, 0, &is_history)?);
        }
        Ok(files)
    }

    fn holds_only_prompts(&self, file: &TranscriptFile) -> bool {
        is_history(&file.path)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        if is_history(&file.path) {
            return claude_history::read(file, sink);
        }
        let offset = resume.map_or(0, |resume| resume.offset);
        let queue = PromptQueue::before(&file.path, offset)?;
        let mut reading = ClaudeReading::new(file, resume, queue);
        let mut each = |line, sink: &mut dyn TranscriptSink| reading.read_line(line, sink);
        let end = each_record(&file.path, offset, sink, &is_noise, &mut each)?;
        Ok(Resume { offset: end, state: reading.state() })
    }
}

fn is_history(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == HISTORY)
}

/// Workflows keep a journal beside the transcripts of their agents.
fn is_transcript(path: &Path) -> bool {
    has_extension(path, "jsonl") && path.file_name().is_some_and(|name| name != "journal.jsonl")
}

/// Half of the bytes of a transcript are progress, copies of files, and reminders to the model.
fn is_noise(line: &[u8]) -> bool {
    let head = head_of(line);
    let is_noise = has_bytes(head, b"\"type\":\"progress\"")
        || has_bytes(head, b"\"type\":\"file-history-")
        || has_bytes(head, b"\"attachment\":{\"type\":\"")
            && !has_bytes(head, b"\"queued_command\"");
    is_noise && !may_be_glued(line)
}

#[cfg(test)]
mod tests;
