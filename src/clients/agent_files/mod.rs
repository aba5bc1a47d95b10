//! Rules that people write for agents in files such as CLAUDE.md, imported as memories; and our block in such a file,
//! with proven lessons.
//!
//! `source` reads a file, `markdown` cuts it into items, `import_plan` compares them with earlier imports and saves
//! the changes, `block` is our own part of a file, which is never imported. Not here: which lessons are proven
//! (`memory`).

mod block;
mod import_plan;
mod markdown;
mod source;

pub use block::{AgentsBlock, BlockSettings};
pub use import_plan::{ImportPlan, ImportedRule, PlannedItem, RefusedItem};
pub use source::{AgentFile, UnreadableFile, is_below, path_below};

/// The files that agents read, as paths from the top of a work tree.
pub const AGENT_FILES: [&str; 5] =
    ["CLAUDE.md", "AGENTS.md", ".cursorrules", "GEMINI.md", ".github/copilot-instructions.md"];
