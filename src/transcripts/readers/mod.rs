//! The readers, one file per tool, and the table that lists them. A new tool is a file here and a row in [`READERS`]; what a
//! database means is mostly data (`SessionTable`, as in `kiro` and `crush`).
//! Not here: what a reader is (`source`), where its reports go (`exchange`).

mod aider;
mod amp;
mod claude_code;
mod cline;
mod codex;
mod continue_dev;
mod copilot_cli;
mod crush;
mod cursor_ide;
mod cursor_sessions;
mod cursor_surroundings;
mod droid;
mod gemini_cli;
mod goose;
mod json_parts;
mod kiro;
mod loose_json;
mod message_blocks;
mod opencode;
mod opencode_messages;
mod opencode_tables;
mod pi;
mod qwen_code;
mod tool_calls;
mod zed;

use super::source::TranscriptReader;

#[cfg(test)]
pub(crate) mod golden;
#[cfg(test)]
pub(crate) mod growth_law;
#[cfg(test)]
pub(crate) mod resume_law;

/// Every reader, the tools with most users first.
pub const READERS: &[&dyn TranscriptReader] = &[
    &claude_code::ClaudeCode,
    &codex::Codex,
    &opencode::OPENCODE,
    &copilot_cli::CopilotCli,
    &gemini_cli::GeminiCli,
    &cursor_sessions::CursorReader,
    &cline::Cline,
    &cline::Roo,
    &continue_dev::Continue,
    &aider::Aider,
    &goose::Goose,
    &qwen_code::QwenCode,
    &droid::Droid,
    &amp::Amp,
    &pi::Pi,
    &zed::Zed,
    &opencode::KILO,
    &crush::Crush,
    &kiro::Kiro,
];

/// Returns the reader of a tool, by its name.
#[must_use]
pub fn reader_of_tool(name: &str) -> Option<&'static dyn TranscriptReader> {
    READERS.iter().copied().find(|reader| reader.tool().name == name)
}
